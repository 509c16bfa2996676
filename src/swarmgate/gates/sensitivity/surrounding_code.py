"""Collects the identifiers and one-word strings of the function or file that surrounds a line.

A name such as `session.py` or `sha256` is sensitive in one program and harmless in the next; the words beside it tell.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from swarmgate.gates.sensitivity.imports import imports_of
from swarmgate.gates.sensitivity.uses import FUNCTIONS, own_name
from swarmgate.gates.source import grammar_tree
from swarmgate.gates.source.grammar_nodes import text
from swarmgate.workspace.code import grammars

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_IDENTIFIER = re.compile(r"identifier$|^(?:constant|name|variable_name|simple_symbol|hash_key_symbol)$")
_STRING = re.compile(r"string_fragment$|string_content$|string_literal$|^encapsed_string$|^string$")
_QUOTES = "\"'`:$"
_ONE_WORD = re.compile(r"[A-Za-z_][\w.-]{0,40}")


class Around:
    """The words of one file. Its tree is read when it is first asked for them."""

    def __init__(self, path: str, language: str, content: bytes) -> None:
        self._path = path
        self._language = language
        self._content = content

    @cached_property
    def everywhere(self) -> frozenset[str]:
        """The words of the whole file."""
        return frozenset(_words(self._root))

    @cached_property
    def modules(self) -> frozenset[str]:
        """Every module that the file imports."""
        return frozenset(each.module for node in grammars.walk(self._root) for each in imports_of(self._language, node))

    def at(self, first: int, last: int) -> frozenset[str]:
        """The words of the innermost function with a name that holds these lines, else of the statement that does."""
        holding = [node for node in grammars.walk(self._root) if _holds(node, first, last)]
        functions = [node for node in holding if node.type in FUNCTIONS and own_name(node)]
        statements = [node for node in holding if node.parent is not None and node.parent.parent is None]
        found = min(functions, key=_length, default=None) or next(iter(statements), None)
        return self.everywhere if found is None else frozenset(_words(found))

    @cached_property
    def _root(self) -> Node:
        return grammar_tree.parse(self._content, grammars.grammar_of(self._path, self._language)).root_node


def _holds(node: Node, first: int, last: int) -> bool:
    return node.start_point.row < first and last <= node.end_point.row + 1


def _length(node: Node) -> int:
    return node.end_byte - node.start_byte


def _words(node: Node) -> Iterator[str]:
    for each in grammars.walk(node):
        if _IDENTIFIER.search(each.type) or _STRING.search(each.type):
            word = text(each).strip(_QUOTES)
            if _ONE_WORD.fullmatch(word):
                yield word.replace("-", "_")
