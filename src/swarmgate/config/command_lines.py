"""Splits the command line of an agent program as a shell would, and reads the program, its model and flags from it."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
_OPERATOR = re.compile(r"[();<>|&]+")
_CONTROL = frozenset("();|&")
_VERSION = re.compile(r"(?<=.)(?:@|==)[^/]*$")
_PREFIXES = frozenset({"env", "exec", "command", "nohup", "time"})
_NUMBERED = re.compile(r"(?<=[a-z])\d[\d.]*$")

_SHELL = frozenset({"-o", "+o", "-O", "--rcfile", "--init-file"})
_NODE = frozenset({"-r", "--require", "--import", "--loader", "--env-file", "-C", "--conditions"})
_INTERPRETERS: dict[str, frozenset[str]] = {
    "python": frozenset({"-W", "-X"}), "pypy": frozenset({"-W", "-X"}),
    "node": _NODE, "nodejs": _NODE, "bun": _NODE, "deno": frozenset({"--config", "--import-map"}),
    "tsx": _NODE, "ts-node": frozenset({"-r", "-P", "--project"}),
    "bash": _SHELL, "sh": _SHELL, "zsh": _SHELL, "dash": _SHELL, "ksh": _SHELL,
    "ruby": frozenset({"-r", "-I", "-C"}), "perl": frozenset({"-I", "-M"}), "php": frozenset({"-d"}),
    "lua": frozenset({"-l"}), "java": frozenset({"-cp", "-classpath", "--class-path", "-p", "--module-path"}),
    "dotnet": frozenset(),
}  # fmt: skip
"""Programs that run a file, and their options that take a value. Two of their files are two programs."""

_UV = frozenset({"--from", "--with", "-p", "--python", "--extra", "--group", "--project", "--directory", "--index"})
_NPX = frozenset({"-p", "--package"})
_DOCKER = frozenset({
    "-v", "--volume", "-e", "--env", "--env-file", "--name", "-w", "--workdir", "-u", "--user", "--network", "--net",
    "-p", "--publish", "--mount", "--entrypoint", "--platform", "-m", "--memory", "--cpus", "-h", "--hostname", "-l",
    "--label", "--pull", "--add-host",
})  # fmt: skip
_RUNNERS: dict[tuple[str, ...], frozenset[str]] = {
    ("npx",): _NPX, ("bunx",): _NPX, ("pnpx",): _NPX, ("uvx",): _UV, ("uv", "run"): _UV, ("uv", "tool", "run"): _UV,
    ("pipx", "run"): frozenset({"--spec", "--python"}), ("npm", "exec"): _NPX, ("npm", "run"): frozenset(),
    ("pnpm", "exec"): _NPX, ("pnpm", "dlx"): _NPX, ("yarn", "exec"): _NPX, ("yarn", "dlx"): _NPX,
    ("poetry", "run"): frozenset(), ("pipenv", "run"): frozenset(), ("hatch", "run"): frozenset(),
    ("bun", "run"): _NODE, ("bun", "x"): _NPX, ("deno", "run"): _INTERPRETERS["deno"],
    ("dotnet", "run"): frozenset(), ("dotnet", "exec"): frozenset(), ("go", "run"): frozenset(),
    ("docker", "run"): _DOCKER, ("podman", "run"): _DOCKER,
}  # fmt: skip
"""Programs that run a package, an image or a script of the project, and their options that take a value."""

_CODE = {
    **dict.fromkeys(("python", "pypy"), re.compile(r"-c.*", re.DOTALL)),
    **dict.fromkeys(("bash", "sh", "zsh", "dash", "ksh"), re.compile(r"-[a-z]*c")),
    **dict.fromkeys(("node", "nodejs", "bun", "tsx", "ts-node"), re.compile(r"-e|-p|--eval|--print")),
    **dict.fromkeys(("npx", "npm", "bunx", "pnpx"), re.compile(r"-c|--call")),
    **dict.fromkeys(("ruby", "perl"), re.compile(r"-[a-zA-Z]*[eE]")),
    "php": re.compile(r"-r"), "lua": re.compile(r"-e"),
}  # fmt: skip
"""Options after which code stands, in the command line itself."""
_NO_CODE = re.compile(r"(?!)")
_FILES = frozenset({("bun", "run"), ("deno", "run"), ("dotnet", "run"), ("dotnet", "exec"), ("go", "run")})
PROJECT_RUNNERS = frozenset({"npx", "bunx", "pnpx", "npm", "pnpm", "yarn", "poetry", "pipenv", "hatch", "make", "just"})
"""Programs that take what they start from the folder that they are started in; `uv run` is one as well."""


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A command line, read.

    Attributes:
        text: the whole.
        words: all its words, without the operators of the shell.
        program: what is started, after variables and `env`; empty when nothing is.
        runner: the interpreter or runner that starts something else, such as `python`, `uv run`; empty for no such one.
        script: what that one starts: a file, a module, a package; empty where it is code, or no word says.
        is_file: whether `script` is meant as the path of a file.
        options: the words after the script, or after a program that is no runner.
        compound: whether it is more than one command.
    """

    text: str
    words: tuple[str, ...]
    program: str
    runner: str
    script: str
    is_file: bool
    options: tuple[str, ...]
    compound: bool

    @property
    def identity(self) -> str:
        """The identity of the program: its script or package, its own name, else the whole command line."""
        if self.compound or (self.runner and not self.script):
            return self.text.strip()
        if not self.runner:
            return posixpath.basename(self.program).lower()
        if self.is_file or _base(self.runner) in _INTERPRETERS:
            return posixpath.normpath(self.script)
        return posixpath.basename(_VERSION.sub("", self.script)).lower()

    @property
    def model(self) -> str:
        """The model in `--model` or `-m`; empty where there is none."""
        for index, word in enumerate(() if self.compound else self.options):
            name, equals, value = word.partition("=")
            if name in {"--model", "-m"}:
                return value if equals else next(iter(self.options[index + 1 : index + 2]), "")
        return ""

    @property
    def from_project(self) -> str:
        """The runner that takes what it starts from the project's own folder; empty for any other."""
        name = _base(self.program)
        return self.runner or name if name in PROJECT_RUNNERS or self.runner == "uv run" else ""


def read(command: str) -> CommandLine:
    """A command line, without `command:`; one that no shell can read counts as the words that blanks make."""
    tokens = _split(command)
    operators = [index for index, token in enumerate(tokens) if _OPERATOR.fullmatch(token)]
    compound = any(set(tokens[index]) & _CONTROL for index in operators)
    first = next((index for index in operators if tokens[index] not in {"(", "{"}), len(tokens))
    words = tuple(token for token in tokens if not _OPERATOR.fullmatch(token))
    simple = _started([token for token in tokens[:first] if not _OPERATOR.fullmatch(token)])
    runner, script, is_file, options = _run(simple)
    return CommandLine(command, words, simple[0] if simple else "", runner, script, is_file, options, compound)


def commands(line: CommandLine) -> Iterator[CommandLine]:
    """Each single command of a command line, those in words such as that of `sh -c` as well."""
    group: list[str] = []
    for token in (*_split(line.text), ";"):
        if not _OPERATOR.fullmatch(token):
            group.append(token)
        elif set(token) & _CONTROL:
            if group:
                yield line if not line.compound else read(shlex.join(group))
            group = []
    for word in line.words:
        if any(blank in word for blank in " \t") and word != line.text:
            yield from commands(read(word))


def mentioned(line: CommandLine) -> Iterator[str]:
    """Every word that may be the path of a file: words, values of `--option=`, and words of commands in a word."""
    for word in line.words:
        yield word
        if word.startswith("-") and "=" in word:
            yield word.partition("=")[2]
        if any(blank in word for blank in " \t") and word != line.text:
            yield from mentioned(read(word))


def _split(command: str) -> list[str]:
    lexer = shlex.shlex(command, posix=True, punctuation_chars="();<>|&")
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        return list(lexer)
    except ValueError:
        return command.split()


def _started(words: Sequence[str]) -> list[str]:
    """The words from the program on: without variables, `env` and its kin."""
    index, own = 0, ""
    while index < len(words):
        word = words[index]
        if word in _PREFIXES:
            own = word
        elif own and word.startswith("-"):
            index += word in {"-u", "--unset", "-C", "--chdir"}
        elif not _ASSIGNMENT.fullmatch(word):
            break
        index += 1
    return list(words[index:])


def _run(words: Sequence[str]) -> tuple[str, str, bool, tuple[str, ...]]:
    """Runner, script, whether that is a file, and what follows."""
    if not words:
        return "", "", False, ()
    name = _base(words[0])
    key = next((head for size in (3, 2, 1) if (head := (name, *words[1:size])) in _RUNNERS and len(head) == size), ())
    if not key and name not in _INTERPRETERS:
        return "", "", False, tuple(words[1:])
    rest = list(words[max(1, len(key)) :])
    found = _first(rest, _RUNNERS[key] if key else _INTERPRETERS[name], _CODE.get(name, _NO_CODE))
    runner = " ".join(key) or name
    if found is None:
        return runner, "", False, ()
    at, is_module = found
    if key and _base(rest[at]) in _INTERPRETERS:  # `uv run python agent.py`
        inner = _run(rest[at:])
        return runner, *inner[1:]
    is_file = not is_module and (not key or key in _FILES or posixpath.splitext(rest[at])[1] in {".py", ".js", ".ts"})
    return runner, rest[at], is_file, tuple(rest[at + 1 :])


def _first(words: Sequence[str], valued: frozenset[str], code: re.Pattern[str]) -> tuple[int, bool] | None:
    """Where the first word stands that is no option, and whether it is a module; None where code stands instead."""
    index = 0
    while index < len(words):
        word = words[index]
        if word == "--":
            index += 1
            break
        if not word.startswith(("-", "+")):
            break
        if word == "-m" and word not in valued:
            return (index + 1, True) if index + 1 < len(words) else None
        if word == "-" or (code.fullmatch(word) and word not in valued):
            return None
        index += 2 if word in valued else 1
    return (index, False) if index < len(words) else None


def _base(program: str) -> str:
    """`python` for `/usr/bin/python3.12`."""
    return _NUMBERED.sub("", posixpath.basename(program).lower().removesuffix(".exe"))
