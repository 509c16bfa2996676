"""Extracts the public API of a Java package: its types and their members that are not private."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from swarmgate.gates.contracts.model import Call, Parameter, ParameterKind, Surface, Symbol
from swarmgate.gates.source import grammar_tree
from swarmgate.gates.source.grammar_nodes import child, fields, flat, header, line, name, named, text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_TYPES = {
    "class_declaration": "class", "interface_declaration": "interface", "enum_declaration": "enum",
    "record_declaration": "record", "annotation_type_declaration": "annotation",
}  # fmt: skip
_GENERATING = ("Constructor", "Data", "Value", "Builder")
MAKER = "constructor"


def unit(path: str, package: str) -> str:
    """The package, with the folder that it is below: projects of several modules have a package in each."""
    folder, inside = posixpath.dirname(path), package.replace(".", "/")
    above = folder.removesuffix(inside).rstrip("/") if f"/{folder}".endswith(f"/{inside}") else ""
    return f"{above}:{package}" if above else package


def package(unit: str) -> str:
    """The package that a unit's name ends with."""
    return unit.rpartition(":")[2]


def is_inside(unit: str, path: str) -> bool:
    """Whether a file lies in the folder of a unit's package, of whatever source root."""
    folder, inside = posixpath.dirname(path), package(unit).replace(".", "/")
    return f"/{folder}".endswith(f"/{inside}") if inside else not folder


def read(path: str, content: bytes) -> Surface:
    """The surface of one file of a package.

    Raises:
        grammars.TooSlow: see there.
    """
    root = grammar_tree.parse(content, "java").root_node
    packages = named(root, "package_declaration")
    inside = [each for each in named(packages[0]) if each.type.endswith("identifier")] if packages else []
    surface = Surface(unit(path, flat(inside[0]) if inside else ""), path, torn=content if root.has_error else b"")
    for node in named(root, *_TYPES):
        symbol = _type(node, path, open_=False)
        surface.symbols[symbol.name] = symbol
    return surface


def _words(node: Node) -> tuple[set[str], set[str]]:
    """The modifiers, and the names of the annotations."""
    modifiers = named(node, "modifiers")
    if not modifiers:
        return set(), set()
    annotations = {name(each).rpartition(".")[2] for each in named(modifiers[0])}
    return {each.type for each in modifiers[0].children if not each.is_named}, annotations


def _visible(symbol: Symbol, words: set[str], *, open_: bool) -> None:
    symbol.public = open_ or bool(words & {"public", "protected"})
    symbol.traits |= ({"protected"} & words) | ({"abstract", "final", "static"} & words)


def _type(node: Node, path: str, *, open_: bool) -> Symbol:
    kind = _TYPES[node.type]
    words, annotations = _words(node)
    symbol = Symbol(name(node), kind, line(node), header(node), path=path)
    _visible(symbol, words, open_=open_)
    symbol.bases = tuple(_bases(node))
    body = child(node, "body")
    within = kind in {"interface", "annotation"}
    for each in [*named(body), *(one for part in named(body, "enum_body_declarations") for one in named(part))]:
        for member in _members(each, path, interface=within, abstract="abstract" in words):
            _add(symbol, member)
    if kind == "record":
        call = Call(tuple(_parameters(node)), text=header(node))
        _add(symbol, Symbol(MAKER, MAKER, line(node), header(node), calls=(call,), path=path))
        for part in call.parameters:
            accessor = Symbol(part.name, "method", line(node), calls=(Call((), part.type),), path=path)
            symbol.members.setdefault(part.name, accessor)
    elif kind == "class" and MAKER not in symbol.members and not any(
        each.endswith(_GENERATING) for each in annotations
    ):  # fmt: skip
        call = Call((), text=f"{symbol.name}()")
        symbol.members[MAKER] = Symbol(
            MAKER, MAKER, line(node), call.text, calls=(call,), traits=frozenset({"implicit"}), path=path
        )
    return symbol


def _add(symbol: Symbol, member: Symbol) -> None:
    present = symbol.members.get(member.name)
    if present is not None and present.calls and member.calls:  # overloads
        if present.public == member.public:
            present.calls += member.calls
            present.traits &= member.traits
        elif member.public:
            member.narrow += present.calls + present.narrow
            symbol.members[member.name] = member
        else:
            present.narrow += member.calls
    else:
        symbol.members[member.name] = member


def _bases(node: Node) -> Iterator[str]:
    for part in (child(node, "superclass"), child(node, "interfaces"), *named(node, "extends_interfaces")):
        for each in _listed(part):
            yield flat(each).partition("<")[0].rpartition(".")[2]


def _listed(part: Node | None) -> list[Node]:
    nodes = named(part)
    return nodes[0].named_children if nodes and nodes[0].type == "type_list" else nodes


def _members(node: Node, path: str, *, interface: bool, abstract: bool) -> Iterator[Symbol]:
    words, annotations = _words(node)
    if "private" in words:
        return
    found: list[Symbol] = []
    if node.type in _TYPES:
        found = [_type(node, path, open_=interface)]
    elif node.type == "enum_constant":
        found = [Symbol(name(node), "member", line(node), flat(node), path=path)]
        words = {"public"}
    elif node.type in {"field_declaration", "constant_declaration"}:
        type_ = flat(child(node, "type"))
        for each in fields(node, "declarator"):
            symbol = Symbol(name(each), "field", line(node), f"{type_} {name(each)}", type=type_, path=path)
            symbol.traits = frozenset({"readonly"} if "final" in words or interface else ())
            found.append(symbol)
        words = words - {"final"}
    elif node.type in {"method_declaration", "constructor_declaration", "annotation_type_element_declaration"}:
        found = [_method(node, path, words, annotations, interface=interface, abstract=abstract)]
    for symbol in found:
        _visible(symbol, words, open_=interface)
        yield symbol


def _method(
    node: Node, path: str, words: set[str], annotations: set[str], *, interface: bool, abstract: bool
) -> Symbol:  # fmt: skip
    maker = node.type == "constructor_declaration"
    call = Call(tuple(_parameters(node)), flat(child(node, "type")), header(node))
    symbol = Symbol(
        MAKER if maker else name(node), MAKER if maker else "method", line(node), header(node), calls=(call,), path=path
    )
    bare = child(node, "body") is None and child(node, "value") is None
    symbol.required = bare and (interface or (abstract and "abstract" in words))
    symbol.traits = frozenset({"override"} if "Override" in annotations else ())
    return symbol


def _parameters(node: Node) -> Iterator[Parameter]:
    for each in named(child(node, "parameters"), "formal_parameter", "spread_parameter"):
        if each.type == "spread_parameter":
            types = [one for one in named(each) if one.type not in {"modifiers", "variable_declarator"}]
            declarators = named(each, "variable_declarator")
            called = name(declarators[0]) if declarators else "_"
            yield Parameter(called, ParameterKind.REST, required=False, type=flat(types[0]) if types else "")
        else:
            yield Parameter(text(child(each, "name")), type=flat(child(each, "type")) + flat(child(each, "dimensions")))
