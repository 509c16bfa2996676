from __future__ import annotations

import pytest
from tests.domain.story import (
    NO,
    PLAN,
    YES,
    blocked,
    delegated,
    legal,
    make_plan,
    make_task,
    passing,
    planned,
    play,
    rejected,
    started,
)

from swarmgate.domain.events import event as ev
from swarmgate.domain.events.event import Event, PauseReason
from swarmgate.domain.next_step import Step, Waiting, next_step, waiting_for
from swarmgate.domain.plan.plan import Plan
from swarmgate.domain.state.state import Planning, Recovery, State, TaskStatus
from swarmgate.domain.transitions.planning import plan_change_problems
from swarmgate.domain.usage import Usage
from swarmgate.errors import IllegalMove, PlanError

RUN = ev.RunStarted(pid=2, host="here")
PHASE_1 = [*passing("1.1"), *passing("1.2"), *passing("1.3")]
ENDED = [
    *started(),
    *PHASE_1,
    ev.PhaseClosed(phase=1, summary="s", decisions=("argon2",)),
    ev.PhaseApproved(phase=1),
    *passing("2.1"),
    ev.PhaseClosed(phase=2, summary="s"),
    ev.PhaseApproved(phase=2),
]

# --- goals and questions ---


def test_a_new_goal_cannot_replace_work_that_has_begun() -> None:
    with pytest.raises(IllegalMove, match="has begun") as caught:
        play(State(), *started(), delegated("1.1"), ev.GoalSet(goal="x"))
    assert "swarm revise" in caught.value.hint


@pytest.mark.parametrize("before", [planned(), started(), [*started(), ev.TaskSkipped(task="1.1", reason="x")]])
def test_a_new_goal_may_replace_a_plan_that_nobody_worked_on(before: list[Event]) -> None:
    state = play(State(), *before, ev.GoalSet(goal="x"))
    assert (state.plan, state.goal, state.goals) == (None, "x", 2)
    assert next_step(state) is Step.PLAN


def test_a_new_goal_after_the_end_starts_afresh_and_keeps_usage_and_memory() -> None:
    used = ev.UsageRecorded(role="coder", task="1.1", usage=Usage(calls=2, usd=0.5))
    state = play(State(), *ENDED, used, ev.GoalSet(goal="More", spec="s", source="SPEC.md"))
    assert (state.goal, state.goals, state.plan, state.branch, state.open, state.tree) == ("More", 2, None, "", "", "")
    assert not state.tasks
    assert not state.phases
    assert state.usage.calls == 2
    assert state.memory[1, 1].decisions == ("argon2",)
    assert next_step(state) is Step.PLAN
    again = play(state, *planned()[1:], ev.PlanApproved())
    assert next_step(again) is Step.START_WORK
    assert legal(again, ev.WorkStarted(branch="b2", base="c"), delegated("1.1", 1))


def test_questions_belong_to_planning_and_answers_to_questions() -> None:
    asked = ev.QuestionsAsked(questions=("A?",))
    assert not legal(State(), asked)
    assert not legal(play(State(), *started()), asked)
    state = play(State(), ev.GoalSet(goal="g"), asked)
    with pytest.raises(IllegalMove, match="There is no question 2; asked so far: 1"):
        play(state, ev.QuestionAnswered(number=2, answer="x"))
    assert not legal(state, ev.QuestionAnswered(number=0, answer="x"))
    assert play(state, ev.QuestionAnswered(number=1, answer="x")).questions[0].answer == "x"


# --- the plan ---


@pytest.mark.parametrize(
    ("before", "event"),
    [
        ([], ev.PlanSaved(plan=PLAN)),
        (planned(), ev.PlanSaved(plan=PLAN)),
        (started(), ev.PlanningFailed(problems=("x",))),
        (planned(), ev.PlanReviewed(review=YES)),
        (planned()[:2], ev.PlanApproved()),
        (planned()[:1], ev.PlanApproved()),
        (started(), ev.PlanApproved()),
        ([], ev.RevisionRequested(text="x")),
        ([], ev.PlanAmended(plan=PLAN, source="plan.md")),
        (planned(), ev.WorkStarted(branch="b", base="c")),
        (started(), ev.WorkStarted(branch="b", base="c")),
        (started(), ev.PhaseClosed(phase=1, summary="s")),
        ([*started(), *PHASE_1], ev.PhaseClosed(phase=2, summary="s")),
        ([*started(), *PHASE_1], ev.PhaseApproved(phase=1)),
        (ENDED, ev.PhaseApproved(phase=2)),
        (ENDED, ev.PhaseClosed(phase=3, summary="s")),
        ([*ENDED, ev.RevisionRequested(text="x")], ev.PhaseClosed(phase=3, summary="s")),
    ],
)
def test_out_of_turn_is_refused(before: list[Event], event: Event) -> None:
    state = play(State(), *before)
    with pytest.raises(IllegalMove):
        play(state, event)


def test_the_critic_is_asked_as_often_as_the_rules_say() -> None:
    once = [ev.RunStarted(pid=1, host="h", critic_rounds=1), *planned()[:2], ev.PlanReviewed(review=NO)]
    assert play(State(), *once).planning is Planning.REVIEWED


def test_a_revision_gives_the_critic_new_rounds() -> None:
    state = play(
        State(), *planned()[:2], ev.PlanReviewed(review=NO), ev.PlanSaved(plan=PLAN), ev.PlanReviewed(review=NO)
    )
    state = play(state, ev.RevisionRequested(text="x"))
    assert (state.critic_rounds, state.plan_reviews, state.planning) == (0, (), Planning.ASKED)
    assert next_step(state) is Step.REVISE


def test_a_revise_during_work_keeps_settled_and_running_tasks() -> None:
    state = play(State(), *started(), *passing("1.1"), delegated("1.2"), ev.RevisionRequested(text="x"))
    assert next_step(state) is Step.REVISE
    without = make_plan([make_task("1.2", "1.1"), make_task("1.3")])
    with pytest.raises(PlanError) as caught:
        play(state, ev.PlanSaved(plan=without))
    assert any("Task 1.1 is complete, skipped or running" in problem for problem in caught.value.problems)
    rewritten = make_plan([make_task("1.1"), make_task("1.2", "1.1", title="Else"), make_task("1.3")])
    assert not legal(state, ev.PlanSaved(plan=rewritten))
    kept = make_plan([make_task("1.1"), make_task("1.2", "1.1"), make_task("1.4")])
    state = play(state, ev.PlanSaved(plan=kept), ev.PlanReviewed(review=YES), ev.PlanApproved())
    assert state.task("1.1").status is TaskStatus.COMPLETE
    assert next_step(state) is Step.CODE


@pytest.mark.parametrize("far", range(1, 7))
@pytest.mark.parametrize("recovering", [False, True])
def test_the_running_task_may_be_changed_once_its_attempt_is_interrupted(far: int, *, recovering: bool) -> None:
    """At each step of its life: delegated, captured, past the gates, the review, the tests written, the tests run."""
    state = play(State(), *started(), *rejected("1.1", 1), *passing("1.1", 2)[:far])
    if recovering:  # the run before died or was cut short, and the files were not brought back yet
        state = play(state, RUN)
    changed = make_plan([make_task("1.1", title="Another part"), make_task("1.2", "1.1")], [make_task("2.1")])
    amended = ev.PlanAmended(plan=changed, source="plan.md")
    assert plan_change_problems(state, changed)
    assert not legal(state, amended)
    ended = ev.AttemptInterrupted(task="1.1", attempt=2, reason="the definition of its task was changed by hand")
    after = play(state, ev.TreeRestored(tree=state.tree), ended, amended)
    record = after.task("1.1")
    assert [attempt.outcome for attempt in record.attempts] == ["REJECTED", "INTERRUPTED"]
    assert (record.rejections, record.renewed, record.status) == (0, 2, TaskStatus.IN_PROGRESS)  # it starts afresh
    assert (after.open, after.recovery, next_step(after)) == ("", Recovery.NONE, Step.DELEGATE)
    assert legal(after, delegated("1.1", 3))
    assert not legal(after, delegated("1.2", 1))  # its change lies in the tree


def test_the_running_task_may_be_removed_once_its_attempt_is_interrupted() -> None:
    state = play(State(), *started(), *passing("1.1")[:3])
    fewer = make_plan([make_task("1.3")], [make_task("2.1")])
    ended = ev.AttemptInterrupted(task="1.1", attempt=1, reason="the definition of its task was changed by hand")
    after = play(state, ended, ev.PlanAmended(plan=fewer, source="plan.md"))
    assert "1.1" not in after.tasks
    assert after.tree == state.tree  # so that the next delegation can put it away
    assert legal(after, delegated("1.3", 1))


def test_an_override_is_forgotten_with_the_definition_that_it_was_for() -> None:
    overruled = ev.RejectionOverridden(task="1.1", stage="reviewer", reason="It is fine")
    state = play(State(), *started(), *rejected("1.1", 1), overruled)
    state = play(state, delegated("1.1", 2, ev.AttemptKind.OVERRIDE))
    ended = ev.AttemptInterrupted(task="1.1", attempt=2, reason="the definition of its task was changed by hand")
    changed = make_plan([make_task("1.1", title="Another part"), *PLAN.phases[0].tasks[1:]], PLAN.phases[1].tasks)
    record = play(state, ended, ev.PlanAmended(plan=changed, source="plan.md")).task("1.1")
    assert not record.overrides
    assert not record.override_pending


def test_a_task_that_leaves_the_plan_leaves_no_record() -> None:
    state = play(State(), *started(), *blocked())
    state = play(state, ev.PlanAmended(plan=make_plan([make_task("1.3")]), source="plan.md"))
    assert "1.1" not in state.tasks
    assert next_step(state) is Step.DELEGATE


def test_an_approved_phase_keeps_its_tasks() -> None:
    state = play(State(), *ENDED[:-3])
    grown = make_plan([*PLAN.phases[0].tasks, make_task("1.4")], [make_task("2.1", "1.1")])
    (told,) = plan_change_problems(state, grown)
    assert told == "Phase 1 is approved: it keeps its tasks. Put new ones into a later phase."


def test_a_new_task_in_a_closed_phase_opens_it_again() -> None:
    state = play(State(), *started(), *PHASE_1, ev.PhaseClosed(phase=1, summary="s"))
    assert waiting_for(state) is Waiting.PHASE_APPROVAL
    grown = make_plan([*PLAN.phases[0].tasks, make_task("1.4")], [make_task("2.1", "1.1")])
    state = play(state, ev.PlanAmended(plan=grown, source="plan.md"))
    assert not state.phase(1).closed
    assert next_step(state) is Step.DELEGATE
    assert state.current_phase == 1


def test_a_phase_after_the_end_goes_on_with_the_work() -> None:
    state = play(State(), *ENDED)
    longer = Plan(title="Parts", phases=(*PLAN.phases, make_plan([make_task("3.1")]).phases[0]))
    state = play(state, ev.PlanAmended(plan=longer, source="plan.md"))
    assert not state.finished
    assert next_step(state) is Step.DELEGATE


# --- runs ---


def _after(*events: Event) -> Recovery:
    return play(State(), *started(), *events).recovery


@pytest.mark.parametrize("steps", range(1, 7))
def test_a_run_that_died_in_an_attempt_gets_its_files_back_and_goes_on_in_it(steps: int) -> None:
    assert _after(*passing("1.1")[:steps], RUN) is Recovery.RESTORE
    state = play(State(), *started(), *passing("1.1")[:steps])
    mended = play(state, RUN, ev.TreeRestored(tree=state.tree))
    assert (mended.recovery, next_step(mended)) == (Recovery.NONE, next_step(state))


def test_what_goes_on_record_around_a_step_is_no_step() -> None:
    state = play(State(), *started(), delegated("1.1"))
    assert state.step_seq == state.seq
    paused = [ev.RunPaused(reason=reason) for reason in (PauseReason.ENDPOINT, PauseReason.BUDGET, PauseReason.LIMIT)]
    around = play(state, RUN, ev.TreeRestored(tree=state.tree), *paused)
    assert around.step_seq == state.seq < around.seq
    broken = play(around, ev.RunPaused(reason=PauseReason.ERROR))
    assert broken.step_seq == broken.seq


def test_a_run_that_died_between_tasks_has_nothing_to_mend() -> None:
    assert _after(RUN) is Recovery.NONE
    assert _after(*passing("1.1"), RUN) is Recovery.NONE
    assert _after(*rejected("1.1", 1), RUN) is Recovery.NONE


@pytest.mark.parametrize(("between", "due"), [(True, Recovery.NONE), (False, Recovery.RESTORE)])
def test_a_pause_inside_a_step_restores_the_files_and_one_between_steps_need_not(
    between: bool,  # noqa: FBT001 - parametrized
    due: Recovery,
) -> None:
    pause = ev.RunPaused(reason=PauseReason.ENDPOINT, between_steps=between)
    assert _after(delegated("1.1"), pause, RUN) is due


@pytest.mark.parametrize(
    ("before", "due"),
    [
        ([delegated("1.1"), RUN], Recovery.RESTORE),
        ([delegated("1.1"), ev.RunPaused(reason=PauseReason.ENDPOINT), RUN], Recovery.RESTORE),
    ],
)
def test_a_recovery_that_was_stopped_before_it_began_is_still_due(before: list[Event], due: Recovery) -> None:
    stopped = ev.RunPaused(reason=PauseReason.STOPPED, between_steps=True)
    assert _after(*before) is due
    assert _after(*before, stopped, RUN) is due


def test_nothing_but_the_recovery_can_happen_to_the_attempt_while_one_is_due() -> None:
    state = play(State(), *started(), delegated("1.1"), RUN)
    assert next_step(state) is Step.RECOVER
    for event in [*passing("1.1")[1:2], *rejected("1.1", 1)[2:]]:
        with pytest.raises(IllegalMove, match="its files come first"):
            play(state, event)
    died = ev.AttemptInterrupted(task="1.1", attempt=1, reason="crash")
    state = play(state, ev.TreeRestored(tree="t1"), died)
    assert (state.recovery, state.open) == (Recovery.NONE, "")
    assert next_step(state) is Step.DELEGATE


def test_a_restored_tree_is_forgotten_when_no_attempt_needs_it() -> None:
    assert play(State(), *started(), *rejected("1.1", 1), ev.TreeRestored(tree="head")).tree == ""
    assert play(State(), *started(), delegated("1.1"), ev.TreeRestored(tree="t1")).tree == "t1"


def test_usage_adds_up_by_role_and_task_and_an_unknown_price_stays_unknown() -> None:
    known = Usage(calls=1, prompt_tokens=10, completion_tokens=5, usd=0.1)
    state = play(
        State(),
        *started(),
        ev.UsageRecorded(role="coder", task="1.1", usage=known),
        ev.UsageRecorded(role="coder", task="1.1", usage=known),
        ev.UsageRecorded(role="critic", usage=Usage(calls=1, usd=None)),
    )
    assert state.usage.calls == 3
    assert state.usage.usd is None
    assert state.usage_by_role["coder"].usd == pytest.approx(0.2)
    assert state.task("1.1").usage.tokens == 30
    assert state.task("1.1").status is TaskStatus.PENDING
