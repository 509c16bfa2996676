"""Lists the names and functions that a product file defines and uses, to match them with tests."""

from __future__ import annotations

import re
from collections import Counter
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from swarmgate.gates.project.files import Trait, language_of, traits_of
from swarmgate.gates.source import grammar_tree
from swarmgate.gates.source.grammar_nodes import child, text
from swarmgate.gates.test_integrity.suites.parsing import LANGUAGES
from swarmgate.gates.test_integrity.suites.tokens import tokens
from swarmgate.workspace.code import grammars

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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


_FUNCTIONS = frozenset({
    "function_definition", "function_declaration", "method_definition", "method_declaration", "function_item",
    "generator_function_declaration", "function_expression", "arrow_function",
})  # fmt: skip
_OWNERS = _FUNCTIONS | {
    "class_definition", "class_declaration", "impl_item", "struct_item", "enum_item", "trait_item", "type_spec",
    "interface_declaration", "enum_declaration", "record_declaration", "constructor_declaration",
}  # fmt: skip
_BUILDS = frozenset({"__init__", "__new__", "constructor"})
"""What makes an object: its parameters are those of the class."""

_PARAMETERS = frozenset({"parameters", "formal_parameters", "parameter_list"})
_READS = {"attribute": "attribute", "member_expression": "property", "selector_expression": "field",
          "field_expression": "field", "field_access": "field"}  # fmt: skip


class Names(NamedTuple):
    """What a file defines: functions, types, members, parameters, constants; and its strings of one word.

    `members` are pairs of what defines and what it defines: methods and fields of a type, parameters of a function.
    `read` are the members that it asks of anything; `functions` are the tokens of its functions, by name, `whole` all
    of its tokens.
    """

    defined: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    members: frozenset[tuple[str, str]] = frozenset()
    read: frozenset[str] = frozenset()
    functions: Mapping[str, Counter[str]] = MappingProxyType({})
    whole: Counter[str] = Counter()  # noqa: RUF012 - nobody writes to it


def names(path: str, content: bytes) -> Names:
    """The names that a product file defines; none of other files or unreadable ones."""
    language = language_of(path)
    if language not in LANGUAGES or not content or Trait.TEST in traits_of(path):
        return Names()
    try:
        tree = grammar_tree.parse(content, grammars.grammar_of(path, language))
    except grammars.TooSlow:
        return Names()
    defined, words, members, read = set[str](), set[str](), set[tuple[str, str]](), set[str]()
    functions: dict[str, Counter[str]] = {}
    tests = list(_tests(tree.root_node)) if language == "rust" else []
    for node in grammars.walk(tree.root_node):
        if any(first <= node.start_byte and node.end_byte <= last for first, last in tests):
            continue
        if node.type in _STRINGS and node.end_byte - node.start_byte < _LONG:
            words |= {match[1] for match in [_WORD.match(text(node))] if match}
            continue
        found = {each for each in _defined(node) if len(each) >= _TELLING}
        defined |= found
        given = found or {each for each in _parameters(node) if len(each) >= _TELLING}
        members |= {(owner, each) for owner in [_owner(node)] for each in given if owner} if given else set()
        read |= {text(each) for each in [child(node, _READS.get(node.type, ""))] if each is not None}
        if node.type in _FUNCTIONS and (title := _title(node)):
            functions[title] = functions.get(title, Counter()) + Counter(tokens(text(node), language))
    for first, last in tests:
        content = content[:first] + b" " * (last - first) + content[last:]
    whole = Counter(tokens(content.decode("utf-8", "replace"), language))
    return Names(
        frozenset(defined), frozenset(words), frozenset(members), frozenset(read), MappingProxyType(functions), whole
    )


def _tests(root: Node) -> Iterator[tuple[int, int]]:
    """Where tests stand between the code of the product, as bytes from and to."""
    waiting = [root]
    while waiting:
        for each in waiting.pop().named_children:
            above = each.prev_named_sibling
            while above is not None and above.type == "attribute_item" and not _TEST.search(text(above)):
                above = above.prev_named_sibling
            if above is not None and above.type == "attribute_item":
                yield each.start_byte, each.end_byte
            elif each.type in {"mod_item", "declaration_list"}:
                waiting.append(each)


_TEST = re.compile(r"\b(?:test|rstest|test_case|quickcheck|proptest)\b")
"""What stands above a test of Rust, or a module of them."""


def _title(function: Node) -> str:
    """The name of a function: its own, or that of what it is given to."""
    place = child(function, "name") or child(function.parent, "name") or child(function.parent, "key")
    left = child(function.parent, "left")
    place = place or child(left, "property") or left
    return text(place).strip("\"'`") if place is not None and place.end_byte - place.start_byte < _LONG else ""


def _owner(node: Node) -> str:
    """The type or function that a name stands in: of a constructor its type, of a method of Go its receiver."""
    within = node.parent
    if node.type == "method_declaration" and (receiver := child(node, "receiver")) is not None:
        return re.sub(r"\[.*|[\s()*&]", "", text(receiver).rpartition(" ")[2])
    while within is not None:
        title = _title(within) or text(child(within, "type")) if within.type in _OWNERS else ""
        if title and title not in _BUILDS:
            return title
        within = within.parent
    return ""


def _parameters(node: Node) -> Iterator[str]:
    if node.type in _PARAMETERS:
        for each in node.named_children:
            place = child(each, "name") or child(each, "pattern") or child(each, "left") or each
            if place.end_byte - place.start_byte < _LONG:
                yield from re.findall(r"\w+", text(place))


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
