"""Extracts the exports of a JavaScript or TypeScript module (ECMAScript modules and CommonJS)."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from swarmgate.gates.contracts.model import Surface, Symbol
from swarmgate.gates.contracts.trees.ecmascript_members import (
    FUNCTIONS,
    alias,
    bare,
    call_of,
    class_of,
    function,
    put_members,
)
from swarmgate.gates.project.files import language_of
from swarmgate.gates.source import grammar_tree
from swarmgate.gates.source.grammar_nodes import child, flat, header, line, name, named, text
from swarmgate.workspace.code import grammars

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_CLASSES = {"class_declaration", "abstract_class_declaration", "class"}
_LITERALS = {"string", "number", "true", "false", "null", "template_string", "regex", "array", "unary_expression"}


def unit(path: str) -> str:
    """The module as imports name it: `a.ts`, `a.d.ts` and `a/index.js` are one."""
    stem = posixpath.splitext(path)[0].removesuffix(".d")
    return stem.removesuffix("/index") if stem != "index" else stem


def read(path: str, content: bytes) -> Surface:
    """The API surface of one module: its exports.

    Raises:
        grammars.TooSlow: see there.
    """
    root = grammar_tree.parse(content, grammars.grammar_of(path, language_of(path))).root_node
    return _Reader(root, path).surface


class _Reader:
    def __init__(self, root: Node, path: str) -> None:
        self.surface = Surface(unit(path), path, torn=(root.text or b"") if root.has_error else b"")
        self.stars: list[str] = []
        self.local: dict[str, list[Node]] = {}
        self.assigned: dict[str, list[tuple[str, Node, bool]]] = {}
        statements = list(_statements(root))
        for node in statements:
            for declared in _declarations(node):
                self.local.setdefault(name(declared), []).append(declared)
        for node in statements:
            if node.type == "expression_statement":
                self._own_members(node)
        for node in statements:
            if node.type == "export_statement":
                self._export(node)
            elif node.type == "expression_statement":
                for each in node.named_children:
                    self._common(each)
        self.surface.stars = tuple(self.stars)

    def _put(self, exported: str, node: Node | None, *, line_of: Node) -> None:
        """A name and what declares it; without a declaration here it is known by name alone."""
        made = self._symbol(exported, node) if node is not None else Symbol(exported, "alias", line(line_of))
        made.name, made.path = exported, self.surface.path
        self.surface.symbols[exported] = made

    def _named(self, exported: str, local: str, node: Node) -> None:
        declared = self.local.get(local)
        self._put(exported, declared[-1] if declared else None, line_of=node)
        if declared and len(declared) > 1:
            self._overloads(self.surface.symbols[exported], declared)

    def _overloads(self, symbol: Symbol, declared: list[Node]) -> None:
        signatures = [each for each in declared if each.type == "function_signature"]
        if signatures:
            symbol.calls = tuple(call_of(each) for each in signatures)
        elif all(each.type == "interface_declaration" for each in declared):
            for each in declared[:-1]:
                symbol.members |= self._symbol(symbol.name, each).members
        else:
            symbol.ambiguous = True

    # --- export statements ---

    def _export(self, node: Node) -> None:
        words = {each.type for each in node.children if not each.is_named}
        source = text(child(node, "source")).strip("\"'`")
        for clause in named(node, "export_clause"):
            for each in named(clause, "export_specifier"):
                exported = text(child(each, "alias")) or name(each)
                if source:
                    self._put(exported, None, line_of=each)
                    self.surface.origins[exported] = (source, name(each))
                else:
                    self._named(exported, name(each), each)
        for each in named(node, "namespace_export"):
            self._put(flat(each.named_children[0]), None, line_of=each)
        if "*" in words and not named(node, "namespace_export"):
            self.stars.append(source)
        declaration, value = child(node, "declaration"), child(node, "value")
        if "default" in words:
            self._default(declaration if declaration is not None else value, node)
        elif "=" in words:
            target = next(iter(node.named_children), None)
            self._default(target, node)
        elif declaration is not None:
            for each in _declared(declaration):
                self._named(name(each), name(each), each)

    def _default(self, value: Node | None, node: Node) -> None:
        if value is not None and value.type == "identifier":
            self._named("default", text(value), node)
        else:
            self._put("default", value, line_of=node)

    # --- CommonJS, and members that are assigned ---

    def _own_members(self, node: Node) -> None:
        """`Foo.prototype.bar = function`, `app.init = function`: members of what is declared here."""
        for each in named(node, "assignment_expression"):
            parts = flat(child(each, "left")).split(".")
            value = child(each, "right")
            bound = parts[1:-1] == ["prototype"]
            if value is not None and parts[0] not in {"module", "exports", "this"} and (bound or parts[1:-1] == []):
                self.assigned.setdefault(parts[0], []).append((parts[-1], value, bound))

    def _common(self, node: Node) -> None:
        if node.type == "sequence_expression":
            for each in node.named_children:
                self._common(each)
        if node.type != "assignment_expression":
            return
        left, value = flat(child(node, "left")), child(node, "right")
        if value is not None and value.type == "assignment_expression":
            self._common(value)
            value = _last(value)
        if left == "module.exports" and value is not None:
            self._exported_value(value, node)
        elif re.fullmatch(r"(?:module\.)?exports\.\w+", left) and value is not None:
            exported = left.rpartition(".")[2]
            if exported == "default" or not exported.startswith("__"):
                self._value(exported, value, node)

    def _exported_value(self, value: Node, node: Node) -> None:
        if value.type != "object":
            self._default(value, node)
            return
        for each in value.named_children:
            if each.type == "shorthand_property_identifier":
                self._named(text(each), text(each), each)
            elif each.type == "pair":
                inner = child(each, "value")
                if inner is not None:
                    self._value(text(child(each, "key")).strip("\"'"), inner, each)
            elif each.type == "method_definition":
                self._put(name(each), each, line_of=each)
            elif each.type == "spread_element":
                self.stars.append(flat(each))

    def _value(self, exported: str, value: Node, node: Node) -> None:
        if value.type == "identifier":
            self._named(exported, text(value), node)
        else:
            self._put(exported, value, line_of=node)

    # --- symbols ---

    def _symbol(self, called: str, node: Node) -> Symbol:
        if node.type == "variable_declarator":
            return self._variable(called, node)
        if node.type in FUNCTIONS or node.type == "method_definition":
            symbol = function(called, node)
        elif node.type in _CLASSES:
            symbol = class_of(called, node)
        elif node.type == "interface_declaration":
            symbol = Symbol(called, "interface", line(node), header(node))
            parts = named(node, "extends_type_clause", "extends_clause")
            symbol.bases = tuple(flat(each).partition("<")[0] for part in parts for each in part.named_children)
            put_members(symbol, child(node, "body"))
        elif node.type == "type_alias_declaration":
            symbol = alias(called, node)
        elif node.type == "enum_declaration":
            symbol = Symbol(called, "enum", line(node), header(node))
            for each in named(child(node, "body")):
                key = (name(each) or text(each)).strip("\"'")
                symbol.members[key] = Symbol(key, "member", line(each), flat(each), value=flat(child(each, "value")))
        else:
            literal = node.type in _LITERALS
            symbol = Symbol(called, "attribute", line(node), called, traits=frozenset() if literal else _OPEN)
        for key, value, bound in self.assigned.get(name(node), ()):
            member = self._symbol(key, value)
            member.public = not key.startswith("_")
            member.traits |= frozenset() if bound else {"static"}
            member.ambiguous = key in symbol.members
            symbol.members[key] = member
        return symbol

    def _variable(self, called: str, node: Node) -> Symbol:
        value = bare(child(node, "value"))
        if value is not None and (value.type in FUNCTIONS or value.type in _CLASSES):
            symbol = self._symbol(called, value)
            symbol.line = line(node)
        else:
            literal = value is not None and value.type in _LITERALS
            symbol = Symbol(called, "attribute", line(node), called, traits=frozenset() if literal else _OPEN)
        declared = flat(child(node, "type")).removeprefix(":")
        symbol.type = declared if symbol.kind == "attribute" else ""
        for key, assigned, bound in self.assigned.get(name(node), ()):
            member = self._symbol(key, assigned)
            member.public, member.ambiguous = not key.startswith("_"), key in symbol.members
            member.traits |= frozenset() if bound else {"static"}
            symbol.members.setdefault(key, member)
        return symbol


_OPEN = frozenset({"open"})


def _statements(root: Node) -> Iterator[Node]:
    """Top-level statements, those of `declare module`, `declare global` and blocks left out."""
    yield from root.named_children


def _declarations(node: Node) -> Iterator[Node]:
    yield from _declared(child(node, "declaration") if node.type == "export_statement" else node)


def _declared(node: Node | None) -> Iterator[Node]:
    if node is None:
        return
    if node.type == "ambient_declaration":
        for each in node.named_children:
            yield from _declared(each)
    elif node.type in {"lexical_declaration", "variable_declaration"}:
        for each in named(node, "variable_declarator"):
            target = child(each, "name")
            if target is not None and target.type == "identifier":
                yield each
    elif name(node) and (node.type in FUNCTIONS | _CLASSES or node.type in _NAMED):
        yield node


_NAMED = {"interface_declaration", "type_alias_declaration", "enum_declaration", "internal_module"}


def _last(node: Node) -> Node | None:
    value = child(node, "right")
    return _last(value) if value is not None and value.type == "assignment_expression" else value
