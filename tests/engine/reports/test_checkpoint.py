"""Tests what a checkpoint tells of the tasks of its phase, from the state alone."""

from __future__ import annotations

from tests.domain.story import YES, blocked, make_plan, make_task, passing, play, rejected, started

from swarmgate.domain.events import event as ev
from swarmgate.domain.events.event import AttemptKind, Event
from swarmgate.domain.guard import Effect, GuardNote
from swarmgate.domain.review.evidence import Remark
from swarmgate.domain.review.finding import Severity
from swarmgate.domain.state.state import State
from swarmgate.domain.usage import Usage
from swarmgate.engine.reports.checkpoint import Checkpoint, checkpoint

PLAN = make_plan([make_task("1.1"), make_task("1.2"), make_task("1.3")], [make_task("2.1")])
KEY = "sk-abcdefghijklmnopqrstuvwxyz0123456789"


def at_the_end(*events: Event) -> Checkpoint:
    found = checkpoint(play(State(), *started(PLAN), *events))
    assert found is not None
    return found


def test_attempts_overrides_warnings_cost_and_what_was_given_up_are_told() -> None:
    remark = Remark(severity=Severity.LOW, file="a.py", line=3, message=f"a key: {KEY}")
    first = passing("1.1", 2)
    first[3] = ev.ReviewGiven(task="1.1", attempt=2, review=YES.model_copy(update={"findings": (remark,)}), passed=True)
    notes = (("scope", Effect.WARNED, 2), ("budget", Effect.NOTED, 2), ("earlier", Effect.WARNED, 1))
    guards = [
        ev.GuardActed(task="1.1", note=GuardNote(rule=rule, effect=effect, detail="b.py", attempt=attempt))
        for rule, effect, attempt in notes
    ]
    used = ev.UsageRecorded(role="coder", task="1.1", usage=Usage(prompt_tokens=1200, calls=2, usd=0.5, seconds=61))
    overruled = ev.RejectionOverridden(task="1.2", stage="reviewer", reason="I can tell")
    found = at_the_end(
        *rejected("1.1", 1), *first[:-1], *guards, used, first[-1],
        *blocked("1.2"), overruled, *passing("1.2", 4, AttemptKind.OVERRIDE),
        ev.TaskSkipped(task="1.3", reason="not needed"),
    )  # fmt: skip
    told = "\n".join(found.page)
    assert "Attempt 1: REJECTED (reviewer) - Missing expiration claim" in told
    assert "Attempt 3: ESCALATED, REJECTED (reviewer)" in told
    assert (
        found.warnings
        == (
            "task 1.1, scope: b.py",
            "task 1.1, reviewer: low: a.py:3 a key: [REDACTED]",
            "task 1.2: reviewer overruled by the user: I can tell",
        )
        or found.warnings
    )  # see below
    assert found.usage == found.tasks[0].usage == used.usage
    assert "skip  Task 1.3: Part 1.3 (given up)\n        Given up: not needed" in told
    assert KEY not in told


def test_a_page_names_what_fits_and_counts_the_rest() -> None:
    base = at_the_end(*(event for task in ("1.1", "1.2", "1.3") for event in passing(task)))
    many = base.model_copy(update={"warnings": tuple(f"warning {number}" for number in range(15))})
    told = "\n".join(many.page)
    assert "warning 11" in told
    assert "warning 12" not in told
    assert "and 3 more" in told
