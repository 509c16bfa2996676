"""Measures when each stage of each attempt was at work, from the times of the ledger's entries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import pairwise

from swarmgate.domain.actor import is_person
from swarmgate.domain.base import Frozen
from swarmgate.domain.events import event as ev
from swarmgate.domain.state.state import Outcome, State

STAGES = ("delegate", "code", "gates", "review", "tests", "test run", "commit")
"""What an attempt spends its time on, in order."""

_ENDS: dict[type, str] = {
    ev.TaskDelegated: "delegate",
    ev.ChangeCaptured: "code",
    ev.GatesRun: "gates",
    ev.ReviewGiven: "review",
    ev.SecurityReviewGiven: "review",
    ev.TestsReviewed: "review",
    ev.TestsWritten: "tests",
    ev.AdversarialTestsWritten: "tests",
    ev.TestsRun: "test run",
    ev.TaskCompleted: "commit",
}
"""The stage that each event ends."""
_STEPS = (*_ENDS, ev.TaskQuestionAsked)
_AFTER = dict(pairwise(STAGES))


class Span(Frozen):
    """One stage at work, in seconds of work since the first attempt that is shown."""

    stage: str
    start: float
    end: float


class AttemptTime(Frozen):
    """One attempt: its spans in order, and what became of it."""

    task: str
    attempt: int
    outcome: Outcome = Outcome.RUNNING
    spans: tuple[Span, ...] = ()


def attempt_times(entries: Iterable[ev.Entry], state: State) -> tuple[AttemptTime, ...]:
    """The attempts in the order in which they began, each with what the state says of it: some were undone since.

    Time in which nobody worked is left out: what passed before an entry of the user, and before a run began.
    """
    found: dict[tuple[str, int], AttemptTime] = {}
    for event, start, end in _steps(entries):
        key = event.task, event.attempt
        known = found.get(key) or AttemptTime(task=event.task, attempt=event.attempt)
        last = known.spans[-1].stage if known.spans else STAGES[0]
        stage = _ENDS.get(type(event), _AFTER.get(last, last))
        if isinstance(event, ev.TaskQuestionAsked):  # the stage goes on with the answer
            stage = "delegate" if event.step == "delegate" else "code"
        span = Span(stage=stage, start=start, end=end)
        # An attempt is rejected with the result of its last stage: the next one was not begun.
        more = (span,) if isinstance(event, _STEPS) or end > start or not known.spans else ()
        found[key] = known.model_copy(update={"spans": (*known.spans, *more)})
    became = {(task, each.number): each.outcome for task, of in state.tasks.items() for each in of.attempts}
    return tuple(each.model_copy(update={"outcome": became.get(key, Outcome.RUNNING)}) for key, each in found.items())


def since_first(times: Iterable[AttemptTime]) -> tuple[AttemptTime, ...]:
    """The same with the first of them beginning at 0."""
    found = tuple(times)
    zero = min((span.start for each in found for span in each.spans), default=0.0)

    def moved(span: Span) -> Span:
        return Span(stage=span.stage, start=span.start - zero, end=span.end - zero)

    return tuple(each.model_copy(update={"spans": tuple(map(moved, each.spans))}) for each in found)


def _steps(
    entries: Iterable[ev.Entry],
) -> Iterator[tuple[ev.TaskDelegated | ev.AttemptRejected | ev.TaskQuestionAsked | ev.TaskCompleted, float, float]]:
    """Every event that ends work at an attempt, with the seconds of work at which that began and ended."""
    worked, before, began = 0.0, None, 0.0
    for entry in entries:
        now, event = datetime.fromisoformat(entry.time), entry.event
        waited = is_person(entry.actor) or isinstance(event, ev.RunStarted)
        if before is not None and not waited:
            worked += max(0.0, (now - before).total_seconds())
        before = now
        if isinstance(event, (*_STEPS, ev.AttemptRejected, ev.AttemptInterrupted)):
            yield event, began, worked  # type: ignore[misc]  # each of these has a task and an attempt
            began = worked
        elif waited or isinstance(event, ev.PlanSaved | ev.PlanReviewed | ev.PhaseClosed | ev.PhaseReviewed):
            began = worked
