"""Finds tables of Python product code that hold the answers to tests: looked up by a function's arguments.

A function that looks its arguments up and computes the result where they are not there may well have exceptions to
list (words with irregular plurals). Asked is therefore for numbers, or for several arguments at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from swarmgate.gates.project.files import language_of
from swarmgate.gates.source import grammar_tree
from swarmgate.gates.source.grammar_nodes import child, line, name, named, text
from swarmgate.gates.test_integrity.suites.tokens import Tokens, bare, closing, is_literal, is_number, split, tokens
from swarmgate.workspace.code import grammars

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from swarmgate.gates.test_integrity.change import File

_PYTHON = "python"
_MOST = 20
"""Rows of a table from which it is data, and no list of what tests ask."""


class Table(NamedTuple):
    """A new table that a function looks its arguments up in. `rows`: what is looked up, and what it gives."""

    path: str
    line: int
    function: str
    rows: tuple[tuple[tuple[Tokens, ...], Tokens], ...]


def of_file(file: File) -> Iterator[Table]:
    """The tables of a changed file that were not there before."""
    if language_of(file.path) != _PYTHON or b"{" not in file.new:
        return
    try:
        tree = grammar_tree.parse(file.new, _PYTHON)
    except grammars.TooSlow:
        return
    nodes = list(grammars.walk(tree.root_node))
    old, tables = file.old.decode("utf-8", "replace"), dict(_tables(nodes))
    for function in (each for each in nodes if each.type == "function_definition"):
        for title in _looked_up(function) & tables.keys():
            rows = tuple(_rows(tables[title]))
            if rows and text(tables[title]) not in old:
                yield Table(file.path, line(tables[title]), name(function), rows)


def _tables(nodes: list[Node]) -> Iterator[tuple[str, Node]]:
    for node in nodes:
        value = child(node, "right") if node.type == "assignment" else None
        if value is not None and value.type == "dictionary":
            yield text(child(node, "left")), value


def _looked_up(function: Node) -> set[str]:
    """The names in which a function looks up what it gets, where it also computes something of it."""
    parameters = set(tokens(text(child(function, "parameters")), _PYTHON))
    code = tokens(text(child(function, "body")), _PYTHON)
    found = set()
    for at, title in enumerate(code):
        opened = at + 3 if code[at + 1 : at + 4] == (".", "get", "(") else at + 1
        if code[opened : opened + 1] not in {("(",), ("[",)} or (opened == at + 1 and code[opened] == "("):
            continue
        inside = code[opened + 1 : closing(code, opened)]
        if not parameters.isdisjoint(inside) and _computes(inside, code, parameters):
            found.add(title)
    return found


def _computes(inside: Tokens, code: Tokens, parameters: set[str]) -> bool:
    """Whether arithmetic with arguments stands in what is given where nothing is found, or elsewhere."""
    signs = {"+", "-", "*", "/", "%"}
    return any(
        each in signs and part[at - 1] in parameters and part[at + 1 : at + 2]
        for part in (inside, code)
        for at, each in enumerate(part)
        if at
    )


def _rows(table: Node) -> Iterator[tuple[tuple[Tokens, ...], Tokens]]:
    """The rows whose key and value are literal; none of a table that has others, or that is long."""
    found = []
    for pair in named(table, "pair"):
        key, value = (bare(tokens(text(child(pair, side)), _PYTHON)) for side in ("key", "value"))
        if not (is_literal(key) and is_literal(value)):
            return
        key = key[1:-1] if key[:1] == ("(",) else key  # as arguments stand in a call
        if any(map(is_number, key)) or len(split(key, ",")) > 1:
            found.append(((key,), value))
    if len(found) <= _MOST and any(each.strip("0.") not in {"", "1"} for (key,), _ in found for each in key):
        yield from found
