"""Builds the importer graph: which files of a tree import a given file (Python, JavaScript, TypeScript).

Only files that mention the module's name are read and parsed (`git grep` over the tree), so one changed file in a tree
of thousands costs one search and a few parses.
"""

from __future__ import annotations

import posixpath
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from swarmgate.gates.imports.edges import PYTHON, SCRIPT, Edges
from swarmgate.gates.imports.python.project import PythonProject
from swarmgate.gates.imports.script.project import ScriptProject
from swarmgate.gates.project.view import View
from swarmgate.workspace.files.paths import decode, encode
from swarmgate.workspace.git.driver import Driver, call, failure

if TYPE_CHECKING:
    from collections.abc import Iterable

    from swarmgate.workspace.git.repository import Repository

_INDEX = {"__init__", "index"}
_MANIFESTS = {"package.json", "package-lock.json", "npm-shrinkwrap.json"}


@dataclass(frozen=True, slots=True)
class Consumer:
    """A file that imports another: where, and which names it takes (none: the module as a whole)."""

    path: str
    line: int
    names: tuple[str, ...] = ()


def consumers(repository: Repository, tree: str, paths: Iterable[str]) -> dict[str, tuple[Consumer, ...]]:
    """The files of a tree that import each of `paths`, by path; imports in functions and for types only, too.

    Args:
        repository: the user's repository.
        tree: a tree id; for a deleted module, the tree that still has it.
        paths: files of that tree; others have no consumers.
    """
    return of(View(repository, tree), paths)


def of(view: View, paths: Iterable[str]) -> dict[str, tuple[Consumer, ...]]:
    """The importers of each of `paths` among the given files."""
    wanted = {path for path in paths if path in view.files and path.endswith((*PYTHON, *SCRIPT))}
    found: defaultdict[str, list[Consumer]] = defaultdict(list)
    if wanted:
        edges = Edges(PythonProject.of(view), ScriptProject.of(view))
        near = sorted(mentioning(view, wanted))
        view.fetch(near)
        for path in near:
            for edge in edges.of(path, view.content(path) or b""):
                if edge.target in wanted:
                    found[edge.target].append(Consumer(path, edge.by.line, edge.by.names))
    return {path: tuple(sorted(set(found[path]), key=lambda each: (each.path, each.line))) for path in sorted(wanted)}


def mentioning(view: View, paths: Iterable[str]) -> set[str]:
    """The files whose text names one of these modules, and those near enough to import it without naming it."""
    found: set[str] = set()
    for suffixes in (PYTHON, SCRIPT):
        own = [path for path in paths if path.endswith(suffixes)]
        words = {_word(path) for path in own} - {""}
        if words:
            found |= set(grep(view, sorted(words), suffixes))
        folders = {posixpath.dirname(path) for path in own if _stem(path) in _INDEX}
        if folders:
            found |= {each for each in view.files if each.endswith(suffixes) and posixpath.dirname(each) in folders}
    return found


def _stem(path: str) -> str:
    return posixpath.basename(path).partition(".")[0]


def _word(path: str) -> str:
    """What an import of this file has to name."""
    stem = _stem(path)
    return posixpath.basename(posixpath.dirname(path)) if stem in _INDEX else stem


def grep(view: View, words: list[str], suffixes: tuple[str, ...], *, sources_only: bool = False) -> list[str]:
    """The files with one of these suffixes that hold one of the words.

    Args:
        view: the tree.
        words: fixed texts, found as whole words.
        suffixes: ends of file names.
        sources_only: leave out the manifests and locks of npm, which name every dependency.

    Raises:
        WorkspaceError: git cannot search.
    """
    patterns = b"".join(encode(word) + b"\n" for word in words)
    options = ("-c", "core.quotePath=false", "grep", "--full-name", "-l", "-z", "-I", "-F", "-w", "-f", "-")
    globs = [f"*{each}" for each in suffixes]
    code, out, err = call(Driver(view.repository.root).top, *options, view.tree, "--", *globs, stdin=patterns)
    if code > 1:
        raise failure("grep", err)
    prefix = len(view.tree) + 1
    found = [decode(record[prefix:]) for record in out.split(b"\0")[:-1]]
    return [each for each in found if not sources_only or posixpath.basename(each) not in _MANIFESTS]
