"""Helper functions on tree-sitter nodes that the readers of all languages share."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_SPACE = re.compile(r"\s+")
_TIGHT = re.compile(r"\s*([\[\](){}<>,;|&*=?]|:(?!:))\s*")
_TRAILING = re.compile(r"[,;](?=[\])}>])")
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


def text(node: Node | None) -> str:
    """The source of a node as it stands; empty for none."""
    return node.text.decode("utf-8", "replace") if node is not None and node.text else ""


def flat(node: Node | None) -> str:
    """The source of a node on one line, without comments, in one spelling of its white space."""
    plain = _SPACE.sub(" ", _COMMENT.sub(" ", text(node))).strip()
    return _TRAILING.sub("", _TIGHT.sub(r"\1", plain))


def child(node: Node | None, field: str) -> Node | None:
    """The child of that field."""
    return node.child_by_field_name(field) if node is not None else None


def name(node: Node | None) -> str:
    """The source of the field `name`."""
    return text(child(node, "name"))


def named(node: Node | None, *types: str) -> list[Node]:
    """The named children, of these types where some are given."""
    children = node.named_children if node is not None else []
    return [each for each in children if not types or each.type in types]


def line(node: Node) -> int:
    """The line of its first character, from 1."""
    return node.start_point[0] + 1


def header(node: Node, body: str = "body") -> str:
    """The source up to the body, on one line: what a reader takes for the signature."""
    inside = child(node, body)
    source = node.text or b""
    end = inside.start_byte - node.start_byte if inside is not None else len(source)
    plain = _COMMENT.sub(" ", source[:end].decode("utf-8", "replace"))
    return _SPACE.sub(" ", plain).strip().rstrip("{=; ")


def fields(node: Node, field: str) -> Iterator[Node]:
    """Every named child of that field."""
    yield from (each for each in node.children_by_field_name(field) if each.is_named)
