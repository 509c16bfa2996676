from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.domain.story import (
    NO,
    PLAN,
    YES,
    blocked,
    delegated,
    engine_batches,
    legal,
    make_plan,
    make_task,
    passing,
    planned,
    play,
    question,
    rejected,
    rejection,
    started,
    walk,
)

from swarmgate.domain.events import event as ev
from swarmgate.domain.events.event import AttemptKind, Event
from swarmgate.domain.next_step import (
    Step,
    Waiting,
    begins_phase,
    blocked_task,
    next_step,
    next_task,
    open_questions,
    waiting_for,
    worked_on,
)
from swarmgate.domain.plan.plan import Plan
from swarmgate.domain.state.phase_verdict import judged_stage
from swarmgate.domain.state.state import Outcome, Planning, Recovery, State, TaskStatus
from swarmgate.domain.usage import Usage
from swarmgate.engine.reports.outcome import actions, outcome_of

SEEDS = st.integers(0, 2**32)


def _event_of(command: str, state: State) -> Event:
    """What the command of an offered action records."""
    assert state is not None
    task = (re.findall(r"\d+\.\d+", command) or [""])[0]
    last = state.task(task).last
    if command.startswith("swarm approve"):
        phase = ev.PhaseApproved(phase=state.current_phase)
        return phase if waiting_for(state) is Waiting.PHASE_APPROVAL else ev.PlanApproved()
    if answer := re.match(r"swarm plan --answer (\d+)=", command):
        return ev.QuestionAnswered(number=int(answer[1]), answer="yes")
    if answer := re.match(r"swarm answer (\d+) (?:--option (\d))?", command):
        option, declined = int(answer[2] or 0), "--decline" in command
        return ev.QuestionAnswered(
            number=int(answer[1]), answer="" if declined else "x", option=option, declined=declined
        )
    if command.startswith("edit .swarm/plan.md"):
        assert state.plan is not None
        return ev.PlanAmended(plan=Plan(title="Other", phases=state.plan.phases), source="plan.md")
    if waiting_for(state) is Waiting.PHASE_REJECTED and not task and (stage := judged_stage(state)):
        decided: dict[str, Event] = {
            "retry": ev.PhaseRetried(phase=state.current_phase),
            "override": ev.PhaseOverridden(phase=state.current_phase, stage=stage, reason="x"),
            "revise": ev.RevisionRequested(text="x"),
        }
        return decided[command.split()[1]]
    verbs: dict[str, Event] = {
        "plan": ev.GoalSet(goal="x"),
        "revise": ev.RevisionRequested(text="x"),
        "retry": ev.TaskRetried(task=task),
        "skip": ev.TaskSkipped(task=task, reason="x"),
        "override": ev.RejectionOverridden(task=task, stage=last.stage if last else "", reason="x"),
    }
    return verbs[command.split()[1]]


@pytest.mark.slow
@settings(deadline=None, max_examples=10)
@given(SEEDS)
def test_every_reachable_state_has_exactly_one_of_a_next_step_and_somebody_to_wait_for(seed: int) -> None:
    for _, _, state in walk(seed):
        assert (next_step(state) is None) != (waiting_for(state) is None)
        running = [task for task in state.tasks if state.task(task).running]
        assert running == ([state.open] if state.open else [])
        assert state.recovery is Recovery.NONE or state.open


@pytest.mark.slow
@settings(deadline=None, max_examples=10)
@given(SEEDS)
def test_every_action_that_a_waiting_state_offers_is_legal_and_there_is_one(seed: int) -> None:
    for _, _, state in walk(seed):
        if waiting := waiting_for(state):
            offered = actions(state, waiting)
            # The others say what may be set, or explained.
            moves = [action for action in offered if re.match(r"swarm (?!gates )|edit ", action)]
            assert moves
            assert outcome_of(state).waiting is waiting
            for action in moves:
                assert legal(state, _event_of(action, state)), action


@pytest.mark.slow
@settings(deadline=None, max_examples=10)
@given(SEEDS)
def test_whatever_the_due_step_records_is_legal(seed: int) -> None:
    for _, event, state in walk(seed):
        step = next_step(state)
        if isinstance(event, ev.DebateWeighed) or (isinstance(event, ev.ReviewGiven) and not event.passed):
            continue  # the verdict that a debate bears, and the rejection that it means, come in the same breath
        if isinstance(event, ev.TestsWritten) and not event.review.approved:
            continue  # the rejection is recorded in the same breath; without it the tests can never pass
        for batch in engine_batches(state):
            if step is not Step.REVISE:  # a revision may break the rules of a change; the architect is told then
                assert legal(state, *batch), (step, batch)


@pytest.mark.slow
@settings(deadline=None, max_examples=10)
@given(SEEDS)
def test_at_most_one_task_is_unfinished_so_that_its_change_stands_alone_in_the_tree(seed: int) -> None:
    for _, _, state in walk(seed):
        tasks = state.plan.tasks if state.plan else ()
        assert len([t for t in tasks if state.task(t).unfinished]) <= 1


def test_the_loop_of_a_task_that_passes() -> None:
    state, seen = play(State(), *started()), []
    for event in passing("1.1"):
        seen.append(next_step(state))
        state = play(state, event)
    assert seen == [Step.DELEGATE, Step.CODE, Step.GATES, Step.REVIEW, Step.TEST, Step.RUN_TESTS, Step.COMMIT]
    assert state.task("1.1").status is TaskStatus.COMPLETE
    assert next_task(state) == PLAN.tasks["1.2"]


def test_from_a_goal_to_the_end() -> None:
    state = State()
    assert waiting_for(state) is Waiting.GOAL
    state = play(state, ev.GoalSet(goal="g"))
    assert next_step(state) is Step.PLAN
    state = play(state, ev.PlanSaved(plan=PLAN))
    assert next_step(state) is Step.REVIEW_PLAN
    state = play(state, ev.PlanReviewed(review=YES))
    assert waiting_for(state) is Waiting.PLAN_APPROVAL
    state = play(state, ev.PlanApproved())
    assert next_step(state) is Step.START_WORK
    state = play(state, ev.WorkStarted(branch="b", base="c"))
    state = play(state, *passing("1.1"), *passing("1.2"), *passing("1.3"))
    assert next_step(state) is Step.CLOSE_PHASE
    state = play(state, ev.PhaseClosed(phase=1, summary="s"))
    assert waiting_for(state) is Waiting.PHASE_APPROVAL
    state = play(state, ev.PhaseApproved(phase=1), *passing("2.1"), ev.PhaseClosed(phase=2, summary="s"))
    assert not state.finished
    state = play(state, ev.PhaseApproved(phase=2))
    assert waiting_for(state) is Waiting.NOTHING
    assert state.finished
    assert state.current_phase == 3


def test_two_rejections_escalate_and_the_third_blocks() -> None:
    state = play(State(), *started(), *rejected("1.1", 1), *rejected("1.1", 2))
    assert next_step(state) is Step.DELEGATE
    assert not legal(state, delegated("1.1", 3, AttemptKind.CODER))
    state = play(state, delegated("1.1", 3, AttemptKind.ESCALATED))
    assert next_step(state) is Step.IMPLEMENT
    state = play(state, *rejected("1.1", 3, kind=AttemptKind.ESCALATED)[1:])
    assert next_step(state) is Step.BLOCK
    state = play(state, ev.TaskBlocked(task="1.1", stage="reviewer", reason="no"))
    assert waiting_for(state) is Waiting.BLOCKED_TASK
    assert blocked_task(state) == PLAN.tasks["1.1"]
    assert next_task(state) is None
    assert outcome_of(state).reason == "(reviewer) no"


@pytest.mark.parametrize("limit", [0, 1, 3])
def test_the_number_of_rejections_before_the_escalation_is_configurable(limit: int) -> None:
    state = play(State(), *started(max_rejections=limit))
    for number in range(1, limit + 1):
        state = play(state, *rejected("1.1", number))
    state = play(state, *rejected("1.1", limit + 1, kind=AttemptKind.ESCALATED))
    assert next_step(state) is Step.BLOCK


def test_an_interruption_does_not_count_as_a_rejection() -> None:
    state = play(State(), *started(), *rejected("1.1", 1))
    for number in range(2, 6):
        end = ev.AttemptInterrupted(task="1.1", attempt=number, reason="crash")
        state = play(state, delegated("1.1", number), end)
    assert state.task("1.1").rejections == 1
    assert state.task("1.1").attempts[-1].outcome is Outcome.INTERRUPTED
    assert legal(state, delegated("1.1", 6, AttemptKind.CODER))


@pytest.mark.parametrize(("steps", "due"), [(2, Step.DELEGATE), (3, Step.BLOCK), (5, Step.BLOCK)])
def test_a_breaker_of_a_judge_costs_the_coder_no_further_attempt(steps: int, due: Step) -> None:
    """After the coder's turn, the gates, the test engineer's: who stopped there?"""
    state = play(State(), *started(), *passing("1.1")[:steps], rejection("1.1", 1, "breaker: idle"))
    assert next_step(state) is due
    if due is Step.BLOCK:
        state = play(state, ev.TaskBlocked(task="1.1", stage="breaker: idle", reason="no verdict"))
        assert next_step(play(state, ev.TaskRetried(task="1.1"))) is Step.DELEGATE


def test_a_retry_starts_counting_anew_and_keeps_the_note() -> None:
    state = play(State(), *started(), *blocked(), ev.TaskRetried(task="1.1", note="use utc"))
    assert state.task("1.1").notes == ("use utc",)
    assert state.task("1.1").rejections == 0
    assert next_step(state) is Step.DELEGATE
    assert legal(state, delegated("1.1", 4, AttemptKind.CODER))


def test_a_skipped_task_opens_the_way_for_those_that_depend_on_it() -> None:
    state = play(State(), *started(), *blocked(), ev.TaskSkipped(task="1.1", reason="later"))
    assert next_task(state) == PLAN.tasks["1.2"]


def test_an_unfinished_task_comes_before_a_fresh_one() -> None:
    plan = make_plan([make_task("1.1"), make_task("1.2")])
    state = play(State(), *started(plan), ev.TaskSkipped(task="1.1", reason="later"))
    state = play(state, *rejected("1.2", 1))
    grown = make_plan([make_task("1.1"), make_task("1.3"), make_task("1.2")])
    state = play(state, ev.PlanAmended(plan=grown, source="plan.md"))
    assert next_task(state) == grown.tasks["1.2"]


def test_open_questions_hold_the_planning_up_until_each_is_answered() -> None:
    state = play(State(), ev.GoalSet(goal="g"), ev.QuestionsAsked(questions=("A?", "B?")))
    assert waiting_for(state) is Waiting.ANSWERS
    assert len(actions(state, Waiting.ANSWERS)) == 2
    state = play(state, ev.QuestionAnswered(number=2, answer="b"))
    assert waiting_for(state) is Waiting.ANSWERS
    state = play(state, ev.QuestionAnswered(number=1, answer="a"), ev.QuestionsAsked(questions=("C?",)))
    assert [q.number for q in state.questions] == [1, 2, 3]
    assert next_step(play(state, ev.QuestionAnswered(number=3, answer="c"))) is Step.PLAN


@pytest.mark.parametrize("step", ["code", "delegate"])
def test_a_question_about_a_task_waits_for_its_answer_and_the_attempt_goes_on(step: str) -> None:
    state = play(State(), *started(), *([] if step == "delegate" else [delegated("1.1")]), question("1.1", 1, step))
    assert waiting_for(state) is Waiting.ANSWERS
    assert worked_on(state) == "1.1"
    assert [each.number for each in open_questions(state)] == [1]
    assert not legal(state, ev.QuestionAnswered(number=1, answer=" "))
    assert not legal(state, ev.QuestionAnswered(number=1, answer="metres", option=3))
    assert not legal(state, ev.QuestionAnswered(number=1, answer="metres", declined=True))
    after = play(state, ev.QuestionAnswered(number=1, answer="metres"))
    assert next_step(after) is (Step.DELEGATE if step == "delegate" else Step.CODE)
    assert open_questions(after) == ()
    assert not legal(after, ev.QuestionAnswered(number=1, answer="feet"))


def test_a_run_that_died_at_a_question_brings_the_files_back_and_waits_on() -> None:
    state = play(State(), *started(), delegated("1.1"), question("1.1"), ev.RunStarted(pid=2, host="here"))
    assert next_step(state) is Step.RECOVER
    assert state.tree == "q"
    state = play(state, ev.TreeRestored(tree="q"))
    assert waiting_for(state) is Waiting.ANSWERS


def test_nobody_there_means_that_a_question_is_declined() -> None:
    state = play(State(), *started(decline=True), delegated("1.1"), question("1.1"))
    assert next_step(state) is Step.DECLINE
    assert next_step(play(state, ev.QuestionAnswered(number=1, answer="", declined=True))) is Step.CODE


@pytest.mark.parametrize(
    "end",
    [
        ev.AttemptInterrupted(task="1.1", attempt=1, reason="the user decided otherwise"),
        ev.TaskRetried(task="1.1"),
        ev.TaskSkipped(task="1.1", reason="later"),
        ev.TaskBlocked(task="1.1", stage="architect", reason="no delegation"),
    ],
)
def test_the_end_of_the_turn_is_the_end_of_its_question(end: Event) -> None:
    idle = not isinstance(end, ev.AttemptInterrupted)
    asks = [question("1.1", 1, "delegate")] if idle else [delegated("1.1"), question("1.1")]
    state = play(State(), *started(), *asks, end)
    assert state.task("1.1").question is None
    assert not legal(state, ev.QuestionAnswered(number=1, answer="metres"))
    assert open_questions(state) == ()


def test_a_question_is_illegal_where_nobody_is_at_work() -> None:
    state = play(State(), *started())
    assert not legal(state, question("1.1"))
    assert not legal(state, question("1.2", 7, "delegate"))
    assert not legal(play(state, delegated("1.1"), question("1.1")), question("1.1"))
    assert not legal(play(state, *passing("1.1")[:2]), question("1.1"))


@pytest.mark.parametrize("step", ["code", "delegate"])
def test_no_turn_ends_before_its_question_has_an_answer(step: str) -> None:
    begun = [] if step == "delegate" else [delegated("1.1")]
    state = play(State(), *started(), *begun, question("1.1", 1, step))
    end = delegated("1.1") if step == "delegate" else ev.ChangeCaptured(task="1.1", attempt=1, tree="c")
    assert not legal(state, end)
    after = play(state, ev.QuestionAnswered(number=1, answer="metres"), end)
    assert after.task("1.1").question is None


def test_the_critic_has_two_rounds_and_then_the_user_decides() -> None:
    state = play(State(), *planned()[:2], ev.PlanReviewed(review=NO))
    assert state.planning is Planning.OBJECTED
    assert next_step(state) is Step.REVISE
    state = play(state, ev.PlanSaved(plan=PLAN), ev.PlanReviewed(review=NO))
    assert waiting_for(state) is Waiting.PLAN_APPROVAL
    assert state.plan_reviews == (NO, NO)
    assert outcome_of(state).objections == (NO.summary,)


def test_failed_planning_waits_for_the_user_with_and_without_a_plan() -> None:
    failed = ev.PlanningFailed(problems=("no plan",))
    state = play(State(), ev.GoalSet(goal="g"), failed)
    assert waiting_for(state) is Waiting.PLANNING_FAILED
    assert not legal(state, ev.PlanApproved())
    state = play(State(), *started(), ev.RevisionRequested(text="x"), failed)
    assert waiting_for(state) is Waiting.PLANNING_FAILED
    assert next_step(play(state, ev.PlanApproved())) is Step.DELEGATE


def test_a_phase_begins_before_the_first_attempt_at_any_of_its_tasks() -> None:
    plan = make_plan([make_task("1.1"), make_task("1.2")], [make_task("2.1"), make_task("2.2")])
    begun = started(plan)
    assert begins_phase(State()) == begins_phase(play(State(), *planned(plan))) == 0
    assert begins_phase(play(State(), *begun[:-1])) == 0  # the branch comes first
    state = play(State(), *begun)
    assert begins_phase(state) == 1
    assert begins_phase(play(state, ev.TaskSkipped(task="1.1", reason="x"))) == 1
    for far in range(1, 8):
        assert begins_phase(play(state, *passing("1.1")[:far])) == 0
    assert begins_phase(play(state, *rejected("1.1", 1))) == 0
    used = ev.UsageRecorded(role="coder", task="1.1", usage=Usage(calls=1))
    closed = play(state, used, *passing("1.1"), *passing("1.2"), ev.PhaseClosed(phase=1, summary="s"))
    assert begins_phase(closed) == 0
    approved = play(closed, ev.PhaseApproved(phase=1))
    assert (next_step(approved), begins_phase(approved)) == (Step.ESTIMATE, 2)
    estimated = play(approved, ev.PhaseEstimated(phase=2, tasks=2, basis=1))
    assert (next_step(estimated), begins_phase(estimated)) == (Step.DELEGATE, 2)
    assert begins_phase(play(estimated, delegated("2.1"))) == 0


def test_an_undone_change_is_not_there_to_be_overridden_and_no_other_task_is_blocked_beside_an_unfinished_one() -> None:
    state = play(State(), *started(), *rejected("1.1", 1))
    override = ev.RejectionOverridden(task="1.1", stage="reviewer", reason="fine")
    assert legal(state, override)
    assert not legal(state, ev.TaskBlocked(task="1.2", stage="architect", reason="no delegation"))
    undone = play(state, ev.TaskUndone(task="1.1"))
    assert not legal(undone, override)
    assert legal(undone, ev.TaskBlocked(task="1.2", stage="architect", reason="no delegation"))
