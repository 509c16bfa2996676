"""Transitions of phases: verdicts of reviewers on a whole phase, its summary and its approval.

What a majority rejected goes on only by another plan, by verdicts asked for anew, or by the user's word.
"""

from __future__ import annotations

from swarmgate.domain.events import event as ev
from swarmgate.domain.review.stage import Judge, Stage
from swarmgate.domain.state import unattended
from swarmgate.domain.state.phase_verdict import Standing, judged_stage, standing
from swarmgate.domain.state.state import Outcome, PhaseRecord, State, TaskStatus, replace
from swarmgate.domain.transitions.task import committed
from swarmgate.errors import IllegalMove


def phase_reviewed(state: State, event: ev.PhaseReviewed, _: ev.Entry) -> State:
    record = state.phase(event.phase)
    expected = (
        state.current_phase,
        judged_stage(state),
        record.round(event.stage),
        len(record.verdicts(event.stage)) + 1,
    )
    if standing(state) is not Standing.DUE or (event.phase, event.stage, event.round, event.number) != expected:
        raise IllegalMove(f"Phase {event.phase} waits for no verdict of reviewer {event.number} ({event.stage}).")
    if event.failed and event.review.approved:
        raise IllegalMove("A verdict that could not be read approves nothing.")
    if event.run is not None:
        state = replace(state, known_red=tuple(name for name in state.known_red if name in event.run.failures))
    return _with(state, event.phase, replace(record, reviews=(*record.reviews, event)))


def phase_regressed(state: State, event: ev.PhaseRegressed, entry: ev.Entry) -> State:
    record = _rejected(state, event.phase)
    if judged_stage(state) != "tests" or not event.culprits:
        raise IllegalMove(f"Phase {event.phase} was not rejected by its tests, or by nobody's commit.")
    tasks = state.tasks
    for culprit in event.culprits:
        task = committed(state, culprit.task, culprit.commit)
        if state.plan is None or state.plan.phase_numbers.get(culprit.task) != event.phase:
            raise IllegalMove(f"Task {culprit.task} is not of phase {event.phase}.")
        last = replace(
            task.attempts[-1],
            outcome=Outcome.REJECTED,
            stage=Stage.of(Judge.TESTS),
            reason=culprit.reason,
            feedback=culprit.feedback,
            failures=culprit.failures,
            ended=entry.time,
        )
        opened = replace(
            task,
            attempts=(*task.attempts[:-1], last),
            rejections=task.rejections + 1,
            status=TaskStatus.IN_PROGRESS,
            commit="",
        )
        tasks = tasks.set(culprit.task, opened)
    return _with(replace(state, tasks=tasks), event.phase, record.renewed)


def phase_retried(state: State, event: ev.PhaseRetried, _: ev.Entry) -> State:
    record, stage = state.phase(event.phase), judged_stage(state)
    begun = stage and record.verdicts(stage) and standing(state) is Standing.DUE
    if record.closed and not record.approved and record.verdicts("tests"):  # the branch has moved on since they ran
        return _with(state, event.phase, replace(record.renewed, notes=record.notes))
    if not (begun and event.phase == state.current_phase):
        record = _rejected(state, event.phase)
    notes = (*record.notes, event.note) if event.note else record.notes
    return _with(state, event.phase, replace(record.renewed, notes=notes))


def phase_overridden(state: State, event: ev.PhaseOverridden, entry: ev.Entry) -> State:
    record = _rejected(state, event.phase)
    if event.stage != judged_stage(state):
        raise IllegalMove(f"Phase {event.phase} was not rejected by its {event.stage}.")
    overruled = record.overruled.set(event.stage, event.reason)
    by = record.overruled_by.set(event.stage, entry.actor)
    return _with(state, event.phase, replace(record, overruled=overruled, overruled_by=by))


def phase_closed(state: State, event: ev.PhaseClosed, _: ev.Entry) -> State:
    if event.phase != state.current_phase or state.finished or not state.phase_settled(event.phase):
        raise IllegalMove(f"Phase {event.phase} cannot be closed: it is not the current one, or tasks of it are open.")
    if (found := standing(state)) is not Standing.PASSED:
        raise IllegalMove(f"Phase {event.phase} cannot be closed: the verdict of its reviewers is {found}.")
    record = replace(
        state.phase(event.phase),
        summary=event.summary,
        decisions=event.decisions,
        lessons=event.lessons,
        closed=True,
        approved=False,
    )
    memory = state.memory.set((state.goals, event.phase), record)
    return replace(_with(state, event.phase, record), memory=memory)


def phase_approved(state: State, event: ev.PhaseApproved, entry: ev.Entry) -> State:
    record = state.phase(event.phase)
    if not record.closed or record.approved:
        raise IllegalMove(f"Phase {event.phase} does not wait for approval.")
    if event.by and (why := unattended.phase_needs_person(record)):
        raise IllegalMove(f"Nobody but the user can approve phase {event.phase}: {why}.")
    approver = "" if event.by else entry.actor
    record = replace(record, approved=True, approved_by=event.by, approver=approver)
    memory = state.memory.set((state.goals, event.phase), record)
    return replace(_with(state, event.phase, record), memory=memory)


def _rejected(state: State, phase: int) -> PhaseRecord:
    """The record of a phase that its reviewers rejected.

    Raises:
        IllegalMove: they did not.
    """
    if phase != state.current_phase or standing(state) is not Standing.REJECTED:
        raise IllegalMove(
            f"Phase {phase} was not rejected by its reviewers.", hint="See what waits for you with: swarm status"
        )
    return state.phase(phase)


def _with(state: State, phase: int, record: PhaseRecord) -> State:
    return replace(state, phases=state.phases.set(phase, record))
