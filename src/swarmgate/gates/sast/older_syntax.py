"""Rewrites newer Python syntax (PEP 701 f-strings) so that an older parser reads it, positions unchanged.

Since Python 3.12 a string inside of an f-string's braces may use the f-string's own quotes and backslashes (PEP 701).
Here such a string gets the other quotes, or becomes a name of the same width, for which the syntax tree has the string
again. Only the text of an f-string in an f-string may have changed.
"""

from __future__ import annotations

import ast
import re
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from swarmgate.gates.source import grammar_tree, python_tree
from swarmgate.workspace.code import grammars

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_NESTED = (3, 12)
"""The version whose own parser reads nested quotes."""
_OPENING = re.compile(rb"^(?P<prefix>[A-Za-z]*)(?P<quote>\"\"\"|'''|\"|')")


def parse(content: bytes) -> tuple[ast.Module, bytes]:
    """The syntax tree, and the source that was parsed: `content` itself or its rewriting.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: see `python_tree.own`; of the original source.
    """
    try:
        return python_tree.own(content), content
    except SyntaxError as error:
        text, names = rewritten(content) if sys.version_info < _NESTED else (content, {})
        if text == content:
            raise
        try:
            tree = python_tree.own(text)
        except (SyntaxError, ValueError):
            raise error from None
        return _Restored(names).visit(tree), text


def why(error: Exception) -> str:
    """Why a file does not parse, as text."""
    if isinstance(error, SyntaxError):
        return f"line {error.lineno or 1}: {error.msg}"
    return str(error) or "nested too deeply"


def rewritten(content: bytes) -> tuple[bytes, dict[str, str | bytes]]:
    """The source with the strings in f-string braces rewritten for an older parser.

    Returns:
        The source, and what the names in it stand for that took the place of strings.
    """
    try:
        tree = grammar_tree.parse(content, "python")
    except grammars.TooSlow:
        return content, {}
    writer = _Writer(content)
    for string in _outermost(tree.root_node):
        for inner in _strings(string):
            writer.put(inner, frozenset({_quote(string)}))
    return bytes(writer.text), writer.names


class _Writer:
    """Puts strings; `names` is what the names that had to be made up stand for."""

    def __init__(self, content: bytes) -> None:
        self.text = bytearray(content)
        self.names: dict[str, str | bytes] = {}
        self._content = content

    def put(self, string: Node, used: frozenset[bytes]) -> None:
        """Rewrite one string inside of braces whose enclosing strings use the quotes `used`."""
        start, end = string.start_byte, string.end_byte
        opening = _OPENING.match(self._content[start:end])
        if opening is None:
            return
        quote, width = opening["quote"], len(opening["quote"])
        first, last = start + opening.end(), end - width
        nested = list(_strings(string))
        free = [each for each in (quote, b'"', b"'") if each not in used and len(each) == width]
        body = self._content[first:last]
        foreign = any(each[:1] in body for each in (*used, *free[:1])) and not nested
        if not free or foreign or b"\n" in body or (b"\\" in body and not nested):
            self._name(start, end)
            return
        self.text[start + opening.end("prefix") : first] = free[0]
        self.text[last:end] = free[0]
        for inner in nested:
            self.put(inner, used | {free[0]})
        if nested:
            self.text[first:last] = re.sub(rb"\\.", b"  ", bytes(self.text[first:last]))

    def _name(self, start: int, end: int) -> None:
        digits = end - start - 1
        for number in range(len(self.names), len(self.names) + 1000):
            name = f"_{number:0{digits}d}"
            if len(name) == end - start and name not in self.names and name.encode() not in self._content:
                break
        else:
            return
        with suppress(SyntaxError, ValueError):
            value = ast.literal_eval(self._content[start:end].decode(errors="replace"))
            self.names[name] = value
        self.text[start:end] = name.encode()


class _Restored(ast.NodeTransformer):
    """Puts the strings back for the names that took their place."""

    def __init__(self, names: dict[str, str | bytes]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Replace a made-up name by the string that it stands for."""
        if node.id not in self._names:
            return node
        return ast.copy_location(ast.Constant(self._names[node.id]), node)


def _outermost(node: Node) -> Iterator[Node]:
    waiting = [node]
    while waiting:
        each = waiting.pop()
        if each.type == "string":
            yield each
        else:
            waiting += each.children


def _strings(string: Node) -> Iterator[Node]:
    for part in string.children:
        if part.type == "interpolation":
            yield from _outermost(part)


def _quote(string: Node) -> bytes:
    opening = _OPENING.match(string.text or b"")
    return opening["quote"] if opening else b""
