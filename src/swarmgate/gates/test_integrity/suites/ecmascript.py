"""Finds the tests of a JavaScript or TypeScript file: `test`, `it` and `describe` calls."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from swarmgate.gates.source.grammar_nodes import child, line, named, text
from swarmgate.gates.test_integrity.suites.skips import Switch, of_statements

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_TESTS = frozenset({"it", "test", "specify", "xit", "xtest", "fit", "ftest", "xspecify", "Deno", "iit"})
_GROUPS = frozenset({"describe", "context", "suite", "xdescribe", "fdescribe", "xcontext", "fcontext", "ddescribe"})
_OFF = re.compile(r"^x(?:it|test|describe|context|specify)\b|\.(?:skip|todo|failing|fails)\b(?!If)")
_CONSTANT = re.compile(r"\.skipIf\(\s*true\s*\)|\.runIf\(\s*false\s*\)")
_GUARDED = re.compile(r"\.(?:skipIf|runIf)\b")
_ONLY = re.compile(
    r"^(?:fit|ftest|fdescribe|fcontext|ddescribe|iit)\b|^(?:it|test|describe|context|suite|specify)\.(?:\w+\.)*only\b"
)
MAY_FOCUS = re.compile(rb"\bonly\b|\b(?:fit|ftest|fdescribe|fcontext|ddescribe|iit)\b")
"""What a file holds in which something may be focused."""

_FUNCTIONS = frozenset({"arrow_function", "function_expression", "function"})


@dataclass(frozen=True, slots=True)
class Found:
    """A test or a helper: its node, dotted name, body, what stands above it, and what skips it."""

    node: Node
    name: str
    body: Node | None
    head: str
    switch: Switch
    helper: bool = False
    shared_rows: int = 0


def cases(root: Node) -> Iterator[Found]:
    """Every test of a file, named by its blocks and its title, and the functions outside of them."""
    yield from _within(root, "", Switch())


def _within(node: Node, above: str, outer: Switch) -> Iterator[Found]:
    for each in node.named_children:
        root, callee = _called(each)
        if root in _TESTS or root in _GROUPS:
            yield from _block(each, root, callee, above, outer)
        elif not above and (function := _function(each)) is not None:
            body = child(function, "body")
            inner = list(_within(body, above, outer)) if body is not None else []
            yield from inner or [Found(each, text(child(each, "name")), body, "", outer, helper=True)]
        else:
            yield from _within(each, above, outer)


def _function(node: Node) -> Node | None:
    """The function that a statement declares by a name."""
    if node.type in {"function_declaration", "generator_function_declaration"}:
        return node
    value = child(node, "value") if node.type == "variable_declarator" else None
    return value if value is not None and value.type in _FUNCTIONS else None


def _block(node: Node, root: str, callee: str, above: str, outer: Switch) -> Iterator[Found]:
    arguments = named(child(node, "arguments"))
    title = text(arguments[0]).strip("'\"`") if arguments else ""
    body = next(
        (inner for each in reversed(arguments) if each.type in _FUNCTIONS and (inner := child(each, "body"))), None
    )
    if body is None and not arguments:
        return
    switch = outer.over(_switch(callee, arguments))
    if root in _GROUPS or (body is not None and root == "test" and callee.startswith("test.describe")):
        if body is not None:
            yield from _within(body, f"{above}{title} > ", switch)
    elif body is not None or len(arguments) == 1:
        if body is not None:
            switch = switch.over(of_statements(body, "javascript"))
        elif not switch.off:
            switch = Switch("it has no body")
        yield Found(node, f"{above}{title}", body, callee, switch)


def _switch(callee: str, arguments: list[Node]) -> Switch:
    found = _OFF.search(callee) or _CONSTANT.search(callee)
    if found:
        return Switch(found[0].lstrip("."))
    options = next((text(each) for each in arguments if each.type == "object"), "")
    option = re.search(r"\b(?:skip|todo)\s*:\s*(true|['\"`][^'\"`]+)", options)
    if option:
        return Switch(option[0])
    guard = _GUARDED.search(callee) or re.search(r"\bskip\s*:\s*(?!false\b)", options)
    return Switch("", guard[0].strip(".: ")) if guard else Switch()


def focused(root: Node) -> Iterator[int]:
    """The lines of focused tests and blocks (`.only`), which skip all others."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if (node.type == "call_expression" and _ONLY.match(text(child(node, "function"))[:60])) or (
            node.type == "pair"
            and re.fullmatch(r"only\s*:\s*true", text(node))
            and _called(_caller(node))[0] in _TESTS | _GROUPS
        ):
            yield line(node)
        waiting += node.named_children


def _caller(node: Node) -> Node:
    while node.parent is not None and node.type != "call_expression":
        node = node.parent
    return node


def _called(node: Node) -> tuple[str, str]:
    """The name that a call begins with, and all that is called."""
    if node.type == "expression_statement" and node.named_children:
        return "", ""
    if node.type != "call_expression":
        return "", ""
    callee = child(node, "function")
    spelled = text(callee)
    if len(spelled) > 2000 or callee is None:  # noqa: PLR2004 - a chain, or a table before its call
        spelled = spelled[:2000]
    match = re.match(
        r"(\w+)(?:\.(?:only|skip|todo|concurrent|sequential|each|failing|fails|skipIf|runIf|serial|describe|for|test)\b|\(|$|`)",
        spelled,
    )
    return (match[1] if match else "", spelled) if callee is not None and callee.type != "import" else ("", "")
