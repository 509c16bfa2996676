"""Whether two versions of a source file can behave differently: their syntax, without comments and layout, differs."""

from __future__ import annotations

import ast

from swarmgate.gates import python_source
from swarmgate.gates.files import language_of
from swarmgate.workspace import grammars

_DATA = frozenset(
    {
        "", "cmake", "css", "dockerfile", "html", "ini", "json", "jsonc", "jsonl", "less", "makefile", "markdown",
        "protobuf", "rst", "scss", "terraform", "text", "toml", "xml", "yaml",
    }
)  # fmt: skip
"""Languages of data, markup, prose and builds: a test seldom sees them."""
_COMMENT = "comment"
"""In the name of every grammar's nodes for comments (`line_comment`, `block_comment`, `html_comment` ...)."""


def is_code(path: str) -> bool:
    """Whether a file, by its name, holds code that runs: neither data, nor markup, nor prose, nor a type stub."""
    return language_of(path) not in _DATA and not path.endswith((".pyi", ".d.ts"))


def differs(path: str, before: bytes | None, after: bytes | None) -> bool:
    """Whether the code differs beyond comments, docstrings and layout.

    Python is compared by its syntax tree, other languages by their grammar's tokens, and by the text itself what
    neither can read. None stands for a file that is not there: it equals an empty one.
    """
    old, new = before or b"", after or b""
    return old != new and _essence(path, old) != _essence(path, new)


def _essence(path: str, content: bytes) -> object:
    language = language_of(path, content)
    try:
        if language == "python":
            return _python(content)
        grammar = grammars.grammar_of(path, language)
        return _tokens(grammar, content) if grammar else content
    except (SyntaxError, ValueError, RecursionError, MemoryError, grammars.TooSlow):
        return content


def _python(content: bytes) -> str:
    tree = python_source.parse(content)
    for node in python_source.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [each for each in node.body if not _is_remark(each)]
    return ast.dump(tree)


def _is_remark(node: ast.stmt) -> bool:
    """A docstring, or any other string that stands alone and does nothing."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _tokens(grammar: str, content: bytes) -> tuple[tuple[str, bytes | None], ...]:
    tree = grammars.parse(grammar, content)
    leaves = (node for node in grammars.walk(tree.root_node) if not node.children and _COMMENT not in node.type)
    return tuple((node.type, node.text) for node in leaves)
