"""Checks what a JavaScript or TypeScript file uses of Node's built-in modules.

The names of Node's modules are in `gates/names/node_builtins.txt`, written by `render_node_builtins.mjs` beside it. A
name of the file counts where it is bound once, and an attribute where the file neither asks for it nor assigns it.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from swarmgate import assets
from swarmgate.gates.imports.script.source import script_tree
from swarmgate.workspace.code import grammars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tree_sitter import Node

_OF_ALL = frozenset({"default", "prototype", "length", "name", "bind", "call", "apply", "then"})
_BINDERS = {"identifier", "shorthand_property_identifier_pattern"}
_SCOPED = {
    "variable_declarator": "name", "function_declaration": "name", "class_declaration": "name",
    "generator_function_declaration": "name", "catch_clause": "parameter", "arrow_function": "parameter",
    "required_parameter": "pattern", "optional_parameter": "pattern", "assignment_expression": "left",
    "augmented_assignment_expression": "left", "for_in_statement": "left", "function_expression": "name",
}  # fmt: skip
_FUNCTIONS = ("function", "function_declaration", "function_expression", "method_definition", "catch_clause")
_ASKS = re.compile(rb"\?\.|\btypeof\b|\bin\b|&&|\|\||\?\?|\?")
_VERSIONS = re.compile(rb"process\.versions?\b|semver")


@dataclass(frozen=True)
class Taken:
    """A name that a file takes from a module of Node, at a place of the file (lines and columns from 1)."""

    module: str
    name: str
    line: int
    column: int


def names(module: str) -> frozenset[str] | None:
    """The names of a module of Node, by its specifier; None where they are not known."""
    return _index().get(module.removeprefix("node:"))


def nearest(module: str, name: str) -> str:
    """The name of the module that was likely meant; empty when none is near."""
    found = difflib.get_close_matches(name, sorted(names(module) or ()), n=1)
    return found[0] if found else ""


def is_absent(module: str, name: str) -> bool:
    """Whether a module of Node certainly has no such name."""
    known = names(module)
    return known is not None and name not in known and name not in _OF_ALL and not name.startswith("_")


def absent(path: str, content: bytes, is_node: Callable[[str], bool]) -> Iterator[Taken]:
    """The names used of a Node module, by `require` or import, that do not exist.

    Raises:
        grammars.TooSlow: the grammar did not end.
    """
    root = script_tree(path, content)
    if root.has_error or _VERSIONS.search(content):
        return
    file = _File(root, is_node)
    for taken, node in file.taken():
        if is_absent(taken.module, taken.name) and taken.name not in file.stored and not _is_condition(node):
            yield taken


class _File:
    """The modules of Node that the names of one file stand for."""

    def __init__(self, root: Node, is_node: Callable[[str], bool]) -> None:
        self._root, self._is_node = root, is_node
        self._bound: dict[str, list[tuple[int, int]]] = {}
        self._modules: dict[str, str] = {}
        self.stored: set[str] = set()
        for node in grammars.walk(root):
            self._read(node)

    def taken(self) -> Iterator[tuple[Taken, Node]]:
        """Every name that is taken from one of these modules, with its node."""
        for node in grammars.walk(self._root):
            if node.type == "member_expression":
                own, name = node.child_by_field_name("object"), node.child_by_field_name("property")
                module = self._module(own) if own is not None else ""
                if module and name is not None and name.type == "property_identifier":
                    yield _taken(module, name), node
            elif node.type == "variable_declarator":
                pattern, value = node.child_by_field_name("name"), node.child_by_field_name("value")
                module = self._required(value)
                if module and pattern is not None and pattern.type == "object_pattern":
                    yield from ((_taken(module, key), key) for key in _keys(pattern))

    def _module(self, node: Node) -> str:
        if node.type == "identifier":
            name = _text(node)
            spans = [each for each in self._bound.get(name, ()) if each[0] <= node.start_byte < each[1]]
            return self._modules.get(name, "") if len(spans) == 1 else ""
        return self._required(node)

    def _required(self, node: Node | None) -> str:
        """The module of Node that a `require('...')` brings; empty for anything else."""
        if node is None or node.type != "call_expression":
            return ""
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is None or arguments is None or _text(function) != "require" or arguments.named_child_count != 1:
            return ""
        return self._named(arguments.named_children[0])

    def _named(self, node: Node | None) -> str:
        module = _text(node)[1:-1] if node is not None and node.type == "string" else ""
        return module if names(module) is not None and self._is_node(module) else ""

    def _read(self, node: Node) -> None:
        if node.type == "import_statement":
            self._import(node)
        elif node.type == "formal_parameters":
            self._bind(*node.named_children)
        elif node.type in _SCOPED:
            target = node.child_by_field_name(_SCOPED[node.type])
            if target is not None and target.type in {"member_expression", "subscript_expression"}:
                self._store(target)
            elif target is not None and node.type not in {"required_parameter", "optional_parameter"}:
                self._bind(target)
            if node.type == "variable_declarator" and target is not None and target.type == "identifier":
                module = self._required(node.child_by_field_name("value"))
                self._modules |= {_text(target): module} if module else {}

    def _store(self, target: Node) -> None:
        name = target.child_by_field_name("property")
        if name is not None:
            self.stored.add(_text(name))

    def _bind(self, *targets: Node) -> None:
        for target in targets:
            for each in grammars.walk(target):
                if each.type in _BINDERS:
                    self._bound.setdefault(_text(each), []).append(_scope(target))

    def _import(self, node: Node) -> None:
        module = self._named(node.child_by_field_name("source"))
        for clause in node.named_children:
            if clause.type != "import_clause":
                continue
            for each in clause.named_children:
                whole = each.type in {"identifier", "namespace_import"}
                self._bind(each)
                if whole and module:
                    name = each if each.type == "identifier" else each.named_children[0]
                    self._modules[_text(name)] = module


def _scope(node: Node) -> tuple[int, int]:
    """The first byte and the end of the innermost function around a node, or of the file."""
    above = node.parent
    while above is not None and above.parent is not None and not above.type.endswith(_FUNCTIONS):
        above = above.parent
    if above is not None and above.type.endswith("_declaration") and above.child_by_field_name("name") == node:
        return _scope(above)
    return (above.start_byte, above.end_byte) if above is not None else (node.start_byte, node.end_byte)


def _is_condition(node: Node) -> bool:
    """Whether the code asks if the name is there, or takes it being absent into account."""
    above: Node | None = node.parent
    if above is not None and any(each.type == "optional_chain" for each in above.children):
        return True
    if _ASKS.search(node.text or b""):
        return True
    while above is not None and not above.type.endswith(("function", "declaration", "program", "definition")):
        if above.type == "try_statement":
            return True
        test = above.child_by_field_name("condition") if above.type in {"if_statement", "ternary_expression"} else above
        if above.type in {"binary_expression", "unary_expression", "if_statement", "ternary_expression"} and (
            (above.type in {"if_statement", "ternary_expression"} and test is not None and _mentions(test, node))
            or (above.type in {"binary_expression", "unary_expression"} and _ASKS.search(above.text or b""))
        ):
            return True
        above = above.parent
    return False


def _mentions(test: Node, node: Node) -> bool:
    name = node.child_by_field_name("property")
    return name is not None and (name.text or b"") in (test.text or b"")


def _keys(pattern: Node) -> Iterator[Node]:
    """The names that a destructuring takes; one with a default of its own may be absent."""
    for each in pattern.named_children:
        if each.type == "shorthand_property_identifier_pattern":
            yield each
        elif each.type == "pair_pattern":
            key, value = each.child_by_field_name("key"), each.child_by_field_name("value")
            if key is not None and key.type == "property_identifier" and value and value.type != "assignment_pattern":
                yield key


def _taken(module: str, node: Node) -> Taken:
    line, column = node.start_point
    return Taken(module, _text(node), line + 1, column + 1)


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


@cache
def _index() -> dict[str, frozenset[str]]:
    text = (assets.gates() / "names" / "node_builtins.txt").read_text("utf-8")
    pairs = (line.partition(": ") for line in text.splitlines())
    return {module: frozenset(words.split()) for module, _, words in pairs}
