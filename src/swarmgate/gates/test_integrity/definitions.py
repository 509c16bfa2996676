"""The names that a file of the product defines, and the words in it: what tests of it speak of."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from swarmgate.gates.contracts.nodes import child, text
from swarmgate.gates.project.files import Trait, language_of, traits_of
from swarmgate.gates.source import grammar_tree
from swarmgate.gates.test_integrity.reading import LANGUAGES
from swarmgate.workspace import grammars

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_DEFINES = frozenset({
    "function_definition", "class_definition", "function_declaration", "class_declaration", "method_definition",
    "method_declaration", "type_spec", "field_declaration", "function_item", "struct_item", "enum_item", "trait_item",
    "enum_variant", "interface_declaration", "enum_declaration", "record_declaration", "const_item", "static_item",
    "macro_definition", "mod_item", "type_alias_declaration", "public_field_definition", "const_spec",
    "method_spec", "method_elem", "typed_parameter", "default_parameter", "typed_default_parameter", "pair",
    "property_signature", "method_signature", "generator_function_declaration", "field_identifier",
})  # fmt: skip
_WORD = re.compile(r"^[A-Za-z]?[\"'`]([A-Za-z][\w-]{2,})[\"'`]$")
_STRINGS = frozenset({"string", "string_literal", "interpreted_string_literal", "raw_string_literal"})


class Names(NamedTuple):
    """What a file defines: functions, types, members, parameters, constants; and its strings of one word."""

    defined: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()


def names(path: str, content: bytes) -> Names:
    """The names of a file of the product; none of another file, or of one that cannot be read."""
    language = language_of(path)
    if language not in LANGUAGES or not content or Trait.TEST in traits_of(path):
        return Names()
    try:
        tree = grammar_tree.parse(content, grammars.grammar_of(path, language))
    except grammars.TooSlow:
        return Names()
    defined, words = set(), set()
    for node in grammars.walk(tree.root_node):
        if node.type in _STRINGS and node.end_byte - node.start_byte < _LONG:
            words |= {match[1] for match in [_WORD.match(text(node))] if match}
        else:
            defined |= {found for found in _defined(node) if len(found) >= _TELLING}
    return Names(frozenset(defined), frozenset(words))


_TELLING = 3
"""Characters of a name that says something."""


def _defined(node: Node) -> Iterator[str]:
    if node.type in _DEFINES:
        named = child(node, "name") or child(node, "key") or next(iter(node.named_children), None)
        if named is not None and named.end_byte - named.start_byte < _LONG:
            yield text(named).strip("\"'`")
    elif node.type in {"assignment", "assignment_expression"}:
        left = child(node, "left")
        member = child(left, "attribute") or child(left, "property")
        if member is not None:
            yield text(member)
        elif left is not None and left.type == "identifier" and _at_top(node):
            yield text(left)
    elif node.type in {"variable_declarator", "var_spec"} and _at_top(node) and not _imports(child(node, "value")):
        yield text(child(node, "name"))


_LONG = 80


def _at_top(node: Node) -> bool:
    parent = node.parent
    while parent is not None and parent.type not in {"block", "statement_block", "function_definition"}:
        if parent.type in {"module", "program", "source_file"}:
            return True
        if parent.type == "class_definition":
            return True
        parent = parent.parent
    return parent is not None and parent.parent is not None and parent.parent.type == "class_definition"


def _imports(value: Node | None) -> bool:
    return text(value)[:_LONG].startswith("require(")
