"""Extracts the imports and exports of one JavaScript or TypeScript file with tree-sitter."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from swarmgate.gates.imports.model import Guard, Import
from swarmgate.gates.source import grammar_tree
from swarmgate.gates.source.parse_cache import once
from swarmgate.workspace.code import grammars

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

KEPT_BYTES = 8_000_000
"""Of so much source the readings are kept."""

_BLOCK = re.compile(rb"<script\b([^>]*)>(.*?)</script>", re.DOTALL | re.IGNORECASE)
_COMMON = re.compile(rb"\bmodule\.exports\b|\bexports\s*[.\[=,)]|\bexport\s*=|\bdefine\s*\(\s*[\[f(]|__esModule")
_TYPES_ALONE = re.compile(r"\.d\.[cm]?ts$", re.IGNORECASE)
_FUNCTIONS = {
    "function_declaration", "function_expression", "arrow_function", "method_definition", "generator_function",
    "generator_function_declaration", "function",
}  # fmt: skip
_GUARDS = {"try_statement", "if_statement", "ternary_expression"}
_CALLS = {"require", "import", "require.resolve"}


@dataclass(frozen=True, slots=True)
class Exports:
    """The names that a module exports; `stars` are the specifiers whose names it passes on.

    `open`: more may be exported than can be read (CommonJS, what does not parse, a file of another kind).
    """

    names: frozenset[str] = frozenset()
    stars: tuple[str, ...] = ()
    open: bool = False


def script_of(path: str, content: bytes) -> tuple[str, bytes]:
    """The grammar and the code of a file; of a Vue or Svelte file its script blocks, at their lines."""
    lower = path.lower()
    if not lower.endswith((".vue", ".svelte", ".astro")):
        if lower.endswith((".ts", ".mts", ".cts")):
            return "typescript", content
        return ("tsx" if lower.endswith(".tsx") else "javascript"), content
    blank = bytearray(re.sub(rb"[^\n]", b" ", content))
    for block in _BLOCK.finditer(content):
        blank[block.start(2) : block.end(2)] = block[2]
    return "typescript", bytes(blank)


@once(KEPT_BYTES)
def imports(content: bytes, path: str) -> tuple[Import, ...]:
    """Every import, re-export, `require` and dynamic import with a literal.

    Raises:
        grammars.TooSlow: the grammar did not end.
    """
    return tuple(_walk(script_tree(path, content)))


def script_tree(path: str, content: bytes) -> Node:
    """The root of a file's syntax tree; for JavaScript with types of Flow, as TypeScript reads them.

    Raises:
        grammars.TooSlow: the grammar did not end.
    """
    grammar, code = script_of(path, content)
    root = grammar_tree.parse(code, grammar).root_node
    if root.has_error and grammar == "javascript":
        flow = grammar_tree.parse(code, "tsx").root_node
        root = root if flow.has_error else flow
    return root


@once(KEPT_BYTES)
def exports(content: bytes, path: str) -> Exports:
    """What a module exports."""
    if path.lower().endswith((".vue", ".svelte", ".astro")):
        return Exports(open=True)
    grammar, code = script_of(path, content)
    try:
        root = grammar_tree.parse(code, grammar).root_node
    except grammars.TooSlow:
        return Exports(open=True)
    names: set[str] = set()
    stars: list[str] = []
    for statement in root.named_children:
        if statement.type == "export_statement":
            _export(statement, names, stars)
        elif statement.type == "ambient_declaration" and b"export" not in code:
            names |= set(_declared(statement))
    esm = bool(names or stars)
    if esm and _TYPES_ALONE.search(path) and not any(map(_lists, root.named_children)):
        names |= {name for statement in root.named_children for name in _declared(statement)}
    unsure = root.has_error or (not esm and b"export" in code) or _COMMON.search(code) is not None
    return Exports(frozenset(names), tuple(stars), unsure or not esm)


def _lists(statement: Node) -> bool:
    """Whether a statement says what is exported: without one, that is all that a `.d.ts` declares."""
    if statement.type != "export_statement":
        return False
    kinds = {child.type for child in statement.children}
    return bool(kinds & {"export_clause", "*", "=", "namespace_export"}) or (
        "default" in kinds and statement.child_by_field_name("declaration") is None
    )


def _walk(root: Node) -> Iterator[Import]:
    stack: list[tuple[Node, Guard, bool]] = [(root, Guard.NONE, False)]
    while stack:
        node, guard, deferred = stack.pop()
        kind = node.type
        if kind in {"import_statement", "export_statement"}:
            found = _statement(node)
            if found is not None:
                yield found
            if kind == "import_statement":
                continue
        elif kind == "call_expression":
            called = _call(node, guard, deferred=deferred)
            if called is not None:
                yield called
        elif kind == "import_require_clause":
            source = _literal(node.child_by_field_name("source"))
            if source:
                yield _import(node, source, guard=guard, deferred=deferred)
        elif kind in {"ambient_declaration", "internal_module"} and _names_module(node):
            continue  # `declare module "x"` says what others are
        inner = Guard.OPTIONAL if kind in _GUARDS else guard
        below = deferred or kind in _FUNCTIONS
        stack.extend((child, inner, below) for child in reversed(node.named_children))


def _statement(node: Node) -> Import | None:
    source = node.child_by_field_name("source") or next(
        (each.child_by_field_name("source") for each in node.named_children if each.type == "import_require_clause"),
        None,
    )
    specifier = _literal(source)
    if not specifier:
        return None
    words = [child.type for child in node.children[:2]]
    names = tuple(_wanted(node))
    return _import(node, specifier, names, Guard.TYPING if "type" in words or "typeof" in words else Guard.NONE)


def _wanted(node: Node) -> Iterator[str]:
    """The names that an import or re-export takes; `default` for a default import."""
    for each in node.named_children:
        if each.type == "import_clause":
            yield from _wanted(each)
        elif each.type == "identifier" and node.type == "import_clause":
            yield "default"
        elif each.type in {"named_imports", "export_clause"}:
            for one in each.named_children:
                name = one.child_by_field_name("name")
                if name is not None:
                    yield _text(name).strip("\"'")


def _call(node: Node, guard: Guard, *, deferred: bool) -> Import | None:
    function = node.child_by_field_name("function")
    arguments = node.child_by_field_name("arguments")
    if function is None or arguments is None or _text(function) not in _CALLS:
        return None
    first = next((each for each in arguments.named_children if each.type != "comment"), None)
    specifier = _literal(first)
    if not specifier or (_text(function) == "import" and _is_caught(node)):
        return None
    lazy = deferred or _text(function) != "require"
    return _import(node, specifier, (), guard, deferred=lazy)


def _is_caught(node: Node) -> bool:
    """`import("x").catch(...)`."""
    above = node.parent
    return above is not None and above.type == "member_expression" and _text(above).endswith("catch")


def _import(
    node: Node, specifier: str, names: tuple[str, ...] = (), guard: Guard = Guard.NONE, *, deferred: bool = False
) -> Import:
    line, column = node.start_point
    return Import(specifier, names, 0, line + 1, column + 1, guard, deferred)


def _literal(node: Node | None) -> str:
    """The value of a string, or of a template without a hole."""
    if node is None or node.type not in {"string", "template_string"}:
        return ""
    if any(child.type == "template_substitution" for child in node.named_children):
        return ""
    return _text(node)[1:-1]


def _names_module(node: Node) -> bool:
    inner = next((each for each in node.named_children if each.type in {"module", "string"}), None)
    return inner is not None


def _export(node: Node, names: set[str], stars: list[str]) -> None:
    kinds = {child.type for child in node.children}
    if "default" in kinds:
        names.add("default")
    source = _literal(node.child_by_field_name("source"))
    for each in node.named_children:
        if each.type == "export_clause":
            for one in each.named_children:
                exported = one.child_by_field_name("alias") or one.child_by_field_name("name")
                if exported is not None:
                    names.add(_text(exported).strip("\"'"))
        elif each.type == "namespace_export":
            names |= {_text(one).strip("\"'") for one in each.named_children}
    if "*" in kinds and source:
        stars.append(source)
    declaration = node.child_by_field_name("declaration")
    if declaration is not None:
        names |= set(_declared(declaration))


def _declared(node: Node) -> Iterator[str]:
    """The names of a declaration; of destructuring, every name in the pattern."""
    name = node.child_by_field_name("name")
    if name is not None and node.type != "variable_declarator":
        yield _text(name)
        return
    for each in node.named_children:
        if each.type == "variable_declarator":
            pattern = each.child_by_field_name("name")
            if pattern is not None:
                yield from _bound(pattern)
        elif each.type.endswith(("declaration", "signature", "module")):
            yield from _declared(each)


def _bound(pattern: Node) -> Iterator[str]:
    for node in grammars.walk(pattern):
        if node.type in {"identifier", "shorthand_property_identifier_pattern"}:
            yield _text(node)


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
