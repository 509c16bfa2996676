"""Extracts the public API of a Rust file: its `pub` items and the methods of its `impl` blocks."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from swarmgate.gates.contracts.model import Call, Parameter, Surface, Symbol
from swarmgate.gates.source import grammar_tree
from swarmgate.gates.source.grammar_nodes import child, flat, header, line, name, named, text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_LIFETIME = re.compile(r"'[a-z_]\w*(?:,|\s)?")
_SIMPLE = {
    "const_item": "constant", "static_item": "static", "type_item": "type", "associated_type": "type",
    "macro_definition": "macro",
}  # fmt: skip


def unit(path: str) -> str:
    """The module: `src/a/b.rs` and `src/a/b/mod.rs` are one."""
    stem = posixpath.splitext(path)[0]
    for root in ("/mod", "/lib", "/main"):
        stem = stem.removesuffix(root)
    return stem


def read(path: str, content: bytes) -> Surface:
    """The surface of one module's file.

    Raises:
        grammars.TooSlow: see there.
    """
    root = grammar_tree.parse(content, "rust").root_node
    surface = Surface(unit(path), path, torn=content if root.has_error else b"")
    stars: list[str] = []
    _items(surface, root.named_children, "", public=True, stars=stars)
    surface.stars = tuple(stars)
    for symbol in surface.symbols.values():
        symbol.path = path
    return surface


def _items(surface: Surface, nodes: list[Node], prefix: str, *, public: bool, stars: list[str]) -> None:
    attributes: list[str] = []
    for node in nodes:
        if node.type == "attribute_item":
            attributes.append(flat(node))
            continue
        if node.type in {"line_comment", "block_comment"}:
            continue
        if not any("cfg(test)" in each or each == "#[test]" for each in attributes):
            _item(surface, node, prefix, attributes, public=public, stars=stars)
        attributes = []


def _item(
    surface: Surface, node: Node, prefix: str, attributes: list[str], *, public: bool, stars: list[str]
) -> None:  # fmt: skip
    body = child(node, "body")
    if node.type == "mod_item":
        if body is not None:
            inner = public and _pub(node)
            _items(surface, body.named_children, f"{prefix}{name(node)}.", public=inner, stars=stars)
        return
    if node.type == "use_declaration":
        for alias in _exported(node, stars) if _pub(node) else ():
            _put(surface, Symbol(f"{prefix}{alias}", "alias", line(node), flat(node), public=public))
        return
    for symbol in _read(node, attributes):
        symbol.public = symbol.public and public
        symbol.name = f"{prefix}{symbol.name}"
        symbol.ambiguous |= any(each.startswith("#[cfg(") for each in attributes)
        _put(surface, symbol)


def _put(surface: Surface, symbol: Symbol) -> None:
    symbol.ambiguous |= symbol.name in surface.symbols
    surface.symbols[symbol.name] = symbol


def _pub(node: Node) -> bool:
    return any(flat(each) == "pub" for each in named(node, "visibility_modifier"))


def _read(node: Node, attributes: list[str]) -> Iterator[Symbol]:
    if node.type in {"function_item", "function_signature_item"}:
        yield _function(node, public=_pub(node))
    elif node.type in {"struct_item", "union_item"}:
        yield _struct(node)
    elif node.type == "enum_item":
        yield _enum(node)
    elif node.type == "trait_item":
        yield _trait(node)
    elif node.type == "impl_item" and child(node, "trait") is None:
        owner = flat(child(node, "type")).partition("<")[0]
        for each in named(child(node, "body"), "function_item", "const_item"):
            symbol = next(_read(each, []))
            symbol.name = f"{owner}.{symbol.name}"
            yield symbol
    elif node.type in _SIMPLE:
        exported = _pub(node) or (node.type == "macro_definition" and "#[macro_export]" in attributes)
        type_ = _type(child(node, "type"))
        yield Symbol(name(node), _SIMPLE[node.type], line(node), header(node, "value"), public=exported, type=type_)


def _type(node: Node | None) -> str:
    """A type without its lifetimes, whose names nobody depends on."""
    return _LIFETIME.sub("", flat(node)).replace("<>", "")


def _function(node: Node, *, public: bool) -> Symbol:
    words = " ".join(flat(each) for each in named(node, "function_modifiers"))
    traits = frozenset(word for word in ("async", "unsafe", "const") if word in words.split())
    call = Call(tuple(_parameters(node)), _type(child(node, "return_type")), header(node))
    return Symbol(name(node), "function", line(node), header(node), public=public, calls=(call,), traits=traits)


def _parameters(node: Node) -> Iterator[Parameter]:
    for each in named(child(node, "parameters"), "parameter", "self_parameter", "variadic_parameter"):
        if each.type == "self_parameter":
            # `mut self` takes what `self` takes.
            yield Parameter("self", type=_type(each) if "&" in flat(each) else "self")
        else:
            yield Parameter(text(child(each, "pattern")) or "_", type=_type(child(each, "type")))


def _struct(node: Node) -> Symbol:
    symbol = Symbol(name(node), "struct", line(node), header(node), public=_pub(node))
    body = child(node, "body")
    for each in named(body, "field_declaration"):
        _field(symbol, each, name(each), flat(child(each, "type")), public=_pub(each))
    if body is not None and body.type.startswith("ordered"):
        _tuple_fields(symbol, body)
    return symbol


def _ordered(body: Node) -> list[Node]:
    return [each for each in body.named_children if each.type not in {"attribute_item", "line_comment"}]


def _tuple_fields(symbol: Symbol, body: Node) -> None:
    public, number = False, 0
    for each in _ordered(body):
        if each.type == "visibility_modifier":
            public = flat(each) == "pub"
            continue
        _field(symbol, each, str(number), flat(each), public=public)
        public, number = False, number + 1


def _field(symbol: Symbol, node: Node, key: str, type_: str, *, public: bool) -> None:
    plain = _LIFETIME.sub("", type_).replace("<>", "")
    symbol.members[key] = Symbol(key, "field", line(node), f"{key}: {type_}", public=public, type=plain)


def _enum(node: Node) -> Symbol:
    symbol = Symbol(name(node), "enum", line(node), header(node), public=_pub(node))
    for each in named(child(node, "body"), "enum_variant"):
        one = name(each)
        symbol.members[one] = Symbol(one, "member", line(each), flat(each), type=_type(child(each, "body")))
    return symbol


def _trait(node: Node) -> Symbol:
    symbol = Symbol(name(node), "trait", line(node), header(node), public=_pub(node))
    bounds = named(child(node, "bounds"))
    symbol.bases = tuple(flat(each) for each in bounds if each.type != "lifetime")
    for each in named(child(node, "body")):
        if each.type not in {"function_item", "function_signature_item", "const_item", "associated_type"}:
            continue
        member = next(_read(each, []))
        member.public = True
        member.required = each.type != "function_item" and child(each, "value") is None
        symbol.members[member.name] = member
    return symbol


def _exported(node: Node, stars: list[str]) -> Iterator[str]:
    """The names that a `pub use` brings."""
    stack = [child(node, "argument")]
    while stack:
        each = stack.pop()
        if each is None:
            continue
        if each.type == "use_wildcard":
            stars.append(flat(each))
        elif each.type == "use_as_clause":
            yield text(child(each, "alias"))
        elif each.type == "scoped_use_list":
            stack.append(child(each, "list"))
        elif each.type == "use_list":
            stack.extend(each.named_children)
        elif each.type in {"scoped_identifier", "identifier"}:
            yield name(each) or text(each)
