"""Finds what somebody put into product code to watch it run, and left there: debug prints and breakpoints.

What prints behind a switch (`if verbose:`), or in a function that is there for it (`def log_debug`), is a feature.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from swarmgate.domain.review.finding import Finding, Severity
from swarmgate.gates.placeholders.function_bodies import finding
from swarmgate.gates.source import comments

if TYPE_CHECKING:
    from collections.abc import Iterator

    from swarmgate.gates.source.file import SourceFile

RULE = "debug-output"

_DEBUG = r"[^\w\n\"'`]*DEBUG\b(?!=)"
_SAYS = re.compile(_DEBUG)
"""How the text of a print begins that tells whoever watches where the code is."""
_MAY = re.compile(r"DEBUG|breakpoint|set_trace")
_SWITCH = re.compile(r"debug|verbos|trace|log|\bv\b", re.IGNORECASE)
"""In a condition or the name of a function: what is printed was asked for."""
_STOPS = re.compile(r"breakpoint|i?pdb\.set_trace|pudb\.set_trace")
_PRINTS = frozenset({"print", "pprint"})
_TEXT = re.compile(
    r"^\s*debugger\s*;?\s*$|\bbinding\.(?:pry|irb)\b|\bdbg!\(|"
    r"\b(?:console\.\w+|fmt\.Print\w*|System\.(?:out|err)\.print\w*|e?println!|puts|print[fr]?|echo)\s*\(?\s*[\"'`]"
    + _DEBUG,
    re.MULTILINE,
)
"""The same in other languages, at the call: their conditions are not read."""
_LANGUAGES = frozenset({"javascript", "typescript", "vue", "svelte", "ruby", "rust", "go", "java", "kotlin", "php"})


def in_python(source: SourceFile, text: str, tree: ast.Module) -> Iterator[Finding]:
    """The debug prints and breakpoints of a Python product module."""
    if _MAY.search(text):
        for line in _calls(tree):
            yield _found(source, line)


def in_text(source: SourceFile, text: str) -> Iterator[Finding]:
    """The same of a product file of another language."""
    if source.language in _LANGUAGES and _TEXT.search(text):
        code = comments.without(source.language, text)
        for match in _TEXT.finditer(code):
            yield _found(source, code.count("\n", 0, match.start() + len(match[0]) - len(match[0].lstrip())) + 1)


def _calls(tree: ast.Module) -> list[int]:
    """The lines of calls that watch, outside of what has a switch or is there for it; a tree may be of any depth."""
    found, left = list[int](), list[ast.AST]([tree])
    while left:
        node = left.pop()
        named = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and _SWITCH.search(node.name)
        if named or (isinstance(node, (ast.If, ast.IfExp)) and _SWITCH.search(_condition(node))):
            continue
        if isinstance(node, ast.Call) and _watches(node):
            found.append(node.lineno)
        left.extend(ast.iter_child_nodes(node))
    return sorted(found)


def _condition(node: ast.If | ast.IfExp) -> str:
    """The names and texts in a condition."""
    words = (getattr(each, "id", getattr(each, "attr", getattr(each, "value", ""))) for each in ast.walk(node.test))
    return " ".join(each for each in words if isinstance(each, str))


def _watches(call: ast.Call) -> bool:
    name = _name(call.func)
    if not call.args:
        return _STOPS.fullmatch(name) is not None
    first = call.args[0]
    beginning = first.values[0] if isinstance(first, ast.JoinedStr) and first.values else first
    is_text = isinstance(beginning, ast.Constant) and isinstance(beginning.value, str)
    return name in _PRINTS and is_text and _SAYS.match(ast.literal_eval(beginning)) is not None


def _name(func: ast.expr) -> str:
    """`f` or `module.f`; empty for anything else."""
    if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
        return f"{func.value.id}.{func.attr}"
    return func.id if isinstance(func, ast.Name) else ""


def _found(source: SourceFile, line: int) -> Finding:
    return finding(
        RULE, source.path, line, Severity.MEDIUM, "left from debugging: it prints or stops while the product runs"
    )
