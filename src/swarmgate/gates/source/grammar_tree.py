"""Parses a file's content with tree-sitter once and shares the tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swarmgate.gates.source.parse_cache import once
from swarmgate.workspace.code import grammars

if TYPE_CHECKING:
    from tree_sitter import Tree

TIME_LIMIT_S = 3.0
"""Seconds of processor time for one file: who judges one change must not wait for a grammar that loses its way."""

KEPT_BYTES = 2_000_000
"""So much source is held as trees, which take some twenty times as much memory."""


@once(KEPT_BYTES)
def parse(content: bytes, grammar: str) -> Tree:
    """The syntax tree of a content in UTF-8; wrong syntax gives a tree with `has_error`.

    Raises:
        TooSlow: the grammar did not end in time.
    """
    return grammars.parse(grammar, content, limit_s=TIME_LIMIT_S)
