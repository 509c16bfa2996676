"""Collects where Python code looks at its process, to find code that behaves differently under test.

A text is asked for where it is compared, looked up, or matched: `"x" in names`, `names.get("x")`, `n.startswith("x")`,
also by a name that it was given before. One that is printed, passed on or written is not.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from swarmgate.gates.source import python_tree

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

_STATE = {
    ("sys", "modules"): "modules", ("sys", "argv"): "arguments", ("sys", "orig_argv"): "arguments",
    ("os", "environ"): "variables", ("os", "environb"): "variables", ("os", "getenv"): "variables",
    ("os", "getppid"): "processes", ("psutil", "Process"): "processes",
    ("sys", "_getframe"): "stack", ("sys", "_current_frames"): "stack", ("inspect", "stack"): "stack",
    ("inspect", "currentframe"): "stack", ("inspect", "getouterframes"): "stack", ("inspect", "trace"): "stack",
    ("traceback", "extract_stack"): "stack", ("traceback", "walk_stack"): "stack",
    ("traceback", "format_stack"): "stack",
    ("sys", "gettrace"): "trace", ("sys", "getprofile"): "trace", ("threading", "gettrace"): "trace",
    ("os", "getcwd"): "place", ("", "__file__"): "place", ("", "__main__"): "main", ("__main__", ""): "main",
}  # fmt: skip
"""Where the state of the process is read: module, name, and what is looked at."""

_STACK_FIELDS = frozenset({"f_back", "co_filename", "f_code"})
_CALLER = frozenset({"co_name", "co_qualname", "co_filename"})
_TOP = "<module>"
"""How Python calls code outside of functions."""
_LOOKING_UP = frozenset({
    "get", "getenv", "startswith", "endswith", "find", "index", "count", "search", "match", "fullmatch", "findall",
    "__contains__", "has_key", "isdisjoint", "intersection", "issubset", "issuperset", "fnmatch", "fnmatchcase",
    "__getitem__", "partition", "split",
})  # fmt: skip
"""Functions and methods that are asked whether, or where, something is."""

_LOOKS = re.compile(
    rb"modules|argv|environ|getenv|getppid|Process|_frame|stack|f_back|f_code|co_filename|getprofile|trace|getcwd|/proc/"
    rb"|__file__|__main__|getattr"
)
"""A module that looks at the process has one of these."""

_GIVING = frozenset({ast.Assign, ast.AnnAssign, ast.NamedExpr})
_TAKING = frozenset({ast.For, ast.AsyncFor, ast.comprehension})
_READING = frozenset({ast.Attribute, ast.Name, ast.Call, ast.Constant, ast.Import})
_ASKING = frozenset({ast.Compare, ast.Call, ast.Subscript, ast.BinOp, ast.MatchValue})
_SCOPES = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef})
"""Kinds of nodes: a module has some hundred thousand, and most are of none of these."""

_Names = dict[str, tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Scope:
    """One function without those in it, or one statement outside of functions.

    `state`: what it looks at of the process, with the line. `texts`: what it asks for, each with its line. `caller`:
    the line where a name out of the stack is compared with a constant; 0 for none.
    """

    state: Mapping[str, int]
    texts: tuple[tuple[int, str], ...]
    caller: int = 0


def scopes(content: bytes, tree: ast.Module) -> Iterator[Scope]:
    """The scopes of a module that read process state or compare texts; none where nothing is read."""
    if not _LOOKS.search(content):
        return
    names, outer = _imported(tree), _named(tree.body)
    for nodes in _apart(tree):
        constants = {**outer, **_named(nodes)}
        reading = (node for node in nodes if type(node) in _READING)
        state = {kind: getattr(node, "lineno", 0) for node in reading if (kind := _looks_at(node, names))}
        asking = (each for node in nodes if type(node) in _ASKING for each in _conditions(node))
        texts = {found for each in asking for found in _texts(each, constants)}
        if state or texts:
            yield Scope(state, tuple(sorted(texts)), _compares_caller(nodes) if "stack" in state else 0)


def _compares_caller(nodes: Sequence[ast.AST]) -> int:
    """The line where the name or file of a frame, or what was made of it, is compared with a constant; 0 for none."""
    made = {
        target.id
        for node in nodes
        if isinstance(node, ast.Assign | ast.NamedExpr) and _of_caller(node.value, frozenset())
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
    for node in nodes:
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            constant = any(isinstance(each, ast.Constant) and each.value not in (None, _TOP) for each in sides)
            if constant and any(_of_caller(each, made) for each in sides):
                return node.lineno
    return 0


def _of_caller(node: ast.expr, made: Collection[str]) -> bool:
    """Whether an expression has the name or the file of a frame in it, or one of the names made of such."""
    return any(
        (isinstance(each, ast.Attribute) and each.attr in _CALLER) or (isinstance(each, ast.Name) and each.id in made)
        for each in python_tree.walk(node)
    )


def _imported(tree: ast.Module) -> _Names:
    """What the names of a module stand for: module and member (empty: the module itself)."""
    names: _Names = {}
    for node in python_tree.walk(tree):
        if isinstance(node, ast.Import):
            names |= {each.asname or each.name: (each.name, "") for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {each.asname or each.name: (node.module, each.name) for each in node.names}
    return names


def _named(nodes: Sequence[ast.AST]) -> Mapping[str, list[str]]:
    """The texts that names stand for, by assignments and loops."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for node in nodes:
        kind = type(node)
        value = getattr(node, "value", None) if kind in _GIVING else node.iter if kind in _TAKING else None  # type: ignore[attr-defined]  # by its kind
        if value is None:
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]  # type: ignore[attr-defined]  # by its kind
        for target in targets:
            if isinstance(target, ast.Name):
                found[target.id] += [text for _, text in _texts(value, {})]
    return found


def _apart(tree: ast.Module) -> Iterator[list[ast.AST]]:
    """The nodes of each scope."""
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        begun = waiting.pop()
        if isinstance(begun, ast.ClassDef):
            waiting += [*begun.body, *begun.decorator_list]
            continue
        nodes, inner = [begun], python_tree.children(begun)
        while inner:
            node = inner.pop()
            if type(node) in _SCOPES:
                waiting.append(node)
            else:
                nodes.append(node)
                inner += python_tree.children(node)
        yield nodes


def _looks_at(node: ast.AST, names: _Names) -> str:
    if isinstance(node, ast.Attribute):
        return "stack" if node.attr in _STACK_FIELDS else _STATE.get((_module(node.value, names), node.attr), "")
    if isinstance(node, ast.Name):
        return _STATE.get(names.get(node.id, ("", node.id)), "")
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "getattr":
        module, member = [*node.args, None, None][:2]
        return _STATE.get((_module(module, names), _text(member)), "")
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("/proc/"):
        return "processes"
    return "modules" if isinstance(node, ast.Import) and any(each.name == "__main__" for each in node.names) else ""


def _module(node: ast.AST | None, names: _Names) -> str:
    """The module that an expression stands for."""
    if isinstance(node, ast.Name):
        return names.get(node.id, (node.id, ""))[0]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute) and node.args:
        called = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
        return _text(node.args[0]) if called in {"__import__", "import_module"} else ""
    return ""


def _conditions(node: ast.AST) -> list[ast.expr]:
    """The expressions of a node that are asked for."""
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators]
    if isinstance(node, ast.Call):
        name = getattr(node.func, "attr", "") or getattr(node.func, "id", "")
        return list(node.args) if name in _LOOKING_UP else []
    if isinstance(node, ast.Subscript):
        return [node.slice] if isinstance(node.ctx, ast.Load) else []
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd | ast.Sub | ast.BitOr):
        return [node.left, node.right]
    return [node.value] if isinstance(node, ast.MatchValue) else []


def _texts(node: ast.expr, constants: Mapping[str, list[str]]) -> Iterator[tuple[int, str]]:
    """The texts that an expression is, or is a collection of."""
    if isinstance(node, ast.Name):
        yield from ((node.lineno, text) for text in constants.get(node.id, ()))
    elif isinstance(node, ast.Tuple | ast.List | ast.Set):
        for each in node.elts:
            yield from _texts(each, constants)
    elif isinstance(node, ast.JoinedStr):
        for each in node.values:
            yield from _texts(each, constants)
    elif isinstance(node, ast.Call) and len(node.args) == 1:  # frozenset(("x", "y")), re.compile("x")
        yield from _texts(node.args[0], constants)
    elif text := _text(node):
        yield node.lineno, text


def _text(node: ast.AST | None) -> str:
    """The text of a constant, put together where it is of several; empty for none."""
    if isinstance(node, ast.Constant):
        value = node.value
        return value if isinstance(value, str) else value.decode("latin-1") if isinstance(value, bytes) else ""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "join":
        parts = node.args[0].elts if node.args and isinstance(node.args[0], ast.Tuple | ast.List) else []
        return _text(node.func.value).join(map(_text, parts))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _text(node.left), _text(node.right)
        return left + right if left and right else ""
    return ""
