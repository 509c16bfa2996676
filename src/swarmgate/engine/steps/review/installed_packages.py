"""Checks that installed packages of the project are unchanged since before the agents worked."""

from __future__ import annotations

from swarmgate.domain.events.event import AttemptRejected
from swarmgate.domain.guard import Effect, GuardNote
from swarmgate.domain.review.evidence import Remark
from swarmgate.domain.review.finding import Severity
from swarmgate.domain.review.stage import Judge
from swarmgate.domain.state.state import Attempt, TaskRecord
from swarmgate.domain.transitions.task import overruled
from swarmgate.engine.context import Context

_LEFT_OUT = "left-out"
"""The rule of the note on ignored files that tests go without."""
_LISTED = 5


def changed_packages(ctx: Context, task_id: str, record: TaskRecord, attempt: Attempt) -> AttemptRejected | None:
    """The end of an attempt during which agents changed installed packages; None where they did not, or may have.

    Gates and tests run what is installed there, a test runner for one. What agents changed of other ignored files is
    only left out where tests run, and that is on record.
    """
    touched = ctx.ignored.touched()
    if touched.left_out:
        message = f"ignored files that agents changed are not there when tests run: {_listed(touched.left_out)}"
        ctx.reports.append(GuardNote(rule=_LEFT_OUT, effect=Effect.NOTED, detail=message, attempt=attempt.number))
    if not touched.installed or overruled(record, attempt, Judge.INSTALLED):
        return None
    reason = f"installed packages were changed while agents were at work: {_listed(touched.installed)}"
    remark = Remark(
        severity=Severity.HIGH,
        message=f"{reason}. What runs the gates and the tests is no longer what it was, so nothing they say is proof.",
        file=touched.installed[0],
        suggestion="Only the user can install them anew. Leave installed packages as they are.",
    )
    return AttemptRejected(
        task=task_id, attempt=attempt.number, stage=Judge.INSTALLED, reason=reason, feedback=(remark,)
    )


def _listed(paths: tuple[str, ...]) -> str:
    more = f" and {len(paths) - _LISTED} more" if len(paths) > _LISTED else ""
    return ", ".join(paths[:_LISTED]) + more
