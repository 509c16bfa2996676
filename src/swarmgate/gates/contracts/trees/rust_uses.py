"""Finds which names of other modules a Rust file uses: `use` declarations and paths from the crate's root."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swarmgate.gates.contracts.trees.rust import unit
from swarmgate.gates.contracts.trees.uses import Use, arguments, is_callee, use
from swarmgate.gates.source import grammar_tree
from swarmgate.gates.source.grammar_nodes import child, flat, name, named, text
from swarmgate.workspace.code import grammars

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from tree_sitter import Node


def uses(path: str, content: bytes, units: Collection[str]) -> list[Use]:
    """Every certain use of these modules."""
    root = grammar_tree.parse(content, "rust").root_node
    return list(_uses(root, path, units))


def root_of(module: str) -> str:
    """The folder below which a crate's modules lie: the last `src` of a path."""
    head, found, _ = f"/{module}/".rpartition("/src/")
    return f"{head}/src".lstrip("/") if found else ""


def _uses(root: Node, path: str, units: Collection[str]) -> Iterator[Use]:
    own, crate = unit(path), root_of(unit(path))
    nodes = list(grammars.walk(root))
    bound: dict[str, str] = {}
    for node in nodes:
        if node.type == "use_declaration" and not _nested(node):
            for local, full, where in _imports(child(node, "argument"), ""):
                place = _place(full, own, crate)
                bound[local] = place
                found = _split(place, units)
                if found:
                    yield use(*found, where, "import")
    defined = {name(each) for each in nodes if child(each, "name") is not None and each.type.endswith("_item")}
    patterns = {text(each) for each in nodes if each.type == "identifier" and _binding(each)}
    for node in nodes:
        if node.type == "scoped_identifier" and _outermost(node):
            head, _, rest = flat(node).partition("::")
            place = f"{bound[head]}/{rest.replace('::', '/')}" if head in bound else _place(flat(node), own, crate)
            yield from _found(node, place, units)
        elif node.type == "identifier" and is_callee(node) and text(node) not in patterns:
            called = text(node)
            if called in bound:
                yield from _found(node, bound[called], units)
            elif own in units and (called in defined or not _nested(node)):
                given = arguments(node.parent) if node.parent is not None else -1
                yield use(own, called, node, "call" if called in defined else "absent", given)


def _nested(node: Node) -> bool:
    above = node.parent
    while above is not None:
        if above.type in {"mod_item", "macro_invocation", "macro_definition"}:
            return True
        above = above.parent
    return False


def _binding(node: Node) -> bool:
    parent = node.parent
    return parent is not None and (
        child(parent, "pattern") == node or parent.type.endswith("_pattern") or parent.type == "closure_parameters"
    )


def _outermost(node: Node) -> bool:
    parent = node.parent
    above = parent
    while above is not None and above.type in {"scoped_identifier", "scoped_use_list", "use_list", "use_as_clause"}:
        above = above.parent
    inside = above is not None and above.type == "use_declaration"
    return not inside and (parent is None or parent.type != "scoped_identifier")


def _imports(node: Node | None, prefix: str) -> Iterator[tuple[str, str, Node]]:
    """Each name that a `use` binds, with its full path and its node."""
    if node is None:
        return
    if node.type == "scoped_use_list":
        head = flat(child(node, "path"))
        for each in named(child(node, "list")):
            yield from _imports(each, f"{prefix}{head}::" if head else prefix)
    elif node.type == "use_list":
        for each in node.named_children:
            yield from _imports(each, prefix)
    elif node.type == "use_as_clause":
        yield text(child(node, "alias")), prefix + flat(child(node, "path")), node
    elif node.type in {"identifier", "scoped_identifier"}:
        full = prefix + flat(node)
        yield full.rpartition("::")[2], full, node


def _place(full: str, own: str, crate: str) -> str:
    """A path of modules as one of folders: `crate::a::B` is `src/a/B`."""
    parts = full.split("::")
    if parts[0] == "crate":
        base, parts = crate, parts[1:]
    elif parts[0] in {"self", "super"}:
        base = own
        while parts and parts[0] in {"self", "super"}:
            base = base.rpartition("/")[0] if parts[0] == "super" else base
            parts = parts[1:]
    else:
        base = own if len(parts) > 1 else ""
    return "/".join(filter(None, (base, *parts)))


def _split(place: str, units: Collection[str]) -> tuple[str, str] | None:
    parts = place.split("/")
    for length in (1, 2):
        where = "/".join(parts[:-length])
        if where in units:
            return where, ".".join(parts[-length:])
    return (place, "") if place in units else None


def _found(node: Node, place: str, units: Collection[str]) -> Iterator[Use]:
    found = _split(place, units)
    if found and not _nested(node):
        called = is_callee(node) and node.parent is not None
        given = arguments(node.parent) if called and node.parent is not None else -1
        yield use(*found, node, "call" if called else "name", given)
