"""Data model of one use of an API in a source file, with helpers that the readers of all languages share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from swarmgate.gates.source.grammar_nodes import child, text

if TYPE_CHECKING:
    from tree_sitter import Node


@dataclass(frozen=True)
class Use:
    """What is used: `name` (dotted; empty: the module) of `unit`; where; and how: import, name or call.

    `given` is the number of arguments, -1 where that is not certain (spread, a call that may return several values).
    """

    unit: str
    name: str
    line: int
    column: int
    how: str = "name"
    given: int = -1


def use(unit: str, name: str, node: Node, how: str = "name", given: int = -1) -> Use:
    """A use at a node."""
    return Use(unit, name, node.start_point[0] + 1, node.start_point[1] + 1, how, given)


def arguments(node: Node, field: str = "arguments", unsure: tuple[str, ...] = ()) -> int:
    """How many arguments a call passes; -1 where one of them is of an `unsure` type."""
    listed = child(node, field)
    if listed is None:
        return 0 if field == "arguments" and node.type == "new_expression" else -1
    given = [each for each in listed.named_children if "comment" not in each.type]
    return -1 if any(each.type in unsure for each in given) else len(given)


def is_callee(node: Node) -> bool:
    """Whether a node is what is called."""
    parent = node.parent
    return parent is not None and child(parent, "function") == node and text(node) != ""
