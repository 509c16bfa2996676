"""Finds Python functions whose code a change leaves alone, while it rewrites their docstrings and comments.

An agent that writes a file anew from memory does that all over the file: examples vanish, sentences lose their point.
People who mend one function touch the words of that one. It informs: most patches of agents that do it are right.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from swarmgate.gates.source import python_tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from swarmgate.gates.source.file import Revision, SourceFile

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True)
class Reworded:
    """A function, its line now, and how many lines of its words are not there any more."""

    path: str
    name: str
    line: int
    lost: int


@dataclass(frozen=True, slots=True)
class _Function:
    node: ast.FunctionDef | ast.AsyncFunctionDef
    words: tuple[str, ...]


def found(file: SourceFile) -> Iterator[Reworded]:
    """The functions of a changed file that are so; none of one that is new, or that no supported Python reads."""
    if not file.path.endswith((".py", ".pyi")) or not file.was.content or not file.now.content:
        return
    before, after = _functions(file.was), _functions(file.now)
    for name, old in before.items():
        new = after.get(name)
        if new is None or old.words == new.words or not _same(old.node, new.node):
            continue
        kept = set(new.words)
        if lost := sum(line not in kept for line in old.words):
            yield Reworded(file.path, name, new.node.lineno, lost)


def _functions(revision: Revision) -> dict[str, _Function]:
    """The functions of a module by their qualified names; of two with one name the first."""
    try:
        tree = python_tree.parse(revision.content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    lines, known = revision.text.split("\n"), dict[str, _Function]()
    for name, node in _definitions(tree, ""):
        words = (re.sub(r"\s+", " ", line).strip() for line in lines[node.lineno - 1 : node.end_lineno])
        known.setdefault(name, _Function(node, tuple(filter(None, words))))
    return known


def _definitions(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _DEFINITIONS):
            yield f"{prefix}{child.name}", child
        elif isinstance(child, ast.ClassDef):
            yield from _definitions(child, f"{prefix}{child.name}.")
        elif isinstance(child, (ast.If, ast.Try)):
            yield from _definitions(child, prefix)


def _same(old: object, new: object) -> bool:
    """Whether two nodes do the same: docstrings of theirs and of definitions in them, layout and comments are nothing.

    Nothing is copied or changed, as other gates read the same trees at this moment, and no depth is too deep.
    """
    pairs = [(old, new)]
    while pairs:
        before, after = pairs.pop()
        if type(before) is not type(after):
            return False
        if isinstance(before, ast.AST) and isinstance(after, ast.AST):
            pairs.extend((_part(before, name), _part(after, name)) for name in before._fields)
        elif isinstance(before, list) and isinstance(after, list):
            if len(before) != len(after):
                return False
            pairs.extend(zip(before, after, strict=True))
        elif before != after:
            return False
    return True


def _part(node: ast.AST, name: str) -> object:
    """What stands in a field of a node; a body without its docstring."""
    if name == "body" and isinstance(node, (*_DEFINITIONS, ast.ClassDef)):
        documented = ast.get_docstring(node, clean=False) is not None
        return (node.body[1:] or [ast.Pass()]) if documented else node.body
    return getattr(node, name, None)
