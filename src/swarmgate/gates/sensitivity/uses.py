"""Extracts the imports, calls and names of a source file as dotted names, for every language.

    from subprocess import run as start   ->  import subprocess, import subprocess.run
    start(["ls"])                         ->  call subprocess.run
    request.session["user"]               ->  name request.session
    std::process::Command::new("ls")      ->  call std.process.Command.new

Words in comments and strings are none of these. The first part of a name is replaced by what it was imported as; what
stands before a name and is no name itself is a `?`.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from swarmgate.gates.sensitivity.imports import Imported, imports_of
from swarmgate.gates.source import grammar_tree
from swarmgate.gates.source.grammar_nodes import child, named, text
from swarmgate.workspace.code import grammars

if TYPE_CHECKING:
    from tree_sitter import Node

LANGUAGES = ("python", "javascript", "typescript", "go", "java", "ruby", "php", "rust", "csharp")
"""The languages whose code is read, as `gates.project.files` names them."""

_CHAINS = {
    "attribute", "call", "member_expression", "call_expression", "new_expression", "selector_expression",
    "qualified_type", "method_invocation", "field_access", "object_creation_expression", "scoped_identifier",
    "scope_resolution", "member_call_expression", "nullsafe_member_call_expression", "member_access_expression",
    "nullsafe_member_access_expression", "scoped_call_expression", "function_call_expression", "field_expression",
    "generic_function", "macro_invocation", "invocation_expression", "qualified_name", "generic_name", "annotation",
    "marker_annotation", "await_expression", "await", "non_null_expression", "parenthesized_expression",
    "class_constant_access_expression", "scoped_property_access_expression", "subscript", "subscript_expression",
    "element_reference", "element_access_expression", "index_expression",
}  # fmt: skip
"""Nodes that a dotted name is made of."""
_CALLS = {
    "call", "call_expression", "new_expression", "method_invocation", "object_creation_expression",
    "member_call_expression", "nullsafe_member_call_expression", "scoped_call_expression", "function_call_expression",
    "macro_invocation", "invocation_expression", "decorator", "annotation", "marker_annotation",
}  # fmt: skip
_INDEXED = {
    "subscript", "subscript_expression", "element_reference", "element_access_expression", "index_expression",
}  # fmt: skip
_BEFORE = ("object", "receiver", "operand", "value", "expression", "path", "scope", "qualifier", "package")
_LAST = ("attribute", "property", "field", "method", "name", "macro", "type", "constructor")
"""Fields, in any grammar, that hold what stands before the last dot, and what stands after it."""
_LEAF = re.compile(r"identifier$|^(?:constant|name|variable_name|self|this|super|namespace_name|predefined_type)$")
_SHELL = {"subshell": "`", "shell_command_expression": "`"}
"""Backticks of Ruby and PHP: a call of the shell."""
FUNCTIONS = {
    "function_definition", "function_declaration", "generator_function_declaration", "method_definition",
    "arrow_function", "function_expression", "method_declaration", "func_literal", "constructor_declaration", "method",
    "singleton_method", "function_item", "closure_expression", "lambda", "anonymous_function",
    "local_function_statement", "accessor_declaration", "anonymous_function_creation_expression",
}  # fmt: skip
"""Nodes that are a function, in any grammar."""


class Kind(StrEnum):
    """How something is used."""

    IMPORT = "imports"
    CALL = "calls"
    NAME = "names"
    FUNCTION = "functions"
    """A function with a changed line in it, by its own name."""


@dataclass(frozen=True, slots=True)
class Use:
    """One use with the lines that it stands on, from 1."""

    kind: Kind
    name: str
    line: int
    end: int


def uses(path: str, language: str, content: bytes, lines: Collection[int]) -> tuple[list[Use], list[str]]:
    """The uses that a change of these lines touches, and every module that the file imports.

    Touched is what stands on a line itself, and what the innermost function around it calls and names.

    Raises:
        TooSlow: the grammar did not end in time.
    """
    root = grammar_tree.parse(content, grammars.grammar_of(path, language)).root_node
    nodes = list(grammars.walk(root))
    imported = [each for node in nodes for each in imports_of(language, node)]
    touched = _Touched(nodes, lines)
    found = [use for use in _used(nodes, _Names(language, imported)) if touched.by(use)]
    return found, [each.module for each in imported]


class _Touched:
    """What a change of some lines touches: the lines, and the innermost function around each."""

    def __init__(self, nodes: Collection[Node], lines: Collection[int]) -> None:
        self._lines = sorted(lines)
        self._reach: dict[int, int] = {}
        left = set(lines)
        spans = ((node.start_point.row + 1, node.end_point.row + 1) for node in nodes if node.type in FUNCTIONS)
        for first, last in sorted(spans, key=lambda span: span[1] - span[0]):
            inside = range(first, last + 1)
            if not left.isdisjoint(inside):
                left.difference_update(inside)
                for line in inside:
                    self._reach[line] = max(last, self._reach.get(line, 0))

    def by(self, use: Use) -> bool:
        """Whether the use stands on such a line, or in such a function if it is no import."""
        at = bisect_left(self._lines, use.line)
        if at < len(self._lines) and self._lines[at] <= use.end:
            return True
        return use.kind in {Kind.CALL, Kind.NAME} and self._reach.get(use.line, 0) >= use.end


def _used(nodes: Collection[Node], names: _Names) -> Iterator[Use]:
    functions = [node.start_byte for node in nodes if node.type in FUNCTIONS]
    for node in nodes:
        first, last = node.start_point.row + 1, node.end_point.row + 1
        if node.type in FUNCTIONS and (name := own_name(node)):
            yield Use(Kind.FUNCTION, name, first, last)
        for each in imports_of(names.language, node):
            yield from (Use(Kind.IMPORT, name, first, last) for name in each.names)
        # A call that is given a function (a callback) is not touched by what stands in there.
        around = bisect_right(functions, node.end_byte) > bisect_right(functions, node.start_byte)
        yield from (Use(kind, name, first, first if around else last) for kind, name in names.of(node))


def own_name(function: Node) -> str:
    """What a function is called; of an anonymous one, the variable or the property that it is given to."""
    holder = function if child(function, "name") is not None else function.parent
    return next((text(each) for field in ("name", "key", "left") if (each := child(holder, field)) is not None), "")


class _Names:
    """Spells names, with the aliases of one file."""

    def __init__(self, language: str, imported: Collection[Imported]) -> None:
        self.language = language
        self._aliases = {alias: full for each in imported for alias, full in each.aliases.items()}

    def of(self, node: Node) -> Iterator[tuple[Kind, str]]:
        """What a node calls and names."""
        if node.type in _SHELL:
            yield Kind.CALL, _SHELL[node.type]
        elif self._is_call(node):
            target = node.named_children[0] if node.type == "decorator" and node.named_children else node
            yield from ((Kind.CALL, name) for name in self._resolved(target))
        elif node.type == "jsx_attribute" and node.named_children:
            yield Kind.NAME, text(node.named_children[0])
        elif node.type in _INDEXED:
            yield from ((Kind.NAME, name) for name in self._resolved(_before(node)))
        elif node.type in _CHAINS:
            yield from ((Kind.NAME, name) for name in self._resolved(node))

    def _is_call(self, node: Node) -> bool:
        return node.type in _CALLS or (self.language == "csharp" and node.type == "attribute")

    def _resolved(self, node: Node | None) -> Iterator[str]:
        name = _chain(node)
        if not name or name == "?":
            return
        head, dot, rest = name.partition(".")
        yield self._aliases.get(head, head) + dot + rest


def _before(node: Node) -> Node | None:
    """What is indexed."""
    found = next((each for field in _BEFORE if (each := child(node, field)) is not None), None)
    return found or (node.named_children[0] if node.named_children else None)


def _chain(node: Node | None, depth: int = 0) -> str:
    """The dotted name of an expression without its arguments; `?` for what is no name."""
    deepest = 40  # a longer chain of calls is a fluent interface: its last parts are what counts
    if node is None or depth > deepest:
        return "?"
    if node.type not in _CHAINS:
        spelled = text(node).lstrip("$" if node.type == "variable_name" else "\\")
        return spelled.replace("\\", ".") if _LEAF.search(node.type) else "?"
    if node.type in _INDEXED:
        return _chain(_before(node), depth + 1)
    if (function := child(node, "function")) is not None:
        return _chain(function, depth + 1)
    before = next((each for field in _BEFORE if (each := child(node, field)) is not None), None)
    last = next((each for field in _LAST if (each := child(node, field)) is not None), None)
    if before is None and last is None:
        inner = named(node)
        return _chain(inner[0], depth + 1) if inner else "?"
    parts = [_chain(each, depth + 1) for each in (before, last) if each is not None]
    return ".".join(part for part in parts if part)
