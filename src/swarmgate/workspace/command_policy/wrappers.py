"""Unwraps programs that run other programs: `env`, `sh -c`, `xargs`, `find -exec`, `npx`, ..."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from swarmgate.workspace.command_policy.model import UNKNOWN, Word, program_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "rbash", "csh", "tcsh", "yash", "pwsh"})

EMPTY = "*.empty"
"""Stands for the name of a file or folder that `find` tells to be empty."""

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Inner:
    """What a program runs: `words`, or shell code in `text`, or what stands at its input (`stdin`), or a `script`.

    `listed`: names from its input are added to the words, in the place of `place` where that is not empty. `cwd` is the
    folder into which it goes first, `arguments` are `$0` and on of the code.
    """

    label: str
    words: tuple[Word, ...] = ()
    text: str | None = None
    stdin: bool = False
    script: str = ""
    listed: bool = False
    place: str = ""
    cwd: Word | None = None
    assigned: tuple[tuple[str, str], ...] = ()
    arguments: tuple[str, ...] = ()
    counted: bool = False
    """Whether the wrapper itself is judged too."""


_SKIPPED = {
    "nohup": (), "nice": ("-n", "--adjustment"), "ionice": ("-c", "-n", "--class", "--classdata"), "chronic": (),
    "stdbuf": ("-i", "-o", "-e", "--input", "--output", "--error"), "setsid": (), "exec": ("-a",), "builtin": (),
    "time": ("-f", "-o", "--format", "--output"), "busybox": (), "toybox": (), "unbuffer": (), "coproc": (),
    "caffeinate": ("-t", "-w"), "strace": ("-o", "-e", "-p", "-s", "-u", "-a", "-b", "-I", "-O", "-S", "-P", "-E"),
    "ltrace": ("-o", "-e", "-p", "-s", "-u", "-a", "-n"), "xvfb-run": ("-n", "-s", "-e", "-f", "-p", "-w"),
    "sudo": ("-u", "-g", "-h", "-p", "-C", "-r", "-t", "-T", "-U", "-D", "-R", "--user", "--group", "--chdir"),
    "doas": ("-u", "-C"), "pkexec": ("--user",), "catchsegv": (), "noglob": (), "nocorrect": (), "-": (),
    "unshare": (), "nsenter": ("-t", "--target"), "systemd-run": ("-p", "--property", "--unit", "-u"),
}  # fmt: skip
"""Wrappers whose command follows their options; the options that take a value."""

_AFTER_ONE = {
    "timeout": ("-s", "-k", "--signal", "--kill-after"), "taskset": (), "chrt": (), "chroot": (), "gtimeout": ("-s",
    "-k"),
}  # fmt: skip
"""Wrappers whose command follows their options and one more word."""

_RUNNERS = {
    ("uv", "run"): ("--with", "-p", "--python", "--extra", "--group", "--project", "--directory", "--env-file"),
    ("poetry", "run"): (), ("pipenv", "run"): (), ("pdm", "run"): (), ("rye", "run"): (), ("hatch", "run"): (),
    ("conda", "run"): ("-n", "-p", "--name"), ("bundle", "exec"): (), ("pnpm", "exec"): ("-C", "--dir"),
    ("pnpm", "dlx"): (), ("yarn", "exec"): (), ("yarn", "dlx"): (), ("npm", "exec"): ("-p", "--package"),
    ("mise", "exec"): (), ("direnv", "exec"): (), ("doppler", "run"): (), ("dotenv", "run"): (), ("op", "run"): (),
}  # fmt: skip
_PRIVILEGED = frozenset({"sudo", "doas", "pkexec", "unshare", "nsenter", "chroot", "systemd-run"})
_XARGS = ("-I", "-i", "-n", "-P", "-L", "-d", "-s", "-E", "-a", "--max-args", "--max-procs", "--max-lines", "--replace",
          "--delimiter", "--arg-file")  # fmt: skip
_PARALLEL = ("-j", "--jobs", "-a", "-I", "-N", "--colsep", "--timeout", "--delay", "--results", "--joblog")


def unwrap(words: Sequence[Word]) -> tuple[Inner, ...]:
    """Lists what a wrapper command runs; nothing for a command that is no wrapper."""
    name = program_of(words[0])
    rest = tuple(words[1:])
    if name in SHELLS:
        return _shell(name, rest)
    if name in _SKIPPED:
        inner = _after(rest, _SKIPPED[name])
        return (Inner(name, inner, counted=name in _PRIVILEGED),) if inner else ()
    if name in _AFTER_ONE:
        return (Inner(name, _after(rest, _AFTER_ONE[name])[1:], counted=name in _PRIVILEGED),)
    if name in _SPECIAL:
        return _SPECIAL[name](name, rest)
    pair = (name, rest[0].text) if rest else ("", "")
    if pair in _RUNNERS:
        inner = _after(rest[1:], _RUNNERS[pair])
        return (Inner(" ".join(pair), inner),) if inner else ()
    return ()


def _after(words: Sequence[Word], valued: Sequence[str]) -> tuple[Word, ...]:
    """What follows the options."""
    index = 0
    while index < len(words):
        text = words[index].text
        if text == "--":
            return tuple(words[index + 1 :])
        if not text.startswith("-") or text == "-":
            break
        index += 2 if text in valued else 1
    return tuple(words[index:])


def _shell(name: str, words: Sequence[Word]) -> tuple[Inner, ...]:
    """`sh -c CODE NAME ARGS`, `sh SCRIPT ARGS`, or `sh` that reads its input."""
    code, index = False, 0
    while index < len(words):
        text = words[index].text
        if text in {"-o", "+o", "-O", "+O", "--rcfile", "--init-file"}:
            index += 2
        elif text[:1] in {"-", "+"} and text not in {"-", "--"}:
            code |= "c" in text and not text.startswith("--")
            if text in {"-s", "--version", "--help"}:
                return (Inner(name, stdin=True),) if text == "-s" else ()
            index += 1
        else:
            index += text in {"-", "--"}
            break
    rest = words[index:]
    texts = tuple(word.text for word in rest)
    if code:
        return (Inner(f"{name} -c", text=texts[0] if texts else "", arguments=texts[1:]),)
    if not rest or texts[0] in {"/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"}:
        return (Inner(name, stdin=True),)
    return (Inner(name, script=texts[0], arguments=texts),)


def _env(name: str, words: Sequence[Word]) -> tuple[Inner, ...]:
    assigned: list[tuple[str, str]] = []
    cwd, index = None, 0
    while index < len(words):
        text = words[index].text
        split = _split_string(words, index)
        if split is not None:
            return (Inner(name, text=split, assigned=tuple(assigned), cwd=cwd),)
        if text in {"-C", "--chdir"} and index + 1 < len(words):
            cwd = words[index + 1]
        if found := _ASSIGNMENT.fullmatch(text):
            assigned.append((found[1], found[2]))
        elif not text.startswith("-"):
            break
        index += 2 if text in {"-u", "--unset", "-C", "--chdir"} else 1
    inner = tuple(words[index:])
    return (Inner(name, inner, assigned=tuple(assigned), cwd=cwd),) if inner else ()


def _split_string(words: Sequence[Word], index: int) -> str | None:
    """The command of `env -S`, in all its forms."""
    text = words[index].text
    rest = [_again(word.text) for word in words[index + 1 :]]
    if text.startswith("--split-string="):
        return " ".join([text.partition("=")[2], *rest])
    if re.fullmatch(r"-[iv0]*S.*|--split-string", text, re.DOTALL):
        first = "" if text.startswith("--") else text.partition("S")[2]
        return " ".join([first, *(word.text for word in words[index + 1 : index + 2]), *rest[1:]]).strip()
    return None


def _again(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _command(name: str, words: Sequence[Word]) -> tuple[Inner, ...]:
    if any(word.text in {"-v", "-V"} for word in words[:1]):
        return ()
    inner = _after(words, ())
    return (Inner(name, inner),) if inner else ()


def _eval(name: str, words: Sequence[Word]) -> tuple[Inner, ...]:
    return (Inner(name, text=" ".join(word.text for word in words)),) if words else ()


def _trap(name: str, words: Sequence[Word]) -> tuple[Inner, ...]:
    rest = _after(words, ())
    return (Inner(name, text=rest[0].text),) if rest and rest[0].text not in {"-", ""} else ()


def _alias(name: str, words: Sequence[Word]) -> tuple[Inner, ...]:
    return tuple(Inner(name, text=word.text.partition("=")[2]) for word in words if "=" in word.text)


def _su(name: str, words: Sequence[Word]) -> tuple[Inner, ...]:
    return (_option_text(name, words, ("-c", "--command")) or Inner(name, text="", counted=True),)


def _script(name: str, words: Sequence[Word]) -> tuple[Inner, ...]:
    found = _option_text(name, words, ("-c", "--command"), counted=False)
    return (found,) if found else ()


def _option_text(name: str, words: Sequence[Word], options: Sequence[str], *, counted: bool = True) -> Inner | None:
    for index, word in enumerate(words):
        head, equals, value = word.text.partition("=")
        if head in options and (equals or index + 1 < len(words)):
            return Inner(name, text=value if equals else words[index + 1].text, counted=counted)
    return None


def _flock(name: str, words: Sequence[Word]) -> tuple[Inner, ...]:
    if found := _option_text(name, words, ("-c", "--command"), counted=False):
        return (found,)
    inner = _after(words, ("-w", "--timeout", "-E"))[1:]
    return (Inner(name, inner),) if inner else ()


def _watch(name: str, words: Sequence[Word]) -> tuple[Inner, ...]:
    inner = _after(words, ("-n", "--interval"))
    return (Inner(name, text=" ".join(word.text for word in inner)),) if inner else ()


def _npx(name: str, words: Sequence[Word]) -> tuple[Inner, ...]:
    if found := _option_text(name, words, ("-c", "--call"), counted=False):
        return (found,)
    inner = _after(words, ("-p", "--package"))
    return (Inner(name, inner),) if inner else ()


def _xargs(name: str, words: Sequence[Word]) -> tuple[Inner, ...]:
    inner = _after(words, _XARGS)
    place = ""
    for index, word in enumerate(words[: len(words) - len(inner)]):
        if word.text in {"-I", "--replace"} and index + 1 < len(words):
            place = words[index + 1].text
        elif word.text.startswith("-I"):
            place = word.text[2:]
        elif word.text == "-i":
            place = "{}"
    return (Inner(name, inner, listed=True, place=place),) if inner else ()


def _parallel(name: str, words: Sequence[Word]) -> tuple[Inner, ...]:
    inner = _after(words, _PARALLEL)
    ends = [index for index, word in enumerate(inner) if word.text in {":::", "::::"}]
    head, names = (inner[: ends[0]], inner[ends[0] + 1 :]) if ends else (inner, ())
    if not head:
        return tuple(Inner(name, text=word.text) for word in names) or (Inner(name, stdin=True),)
    if len(head) == 1 and " " in head[0].text:
        return tuple(Inner(name, text=head[0].text.replace("{}", each.text)) for each in names or (Word(UNKNOWN),))
    if not ends:
        return (Inner(name, head, listed=True, place="{}" if _holds(head) else ""),)
    return tuple(Inner(name, placed(head, (each,), "{}" if _holds(head) else "")) for each in names)


def _holds(words: Sequence[Word]) -> bool:
    return any("{}" in word.text for word in words)


def placed(words: Sequence[Word], names: Sequence[Word], place: str) -> tuple[Word, ...]:
    """The words with the names in them: instead of `place`, or at the end."""
    if not place:
        return (*words, *names)
    found: list[Word] = []
    for word in words:
        if place in word.text:
            found += [Word(word.text.replace(place, each.text)) for each in names]
        else:
            found.append(word)
    return tuple(found)


def _find(_name: str, words: Sequence[Word]) -> tuple[Inner, ...]:
    """The commands of `-exec` and its kin, each on the files that are found."""
    found, index = [Inner("find", counted=True)], 0
    while index < len(words):
        if words[index].text in {"-exec", "-execdir", "-ok", "-okdir"}:
            ends = [n for n in range(index + 1, len(words)) if words[n].text in {";", "+"}]
            end = ends[0] if ends else len(words)
            names = listed_by_find(words)
            inner = words[index + 1 : end]
            found.append(Inner(f"find {words[index].text}", placed(inner, names, "{}")))
            index = end
        index += 1
    return tuple(found)


def listed_by_find(words: Sequence[Word]) -> tuple[Word, ...]:
    """Patterns for what `find` finds: `FOLDER/**/NAME` for the names that it asks for, or all below its folders."""
    starts: list[str] = []
    for word in words:
        if word.text.startswith("-") or word.text in {"(", "!", ")"}:
            if word.text in {"-H", "-L", "-P"}:
                continue
            break
        starts.append(word.text)
    texts = [word.text for word in words]
    tests = {"-name", "-iname", "-path", "-ipath", "-wholename"}
    names = [
        texts[index + 1].rpartition("/")[2]
        for index, text in enumerate(texts[:-1])
        if text in tests and texts[index - 1] not in {"!", "-not"} and not _pruned(texts[index + 2 : index + 6])
    ]
    if "-empty" in texts:
        names = [EMPTY]
    return tuple(
        Word(f"{start.rstrip('/')}/**{'/' if name else ''}{name}")
        for start in starts or ["."]
        for name in names or [""]
    )


def _pruned(following: Sequence[str]) -> bool:
    """Whether what a test of `find` fits is left out: `-prune -o` follows."""
    return "-prune" in following and following[following.index("-prune") + 1 :][:1] in (["-o"], ["-or"])


def _fd(name: str, words: Sequence[Word]) -> tuple[Inner, ...]:
    for index, word in enumerate(words):
        if word.text in {"-x", "-X", "--exec", "--exec-batch"}:
            inner = words[index + 1 :]
            return (Inner(f"{name} {word.text}", placed(inner, (Word(UNKNOWN),), "{}" if _holds(inner) else "")),)
    return ()


def _tar(name: str, words: Sequence[Word]) -> tuple[Inner, ...]:
    found = [Inner(name, counted=True)]
    for index, word in enumerate(words):
        head, _, value = word.text.partition("=")
        if head == "--checkpoint-action" and value.startswith("exec="):
            found.append(Inner(name, text=value.removeprefix("exec=")))
        elif head in {"--to-command", "--use-compress-program", "-I", "--info-script"}:
            following = words[index + 1].text if index + 1 < len(words) else ""
            found.append(Inner(name, text=value or following))
    return tuple(found)


_GIT_CODE = re.compile(
    r"(?i)(?:alias\..*|core\.(?:pager|editor|sshcommand|fsmonitor|gitproxy|askpass)|diff\.external|"
    r"(?:diff|filter|merge|difftool|mergetool)\..*\.(?:command|textconv|cmd|driver|clean|smudge|process)|pager\..*|"
    r"sequence\.editor|credential\.helper|gpg\.program|interactive\.difffilter|uploadpack\..*)=(.*)",
    re.DOTALL,
)


def _git(name: str, words: Sequence[Word]) -> tuple[Inner, ...]:
    """Git itself, and the commands that its settings on the line would make it run."""
    found = [Inner(name, counted=True)]
    for index, word in enumerate(words):
        before = words[index - 1].text if index else ""
        value = word.text if before in {"-c", "--config"} else word.text.removeprefix("-c").removeprefix("--config=")
        if code := _GIT_CODE.fullmatch(value):
            found.append(Inner("git -c", text=code[1].removeprefix("!")))
        if word.text.startswith(("--open-files-in-pager=", "--upload-pack=", "--receive-pack=", "--exec=")):
            found.append(Inner("git", text=word.text.partition("=")[2]))
        elif word.text.startswith("-O") and "grep" in [each.text for each in words[:index]]:
            found.append(Inner("git grep -O", text=word.text[2:]))
    return tuple(found)


def _module(name: str, words: Sequence[Word]) -> tuple[Inner, ...]:
    """`python -m PROGRAM`."""
    for index, word in enumerate(words[:-1]):
        if word.text == "-m":
            return (Inner(name, counted=True), Inner(f"{name} -m", tuple(words[index + 1 :])))
        if not word.text.startswith("-") or word.text in {"-c", "-"}:
            break
    return ()


def _editor(name: str, words: Sequence[Word]) -> tuple[Inner, ...]:
    """`vim -c '!command'`."""
    codes = [word.text for word in words if re.match(r"(-c|\+)?:?!", word.text)]
    return (Inner(name, counted=True), *(Inner(name, text=code.partition("!")[2]) for code in codes))


_SPECIAL: dict[str, Callable[[str, Sequence[Word]], tuple[Inner, ...]]] = {
    "env": _env, "command": _command, "eval": _eval, "trap": _trap, "alias": _alias, "su": _su, "runuser": _su,
    "script": _script, "flock": _flock, "watch": _watch, "npx": _npx, "bunx": _npx, "pnpx": _npx, "xargs": _xargs,
    "gxargs": _xargs, "git": _git, "python": _module, "pypy": _module, "parallel": _parallel, "find": _find,
    "gfind": _find, "fd": _fd, "fdfind": _fd, "tar": _tar, "vim": _editor,
    "vi": _editor, "nvim": _editor, "ex": _editor, "view": _editor, "nix-shell": lambda name, words: tuple(
        filter(None, [_option_text(name, words, ("--run", "--command"), counted=False)])),
}  # fmt: skip
