"""Finds new tests that the test runner does not collect, and reports them to their author."""

from __future__ import annotations

from collections.abc import Sequence

from swarmgate.domain.review.change import ChangeSet
from swarmgate.domain.review.evidence import Remark, TestRun
from swarmgate.domain.review.finding import Severity
from swarmgate.engine.context import Context
from swarmgate.workspace.test_runs.collection.by_suite import Collecting
from swarmgate.workspace.test_runs.collection.rules import Uncollected

_LISTED = 3
_UNNAMED = "its run named no test of this file (functions, classes, markers and `collect_ignore` choose, too)"
ADVICE = "Move or rename the file so that the test command collects it; what is not collected proves nothing."


def uncollected_tests(ctx: Context, change: ChangeSet, ran: TestRun) -> tuple[Uncollected, ...]:
    """The files of a change that hold tests and are not collected, by the runner's rules or by what its run named.

    Args:
        ctx: the context of the step.
        change: the whole change of the attempt.
        ran: the run over its tree; its names count where it was of the whole suite, and green.
    """
    collecting = Collecting(ctx.all_suites(), ctx.repository, change.tree)
    paths = [file.path for file in change.present if file.added and collecting.of(file.path)]
    found = {each.path: each for each in collecting.uncollected(paths)}
    for path in _unnamed(collecting, paths, ran):
        found.setdefault(path, Uncollected(path, _UNNAMED))
    return tuple(found[path] for path in paths if path in found)


def _unnamed(collecting: Collecting, paths: Sequence[str], ran: TestRun) -> list[str]:
    """Files with tests of which a whole run of pytest, which names each test with its file, named none."""
    if not ran.green or ran.related:
        return []
    named = {name.partition("::")[0] for name in (*ran.names, *ran.skips, *ran.failures) if "::" in name}
    found = []
    for path in (each for each in paths if not _is_one_of(each, named)):
        rules = [each for each in collecting.of(path) if each.runner == "pytest"]
        tells = any(_is_one_of(known, named) for each in rules for known in each.paths)
        if tells and any(each.holds_tests(path, each.text(path)) for each in rules):
            found.append(path)
    return found


def _is_one_of(path: str, named: set[str]) -> bool:
    """Whether a path is one that the runner named, perhaps from a folder of the project."""
    if path in named:
        return True
    at = path.find("/")
    while at >= 0:
        if path[at + 1 :] in named:
            return True
        at = path.find("/", at + 1)
    return False


def uncollected_text(lost: Sequence[Uncollected], runner: str) -> str:
    """In one line."""
    more = f" and {len(lost) - _LISTED} more" if len(lost) > _LISTED else ""
    return "; ".join(each.message(runner or "the test command") for each in lost[:_LISTED]) + more


def remarks(lost: Sequence[Uncollected], runner: str) -> tuple[Remark, ...]:
    """For whoever works next."""
    return tuple(
        Remark(severity=Severity.HIGH, message=uncollected_text([each], runner), suggestion=ADVICE, file=each.path)
        for each in lost[:_LISTED]
    )
