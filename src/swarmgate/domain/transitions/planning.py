"""Transitions of planning, run and checkpoint events: state changes and legality.

Each transition is a function `(state, event, entry) -> state`; `fold` looks it up by the event's type.
"""

from __future__ import annotations

from immutables import Map

from swarmgate.domain.events import event as ev
from swarmgate.domain.plan.plan import Phase, Plan, problems, problems_of_change
from swarmgate.domain.review.evidence import Verdict
from swarmgate.domain.state import unattended
from swarmgate.domain.state.state import (
    UNUSED,
    Planning,
    Question,
    Recovery,
    Rules,
    State,
    TaskStatus,
    replace,
)
from swarmgate.domain.transitions.debate import require_borne
from swarmgate.errors import IllegalMove, PlanError


def initialised(state: State, event: ev.ProjectInitialised, _: ev.Entry) -> State:
    return replace(state, initialised=True, base_branch=event.branch)


def goal_set(state: State, event: ev.GoalSet, _: ev.Entry) -> State:
    started = any(record.attempts for record in state.tasks.values())
    if started and not state.finished:
        raise IllegalMove(
            "The work on the present plan has begun, so a new goal cannot replace it.",
            hint='Change the plan with: swarm revise "what should be different"',
        )
    return replace(
        _without_goal(state),
        goal=event.goal,
        spec=event.spec,
        source=event.source,
        goals=state.goals + 1,
        planning=Planning.ASKED,
    )


def goal_abandoned(state: State, _event: ev.GoalAbandoned, _: ev.Entry) -> State:
    require_goal(state)
    if state.open:
        raise IllegalMove(f"Task {state.open} has a running attempt, which ends first.")
    return _without_goal(state)


def require_goal(state: State) -> None:
    """Requires that there is a goal whose work is not done.

    Raises:
        IllegalMove: there is none.
    """
    if state.planning is Planning.NONE or state.finished:
        why = "the work on it is done and approved" if state.finished else "there is none"
        raise IllegalMove(f"No goal can be abandoned: {why}.", hint='Say what is wanted next: swarm plan "GOAL"')


def _without_goal(state: State) -> State:
    """What outlives a goal: the project, its rules, and what was spent and learnt."""
    return State(
        initialised=state.initialised,
        base_branch=state.base_branch,
        goals=state.goals,
        rules=state.rules,
        running=state.running,
        memory=state.memory,
        overrides=state.overrides,
        usage=state.usage,
        usage_seq=state.usage_seq,
        usage_by_role=state.usage_by_role,
        usage_in_run=state.usage_in_run,
        experience=state.experience,
        debates=state.debates,
        lease=state.lease,
        reserved=state.reserved,
        forfeited=state.forfeited,
    )


def questions_asked(state: State, event: ev.QuestionsAsked, _: ev.Entry) -> State:
    _require(state.planning in (Planning.ASKED, Planning.OBJECTED), "Questions belong to planning.")
    first = len(state.questions) + 1
    asked = tuple(Question(number, text) for number, text in enumerate(event.questions, start=first))
    return replace(state, questions=state.questions + asked)


def question_answered(state: State, event: ev.QuestionAnswered, entry: ev.Entry) -> State:
    if not 1 <= event.number <= len(state.questions):
        raise IllegalMove(
            f"There is no question {event.number}; asked so far: {len(state.questions)}.",
            hint="See them with: swarm status",
        )
    asked = state.questions[event.number - 1]
    if event.option > len(asked.options):
        raise IllegalMove(
            f"Question {event.number} has no option {event.option}, but {len(asked.options)}.",
            hint=f'Answer in your own words: swarm answer {event.number} "..."',
        )
    if asked.task:
        _require(bool(event.answer) != event.declined, "An answer says something, or that there is none.")
        _require_waiting(state, asked)
    said = {"answer": event.answer, "declined": event.declined, "by": entry.actor, "time": entry.time}
    answered = replace(asked, **said)
    before, after = state.questions[: event.number - 1], state.questions[event.number :]
    tasks = state.tasks
    if asked.task:
        tasks = tasks.set(asked.task, replace(state.task(asked.task), question=answered))
    return replace(state, questions=(*before, answered, *after), tasks=tasks)


def _require_waiting(state: State, asked: Question) -> None:
    """Raises `IllegalMove` unless the work at a task waits for the answer to this question."""
    if asked.settled:
        given = "was declined." if asked.declined else f"was answered: {asked.answer.splitlines()[0]}"
        raise IllegalMove(f"Question {asked.number} {given}", hint='Have the task changed with: swarm revise "..."')
    at_work = state.task(asked.task).question
    if at_work is None or at_work.number != asked.number:
        raise IllegalMove(
            f"Question {asked.number} is not open any more: the attempt that asked it has ended.",
            hint='See what waits for you with: swarm status; have the task changed with: swarm revise "..."',
        )


def plan_saved(state: State, event: ev.PlanSaved, _: ev.Entry) -> State:
    _require(state.planning in (Planning.ASKED, Planning.OBJECTED), "A plan is saved when one was asked for.")
    return replace(_with_plan(state, event.plan), planning=Planning.SAVED, plan_debate=None)


def planning_failed(state: State, event: ev.PlanningFailed, _: ev.Entry) -> State:
    _require(state.planning in (Planning.ASKED, Planning.OBJECTED), "Planning can only fail while it is going on.")
    return replace(state, planning=Planning.FAILED, planning_problems=event.problems)


def plan_reviewed(state: State, event: ev.PlanReviewed, _: ev.Entry) -> State:
    _require(state.planning is Planning.SAVED, "There is no plan that waits for the critic.")
    require_borne(state.plan_debate, event.review, undecided=Verdict.REJECTED)
    rounds = state.critic_rounds + 1
    objected = not event.review.approved and rounds < state.rules.critic_rounds
    return replace(
        state,
        planning=Planning.OBJECTED if objected else Planning.REVIEWED,
        plan_reviews=(*state.plan_reviews, event.review),
        critic_rounds=rounds,
    )


def plan_approved(state: State, event: ev.PlanApproved, entry: ev.Entry) -> State:
    ready = state.planning is Planning.REVIEWED or (state.planning is Planning.FAILED and state.plan is not None)
    _require(ready, "There is no plan that waits for approval.")
    if event.by and (why := unattended.plan_needs_person(state)):
        raise IllegalMove(f"Nobody but the user can approve this plan: {why}.")
    approver = "" if event.by else entry.actor
    return replace(
        state,
        planning=Planning.APPROVED,
        revision="",
        planning_problems=(),
        plan_approved_by=event.by,
        plan_approver=approver,
    )


def revision_requested(state: State, event: ev.RevisionRequested, _: ev.Entry) -> State:
    if state.plan is None:
        raise IllegalMove("There is no plan to revise.", hint='Make one with: swarm plan "goal"')
    return replace(
        state,
        planning=Planning.ASKED,
        revision=event.text,
        critic_rounds=0,
        plan_reviews=(),
        planning_problems=(),
        plan_approved_by="",
    )


def plan_amended(state: State, event: ev.PlanAmended, _: ev.Entry) -> State:
    _require(state.plan is not None, "There is no plan to amend.")
    return _with_plan(state, event.plan)


def _with_plan(state: State, plan: Plan) -> State:
    """The state with another plan. Settled and running work must stand in it as it was; changed tasks start afresh."""
    found = problems(plan) if state.plan is None else plan_change_problems(state, plan)
    if found:
        raise PlanError(f"The plan breaks {len(found)} rules.", problems=found)
    if state.plan is not None:
        plan = plan.sharing(state.plan)
    tasks = state.tasks
    for task_id, record in state.tasks.items():
        if task_id not in plan.tasks:
            tasks = tasks.delete(task_id)
        elif state.plan is not None and plan.tasks[task_id] != state.plan.tasks.get(task_id):
            status = TaskStatus.IN_PROGRESS if record.unfinished else TaskStatus.PENDING
            fresh = replace(
                record,
                rejections=0,
                status=status,
                reason="",
                block=None,
                question=None,
                overrides=Map(),
                override_pending=False,
                renewed=len(record.attempts),
                undone="",
                spent=UNUSED,
            )
            tasks = tasks.set(task_id, fresh)
    after = replace(state, plan=plan, tasks=tasks)
    for number, phase in state.phases.items():
        if not phase.approved and _is_open_again(state, after, number):
            after = replace(after, phases=after.phases.set(number, phase.renewed))
    return after


def _is_open_again(before: State, after: State, number: int) -> bool:
    """Whether what was said of a phase as a whole was said of another one than the plan has now."""
    if not after.phase_settled(number):
        return before.phase(number).closed or _phase_of(before, number) != _phase_of(after, number)
    return False


def _phase_of(state: State, number: int) -> Phase | None:
    found = state.plan.phases if state.plan else ()
    return found[number - 1] if number <= len(found) else None


def plan_change_problems(state: State, plan: Plan) -> tuple[str, ...]:
    """What is wrong with putting `plan` in the place of the present one; empty when it may."""
    if state.plan is None:
        return problems(plan)
    settled = frozenset(task_id for task_id in state.plan.tasks if state.task(task_id).settled or task_id == state.open)
    found = list(problems_of_change(state.plan, plan, settled))
    for number, old in state.plan.numbered:
        if not state.phase(number).approved:
            continue
        new = plan.phases[number - 1] if number <= len(plan.phases) else None
        if new is None or {task.id for task in new.tasks} != {task.id for task in old.tasks}:
            found.append(f"Phase {number} is approved: it keeps its tasks. Put new ones into a later phase.")
    return tuple(found)


def work_started(state: State, event: ev.WorkStarted, _: ev.Entry) -> State:
    _require(state.planning is Planning.APPROVED, "Work begins when the user has approved the plan.")
    _require(not state.branch, f"The work has begun already, on branch {state.branch}.")
    return replace(state, branch=event.branch, base=event.base)


def run_started(state: State, event: ev.RunStarted, _: ev.Entry) -> State:
    recovery = state.recovery  # what an earlier run should have mended, and was stopped before it could
    attempt = state.task(state.open).running
    if attempt is not None and (state.running or (state.pause and not state.pause.between_steps)):
        recovery = Recovery.RESTORE
    rules = Rules(
        event.max_rejections,
        event.critic_rounds,
        event.budget_usd,
        event.budget_tokens,
        event.adversarial,
        event.budget_seconds,
        Map(event.budgets),
        event.review_tests,
        event.validators,
        event.phase_gate,
        event.phase_tests,
        event.architect_overrides_budget,
        event.decline,
    )
    return replace(
        state,
        rules=rules,
        running=True,
        pause=None,
        recovery=recovery,
        guards=(),
        self_coding=0,
        usage_in_run=UNUSED,
        sandbox=event.sandbox,
    )


def run_paused(state: State, event: ev.RunPaused, _: ev.Entry) -> State:
    return replace(state, running=False, pause=event, reserved=UNUSED)


def tree_restored(state: State, event: ev.TreeRestored, _: ev.Entry) -> State:
    return replace(state, recovery=Recovery.NONE, tree=event.tree if state.open else "")


def usage_recorded(state: State, event: ev.UsageRecorded, entry: ev.Entry) -> State:
    by_role = state.usage_by_role.set(event.role, state.usage_by_role.get(event.role, UNUSED) + event.usage)
    if event.source:  # beside the runs: no run, phase or task spent it, and it says nothing about what a run recorded
        return replace(state, usage=state.usage + event.usage, usage_by_role=by_role)
    tasks = state.tasks
    if event.task:
        record = state.task(event.task)
        used = record.usage + event.usage
        spent = used if record.spent is record.usage else record.spent + event.usage  # the same until the first retry
        tasks = tasks.set(event.task, replace(record, usage=used, spent=spent))
    phase = state.current_phase if state.planning is Planning.APPROVED else 0
    by_phase = state.usage_by_phase.set(phase, state.usage_by_phase.get(phase, UNUSED) + event.usage)
    return replace(
        state,
        usage=state.usage + event.usage,
        usage_by_role=by_role,
        usage_by_phase=by_phase,
        usage_in_run=state.usage_in_run + event.usage,
        tasks=tasks,
        usage_seq=entry.seq,
    )


def _require(legal: bool, otherwise: str) -> None:  # noqa: FBT001 - reads as "require this, otherwise say that"
    if not legal:
        raise IllegalMove(otherwise)
