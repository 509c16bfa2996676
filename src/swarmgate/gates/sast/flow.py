"""Which hits in Python code cannot be: the value is made of constants, or the taint rules have looked and found no way.

Only hits about outside input reaching a sink are judged (`INJECTIONS`). A hit of bandit or ruff is a match of how the
code is written; inside a function that handles a request, our taint rules know more: what they do not follow to that
line is left out.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

from swarmgate.gates import python_source
from swarmgate.gates.sast.constants import Run

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from swarmgate.gates.files import Source
    from swarmgate.gates.sast.hit import Hit

_INJECTIONS = "20 22 74 77 78 79 88 89 90 91 94 95 113 117 134 470 501 502 601 611 643 918 943 1333 1336"
INJECTIONS = frozenset(f"CWE-{number}" for number in _INJECTIONS.split())
"""Weaknesses that need outside input: of a value that is none, there is nothing to say."""

_REQUEST = re.compile(r"^(?!.*urllib)(.*\.)?(request|req)$")
_ROUTES = {"route", "get", "post", "put", "patch", "delete", "api_route", "websocket"}
_NO_FLOW = {"B201", "B404", "B405", "B406", "B407", "B408", "B409", "B410", "B411", "B403", "B701", "B702"}
"""bandit's tests that carry the CWE of an injection and are not about a value."""

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def plausible(source: Source, hits: Sequence[Hit]) -> list[Hit]:
    """The hits that may be, of one file. Whatever cannot be parsed or judged stays."""
    if source.language != "python" or not any(hit.cwe in INJECTIONS for hit in hits):
        return list(hits)
    try:
        tree = python_source.parse(source.content)
        return _judged(tree, hits)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return list(hits)


def _judged(tree: ast.Module, hits: Sequence[Hit]) -> list[Hit]:
    functions = [node for node in ast.walk(tree) if isinstance(node, _Function)]
    known = dict(_module_constants(tree))
    around = {hit: [node for node in functions if node.lineno <= hit.line <= (node.end_lineno or 0)] for hit in hits}
    ours = [hit for hit in hits if _is_ours(hit) and not _made_of_constants(hit, around[hit], known)]
    lines = {hit.line for hit in ours}
    matches = [
        hit
        for hit in hits
        if not _is_ours(hit)
        and (hit.line in lines or not _needs_a_flow(hit) or not any(map(_handles_a_request, around[hit])))
    ]
    return ours + matches


def _is_ours(hit: Hit) -> bool:
    return hit.tool == "swarmgate"


def _needs_a_flow(hit: Hit) -> bool:
    return hit.cwe in INJECTIONS and "B" + hit.code[1:] not in _NO_FLOW


def _made_of_constants(hit: Hit, around: Sequence[_Function], known: dict[str, Any]) -> bool:
    """Whether nothing that a taint rule's hit is about can hold outside input."""
    if hit.cwe not in INJECTIONS or not around:
        return False
    function = max(around, key=lambda node: node.lineno)
    end = hit.end_line, hit.end_column
    for node in ast.walk(function):
        if not isinstance(node, ast.expr) or (node.lineno, node.col_offset + 1) != (hit.line, hit.column):
            continue
        if (node.end_lineno, (node.end_col_offset or 0) + 1) == end:
            return Run(function.body, known, [node]).is_clean(node)
    return False


def _handles_a_request(function: _Function) -> bool:
    for decorator in function.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if isinstance(called, ast.Attribute) and called.attr in _ROUTES:
            return True
    attributes = (node for node in ast.walk(function) if isinstance(node, ast.Attribute))
    return any(_REQUEST.search(ast.unparse(node.value)) for node in attributes)


def _module_constants(tree: ast.Module) -> Iterator[tuple[str, Any]]:
    stored = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    for statement in tree.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=value)) if stored.count(name) == 1:
                yield name, value
