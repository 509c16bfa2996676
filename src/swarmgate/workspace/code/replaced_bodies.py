"""Replaces the bodies of functions in JavaScript, TypeScript and Go, to test whether tests notice it.

Each new or changed function gets a condition before what it does, whose text differs in one digit between the modes.
Which lines run is not measured there. A project whose tools take the added text for an error fails with it in each
mode, and then nothing is said of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from swarmgate.workspace.code import grammars
from swarmgate.workspace.code.instrumentation import Mode

if TYPE_CHECKING:
    from tree_sitter import Node

LANGUAGES = frozenset({"javascript", "typescript", "go"})
"""What can be rewritten here."""
_FUNCTIONS = frozenset(
    {
        "function_declaration", "function_expression", "function", "generator_function_declaration",
        "generator_function", "method_definition", "arrow_function", "method_declaration", "func_literal",
    }
)  # fmt: skip
_COMPARES = frozenset({"==", "===", "!=", "!==", "<", "<=", ">", ">=", "in", "instanceof"})
_THROWS = 'throw new Error("the body of this function was replaced")'
_GIVES_NOTHING = frozenset({"generator_function_declaration", "generator_function"})


@dataclass(frozen=True)
class Replaceable:
    """A changed file, ready to be written in each mode; `functions` are the names of those that are replaced.

    `constants`: whether some of them can return a wrong constant.
    """

    path: str
    functions: tuple[str, ...]
    constants: bool
    _source: bytes = field(repr=False)
    _insertions: tuple[tuple[int, str], ...] = field(repr=False)

    def text(self, mode: Mode) -> bytes:
        """The whole file. Where a mode has no text of its own the functions are left as they are."""
        parts, read = [], 0
        digits = {_RAISES: str(2 if mode is Mode.RAISE else 0), _WRONG: str(2 if mode is Mode.CONSTANT else 0)}
        for offset, text in self._insertions:
            masked = text
            for sign, digit in digits.items():
                masked = masked.replace(sign, digit)
            parts += [self._source[read:offset], masked.encode()]
            read = offset
        return b"".join([*parts, self._source[read:]])


_RAISES, _WRONG = "\0raises\0", "\0wrong\0"


def replaceable(path: str, language: str, before: Iterable[bytes], after: bytes) -> Replaceable | None:
    """The changed file with conditions before its new and changed functions; None where there is none, or none is read.

    Args:
        path: of the file.
        language: one of `LANGUAGES`.
        before: the texts of the files that the change replaces: a function that stands there is not new.
        after: its text with the change.
    """
    grammar = grammars.grammar_of(path, language)
    try:
        old = {_essence(node) for text in before for node in _functions(grammars.parse(grammar, text).root_node)}
        root = grammars.parse(grammar, after).root_node
    except grammars.TooSlow:
        return None
    if root.has_error:
        return None
    insertions: list[tuple[int, str]] = []
    names = []
    for node in _functions(root):
        if _essence(node) not in old and (found := tuple(_conditions(node, language))):
            insertions += found
            names.append(f"{_name(node)} ({path}:{node.start_point.row + 1})")
    constants = any(_WRONG in text for _, text in insertions)
    return Replaceable(path, tuple(names), constants, after, tuple(sorted(insertions))) if names else None


def _functions(root: Node) -> Iterator[Node]:
    return (node for node in grammars.walk(root) if node.is_named and node.type in _FUNCTIONS)


def _essence(node: Node) -> bytes:
    return b" ".join((node.text or b"").split())


def _name(node: Node) -> str:
    named = node.child_by_field_name("name")
    if named is None and node.parent is not None:
        named = node.parent.child_by_field_name("name")
    return (named.text or b"").decode("utf-8", "replace") if named is not None else "a function"


def _conditions(node: Node, language: str) -> Iterator[tuple[int, str]]:
    body = node.child_by_field_name("body")
    if body is None:
        return
    if language == "go":
        if body.named_child_count:
            yield body.start_byte + 1, f' if {_RAISES} > 1 {{ panic("the body of this function was replaced") }}; '
        return
    wrong = "({} as any)" if language == "typescript" else "({})"
    if body.type != "statement_block":
        constant = "" if _is_boolean(body) else f"{_WRONG} > 1 ? {wrong} : "
        yield body.start_byte, f"({_RAISES} > 1 ? (() => {{ {_THROWS} }})() : {constant}("
        yield body.end_byte, "))"
    elif body.named_child_count:
        values = tuple(_values(body))
        nothing = _name(node) == "constructor" or node.type in _GIVES_NOTHING or not values
        gives = "return;" if nothing else f"return {wrong};"
        constant = "" if values and all(map(_is_boolean, values)) else f"if ({_WRONG} > 1) {{ {gives} }} "
        yield body.start_byte + 1, f" if ({_RAISES} > 1) {{ {_THROWS} }} {constant}"


def _values(body: Node) -> Iterator[Node]:
    """What a function returns, functions inside of it aside."""
    stack = list(body.children)
    while stack:
        node = stack.pop()
        if node.type == "return_statement" and node.named_child_count:
            yield node.named_children[0]
        if node.type not in _FUNCTIONS:
            stack.extend(node.children)


def _is_boolean(node: Node) -> bool:
    """Whether an expression is yes or no: every object is true in JavaScript, so none is a wrong answer to a test."""
    if node.type == "parenthesized_expression":
        return node.named_child_count == 1 and _is_boolean(node.named_children[0])
    if node.type == "binary_expression" and (operator := node.child_by_field_name("operator")) is not None:
        sides = [node.child_by_field_name(side) for side in ("left", "right")]
        logical = operator.type in {"&&", "||"} and all(side is not None and _is_boolean(side) for side in sides)
        return operator.type in _COMPARES or logical
    return node.type in {"true", "false"} or (node.type == "unary_expression" and (node.text or b"").startswith(b"!"))
