"""Finds which Java types and members a Java file uses."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from swarmgate.gates.contracts.trees.java import MAKER
from swarmgate.gates.contracts.trees.uses import Use, arguments, use
from swarmgate.gates.source import grammar_tree
from swarmgate.gates.source.grammar_nodes import child, fields, flat, name, named, text
from swarmgate.workspace.code import grammars

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tree_sitter import Node

_TYPED = {"local_variable_declaration", "field_declaration", "formal_parameter"}


def uses(content: bytes, types: Mapping[tuple[str, str], str]) -> list[Use]:
    """Every certain use of these types (package and name, to the unit)."""
    root = grammar_tree.parse(content, "java").root_node
    return list(_uses(root, types))


def _uses(root: Node, types: Mapping[tuple[str, str], str]) -> Iterator[Use]:
    nodes = list(grammars.walk(root))
    packages = named(root, "package_declaration")
    own = flat(packages[0]).removeprefix("package ").rstrip(";") if packages else ""
    known: dict[str, str] = {}
    imported = set()
    for node in named(root, "import_declaration"):
        full = flat(node).removeprefix("import ").removeprefix("static ").rstrip(";")
        package, _, last = full.rpartition(".")
        imported.add(last)
        if (package, last) in types:
            known[last] = types[package, last]
            yield use(known[last], last, node, "import")
    declared = {name(node) for node in nodes if node.type.endswith("_declaration") and child(node, "name") is not None}
    parameters = {
        text(each.named_children[0]) for each in nodes if each.type == "type_parameter" and each.named_children
    }
    known |= {last: where for (package, last), where in types.items()
              if package == own and last not in imported | parameters}  # fmt: skip
    variables = _variables(nodes)
    for node in nodes:
        yield from _use(node, known, variables, declared)


def _variables(nodes: list[Node]) -> dict[str, str]:
    """Variables that have one declared type wherever they stand in the file."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for node in nodes:
        if node.type in _TYPED:
            type_ = flat(child(node, "type")).partition("<")[0]
            for variable in [name(one) for one in fields(node, "declarator")] or [name(node)]:
                found[variable].add(type_)
        elif node.type in {"enhanced_for_statement", "resource", "catch_formal_parameter", "inferred_parameters",
                           "lambda_expression"}:  # fmt: skip
            inner = child(node, "parameters") if node.type == "lambda_expression" else node
            for each in named(inner, "identifier") if inner is not None else ():
                found[text(each)].add("")
            if inner is not None and inner.type == "identifier":
                found[text(inner)].add("")
    return {each: next(iter(types)) for each, types in found.items() if len(types) == 1}


def _use(node: Node, known: dict[str, str], variables: dict[str, str], declared: set[str]) -> Iterator[Use]:
    if node.type == "object_creation_expression":
        made = flat(child(node, "type")).partition("<")[0]
        if made in known:
            yield use(known[made], f"{made}.{MAKER}", node, "call", arguments(node))
    elif node.type == "type_identifier" and text(node) in known and text(node) not in declared:
        if node.parent is None or node.parent.type != "scoped_type_identifier":
            yield use(known[text(node)], text(node), node)
    elif node.type in {"method_invocation", "field_access"}:
        inner = child(node, "object")
        if inner is None or inner.type != "identifier":
            return
        owner = text(inner)
        owner = variables.get(owner, owner if owner[:1].isupper() else "")
        if owner in known:
            called = node.type == "method_invocation"
            member = name(node) if called else text(child(node, "field"))
            given = arguments(node) if called else -1
            yield use(known[owner], f"{owner}.{member}", node, "call" if called else "name", given)
