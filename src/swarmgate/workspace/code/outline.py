"""Lists the definitions of a source file with their lines: Python by its own parser, other languages by tree-sitter."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from swarmgate.workspace.code.grammars import TooSlow, grammar_of, parse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_LANGUAGES = {
    "bash": "bash", "c": "c", "cc": "cpp", "cjs": "javascript", "cpp": "cpp", "cs": "csharp", "cts": "typescript",
    "cxx": "cpp", "dart": "dart", "go": "go", "h": "c", "hpp": "cpp", "java": "java", "js": "javascript",
    "jsx": "javascript", "kt": "kotlin", "kts": "kotlin", "lua": "lua", "mjs": "javascript", "mts": "typescript",
    "php": "php", "pyw": "python", "rb": "ruby", "rs": "rust", "scala": "scala", "sh": "bash", "swift": "swift",
    "ts": "typescript", "tsx": "typescript",
}  # fmt: skip
"""The language of a file by its suffix, as `grammars` names it."""

_THING = "function|method|class|interface|struct|enum|trait|impl|mod|module|namespace|object|protocol|constructor|type"
_DEFINES = re.compile(
    rf"(?:{_THING})(?:_signature|_alias)?_(?:definition|declaration|item|specifier)|singleton_method|record_declaration"
    r"|(?:lexical|variable)_declaration|method|class|module"
)
"""Kinds of nodes that may define something; those of Ruby have bare names."""

_FUNCTION_VALUES = frozenset({"arrow_function", "function_expression", "function", "class", "generator_function"})
_LISTED = 140
_DEEPEST = 3
_LIMIT_S = 0.5


@dataclass(frozen=True, slots=True)
class Definition:
    """A function, class or the like: its first line as it stands in the source, and its lines (from 1, inclusive)."""

    start: int
    end: int
    depth: int
    signature: str


def definitions(path: str, text: str) -> tuple[Definition, ...]:
    """What a file defines, in the order of its lines; empty where its language or its syntax cannot be read."""
    suffix = PurePosixPath(path).suffix.lower().lstrip(".")
    if suffix in ("py", "pyi", "pyw"):
        try:
            return tuple(_python(ast.parse(text).body, 0))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return ()
    language = _LANGUAGES.get(suffix, "")
    grammar = grammar_of(path, language) if language else ""
    if not grammar:
        return ()
    try:
        root = parse(grammar, text.encode(errors="replace"), limit_s=_LIMIT_S).root_node
    except TooSlow:
        return ()
    return tuple(_tree(root, text.replace("\r\n", "\n").split("\n")))


def _python(body: list[ast.stmt], depth: int) -> Iterator[Definition]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            start = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            yield Definition(start, node.end_lineno or node.lineno, depth, _python_signature(node))
            if isinstance(node, ast.ClassDef) and depth < _DEEPEST:
                yield from _python(node.body, depth + 1)


def _python_signature(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> str:
    if isinstance(node, ast.ClassDef):
        above = [ast.unparse(each) for each in (*node.bases, *node.keywords)]
        return _cut(f"class {node.name}{'(' + ', '.join(above) + ')' if above else ''}")
    word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return _cut(f"{word} {node.name}({ast.unparse(node.args)}){returns}")


def _tree(root: Node, lines: list[str]) -> Iterator[Definition]:
    """The definitions below a node; no recursion, so depth is no limit."""
    stack = [(child, 0) for child in reversed(root.children)]
    while stack:
        node, depth = stack.pop()
        defines = node.is_named and _is_definition(node)
        if defines:
            row = node.start_point[0]
            yield Definition(row + 1, node.end_point[0] + 1, depth, _first(lines, row, node.start_point[1]))
        deeper = depth + 1 if defines else depth
        if deeper <= _DEEPEST:
            stack.extend((child, deeper) for child in reversed(node.children))


def _is_definition(node: Node) -> bool:
    if not _DEFINES.fullmatch(node.type):
        return False
    if node.type in ("lexical_declaration", "variable_declaration"):
        values = (child.child_by_field_name("value") for child in node.named_children)
        return any(value is not None and value.type in _FUNCTION_VALUES for value in values)
    # `struct point p` in C, or a prototype: nothing is defined here.
    return not node.type.endswith("_specifier") or node.child_by_field_name("body") is not None


def _first(lines: list[str], row: int, column: int) -> str:
    """The head of a definition: its first line, up to the body's brace."""
    line = lines[row] if row < len(lines) else ""
    lead = line.encode()[:column].decode(errors="replace")
    only_words = re.fullmatch(r"[\w\s]*", lead)  # `export`, `public static`: part of it; else it shares its line
    return _cut((line if only_words else line[len(lead) :]).strip().removesuffix("{").rstrip())


def _cut(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _LISTED else flat[:_LISTED] + "..."
