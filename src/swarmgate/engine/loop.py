"""The loop: decides the next step, runs it, appends its events to the ledger, and repeats until the user has to act."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from swarmgate.agents.briefs import house_rules
from swarmgate.domain.events.event import (
    Event,
    PauseReason,
    PhaseApproved,
    PhaseRetried,
    RunPaused,
    RunStarted,
    UsageRecorded,
)
from swarmgate.domain.evidence.report import RECORDED
from swarmgate.domain.next_step import Step, approval_due, next_step, question_at_work
from swarmgate.domain.state.lifecycle import TaskState
from swarmgate.domain.state.phase_verdict import reviewers
from swarmgate.domain.state.state import State
from swarmgate.domain.transitions.task import overruled
from swarmgate.domain.usage import Usage
from swarmgate.engine.between_steps.branch_watch import History
from swarmgate.engine.between_steps.ignored_watch import watched
from swarmgate.engine.between_steps.phase_preflight import PhasePreflight
from swarmgate.engine.between_steps.plan_edits import PlanEdits
from swarmgate.engine.branch_history import standing
from swarmgate.engine.context import Context
from swarmgate.engine.run_limits import allowances
from swarmgate.engine.steps import questions, recovery
from swarmgate.engine.steps.agent_turn import ends_attempt, reads_only
from swarmgate.engine.steps.coding import coder
from swarmgate.engine.steps.completion import checkpoint, commit, phase_review, phase_tests
from swarmgate.engine.steps.delegation import delegate
from swarmgate.engine.steps.planning import plan
from swarmgate.engine.steps.review import review
from swarmgate.engine.steps.testing import adversarial, engineer
from swarmgate.errors import (
    BreakerTripped,
    BudgetExhausted,
    HeadMoved,
    LimitReached,
    ModelError,
    PreflightFailed,
    Stopped,
    SwarmError,
)
from swarmgate.ledger.context import guidance
from swarmgate.ledger.files.traces import TraceStore, by_model
from swarmgate.ledger.recovery.interruption import ended as interrupted
from swarmgate.ledger.recovery.interruption import head_moved
from swarmgate.ledger.views.describe import describe
from swarmgate.llm.time_parsing import rendered, utc
from swarmgate.workspace import system
from swarmgate.workspace.git.folder import git_folder, place
from swarmgate.workspace.sandbox import unsandboxed_files
from swarmgate.workspace.sandbox.choice import notice

STEPS: dict[Step, Callable[[State, Context], Awaitable[list[Event]]]] = {
    Step.RECOVER: recovery.recover,
    Step.PLAN: plan.plan,
    Step.REVISE: plan.revise,
    Step.REVIEW_PLAN: plan.review_plan,
    Step.START_WORK: delegate.start_work,
    Step.ESTIMATE: plan.estimate,
    Step.WEIGH: delegate.weigh,
    Step.DELEGATE: delegate.delegate,
    Step.OPEN_OVERRIDE: delegate.open_override,
    Step.CODE: coder.code,
    Step.IMPLEMENT: coder.implement,
    Step.DECLINE: questions.decline,
    Step.CAPTURE: coder.capture,
    Step.GATES: review.gates,
    Step.REVIEW: ends_attempt(reads_only("reviewer", "review", review.review)),
    Step.SECURITY_REVIEW: ends_attempt(reads_only("reviewer", "security_review", review.security_review)),
    Step.TEST: ends_attempt(engineer.test),
    Step.ADVERSARIAL_TEST: ends_attempt(adversarial.adversarial_test),
    Step.REVIEW_TESTS: ends_attempt(reads_only("reviewer", "review", review.review_tests)),
    Step.RUN_TESTS: engineer.run_tests,
    Step.COMMIT: commit.commit,
    Step.BLOCK: delegate.block,
    Step.EVALUATE_PHASE: phase_review.evaluate_phase,
    Step.TEST_PHASE: phase_tests.test_phase,
    Step.VALIDATE_PHASE: phase_review.validate_phase,
    Step.CLOSE_PHASE: checkpoint.close_phase,
}
"""One function a step; a test asserts that none is missing."""
_OVER_THE_FILES = frozenset({Step.GATES, Step.RUN_TESTS})
"""Steps that judge the files as they stand: what they say is of no use where the user changed those meanwhile."""


async def run_loop(ctx: Context) -> State:
    """Works until it is the user's turn, and returns the state that waits.

    Raises:
        Stopped: at the next safe point after Ctrl-C or `swarm stop`.
        SwarmError: what ended a step; the pause is on record, and the next run goes on from there.
    """
    state, edits, preflight, history = _begin(ctx), PlanEdits(ctx), PhasePreflight(ctx), History(ctx)
    between = True
    try:
        while (step := next_step(state)) or approval_due(state, ctx.unattended):
            if ctx.stop.requested:
                raise Stopped("Stopped at a safe point, as asked.", hint="Go on with: swarm run")
            if step is None:
                state = _record(ctx, _approved(state, ctx))
                state = _record(ctx, await edits.take_in(state))
                continue
            if found := history.check(state, step):
                state = _record(ctx, found)
                continue
            if await preflight.passed(state):
                continue  # it took its time: the user may have asked to stop
            ctx.notify("step", describe_step(step, state), step=step)
            between = False
            events = await _done(step, state, ctx, edits)
            between = True
            left = ctx.evidence.unrecorded(events)
            state = _record(ctx, [*ctx.drain_reports(state), *events, *left, *ctx.drain_usage(state)])
            state = _record(ctx, await edits.take_in(state))
    except BaseException as error:
        _pause(ctx, error, between=between)
        raise
    return _paused_at_question(ctx, state)


def _approved(state: State, ctx: Context) -> list[Event]:
    """The approval that nobody but the settings gives, or the option that the run was started with.

    Where the branch has moved on since the tests of a phase ran, they run again before.

    Raises:
        CommitLost: the commit of a completed task is not in the branch any more.
    """
    approval = approval_due(state, ctx.unattended)
    if isinstance(approval, PhaseApproved) and (ran := phase_tests.tested_before(state, ctx.repository)):
        ctx.notify("notice", f"the tests ran over commit {ran[:12]}, and the branch has moved on: they run again")
        return [PhaseRetried(phase=approval.phase)]
    return [*standing(state, ctx.folder.root), *([approval] if approval else [])]


async def _done(step: Step, state: State, ctx: Context, edits: PlanEdits) -> list[Event]:
    """Runs a step and returns its events; after a foreign commit on the branch, the attempt's end instead."""
    try:
        with watched(ctx, step):
            events = await edits.cut_short(step, STEPS[step](state, ctx))
            attempt = state.task(state.open).running
            if step in _OVER_THE_FILES and attempt is not None:
                ctx.keep_head(attempt)
    except HeadMoved as error:
        ended = head_moved(state, ctx.folder, ctx.repository, left=error.left)
        if not ended:  # the step is done anew
            ctx.notify("notice", error.message)
        return ended
    return events


def _begin(ctx: Context) -> State:
    ctx.stop.clear()
    if message := notice(ctx.commands.sandbox):
        ctx.notify("notice", message)
    if message := unsandboxed_files.notice(ctx.repository.root, ctx.commands.confinement.guarded):
        ctx.notify("notice", message)
    if not ctx.house_rules(()) and (unread := house_rules.uncommitted(ctx.repository.root)):
        ctx.notify("notice", f"{unread[0].path} is not committed: agents are told what is committed")
    for mistyped in guidance.mistake_notices(ctx.folder.context, ctx.folder.relative(ctx.folder.context)):
        ctx.notify("notice", mistyped)
    for what, by in ctx.unattended.by.items():
        ctx.notify("notice", f"each {what} that can be is approved in your place in this run: {by}")
    if message := _before_its_end(ctx.ledger.state):
        ctx.notify("notice", message)
    rules, budget = ctx.config.loop, ctx.config.budget
    events: list[Event] = []
    lost = TraceStore(ctx.folder, lambda: ctx.ledger.state.seq).unrecorded(ctx.ledger.state.usage_seq)
    models = by_model(lost)
    if (usage := sum(models.values(), Usage())).calls:
        events.append(UsageRecorded(role="interrupted", task=ctx.ledger.state.open, usage=usage, models=models))
    events.append(
        RunStarted(
            pid=os.getpid(),
            host=system.host(),
            max_rejections=rules.max_rejections,
            critic_rounds=rules.critic_rounds,
            adversarial=ctx.config.tests.adversarial,
            sandbox=ctx.commands.sandbox.name,
            budget_usd=budget.usd,
            budget_tokens=budget.tokens,
            budget_seconds=budget.seconds,
            budgets=allowances(budget),
            record=RECORDED,
            place=place(found) if (found := git_folder(ctx.folder.root)) else "",
            review_tests=ctx.config.review.tests,
            validators=ctx.config.phase.validate,
            phase_gate=ctx.config.phase.gate,
            phase_tests=bool(ctx.config.tests.suite),
            architect_overrides_budget=ctx.config.gates.architect_overrides_budget,
            decline=not (ctx.attended or ctx.config.ask.wait),
        )
    )
    return _record(ctx, events)


def _before_its_end(state: State) -> str:
    """The notice that the limit that paused the last run has not ended yet; empty where it has."""
    until = state.pause.until if state.pause else ""
    end = datetime.fromisoformat(until) if until else None
    now = datetime.now(UTC)
    if end is None or end <= now:
        return ""
    return f"the limit that paused the last run was to end {rendered(end, now)}; trying once: limits get raised"


def _record(ctx: Context, events: list[Event]) -> State:
    state = ctx.ledger.append(events, expect=ctx.ledger.state.seq)
    ctx.evidence.recorded()
    for event in events:
        if text := describe(event):
            ctx.notify("event", text)
    return state


def _pause(ctx: Context, error: BaseException, *, between: bool) -> None:
    """Records why the run ends here. An attempt that was cut short by the user ends as INTERRUPTED.

    One that was stopped while it waited for a model goes on with the next run: nothing of it was cut short.

    Args:
        ctx: the context of the run.
        error: what ends it.
        between: whether no step was under way.

    Raises:
        LedgerError: the ledger is gone, which explains what else went wrong.
    """
    ctx.ledger.require()
    state = ctx.ledger.state
    events: list[Event] = [*ctx.drain_reports(state), *ctx.evidence.unrecorded([]), *ctx.drain_usage(state)]
    attempt = state.task(state.open).running
    at_once = isinstance(error, (KeyboardInterrupt, asyncio.CancelledError))
    if at_once and attempt is not None and attempt.state is not TaskState.TESTS_RUN:
        events += interrupted(state, ctx.folder, ctx.repository, "stopped at once by the user")
    detail = "at once, by the user" if at_once else error.message if isinstance(error, SwarmError) else repr(error)
    detail = " ".join(detail.split())
    between = between and isinstance(error, (Stopped, PreflightFailed))
    until = error.until if isinstance(error, (LimitReached, Stopped)) else None
    text = utc(until) if until else ""
    events.append(RunPaused(reason=_reason(error), detail=detail, between_steps=between, until=text))
    _record(ctx, events)


def _paused_at_question(ctx: Context, state: State) -> State:
    """The state after a run that ended with a question about a task: nothing was cut short, the files stay."""
    asked = question_at_work(state)
    if asked is None:
        return state
    detail = f"the {asked.role} asks about task {asked.task}, question {asked.number}"
    return _record(ctx, [RunPaused(reason=PauseReason.QUESTION, detail=detail, between_steps=True)])


def _reason(error: BaseException) -> PauseReason:
    match error:
        case Stopped():
            return PauseReason.STOPPED
        case KeyboardInterrupt() | asyncio.CancelledError():
            return PauseReason.INTERRUPTED
        case LimitReached():
            return PauseReason.LIMIT
        case BudgetExhausted():
            return PauseReason.BUDGET
        case PreflightFailed():
            return PauseReason.PREFLIGHT
        case BreakerTripped():
            return PauseReason.ERROR
        case ModelError():
            return PauseReason.ENDPOINT
        case _:
            return PauseReason.ERROR


def describe_step(step: Step, state: State) -> str:
    """Describes the step that begins now, for progress messages."""
    words = {
        Step.RECOVER: "bringing the files back to what the last step left",
        Step.PLAN: "the architect plans",
        Step.REVISE: "the architect revises the plan",
        Step.REVIEW_PLAN: "the critic reviews the plan",
        Step.START_WORK: "making the branch of the work",
        Step.ESTIMATE: f"estimating phase {state.current_phase}",
        Step.WEIGH: "the architect weighs what is beyond the quality budget",
        Step.DELEGATE: "the architect delegates",
        Step.OPEN_OVERRIDE: "opening an attempt on the tree as it stands",
        Step.CODE: "the coder works",
        Step.IMPLEMENT: "the architect implements",
        Step.DECLINE: "nobody is there to answer",
        Step.CAPTURE: "capturing the change",
        Step.GATES: "the gates judge",
        Step.REVIEW: _judged(state, "reviewer", "the reviewer reads"),
        Step.SECURITY_REVIEW: _judged(state, "security_reviewer", "the reviewer reads for security alone"),
        Step.TEST: _judged(state, "test_engineer", "the test engineer works"),
        Step.ADVERSARIAL_TEST: "the test engineer attacks",
        Step.REVIEW_TESTS: "the reviewer reads the tests",
        Step.RUN_TESTS: "gates and tests over the final tree",
        Step.COMMIT: "committing",
        Step.BLOCK: "the task waits for the user",
        Step.EVALUATE_PHASE: f"the critic looks whether phase {state.current_phase} can begin",
        Step.TEST_PHASE: f"the tests over the tree of phase {state.current_phase}",
        Step.VALIDATE_PHASE: _validated(state),
        Step.CLOSE_PHASE: f"the architect sums up phase {state.current_phase}",
    }
    return words[step]


def _validated(state: State) -> str:
    """Describes which reviewer of how many reads the phase."""
    number = len(state.phase(state.current_phase).verdicts("validation")) + 1
    return f"reviewer {number} of {reviewers(state, 'validation')} reads phase {state.current_phase} as a whole"


def _judged(state: State, stage: str, words: str) -> str:
    """Describes the step of a judging role, or says that the user overruled it."""
    record = state.task(state.open)
    if record.running and overruled(record, record.running, stage):
        return f"{stage.replace('_', ' ')}: overruled by the user, not asked again"
    return words
