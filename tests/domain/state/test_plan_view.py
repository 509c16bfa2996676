from __future__ import annotations

import pytest
from tests.domain.story import PLAN, blocked, delegated, make_task, passing, play, rejected, rejection, started

from swarmgate.domain.events import event as ev
from swarmgate.domain.events.event import AttemptKind
from swarmgate.domain.plan.plan import Complexity, Phase, Plan
from swarmgate.domain.state.plan_view import AttemptLine, AttemptMark, PhaseStatus, TaskView, phase_status, view_of
from swarmgate.domain.state.state import State, TaskStatus


def _task(state: State, task_id: str = "1.1") -> TaskView:
    view = view_of(state)
    assert view is not None
    return next(task for phase in view.phases for task in phase.tasks if task.id == task_id)


def _marks(*events: ev.Event) -> list[tuple[int, AttemptMark, str, str]]:
    lines = _task(play(State(), *started(), *events)).attempts
    return [(line.number, line.mark, line.stage, line.reason) for line in lines]


def test_without_a_plan_there_is_nothing_to_show() -> None:
    assert view_of(State()) is None


def test_the_view_names_its_ledger_position_and_gives_the_plan_back() -> None:
    view = view_of(play(State(), *started()))
    assert view is not None
    assert view.seq == 6
    assert view.plan == PLAN
    assert [phase.number for phase in view.phases] == [1, 2]


def test_each_attempt_is_shown_as_it_ended() -> None:
    why = "Missing expiration claim"
    assert _marks(delegated("1.1")) == [(1, AttemptMark.RUNNING, "coder_delegated", "")]
    assert _marks(*passing("1.1")[:4]) == [(1, AttemptMark.RUNNING, "reviewer_run", "")]
    assert _marks(*passing("1.1")) == []
    assert _marks(*blocked()) == [
        (1, AttemptMark.REJECTED, "reviewer", why),
        (2, AttemptMark.REJECTED, "reviewer", why),
        (3, AttemptMark.ESCALATED_REJECTED, "reviewer", why),
    ]
    died = ev.AttemptInterrupted(task="1.1", attempt=1, reason="crash")
    assert _marks(delegated("1.1"), died) == [(1, AttemptMark.INTERRUPTED, "", "crash")]
    escalated = passing("1.1", 3, AttemptKind.ESCALATED)
    line = (3, AttemptMark.ESCALATED, "", "Architect implementing directly")
    assert _marks(*rejected("1.1", 1), *rejected("1.1", 2), *escalated)[2] == line
    assert _marks(*rejected("1.1", 1), *rejected("1.1", 2), *escalated[:1])[2] == line
    override = ev.RejectionOverridden(task="1.1", stage="reviewer", reason="fine")
    again = passing("1.1", 2, AttemptKind.OVERRIDE)
    assert _marks(*rejected("1.1", 1), override, *again)[1] == (2, AttemptMark.OVERRIDDEN, "", "Write it.")


def test_a_page_of_a_reason_is_cut_where_it_is_shown_and_whole_on_record() -> None:
    page = "word " * 400
    state = play(State(), *started(), *passing("1.1")[:2], rejection("1.1", 1, reason=page))
    view = view_of(state)
    assert view is not None
    (line,) = view.phases[0].tasks[0].attempts
    assert line.reason.endswith("...")
    assert len(line.reason) < 410
    assert state.task("1.1").attempts[0].reason == page.strip()


def test_failed_attempts_stay_in_sight_when_a_revision_changes_their_task() -> None:
    first, *others = PLAN.phases[0].tasks
    tasks = (first.model_copy(update={"title": "Another title"}), *others)
    plan = Plan(title=PLAN.title, phases=(Phase(name="Stage 1", tasks=tasks), PLAN.phases[1]))
    revised = ev.RevisionRequested(text="rename it"), ev.PlanSaved(plan=plan)
    view = view_of(play(State(), *started(), *rejected("1.1", 1), *rejected("1.1", 2), *revised))
    assert view is not None
    shown = view.phases[0].tasks[0]
    assert (shown.title, [line.number for line in shown.attempts]) == ("Another title", [1, 2])


def test_a_note_says_why_a_task_is_blocked_or_skipped() -> None:
    view = _task(play(State(), *started(), *blocked()))
    assert (view.status, view.note) == (TaskStatus.BLOCKED, "(reviewer) Missing expiration claim")
    view = _task(play(State(), *started(), ev.TaskSkipped(task="1.1", reason="not now")))
    assert (view.status, view.note) == (TaskStatus.SKIPPED, "not now")
    silent = ev.TaskBlocked(task="1.1", stage="architect", reason="")
    assert _task(play(State(), *started(), silent)).note == "(architect)"


def test_a_phase_is_pending_in_progress_awaiting_approval_and_complete() -> None:
    done = [*passing("1.1"), *passing("1.2"), *passing("1.3")]
    story = [delegated("1.1")], [*done], [*done, ev.PhaseClosed(phase=1, summary="s")]
    assert phase_status(play(State(), *started()), 1) is PhaseStatus.PENDING
    assert [phase_status(play(State(), *started(), *events), 1) for events in story] == [
        PhaseStatus.IN_PROGRESS,
        PhaseStatus.IN_PROGRESS,
        PhaseStatus.AWAITING_APPROVAL,
    ]
    approved = play(State(), *started(), *story[2], ev.PhaseApproved(phase=1))
    assert phase_status(approved, 1) is PhaseStatus.COMPLETE
    assert phase_status(approved, 2) is PhaseStatus.PENDING


def test_a_phase_is_as_big_as_its_biggest_task() -> None:
    medium = make_task("1.1").model_copy(update={"complexity": Complexity.MEDIUM})
    plan = Plan(title="x", phases=(PLAN.phases[0].model_copy(update={"tasks": (medium, make_task("1.2"))}),))
    view = view_of(play(State(), *started(plan)))
    assert view is not None
    assert view.phases[0].size is Complexity.MEDIUM


def test_a_stage_stands_in_parentheses_and_holds_none() -> None:
    with pytest.raises(ValueError, match="stage"):
        AttemptLine(number=1, mark=AttemptMark.REJECTED, stage="a) b")
