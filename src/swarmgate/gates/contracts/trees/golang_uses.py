"""Finds which names of other Go packages a Go file uses."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from swarmgate.gates.contracts.trees.golang import unit
from swarmgate.gates.contracts.trees.uses import Use, arguments, is_callee, use
from swarmgate.gates.source import grammar_tree
from swarmgate.gates.source.grammar_nodes import child, name, named, text
from swarmgate.workspace.code import grammars

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tree_sitter import Node

_NAMING = {"literal_element", "keyed_element", "qualified_type"}
_DECLARING = {"short_var_declaration", "var_spec", "parameter_declaration", "range_clause", "const_spec"}


def uses(path: str, content: bytes, packages: Mapping[str, str]) -> list[Use]:
    """Every certain use of these packages (import path to unit)."""
    root = grammar_tree.parse(content, "go").root_node
    return list(_uses(root, path, packages))


def _uses(root: Node, path: str, packages: Mapping[str, str]) -> Iterator[Use]:
    nodes = list(grammars.walk(root))
    aliases: dict[str, str] = {}
    for node in nodes:
        if node.type == "import_spec":
            imported = text(child(node, "path")).strip('"`')
            if imported in packages:
                parts = [part for part in imported.split("/") if not re.fullmatch(r"v\d+", part)]
                aliases[name(node) or parts[-1]] = packages[imported]
                yield use(packages[imported], "", node, "import")
    own = unit(path) if unit(path) in packages.values() else ""
    local = _local(nodes)
    for node in nodes:
        if node.type in {"selector_expression", "qualified_type"}:
            yield from _selected(node, aliases, local)
        elif own and node.type in {"identifier", "type_identifier"} and text(node)[:1].isupper():
            yield from _bare(node, own, local)
        elif node.type == "composite_literal":
            yield from _literal(node, aliases, own)


def _local(nodes: list[Node]) -> set[str]:
    """Names that are bound inside functions, wherever: they may stand for something else."""
    found = set()
    for node in nodes:
        if node.type in _DECLARING and node.parent is not None and node.parent.type != "source_file":
            left = child(node, "left")
            names = named(left, "identifier") if left is not None else node.children_by_field_name("name")
            top = node.type in {"var_spec", "const_spec"} and _is_top(node)
            found |= set() if top else {text(each) for each in names}
    return found


def _is_top(node: Node) -> bool:
    above = node.parent
    while above is not None and above.type in {"var_declaration", "const_declaration", "var_spec_list"}:
        above = above.parent
    return above is not None and above.type == "source_file"


def _selected(node: Node, aliases: Mapping[str, str], local: set[str]) -> Iterator[Use]:
    left = child(node, "operand") if node.type == "selector_expression" else child(node, "package")
    right = child(node, "field") if node.type == "selector_expression" else child(node, "name")
    where = aliases.get(text(left)) if left is not None and text(left) not in local else None
    if where:
        yield _called(node, where, text(right))


def _called(node: Node, where: str, called: str) -> Use:
    if is_callee(node) and node.parent is not None:
        spread = "..." in {each.type for each in (child(node.parent, "arguments") or node).children}
        given = arguments(node.parent)
        alone = named(child(node.parent, "arguments"))
        several = given == 1 and alone[0].type == "call_expression"  # f(g()) passes all that g returns
        return use(where, called, node, "call", -1 if spread or several else given)
    return use(where, called, node)


def _bare(node: Node, own: str, local: set[str]) -> Iterator[Use]:
    parent = node.parent
    declaring = parent is not None and child(parent, "name") == node and parent.type.endswith(
        ("declaration", "_spec", "alias", "declaration_list", "elem")
    )  # fmt: skip
    keyed = parent is not None and (parent.type in _NAMING or child(parent, "name") == node)
    if declaring or keyed or text(node) in local:
        return
    yield _called(node, own, text(node))


def _literal(node: Node, aliases: Mapping[str, str], own: str) -> Iterator[Use]:
    """`pkg.Type{Field: value}` uses the field."""
    kind = child(node, "type")
    if kind is None:
        return
    if kind.type == "qualified_type":
        where, owner = aliases.get(text(child(kind, "package")), ""), name(kind)
    else:
        where, owner = (own, text(kind)) if kind.type == "type_identifier" else ("", "")
    for each in named(child(node, "body"), "keyed_element") if where else ():
        key = each.named_children[0]
        if re.fullmatch(r"[A-Z]\w*", text(key)):
            yield use(where, f"{owner}.{text(key)}", key)


def import_path(folder: str, modules: Mapping[str, str]) -> str:
    """The path under which a folder is imported, by the nearest `go.mod` (folder to module path)."""
    above = folder
    while True:
        if above in modules:
            return posixpath.join(modules[above], posixpath.relpath(folder, above) if folder != above else "").rstrip(
                "/"
            )
        if above in {".", ""}:
            return ""
        above = posixpath.dirname(above) or "."
