"""Generates labelled sets from the standard library of the running Python: unchanged, and with known defects.

No data is needed for them, and every user can repeat them. What is wrong is known because it was put there.
"""

from __future__ import annotations

import ast
import random
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from swarmgate.domain.review.finding import Severity
from swarmgate.evaluation.case import Case

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Function = ast.FunctionDef | ast.AsyncFunctionDef

LIBRARY = Path(sysconfig.get_path("stdlib"))
"""Where the standard library of the running Python lies."""

_DELIBERATE = frozenset({"test", "tests", "lib2to3", "site-packages", "dist-packages", "idlelib", "turtledemo"})
"""Folders of the library that hold broken or generated source on purpose, or are not the library's."""

_SEED = 1_234_567


@dataclass(frozen=True, slots=True)
class MadeSet:
    """A set that needs no data."""

    about: str
    make: Callable[[], Iterator[Case]]


def library() -> Iterator[Case]:
    """Every module of the standard library as a new file: none has wrong syntax or a secret in it."""
    for path, source in _modules():
        for gate in ("syntax_check", "secret_scan"):
            yield Case(gate, "as released", False, {path: source}, severity=Severity.MEDIUM, place=path)


def broken() -> Iterator[Case]:
    """Modules that lost a bracket or their end; what still compiles is not counted as broken."""
    chance = random.Random(_SEED)  # noqa: S311 - repeatable damage, no secret
    for path, source in _modules():
        brackets = [n for n, byte in enumerate(source) if byte in b"()[]{}"]
        if brackets:
            lost = chance.choice(brackets)
            cut = chance.randrange(len(source) // 2, len(source))
            for kind, damaged in (("lost bracket", source[:lost] + source[lost + 1 :]), ("truncated", source[:cut])):
                if not _compiles(damaged):
                    yield Case("syntax_check", kind, True, {path: damaged}, severity=Severity.MEDIUM, place=path)


def stubs() -> Iterator[Case]:
    """Real functions that a change adds, and the same with a stub for a body."""
    chance = random.Random(_SEED)  # noqa: S311 - a repeatable choice, no secret
    for path, tree in _trees():
        functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and _has_work(node)]
        if not functions:
            continue
        chosen = chance.choice(functions)
        kind, stub = chance.choice(list(_STUBS.items()))
        without = _source(tree, {chosen: None})
        for label, body in (("real function", None), (kind, stub)):
            after = _source(tree, {}) if body is None else _source(tree, {chosen: body})
            place = f"{path} {chosen.name}"
            yield Case("placeholder_scan", label, body is not None, {path: after}, {path: without},
                       severity=Severity.MEDIUM, place=place)  # fmt: skip


_STUBS = {
    "pass": "pass", "ellipsis": "...", "not implemented": "raise NotImplementedError",
    "message": "raise NotImplementedError('later')", "for now": "return None  # for now, return nothing",
    "in a real implementation": "# In a real implementation this would do the work.\nreturn True",
    "todo": "# TODO: implement\nreturn {}", "placeholder": "# placeholder\nreturn []",
    "docstring": '"""Not yet implemented."""', "your code": "# your code here\npass",
    "elided": "# ... existing code ...\nreturn None", "unchanged": "# rest of the code unchanged\npass",
}  # fmt: skip


def contracts() -> Iterator[Case]:
    """Public functions and classes whose contract a change breaks, and changes that break none."""
    chance = random.Random(_SEED)  # noqa: S311 - a repeatable choice, no secret
    for path, tree in _trees():
        functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")]
        if not functions or path.rpartition("/")[2].startswith("_") or _has_all(tree):
            continue
        chosen = chance.choice(functions)
        before = _source(tree, {})
        for kind, (breaks, change) in _CHANGES.items():
            changed = ast.parse(ast.unparse(chosen)).body[0]
            if isinstance(changed, ast.FunctionDef) and change(changed):
                after = _source(tree, {chosen: None if kind == "removed" else ast.unparse(changed)}, whole=True)
                yield Case("diff", kind, breaks, {path: after}, {path: before}, rules=("contract",),
                           severity=Severity.INFO, place=f"{path} {chosen.name}")  # fmt: skip


def _rename(function: ast.FunctionDef) -> bool:
    function.name += "_anew"
    return True


def _require(function: ast.FunctionDef) -> bool:
    function.args.kwonlyargs.append(ast.arg("needed_from_now_on"))
    function.args.kw_defaults.append(None)
    return True


def _offer(function: ast.FunctionDef) -> bool:
    function.args.kwonlyargs.append(ast.arg("offered_from_now_on"))
    function.args.kw_defaults.append(ast.Constant(None))
    return True


def _drop(function: ast.FunctionDef) -> bool:
    if not function.args.args:
        return False
    function.args.args.pop(0)
    del function.args.defaults[: max(0, len(function.args.defaults) - len(function.args.args))]
    return True


def _default(function: ast.FunctionDef) -> bool:
    if not function.args.defaults:
        return False
    function.args.defaults[0] = ast.Constant("another default")
    return True


def _body(function: ast.FunctionDef) -> bool:
    function.body.append(ast.parse("del locals").body[0])
    return True


def _remove(_: ast.FunctionDef) -> bool:
    return True


_CHANGES: dict[str, tuple[bool, Callable[[ast.FunctionDef], bool]]] = {
    "removed": (True, _remove), "renamed": (True, _rename), "parameter required": (True, _require),
    "parameter removed": (True, _drop), "default changed": (True, _default),
    "parameter offered": (False, _offer), "body changed": (False, _body),
}  # fmt: skip
"""Of each kind of change: whether it breaks a contract, and who makes it (False where it is not possible)."""

SETS: dict[str, MadeSet] = {
    "broken": MadeSet("standard-library modules with a lost bracket or end (syntax_check)", broken),
    "contracts": MadeSet("changed contracts of standard-library functions (diff)", contracts),
    "library": MadeSet("the standard library as released (syntax_check, secret_scan)", library),
    "stubs": MadeSet("standard-library functions with stubs for bodies (placeholder_scan)", stubs),
}
"""Sets that need no data, by name."""


def _modules() -> Iterator[tuple[str, bytes]]:
    for path in sorted(LIBRARY.rglob("*.py")):
        if not _DELIBERATE & set(path.relative_to(LIBRARY).parts):
            yield path.relative_to(LIBRARY).as_posix(), path.read_bytes()


def _trees() -> Iterator[tuple[str, ast.Module]]:
    for path, source in _modules():
        yield path, ast.parse(source)


def _compiles(source: bytes) -> bool:
    try:
        ast.parse(source)
    except (SyntaxError, ValueError):
        return False
    return True


def _has_work(function: Function) -> bool:
    return len(function.body) > 3 and not function.decorator_list  # noqa: PLR2004 - a docstring and some statements


def _has_all(tree: ast.Module) -> bool:
    """Whether the module says itself what is public: then a function may be none of it."""
    return any(isinstance(node, ast.Name) and node.id == "__all__" for node in ast.walk(tree))


def _source(tree: ast.Module, instead: dict[Function, str | None], *, whole: bool = False) -> bytes:
    """The module's text with some functions replaced: by nothing (None), by a new body, or as a `whole`."""
    parts = []
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef) or node not in instead:
            parts.append(ast.unparse(node))
            continue
        text = instead[node]
        if text is not None and whole:
            parts.append(text)
        elif text is not None:
            head = ast.FunctionDef(node.name, node.args, [ast.Pass()], node.decorator_list, node.returns)
            head_text = ast.unparse(ast.fix_missing_locations(head)).rpartition("\n")[0]
            parts.append(head_text + "\n" + "\n".join(f"    {line}" for line in text.splitlines()))
    return ("\n\n\n".join(parts) + "\n").encode()
