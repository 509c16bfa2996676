"""Finds import cycles that a change introduces between Python or JavaScript modules.

A new edge closes a cycle when its target reaches its source. It is new if the file's base revision did not have it, and
the two did not reach each other before. A cycle that works informs (low). A Python cycle in which every order of
loading meets a name before it is bound cannot be imported at all (high).
"""

from __future__ import annotations

import posixpath
from itertools import pairwise
from typing import TYPE_CHECKING

from swarmgate.domain.review.finding import Finding, Severity
from swarmgate.gates.imports.edges import PYTHON, SCRIPT, Edges
from swarmgate.gates.imports.importers import mentioning
from swarmgate.gates.imports.python import source
from swarmgate.gates.imports.python.project import PythonProject
from swarmgate.gates.imports.script.project import ScriptProject

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from swarmgate.gates.imports.edges import Edge
    from swarmgate.gates.project.view import View

REACH = 600
"""So many files are followed from one import; what lies further is not searched."""
_TRIES = 4


class Graph:
    """The import graph of one tree, built as it is searched."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.edges = Edges(PythonProject.of(view), ScriptProject.of(view))
        self._quick: dict[str, list[str]] = {}
        self._sure: dict[str, dict[str, list[Edge]]] = {}

    def sure(self, path: str) -> dict[str, list[Edge]]:
        """The edges by target along which code certainly runs at import."""
        if path not in self._sure:
            table: dict[str, list[Edge]] = {}
            for edge in self.edges.at_import(path, self.view.content(path) or b""):
                table.setdefault(edge.target, []).append(edge)
            self._sure[path] = table
        return self._sure[path]

    def path(self, start: str, goal: str) -> list[str]:
        """The shortest way from `start` to `goal`, both included, each step certain; empty when there is none."""
        dropped: set[tuple[str, str]] = set()
        for _ in range(_TRIES):
            cycle = self._search(start, goal, dropped)
            wrong = [step for step in pairwise(cycle) if step[1] not in self.sure(step[0])]
            if not wrong:
                return cycle
            dropped |= set(wrong)
        return []

    def _search(self, start: str, goal: str, dropped: set[tuple[str, str]]) -> list[str]:
        previous: dict[str, str] = {start: ""}
        level = [start]
        while level and goal not in previous and len(previous) < REACH:
            self.view.fetch(level)
            following = []
            for path in level:
                for target in self._targets(path):
                    if target not in previous and (path, target) not in dropped:
                        previous[target] = path
                        following.append(target)
            level = following
        cycle = []
        step = goal if goal in previous else ""
        while step:
            cycle.append(step)
            step = previous[step]
        return cycle[::-1]

    def _targets(self, path: str) -> list[str]:
        if path not in self._quick:
            self._quick[path] = self.edges.quick(path, self.view.content(path) or b"")
        return self._quick[path]


def introduced(head: Graph, earlier: Callable[[], Graph], changed: Iterable[tuple[str, str]]) -> list[Finding]:
    """The cycles that a change introduced, one finding each, at the import that closes it.

    Args:
        head: the graph after the change.
        earlier: makes the graph before it, where one is needed.
        changed: (path, path in the base or empty) of the changed files.
    """
    changed = [each for each in changed if _imports_more(head, earlier, *each)]
    if not changed:
        return []
    renamed = {old or path: path for path, old in changed}
    base = earlier() if any(old and head.sure(path) for path, old in changed) else None
    fresh = []
    for path, old in changed:
        if not path.endswith((*PYTHON, *SCRIPT)):
            continue
        before = {renamed.get(each, each) for each in base.sure(old)} if old and base else set()
        fresh += [(path, target, each[0]) for target, each in head.sure(path).items() if target not in before]
    sources = {path for path, _, _ in fresh}
    if not sources:
        return []
    near = mentioning(head.view, sources)
    findings, seen = [], set()
    for path, target, edge in sorted(fresh, key=lambda each: (each[0], each[2].by.line)):
        if not near - {path} or target == path:
            continue
        cycle = head.path(target, path)
        members = frozenset(cycle)
        if cycle and members not in seen and not (base and _existed(base, path, target, dict(changed))):
            seen.add(members)
            findings.append(_finding(head, [path, *cycle], edge))
    return findings


def _imports_more(head: Graph, earlier: Callable[[], Graph], path: str, old: str) -> bool:
    """Whether a file has an import statement that its base revision had not; nothing is resolved for that."""
    if not path.endswith((*PYTHON, *SCRIPT)):
        return False
    statements = head.edges.statements(path, head.view.content(path) or b"")
    if not old or not statements:
        return bool(statements)
    return not statements <= head.edges.statements(old, earlier().view.content(old) or b"")


def _existed(base: Graph, path: str, target: str, olds: dict[str, str]) -> bool:
    """Whether the two imported each other, over whatever way, before the change."""
    one, other = olds.get(path, path), olds.get(target, target)
    files = base.view.files
    return bool(one in files and other in files and base.path(one, other) and base.path(other, one))


def _finding(head: Graph, ring: list[str], edge: Edge) -> Finding:
    """`ring` begins and ends with the same file."""
    fatal = ring[0].endswith(PYTHON) and _fails(head, ring)
    chain = " -> ".join(ring)
    reason = "no order of importing works: each meets a name before it is bound" if fatal else "the change closed it"
    return Finding(
        rule="import-cycle", path=ring[0], line=edge.by.line, column=edge.by.column,
        severity=Severity.HIGH if fatal else Severity.LOW, message=f"import cycle: {chain} ({reason})",
        suggestion="move what both need into a third module, or import it in the function that uses it",
    )  # fmt: skip


def _fails(head: Graph, ring: list[str]) -> bool:
    """Whether a Python cycle fails from wherever it is entered.

    Entered at a module, it runs to the import that leads on, and comes back to the module by the last import of the
    ring: that one needs names which are bound only further down.
    """
    nodes = ring[:-1]
    packages = {posixpath.dirname(node) for node in nodes if posixpath.basename(node) == "__init__.py"}
    inner = [node for node in nodes if any(node.startswith(f"{folder}/") for folder in packages)]
    inits = [node for node in inner if posixpath.basename(node) == "__init__.py"]
    outermost = {min(inits, key=len)} if inits else set()
    # Whoever imports a module of a package imports the package first.
    entries = [node for node in nodes if node not in inner or node in outermost]
    return bool(entries) and all(_fails_from(head, nodes, nodes.index(entry)) for entry in entries)


def _fails_from(head: Graph, nodes: list[str], at: int) -> bool:
    entry, following, last = nodes[at], nodes[(at + 1) % len(nodes)], nodes[at - 1]
    leaves = min(edge.by.line for edge in head.sure(entry)[following])
    bound = source.definitions(head.view.content(entry) or b"")
    if bound.dynamic:
        return False
    for edge in head.sure(last)[entry]:
        if edge.submodule or edge.by.guard.value == "optional":
            continue
        for name in edge.by.names:
            if name != "*" and bound.names.get(name, 0) > leaves:
                return True
    return False
