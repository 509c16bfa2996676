"""Finds new tests that the test runner does not collect, and reports them to their author."""

from __future__ import annotations

from collections.abc import Sequence

from swarmgate.domain.review.change import ChangeSet
from swarmgate.domain.review.evidence import Remark, TestRun
from swarmgate.domain.review.finding import Severity
from swarmgate.engine.context import Context
from swarmgate.workspace.test_runs.collection.rules import Rules, Uncollected

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
    rules = ctx.collecting(change.tree)
    paths = [file.path for file in change.present if file.added and rules.could_run(file.path)]
    found = {each.path: each for each in rules.uncollected(paths)}
    for path in _unnamed(rules, paths, ran):
        found.setdefault(path, Uncollected(path, _UNNAMED))
    return tuple(found[path] for path in paths if path in found)


def _unnamed(rules: Rules, paths: Sequence[str], ran: TestRun) -> list[str]:
    """Files with tests of which a whole run of pytest, which names each test with its file, named none."""
    if rules.runner != "pytest" or not ran.green:
        return []
    named = {name.partition("::")[0] for name in (*ran.names, *ran.skips, *ran.failures) if "::" in name}
    if not any(_is_one_of(path, named) for path in rules.files):
        return []
    return [path for path in paths if not _is_one_of(path, named) and rules.holds_tests(path, rules.read(path))]


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
