"""Decides whether a change to an existing test file only adds tests, or removes or alters some of them.

In every language: each line that stood there stays (imports may be rewritten), and no added line switches tests off. In
Python also: each function and class that stood there means the same as before, so that nothing is put into a test.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterator

_IMPORT = re.compile(r"\s*(?:import|from|use|using|require|#include|const .*\brequire\()\b")
_SWITCH_OFF = re.compile(
    r"\b(?:it|test|describe|context|suite)\.(?:skip|only|todo)\b|^\s*x(?:it|test|describe|context)\b|^\s*f(?:it|describe)\("
    r"|@(?:Disabled|Ignore)\b|\bt\.Skip(?:Now|f)?\(|#\[ignore|\[Ignore|markTest(?:Skipped|Incomplete)|^\s*return;?\s*$"
)
_SWITCHES = frozenset({"pytestmark", "collect_ignore", "collect_ignore_glob", "__test__"})
_SKIPS = frozenset({"skip", "importorskip", "exit", "_exit", "skipTest"})
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def weakened(path: str, original: str, before: str, after: str) -> str:
    """What the change from `before` to `after` took from the file, in a few words; empty when nothing.

    Only what stood in `original`, before the task, and still in `before` is protected.

    Args:
        path: of the file; its ending says the language.
        original: the text before the task.
        before: the text before the change in question.
        after: the text after it.
    """
    if lost := _lost_line(original, before, after):
        return f"the line `{lost}` is gone or changed"
    if path.endswith(".py"):
        try:
            return _changed_definition(*map(ast.parse, (original, before, after)))
        except (SyntaxError, ValueError):  # no test runs there
            return ""
        except (RecursionError, MemoryError):  # `ast.dump` goes as deep as the code is nested
            return "it cannot be compared with what stood there: its code is nested too deeply"
    added = Counter(after.splitlines()) - Counter(before.splitlines())
    off = next((line.strip() for line in added if _SWITCH_OFF.search(line)), "")
    return f"the new line `{off[:80]}` switches tests off" if off else ""


def _lost_line(original: str, before: str, after: str) -> str:
    protected = Counter(_lines(original)) & Counter(_lines(before))
    lost = protected - Counter(_lines(after))
    return next((line.strip()[:80] for line in _lines(original) if line in lost), "")


def _lines(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if line.strip() and not _IMPORT.match(line):
            yield line.rstrip()


def _changed_definition(original: ast.Module, before: ast.Module, after: ast.Module) -> str:
    first, second, third = (dict(_definitions(tree)) for tree in (original, before, after))
    for name, meant in first.items():
        if second.get(name) == meant != third.get(name):
            return f"`{name}` was changed" if name in third else f"`{name}` is gone"
    known = {ast.dump(node) for node in (*original.body, *before.body)}
    fresh = (node for node in after.body if ast.dump(node) not in known)
    return next(filter(None, (_switched_off(node, first) for node in fresh)), "")


def _switched_off(node: ast.stmt, existing: Collection[str]) -> str:
    """How a statement that is new in the file takes the tests away that stood there; empty when it does not."""
    if isinstance(node, _Definition):
        hooks = node.name.startswith("pytest_")
        everywhere = any("autouse" in ast.dump(each) for each in node.decorator_list)
        return f"`{node.name}` changes the other tests" if hooks or (everywhere and _skips(node)) else ""
    if name := next((name for name in _bound(node) if name in existing or name in _SWITCHES), ""):
        return f"`{name}` is set anew"
    return "tests are switched off" if _skips(node) else ""


def _definitions(tree: ast.Module | ast.ClassDef, above: str = "") -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each function and class by its dotted name, with what it means; a class without its methods.

    Of two that have the same name the later one wins in Python: both count, so that a new one changes the meaning.
    """
    found: dict[str, tuple[str, ...]] = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            name = f"{above}{node.name}"
            yield from _definitions(node, f"{name}.")
            rest = [each for each in node.body if not isinstance(each, _Definition)]
            shell = ast.ClassDef(node.name, node.bases, node.keywords, rest, node.decorator_list)
            found[name] = (*found.get(name, ()), ast.dump(shell))
        elif isinstance(node, _Definition):
            name = f"{above}{node.name}"
            found[name] = (*found.get(name, ()), ast.dump(node))
    yield from found.items()


def _bound(node: ast.stmt) -> Iterator[str]:
    """The names that a statement sets or deletes, wherever in it."""
    for each in ast.walk(node):
        if isinstance(each, ast.Name | ast.Attribute | ast.Subscript) and isinstance(each.ctx, ast.Store | ast.Del):
            yield from _parts_of(each)
        elif isinstance(each, ast.alias):
            yield (each.asname or each.name).partition(".")[0]


def _parts_of(target: ast.expr) -> Iterator[str]:
    """The names in what is assigned to: `test_a` and `__test__` of `test_a.__test__`."""
    while isinstance(target, ast.Attribute | ast.Subscript):
        if isinstance(target, ast.Attribute):
            yield target.attr
        target = target.value
    if isinstance(target, ast.Name):
        yield target.id


def _skips(node: ast.stmt) -> bool:
    calls = (each.func for each in ast.walk(node) if isinstance(each, ast.Call))
    return any(
        (call.attr if isinstance(call, ast.Attribute) else call.id if isinstance(call, ast.Name) else "") in _SKIPS
        for call in calls
    )
