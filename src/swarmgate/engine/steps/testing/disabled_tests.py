"""Detects tests that passed before the task and were deleted, skipped or hidden from the runner."""

from __future__ import annotations

from pydantic import ValidationError

from swarmgate.domain.events.event import AttemptRejected
from swarmgate.domain.guard import Effect, GuardNote
from swarmgate.domain.review.evidence import Remark, TestRun
from swarmgate.domain.review.finding import Severity
from swarmgate.domain.review.stage import Judge
from swarmgate.domain.state.state import Attempt, TaskRecord
from swarmgate.domain.transitions.task import overruled
from swarmgate.engine.context import Context
from swarmgate.errors import WorkspaceError
from swarmgate.ledger.evidence.evidence import BASE, TESTS
from swarmgate.workspace.test_runs.lost_tests import lost
from swarmgate.workspace.test_runs.runner_files import may_steer
from swarmgate.workspace.test_runs.suites import TEST_FILE, Suites

_RULE = "tests-switched-off"
_LISTED = 5
_NAMED = 20
_ADVICE = (
    "Bring these tests back, under their names and able to run. If the task makes one wrong, mend what it expects and "
    "keep its name; only the user can pass a change that takes tests away."
)


async def switched_off(
    ctx: Context, task_id: str, record: TaskRecord, attempt: Attempt, tree: str, ran: TestRun
) -> AttemptRejected | None:
    """The objection to a green run that some tests are missing from; None where there is none, or it does not bind.

    Compared is with the run of the task before, if the attempt builds on its commit; else, where the change touches
    tests, settings of a runner, or leaves skipped tests, with a run over the tree before the change, in a copy.

    Args:
        ctx: the context of the step.
        task_id: the task.
        record: its record.
        attempt: its running attempt.
        tree: the final tree.
        ran: the run of the whole suite over it, which was green.
    """
    rule = ctx.config.tests.vanished
    if rule == "off" or overruled(record, attempt, Judge.SWITCHED_OFF):
        return None
    before = _recorded(ctx, attempt, ran) or _measured_before(ctx, task_id, record, attempt, ran)
    if before is None and (ran.skipped or _lacks_canary(ctx, ran) or _touches_tests(ctx, attempt, tree)):
        before = await _measure(ctx, task_id, attempt, _suites_before(ctx, attempt, tree))
    found = lost(before, ran) if before else ()
    if not found:
        return None
    count = f"{len(found)} more" if len(found) > _LISTED else ""
    reason = (
        f"tests that passed before the task do not run any more: {', '.join(filter(None, (*found[:_LISTED], count)))}"
    )
    if rule == "warn":
        _note(ctx, attempt, Effect.WARNED, reason)
        return None
    remarks = tuple(Remark(severity=Severity.HIGH, message=each, suggestion=_ADVICE) for each in found[:_NAMED])
    return AttemptRejected(
        task=task_id, attempt=attempt.number, stage=Judge.SWITCHED_OFF, reason=reason, feedback=remarks
    )


def _recorded(ctx: Context, attempt: Attempt, ran: TestRun) -> TestRun | None:
    """The run of the same suites that the commit passed on which the attempt builds; None where there is none."""
    for task_id, record in ctx.ledger.state.tasks.items():
        if record.commit and record.commit == attempt.base and record.last is not None:
            stored = _stored_run(ctx, task_id, record.last.number, TESTS)
            return stored if stored and _comparable(stored, ran) else None
    return None


def _measured_before(ctx: Context, task_id: str, record: TaskRecord, attempt: Attempt, ran: TestRun) -> TestRun | None:
    """The run over the same base that an earlier attempt at the task made."""
    numbers = (each.number for each in reversed(record.attempts) if each.base == attempt.base)
    runs = (_stored_run(ctx, task_id, number, BASE) for number in numbers)
    return next((run for run in runs if run and _comparable(run, ran)), None)


def _comparable(before: TestRun, ran: TestRun) -> bool:
    """Whether both are runs of the same suites as a whole."""
    return before.suites == ran.suites and not before.related and not ran.related


def _stored_run(ctx: Context, task_id: str, number: int, name: str) -> TestRun | None:
    try:
        return TestRun.model_validate_json(ctx.evidence.place(task_id, number, name).read_bytes())
    except (OSError, ValidationError):
        return None


def _touches_tests(ctx: Context, attempt: Attempt, tree: str) -> bool:
    paths = {path for file in ctx.change(attempt, tree).files for path in file.touched}
    return any(ctx.is_test_path(path) or may_steer(path) for path in paths)


def _suites_before(ctx: Context, attempt: Attempt, tree: str) -> Suites:
    """The suites of the change; those that run related tests alone run what it took away or altered, too."""
    suites = ctx.suites(tree)
    if not suites.selection:
        return suites
    touched = (path for file in ctx.change(attempt, tree).files for path in file.touched)
    own = (path for path in touched if ctx.is_test_path(path) and TEST_FILE.search(path))
    return suites.narrowed(ctx.repository.root, tuple(dict.fromkeys((*suites.selection, *own))))


def _lacks_canary(ctx: Context, ran: TestRun) -> bool:
    """Whether no test of ours ran with a runner that loads us: something of the project may keep it from that."""
    loads = ctx.suites().kind(ctx.repository.root) in {"pytest", "unittest"}
    return loads and ran.canary is not None and bool(ran.canary.missing)


async def _measure(ctx: Context, task_id: str, attempt: Attempt, suites: Suites) -> TestRun | None:
    """The suite over the tree before the change; None, with a note, where that says nothing."""
    try:
        with ctx.checkout(ctx.repository.tree_of(attempt.base or "HEAD")) as copy:
            run = await suites.run(copy.runner(ctx.commands))
    except WorkspaceError as error:
        _note(ctx, attempt, Effect.NOTED, f"which tests passed before the task is not known: {error.message}")
        return None
    ctx.evidence.write(task_id, attempt.number, BASE, run.model_dump_json(indent=1).encode())
    if not run.passed and run.problem:
        _note(ctx, attempt, Effect.NOTED, f"which tests passed before the task is not known: {run.reason}")
    return run


def _note(ctx: Context, attempt: Attempt, effect: Effect, detail: str) -> None:
    text = " ".join(detail.split())
    ctx.reports.append(GuardNote(rule=_RULE, effect=effect, detail=text, step="run_tests", attempt=attempt.number))
