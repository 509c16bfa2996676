"""Reports product code that imports test code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swarmgate.domain.review.finding import Finding, Severity
from swarmgate.gates.imports import importers
from swarmgate.gates.imports.edges import PYTHON, SCRIPT
from swarmgate.gates.imports.exempt_files import Kind, kind_of
from swarmgate.gates.imports.model import Guard
from swarmgate.gates.project.files import is_test

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from swarmgate.gates.imports.cycles import Graph
    from swarmgate.gates.source.file import SourceFile

RULE = "imports-test"


def imported(sources: Iterable[SourceFile], graph: Graph, before: Callable[[], Graph]) -> Iterator[Finding]:
    """The imports of tests by changed files of the product; those of files that the base's product uses inform.

    Args:
        sources: the changed files.
        graph: the edges of the new tree.
        before: gives the edges of the base's tree; asked only where a test is imported.
    """
    used: dict[str, bool] = {}
    for source in sources:
        if not source.path.endswith((*PYTHON, *SCRIPT)) or not _is_product(source.path):
            continue
        for edge in graph.edges.of(source.path, source.content):
            if not is_test(edge.target) or edge.by.guard is Guard.TYPING:
                continue
            if edge.target not in used:
                used[edge.target] = _was_used(edge.target, before())
            severity = Severity.LOW if used[edge.target] else Severity.HIGH
            yield Finding(
                rule=RULE, path=source.path, line=edge.by.line, severity=severity,
                message=f"code of the product imports `{edge.target}`, which by its name is a test",
                suggestion="move what the product needs out of the tests, or give it a name that is none of a test",
            )  # fmt: skip


def _was_used(target: str, before: Graph) -> bool:
    users = importers.of(before.view, [target]).get(target, ()) if target in before.view.files else ()
    return any(_is_product(each.path) for each in users)


def _is_product(path: str) -> bool:
    """Whether a file is neither a test nor what stands beside the product: examples, scripts, helpers of tests."""
    return not is_test(path) and kind_of(path) is Kind.CODE
