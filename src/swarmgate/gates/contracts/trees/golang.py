"""Extracts the public API of a Go package: its exported (capitalised) names."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from swarmgate.gates.contracts.model import Call, Parameter, ParameterKind, Surface, Symbol
from swarmgate.gates.source import grammar_tree
from swarmgate.gates.source.grammar_nodes import child, fields, flat, header, line, name, named, text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node


def unit(path: str) -> str:
    """The package's folder."""
    return posixpath.dirname(path) or "."


def read(path: str, content: bytes) -> Surface:
    """The API surface of one file of a package; `main` and packages below `internal` have none.

    Raises:
        grammars.TooSlow: see there.
    """
    root = grammar_tree.parse(_ended(content), "go").root_node
    package = next((text(each.named_children[0]) for each in named(root, "package_clause") if each.named_children), "")
    reachable = package != "main" and "internal" not in path.split("/")
    surface = Surface(unit(path), path, torn=content if root.has_error else b"")
    for symbol in _symbols(root):
        symbol.path = path
        symbol.public = reachable and all(part[:1].isupper() for part in symbol.name.split("."))
        symbol.ambiguous = symbol.name in surface.symbols or symbol.name in {"init", "_"}
        surface.symbols[symbol.name] = symbol
    return surface


def _ended(content: bytes) -> bytes:
    # A declaration ends with its line.
    return content if content.endswith(b"\n") else content + b"\n"


def _symbols(root: Node) -> Iterator[Symbol]:
    for node in root.named_children:
        if node.type == "function_declaration":
            yield Symbol(name(node), "function", line(node), header(node), calls=(_call(node),))
        elif node.type == "method_declaration":
            yield from _method(node)
        elif node.type == "type_declaration":
            for each in named(node, "type_spec", "type_alias"):
                yield _type(each)
        elif node.type in {"const_declaration", "var_declaration"}:
            yield from _values(node)


def _method(node: Node) -> Iterator[Symbol]:
    receiver = flat(child(named(child(node, "receiver"))[0], "type")) if named(child(node, "receiver")) else ""
    owner = receiver.lstrip("*").partition("[")[0]
    traits = frozenset({"receiver"} if receiver.startswith("*") else ())
    yield Symbol(f"{owner}.{name(node)}", "method", line(node), header(node), calls=(_call(node),), traits=traits)


def _call(node: Node) -> Call:
    parameters = tuple(_parameters(child(node, "parameters")))
    result = child(node, "result")
    returns = flat(result)
    if result is not None and result.type == "parameter_list":
        returns = ",".join(each.type for each in _parameters(result))
    return Call(parameters, _same(returns), header(node))


def _parameters(listed: Node | None) -> Iterator[Parameter]:
    for each in named(listed, "parameter_declaration", "variadic_parameter_declaration"):
        kind = ParameterKind.REST if each.type.startswith("variadic") else ParameterKind.POSITIONAL
        names = [text(one) for one in fields(each, "name")] or ["_"]
        for one in names:
            yield Parameter(one, kind, type=_same(flat(child(each, "type"))))


def _same(type_: str) -> str:
    return type_.replace("interface{}", "any")


def _type(node: Node) -> Symbol:
    shape = child(node, "type")
    generics = len(named(child(node, "type_parameters")))
    symbol = Symbol(name(node), "type", line(node), f"type {header(node, 'type')}")
    if shape is None:
        return symbol
    if shape.type == "struct_type":
        symbol.kind, symbol.type = "struct", f"[{generics}]"
        _fields(symbol, shape)
    elif shape.type == "interface_type":
        symbol.kind, symbol.type = "interface", f"[{generics}]"
        _interface(symbol, shape)
    else:
        symbol.type = _same(flat(shape))
        symbol.text = f"type {flat(node)}"
    return symbol


def _fields(symbol: Symbol, shape: Node) -> None:
    embedded = []
    for listed in named(shape, "field_declaration_list"):
        for each in named(listed, "field_declaration"):
            type_ = _same(flat(child(each, "type")))
            names = [text(one) for one in fields(each, "name")]
            embedded += [] if names else [type_.lstrip("*").partition("[")[0].rpartition(".")[2]]
            for one in names:
                member = Symbol(one, "field", line(each), f"{one} {type_}", type=type_, public=one[:1].isupper())
                symbol.members[one] = member
    symbol.bases = tuple(each for each in embedded if each[:1].isupper())


def _interface(symbol: Symbol, shape: Node) -> None:
    methods = named(shape, "method_elem", "method_spec")
    sealed = any(not name(each)[:1].isupper() for each in methods)
    for each in methods:
        one = name(each)
        symbol.members[one] = Symbol(
            one, "method", line(each), flat(each), calls=(_call(each),), required=not sealed, public=one[:1].isupper()
        )
    symbol.bases = tuple(
        flat(each).rpartition(".")[2] for each in named(shape, "type_elem", "constraint_elem") if "|" not in flat(each)
    )


def _values(node: Node) -> Iterator[Symbol]:
    kind = "constant" if node.type == "const_declaration" else "variable"
    specs = [each for each in named(node) if each.type != "var_spec_list"]
    specs += [each for listed in named(node, "var_spec_list") for each in named(listed)]
    for spec in specs:
        if spec.type in {"const_spec", "var_spec"}:
            for each in fields(spec, "name"):
                yield Symbol(text(each), kind, line(each), flat(spec), type=_same(flat(child(spec, "type"))))
