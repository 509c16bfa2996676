"""Finds which names of other modules a JavaScript or TypeScript file imports and calls."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from typing import TYPE_CHECKING

from swarmgate.gates.contracts.trees.ecmascript import unit
from swarmgate.gates.contracts.trees.ecmascript_members import MAKER
from swarmgate.gates.contracts.trees.uses import Use, arguments, use
from swarmgate.gates.project.files import language_of
from swarmgate.gates.source import grammar_tree
from swarmgate.gates.source.grammar_nodes import child, flat, name, named, text
from swarmgate.workspace.code import grammars

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from tree_sitter import Node

_SUFFIX = re.compile(r"\.[cm]?[jt]sx?$")


def resolve(source: str, importer: str, units: Collection[str]) -> str:
    """The unit that an import names, if it is one of `units`; empty for packages and everything else."""
    if source.startswith("."):
        stem = posixpath.normpath(posixpath.join(posixpath.dirname(importer), source))
        stems = [stem, _SUFFIX.sub("", stem)]
    elif source.startswith(("@/", "~/", "src/")):
        rest = _SUFFIX.sub("", source.partition("/")[2])
        stems = [each for each in units if each in {rest, f"src/{rest}"} or each.endswith(f"/src/{rest}")]
        stems = stems if len(stems) == 1 else []
    else:
        return ""
    return next((unit(f"{each}.js") for each in stems if unit(f"{each}.js") in units), "")


def exports(path: str, content: bytes, units: Collection[str]) -> Iterator[tuple[str, str, str]]:
    """What a file exports from one of `units`: the name it gets, the unit, the name there (`*`: everything)."""
    root = grammar_tree.parse(content, grammars.grammar_of(path, language_of(path))).root_node
    for node in named(root, "export_statement"):
        where = resolve(text(child(node, "source")).strip("\"'`"), path, units)
        if where:
            clauses = named(node, "export_clause")
            for each in named(clauses[0], "export_specifier") if clauses else ():
                yield text(child(each, "alias")) or name(each), where, name(each)
            if not clauses and not named(node, "namespace_export"):
                yield "*", where, "*"


def uses(path: str, content: bytes, units: Collection[str]) -> list[Use]:
    """Every certain use of these units, the file's own exports too where it is one of them."""
    root = grammar_tree.parse(content, grammars.grammar_of(path, language_of(path))).root_node
    return list(_File(root, path, units).uses())


class _File:
    def __init__(self, root: Node, path: str, units: Collection[str]) -> None:
        self.root, self.path, self.units = root, path, units
        self.nodes = list(grammars.walk(root))
        self.bound: dict[str, tuple[str, str]] = {}
        self.objects: dict[str, tuple[str, str]] = {}
        self.declared: Counter[str] = Counter()

    def uses(self) -> Iterator[Use]:
        for node in self.nodes:
            if node.type == "import_statement":
                yield from self._import(node)
            elif node.type == "export_statement" and child(node, "source") is not None:
                yield from self._again(node)
            elif node.type == "variable_declarator":
                yield from self._required(node)
        self._declare()
        own = unit(self.path)
        for node in self.nodes:
            if node.type in {"call_expression", "new_expression"}:
                yield from self._call(node, own)
            elif node.type == "member_expression":
                yield from self._member(node)

    def _source(self, node: Node | None) -> str:
        return resolve(text(node).strip("\"'`"), self.path, self.units)

    def _import(self, node: Node) -> Iterator[Use]:
        where = self._source(child(node, "source"))
        if not where:
            return
        yield use(where, "", node, "import")
        for clause in named(node, "import_clause"):
            for each in clause.named_children:
                if each.type == "identifier":
                    self.bound[text(each)] = where, "default"
                elif each.type == "namespace_import":
                    self.bound[text(each.named_children[0])] = where, "ns"
                for one in named(each, "import_specifier") if each.type == "named_imports" else ():
                    self.bound[text(child(one, "alias")) or name(one)] = where, name(one)
                    yield use(where, name(one), one, "import")

    def _again(self, node: Node) -> Iterator[Use]:
        where = self._source(child(node, "source"))
        if where:
            yield use(where, "", node, "import")
            for clause in named(node, "export_clause"):
                for each in named(clause, "export_specifier"):
                    yield use(where, name(each), each, "import")

    def _required(self, node: Node) -> Iterator[Use]:
        value, target = child(node, "value"), child(node, "name")
        if (
            value is None
            or target is None
            or value.type != "call_expression"
            or flat(child(value, "function")) != "require"
        ):
            return
        listed = named(child(value, "arguments"), "string")
        where = self._source(listed[0]) if listed else ""
        if not where:
            return
        yield use(where, "", value, "import")
        if target.type == "identifier":
            self.bound[text(target)] = where, "ns"
        for each in target.named_children if target.type == "object_pattern" else ():
            key = text(child(each, "key")) or text(child(each, "left")) or text(each)
            local = text(child(each, "value")) or key
            if re.fullmatch(r"[\w$]+", local):
                self.bound[local] = where, key
            if each.type != "object_assignment_pattern":  # one with a default counts on its absence
                yield use(where, key, each, "import")

    def _declare(self) -> None:
        """Count the declarations of each name: one that is declared twice leads nowhere for certain."""
        for node in self.nodes:
            if node.type == "variable_declarator" and (child(node, "name") or node).type == "identifier":
                local, value = name(node), child(node, "value")
                self.declared[local] += not (local in self.bound and flat(value).startswith("require("))
                made = text(child(value, "constructor")) if value is not None and value.type == "new_expression" else ""
                if made in self.bound:
                    self.objects[local] = self.bound[made]
            elif node.type in {"function_declaration", "class_declaration"}:
                self.declared[name(node)] += 1
            elif node.type in {"identifier", "shorthand_property_identifier_pattern"} and _is_parameter(node):
                self.declared[text(node)] += 1

    def _bound(self, local: str) -> tuple[str, str] | None:
        return None if self.declared[local] else self.bound.get(local)

    def _call(self, node: Node, own: str) -> Iterator[Use]:
        made = node.type == "new_expression"
        callee = child(node, "constructor" if made else "function")
        given = arguments(node, unsure=("spread_element",))
        if callee is None:
            return
        if callee.type == "identifier":
            local = text(callee)
            where = self._bound(local)
            if where is None and own in self.units and local not in self.bound:
                declared = self.declared[local]
                where = (own, local) if declared <= 1 else None
                how = "call" if declared else "absent"
            else:
                how = "call"
            if where:
                target = "default" if where[1] == "ns" else where[1]
                yield use(where[0], f"{target}.{MAKER}" if made else target, callee, how, given)
        elif callee.type == "member_expression":
            reached = self._reached(callee)
            if reached:
                yield use(reached[0], f"{reached[1]}.{MAKER}" if made else reached[1], callee, "call", given)

    def _member(self, node: Node) -> Iterator[Use]:
        reached = self._reached(node)
        parent = node.parent
        assigned = parent is not None and parent.type == "assignment_expression" and child(parent, "left") == node
        tested = parent is not None and parent.type in {"binary_expression", "unary_expression", "if_statement",
                                                       "ternary_expression", "parenthesized_expression"}  # fmt: skip
        if reached and not assigned and not tested and "?." not in text(node):
            yield use(*reached, node)

    def _reached(self, node: Node) -> tuple[str, str] | None:
        inner, key = child(node, "object"), text(child(node, "property"))
        if inner is None or inner.type != "identifier":
            return None
        local = text(inner)
        if self.declared[local] == 1 and local in self.objects:
            where = self.objects[local]
            return where[0], f"{where[1]}.{key}"
        found = self._bound(local)
        if found is None:
            return None
        return found[0], key if found[1] == "ns" else f"{found[1]}.{key}"


def _is_parameter(node: Node) -> bool:
    above = node.parent
    while above is not None and above.type in {"object_pattern", "array_pattern", "assignment_pattern", "rest_pattern",
                                               "required_parameter", "optional_parameter", "pair_pattern",
                                               "object_assignment_pattern"}:  # fmt: skip
        if above.type.endswith("_parameter"):
            return child(above, "type") != node
        above = above.parent
    return above is not None and (
        above.type == "formal_parameters" or (above.type == "arrow_function" and child(above, "parameter") == node)
        or above.type == "catch_clause"
    )  # fmt: skip
