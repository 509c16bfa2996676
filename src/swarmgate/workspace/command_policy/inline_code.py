"""Analyzes code inside of a command line (`python -c` and the like): its file changes and the commands it runs.

Best effort: literals are read, Python by its own parser, the others by patterns. What no literal says is left to the
sandbox, but for code that hides itself and commands that are put together at run time.
"""

from __future__ import annotations

import ast
import base64
import binascii
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from swarmgate.workspace.command_policy.model import UNKNOWN, Word, program_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LANGUAGES = frozenset({"python", "pypy", "perl", "ruby", "node", "php", "lua", "deno", "bun", "awk", "gawk", "mawk"})

_CODE_OPTIONS = {
    "python": "c", "pypy": "c", "perl": "eE", "ruby": "e", "node": "ep", "php": "r", "lua": "e", "deno": "", "bun": "e",
}  # fmt: skip
_VALUED = {"python": "WXm", "pypy": "WXm", "perl": "", "ruby": "rIC", "node": "r", "php": "dc", "lua": "l"}
_SHELL_CALLS = {
    "os.system", "os.popen", "commands.getoutput", "subprocess.getoutput", "subprocess.getstatusoutput", "pty.spawn",
    "asyncio.create_subprocess_shell", "popen2.popen2",
}  # fmt: skip
_RUN_CALLS = {f"subprocess.{name}" for name in ("run", "call", "check_call", "check_output", "Popen")}
_TREE_CALLS = {"shutil.rmtree", "os.removedirs"}
_FILE_CALLS = {"os.remove", "os.unlink", "os.rmdir"}
_MOVES = {"shutil.move", "os.rename", "os.replace", "shutil.copy", "shutil.copy2", "shutil.copyfile", "shutil.copytree",
          "os.symlink", "os.link"}  # fmt: skip
_MAKES = {"os.mkdir", "os.makedirs", "os.truncate", "os.mkfifo", "os.mknod", "os.chmod"}
_OF_PATH = {"unlink": "rm", "rmdir": "rm", "write_text": ">", "write_bytes": ">", "touch": ">", "mkdir": ">"}
_STRING = r"""(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')"""
_SHELL_PATTERN = re.compile(
    r"(?:\bsystem|\bexec(?:Sync|File|FileSync)?|\bspawn(?:Sync)?|\bpopen|\bpassthru|\bshell_exec|\bqx)\s*\(?\s*"
    + _STRING
)
_BACKTICK = re.compile(r"`([^`]*)`|%x[({\[]([^)}\]]*)[)}\]]|\bqx[({\[/]([^)}\]/]*)")
_DELETE_PATTERN = re.compile(
    r"\b(rmSync|rmdirSync|unlinkSync|rmdir|unlink|rmtree|remove_tree|rm_rf|rm_r|remove_dir|remove|delete)\s*\(?\s*"
    + _STRING
)
_WRITE_PATTERN = re.compile(
    r"\b(?:writeFileSync|appendFileSync|writeFile|file_put_contents|File\.write)\s*\(?\s*" + _STRING
)
_PERL_OPEN = re.compile(r"\bopen\s*\(?[^;]*?,\s*['\"]\s*[+]?>{1,2}[^'\"]*['\"]\s*,\s*" + _STRING)
_AWK_PRINT = re.compile(r"\bprintf?\b[^;}|]*?(>{1,2}|\|)\s*\"([^\"]+)\"")
_FORKS = re.compile(r"\bfork\b\s*(?:\(\))?\s*while\b|\bwhile\b[^;{]*[({]?\s*(?:1|true|fork)[^;]*[{;]?\s*\bfork\b")


@dataclass(frozen=True, slots=True)
class Effect:
    """One thing that code does: `shell` code, `argv` to run, a file to `delete` (`tree`: with all below) or `write`."""

    kind: str
    text: str = UNKNOWN
    words: tuple[str, ...] = ()


def code_of(words: Sequence[Word]) -> tuple[str | None, bool]:
    """The code that stands in the command, None where there is none; and whether it is read from the input."""
    name = program_of(words[0])
    if name in {"awk", "gawk", "mawk"}:
        return next((word.text for word in words[1:] if "{" in word.text or "BEGIN" in word.text), None), False
    options, valued = _CODE_OPTIONS.get(name, ""), _VALUED.get(name, "")
    index = 1
    while index < len(words):
        text = words[index].text
        if text in {"--eval", "--print", "eval"} and index + 1 < len(words):
            return words[index + 1].text, False
        if not text.startswith("-") or text == "-":
            return None, text in {"-", "/dev/stdin"}
        for place, letter in enumerate(text[1:], start=1):
            if letter in options and not text.startswith("--"):
                attached = text[place + 1 :]
                if name in {"perl", "node"} or not attached:
                    return (words[index + 1].text if index + 1 < len(words) else ""), False
                return attached, False
            if letter in valued:
                if letter == "m":
                    return None, False
                index += not text[place + 1 :]
                break
        index += 1
    asks = any(word.text in {"--version", "-V", "-v", "--help", "-h"} for word in words[1:])
    return None, not asks


def effects(program: str, code: str) -> Iterator[Effect]:
    """What the code does, as far as its literals tell."""
    if program in {"python", "pypy"}:
        try:
            tree = ast.parse(code.replace(UNKNOWN, "0"))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return
        yield from _Python(tree).effects()
        return
    if _FORKS.search(code):
        yield Effect("forks")
    yield from _by_pattern(program, code)


def _by_pattern(program: str, code: str) -> Iterator[Effect]:
    for found in _SHELL_PATTERN.finditer(code):
        yield Effect("shell", _literal(found, 1))
    if program in {"perl", "ruby", "php"}:
        for found in _BACKTICK.finditer(code):
            yield Effect("shell", found[1] or found[2] or found[3] or "")
    for found in _DELETE_PATTERN.finditer(code):
        yield Effect(
            "delete" if found[1] in {"unlink", "unlinkSync", "remove", "delete"} else "tree", _literal(found, 2)
        )
    for pattern in (_WRITE_PATTERN, _PERL_OPEN):
        for found in pattern.finditer(code):
            yield Effect("write", _literal(found, 1))
    if program.endswith("awk"):
        for found in _AWK_PRINT.finditer(code):
            yield Effect("shell" if found[1] == "|" else "write", found[2])


def _literal(found: re.Match[str], group: int) -> str:
    return re.sub(r"\\(.)", r"\1", found[group] if found[group] is not None else found[group + 1])


class _Python:
    """One pass over Python's tree: names of imports and literal values are followed, nothing else."""

    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree
        self._names: dict[str, str] = {}
        self._values: dict[str, ast.expr] = {}

    def effects(self) -> Iterator[Effect]:
        nodes = list(ast.walk(self._tree))
        for node in nodes:
            self._learn(node)
        for node in nodes:
            if isinstance(node, ast.Call):
                yield from self._call(node)
            if isinstance(node, ast.While) and any(self._named(each) == "os.fork" for each in _calls(node)):
                yield Effect("forks")

    def _learn(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            self._names |= {each.asname: each.name for each in node.names if each.asname}
        elif isinstance(node, ast.ImportFrom):
            self._names |= {each.asname or each.name: f"{node.module}.{each.name}" for each in node.names}
        elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            self._values[node.targets[0].id] = node.value

    def _named(self, call: ast.Call) -> str:
        """The dotted name that is called, by its import; `__import__('os').system` is `os.system`."""
        return self._dotted(call.func)

    def _dotted(self, here: ast.expr) -> str:
        parts: list[str] = []
        while isinstance(here, ast.Attribute):
            parts.append(here.attr)
            here = here.value
        if isinstance(here, ast.Call) and isinstance(here.func, ast.Name | ast.Attribute):
            name = here.func.id if isinstance(here.func, ast.Name) else here.func.attr
            if name in {"__import__", "import_module"}:
                parts.append(self._text(here.args[0]) if here.args else UNKNOWN)
            elif name == "getattr" and len(here.args) > 1:
                parts += [self._text(here.args[1]), self._dotted(here.args[0])]
        elif isinstance(here, ast.Name):
            parts.append(self._names.get(here.id, here.id))
        return ".".join(reversed(parts))

    def _call(self, call: ast.Call) -> Iterator[Effect]:
        name = self._named(call)
        first = self._text(call.args[0]) if call.args else UNKNOWN
        if name in _SHELL_CALLS or re.fullmatch(r"os\.(exec|spawn|posix_spawn)\w*", name):
            yield self._command(call, first)
        elif name in _RUN_CALLS or name == "asyncio.create_subprocess_exec":
            yield from self._ran(call, first)
        elif name in _TREE_CALLS:
            yield Effect("tree", first)
        elif name in _FILE_CALLS:
            yield Effect("delete", first)
        elif name in _MOVES and len(call.args) > 1:
            yield Effect(
                "argv",
                words=(
                    "mv" if name in {"shutil.move", "os.rename", "os.replace"} else "cp",
                    first,
                    self._text(call.args[1]),
                ),
            )
        elif name in _MAKES:
            yield Effect("write", first)
        elif name in {"exec", "eval", "builtins.exec", "builtins.eval"} and call.args:
            yield from self._executed(call.args[0])
        else:
            yield from self._opened(call, name, first)

    def _command(self, call: ast.Call, first: str) -> Effect:
        if self._named(call).startswith("os.") and self._named(call) not in _SHELL_CALLS:
            return Effect("argv", words=(first, *(self._text(each) for each in call.args[2:])))
        return Effect("shell", first)

    def _ran(self, call: ast.Call, first: str) -> Iterator[Effect]:
        shell = any(
            each.arg == "shell" and isinstance(each.value, ast.Constant) and each.value.value for each in call.keywords
        )
        value = self._resolved(call.args[0]) if call.args else None
        if isinstance(value, ast.List | ast.Tuple):
            yield Effect("argv", words=tuple(self._text(each) for each in value.elts))
        elif shell:
            yield Effect("shell", first)
        elif first != UNKNOWN:
            yield Effect("argv", words=(first,))

    def _executed(self, argument: ast.expr) -> Iterator[Effect]:
        text = self._text(argument)
        if UNKNOWN not in text:
            yield from effects("python", text)
        elif any(isinstance(node, ast.Attribute | ast.Name) and _is_decoder(node) for node in ast.walk(argument)):
            yield Effect("hidden")

    def _opened(self, call: ast.Call, name: str, first: str) -> Iterator[Effect]:
        if name in {"open", "io.open"}:
            given = [*call.args[1:2], *(each.value for each in call.keywords if each.arg == "mode")]
            if given and set(self._text(given[0])) & set("wax+"):
                yield Effect("write", first)
        elif isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Call):
            of = call.func.value
            if self._named(of).rpartition(".")[2] == "Path" and (how := self._on_path(call)):
                yield Effect(how, self._text(of.args[0]) if of.args else ".")

    def _on_path(self, call: ast.Call) -> str:
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if method == "open":
            return "write" if call.args and set(self._text(call.args[0])) & set("wax+") else ""
        return {"rm": "delete", ">": "write"}.get(_OF_PATH.get(method, ""), "")

    def _resolved(self, node: ast.expr) -> ast.expr:
        return self._values.get(node.id, node) if isinstance(node, ast.Name) else node

    def _text(self, node: ast.expr, depth: int = 0) -> str:
        """The text of an expression; `UNKNOWN` for the parts that no literal tells."""
        node = self._resolved(node)
        if depth > 20:  # noqa: PLR2004 - deeper than any honest literal
            return UNKNOWN
        match node:
            case ast.Constant(value=str(text)):
                return text
            case ast.Constant(value=bytes(raw)):
                return raw.decode("utf-8", "replace")
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self._text(left, depth + 1) + self._text(right, depth + 1)
            case ast.JoinedStr(values=values):
                return "".join(self._text(each, depth + 1) for each in values)
            case ast.Call():
                return self._called_text(node, depth)
            case _:
                return UNKNOWN

    def _called_text(self, call: ast.Call, depth: int) -> str:
        name = self._named(call)
        if name.endswith("b64decode") and call.args:
            return decoded(self._text(call.args[0], depth + 1))
        if name.rpartition(".")[2] in {"Path", "str"} and call.args:
            return self._text(call.args[0], depth + 1)
        if name.endswith("expanduser") and call.args:
            return self._text(call.args[0], depth + 1)
        if isinstance(call.func, ast.Attribute) and call.func.attr in {"decode", "encode", "strip"}:
            return self._text(call.func.value, depth + 1)
        return UNKNOWN


def _is_decoder(node: ast.Attribute | ast.Name) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else node.id
    return bool(re.search(r"b64|b32|decode|decompress|fromhex|urlopen|unhexlify|loads", name))


def _calls(node: ast.AST) -> Iterator[ast.Call]:
    return (each for each in ast.walk(node) if isinstance(each, ast.Call))


def decoded(text: str) -> str:
    """The text behind base64; `UNKNOWN` where it is none."""
    try:
        return base64.b64decode(re.sub(r"\s+", "", text), validate=False).decode()
    except (binascii.Error, ValueError):
        return UNKNOWN
