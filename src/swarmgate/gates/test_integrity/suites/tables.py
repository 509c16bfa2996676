"""Reads the rows of parametrised tests: parameters, looped tables, annotation arguments."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from swarmgate.gates.source.grammar_nodes import child, named, text
from swarmgate.gates.test_integrity.suites.tokens import Tokens, tokens
from swarmgate.workspace.code import grammars

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_LISTS = frozenset({
    "list", "tuple", "array", "literal_value", "array_expression", "element_value_array_initializer",
    "array_initializer", "set",
})  # fmt: skip
_ROWS = frozenset({
    "list", "tuple", "array", "object", "literal_value", "literal_element", "keyed_element", "tuple_expression",
    "dictionary", "call", "call_expression", "composite_literal", "struct_expression", "array_expression",
})  # fmt: skip
_OFF = re.compile(r"\bmarks\s*=.*\b(?:skip|xfail)\b")
_LOOPS = {"for_statement": "right", "for_in_statement": "right", "for_expression": "value", "range_clause": "right"}


def rows(node: Node, language: str) -> Iterator[Tokens]:
    """The rows that a test runs with; skipped rows are left out."""
    for table in _tables(node):
        for each in named(table):
            if "comment" not in each.type and not _OFF.search(text(each)):
                yield tokens(text(each), language)


_FEEDS = re.compile(r"@(?:\w+\.)?(?:Parameters|DataProvider)\b")


def shared_rows(scope: Node) -> int:
    """How many rows a method of a class of Java gives to all tests of the class (JUnit 4's Parameterized, TestNG)."""
    for method in named(scope, "method_declaration"):
        if any(_FEEDS.match(text(each)) for part in named(method, "modifiers") for each in part.children):
            lists = (each for each in grammars.walk(method) if each.type in {"array_initializer", "argument_list"})
            counts = (sum("comment" not in one.type for one in named(each)) for each in lists)
            return next((count for count in counts if count > 1), 0)
    return 0


def _tables(node: Node) -> Iterator[Node]:
    taken: list[Node] = []
    for each in grammars.walk(node):
        table = _table(each)
        if table is not None and not any(
            t.start_byte <= table.start_byte and table.end_byte <= t.end_byte for t in taken
        ):
            taken.append(table)
            yield table


def _table(node: Node) -> Node | None:
    """The list that a node runs a test with."""
    if node.type in {"decorator", "annotation"}:
        if re.search(r"parametrize|parameterized|[Ss]ource|expand|ddt|data\(|cases", text(node)[:60]):
            found = [each for each in grammars.walk(node) if each.type in _LISTS and len(named(each)) > 0]
            plain = [each for each in found if each.type in {"list", "array", "element_value_array_initializer"}]
            values = plain or found
            return _values(node, values) if "parametrize" in text(node) else next(iter(values), None)
        return None
    if node.type in _LOOPS:
        over = child(node, _LOOPS[node.type])
        return over if over is not None and over.type in _LISTS and len(named(over)) > 1 else None
    if node.type == "call_expression" and re.match(r"(?:\w+\.)+each$", text(child(node, "function"))):
        arguments = named(child(node, "arguments"))
        return arguments[0] if arguments and arguments[0].type in _LISTS else None
    if any(each.type == "keyed_element" and re.match(r"[A-Za-z_]\w*\s*:", text(each)) for each in named(node)):
        return None  # the fields of one struct of Go
    composed = node.type in _LISTS and len(named(node)) >= (1 if _of_structs(node) else 2) and all(
        each.type in _ROWS for each in named(node) if "comment" not in each.type
    )  # fmt: skip
    bound = node.parent is not None and node.parent.type in {
        "assignment", "variable_declarator", "let_declaration", "composite_literal", "member_expression",
    }  # fmt: skip
    return node if composed and bound else None


def _of_structs(node: Node) -> bool:
    """Whether a literal of Go is a slice of structs whose fields stand there: a table, however short."""
    kind = child(node.parent, "type") if node.parent is not None and node.parent.type == "composite_literal" else None
    return kind is not None and kind.type == "slice_type" and "struct" in text(kind)


def _values(node: Node, found: list[Node]) -> Node | None:
    """Of `parametrize(names, values)` the values: the second argument."""
    call = next((each for each in grammars.walk(node) if each.type == "call"), None)
    arguments = [each for each in named(child(call, "arguments")) if each.type != "comment"]
    second = arguments[1] if len(arguments) > 1 else None
    if second is not None and second.type == "keyword_argument":
        second = child(second, "value")
    return next((each for each in found if each == second), None)
