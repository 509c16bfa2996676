"""The loop: decide purely, do one step, record what happened. Everything else is a view of the ledger."""

from __future__ import annotations

import asyncio
import os
from datetime import UTC, datetime

from swarmgate.agents.briefs import house_rules
from swarmgate.domain.events.event import Event, PauseReason, RunPaused, RunStarted, UsageRecorded
from swarmgate.domain.evidence.report import RECORDED
from swarmgate.domain.next_step import Step, next_step
from swarmgate.domain.state.lifecycle import TaskState
from swarmgate.domain.state.state import State
from swarmgate.domain.transitions.task import overruled
from swarmgate.engine.between_steps.branch_watch import History
from swarmgate.engine.between_steps.ignored_watch import watched
from swarmgate.engine.between_steps.phase_preflight import PhasePreflight
from swarmgate.engine.between_steps.plan_edits import PlanEdits
from swarmgate.engine.context import Context
from swarmgate.engine.spending import allowances
from swarmgate.engine.steps import STEPS
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
from swarmgate.ledger.files.traces import TraceStore
from swarmgate.ledger.recovery.interruption import ended as interrupted
from swarmgate.ledger.recovery.interruption import head_moved
from swarmgate.ledger.views.describe import describe
from swarmgate.llm.moments import shown, utc
from swarmgate.workspace.git.folder import git_folder, place
from swarmgate.workspace.sandbox import own_rights
from swarmgate.workspace.sandbox.choice import notice

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
        while step := next_step(state):
            if ctx.stop.requested:
                raise Stopped("Stopped at a safe point, as asked.", hint="Go on with: swarm run")
            if found := history.look(state, step):
                state = _record(ctx, found)
                continue
            if await preflight.passed(state):
                continue  # it took its time: the user may have asked to stop
            ctx.tell("step", describe_step(step, state), step=step)
            between = False
            events = await _done(step, state, ctx, edits)
            between = True
            left = ctx.evidence.taken(events)
            state = _record(ctx, [*ctx.drain_reports(state), *events, *left, *ctx.drain_usage(state)])
            state = _record(ctx, await edits.take_in(state))
    except BaseException as error:
        _pause(ctx, error, between=between)
        raise
    return state


async def _done(step: Step, state: State, ctx: Context, edits: PlanEdits) -> list[Event]:
    """The events of a step; where somebody committed on the branch meanwhile, the end of the attempt instead."""
    try:
        with watched(ctx, step):
            events = await edits.cut_short(step, STEPS[step](state, ctx))
            attempt = state.task(state.open).running
            if step in _OVER_THE_FILES and attempt is not None:
                ctx.keep_head(attempt)
    except HeadMoved as error:
        ended = head_moved(state, ctx.folder, ctx.repository, left=error.left)
        if not ended:  # the step is done anew
            ctx.tell("notice", error.message)
        return ended
    return events


def _begin(ctx: Context) -> State:
    ctx.stop.clear()
    if told := notice(ctx.commands.sandbox):
        ctx.tell("notice", told)
    if told := own_rights.told(ctx.repository.root, ctx.commands.confinement.guarded):
        ctx.tell("notice", told)
    if not ctx.house_rules(()) and (lying := house_rules.lying(ctx.repository.root)):
        ctx.tell("notice", f"{lying[0].path} is not committed: agents are told what is committed")
    for mistyped in guidance.told(ctx.folder.context, ctx.folder.relative(ctx.folder.context)):
        ctx.tell("notice", mistyped)
    if told := _before_its_end(ctx.ledger.state):
        ctx.tell("notice", told)
    rules, budget = ctx.config.loop, ctx.config.budget
    events: list[Event] = []
    lost = TraceStore(ctx.folder, lambda: ctx.ledger.state.seq).unrecorded(ctx.ledger.state.usage_seq)
    if lost.calls:
        events.append(UsageRecorded(role="interrupted", task=ctx.ledger.state.open, usage=lost))
    events.append(
        RunStarted(
            pid=os.getpid(),
            host=os.uname().nodename,
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
        )
    )
    return _record(ctx, events)


def _before_its_end(state: State) -> str:
    """What is said where the limit that paused the last run has not ended yet; empty where it has."""
    until = state.pause.until if state.pause else ""
    end = datetime.fromisoformat(until) if until else None
    now = datetime.now(UTC)
    if end is None or end <= now:
        return ""
    return f"the limit that paused the last run was to end {shown(end, now)}; trying once: limits get raised"


def _record(ctx: Context, events: list[Event]) -> State:
    state = ctx.ledger.append(events, expect=ctx.ledger.state.seq)
    ctx.evidence.recorded()
    for event in events:
        if text := describe(event):
            ctx.tell("event", text)
    return state


def _pause(ctx: Context, error: BaseException, *, between: bool) -> None:
    """Puts on record why the run ends here. An attempt that was cut short by the user ends as INTERRUPTED.

    One that was stopped while it waited for a model goes on with the next run: nothing of it was cut short.

    Args:
        ctx: the surroundings.
        error: what ends it.
        between: whether no step was under way.

    Raises:
        LedgerError: the ledger is gone, which explains what else went wrong.
    """
    ctx.ledger.require()
    state = ctx.ledger.state
    events: list[Event] = [*ctx.drain_reports(state), *ctx.evidence.taken([]), *ctx.drain_usage(state)]
    attempt = state.task(state.open).running
    at_once = isinstance(error, (KeyboardInterrupt, asyncio.CancelledError))
    if at_once and attempt is not None and attempt.state is not TaskState.TESTS_RUN:
        events += interrupted(state, ctx.folder, ctx.repository, "stopped at once by the user")
    detail = "at once, by the user" if at_once else error.message if isinstance(error, SwarmError) else repr(error)
    detail = " ".join(detail.split())
    between = between and isinstance(error, (Stopped, PreflightFailed))
    until = error.until if isinstance(error, (LimitReached, Stopped)) else None
    said = utc(until) if until else ""
    events.append(RunPaused(reason=_reason(error), detail=detail, between_steps=between, until=said))
    _record(ctx, events)


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
    """What begins now, in a few words."""
    words = {
        Step.RECOVER: "bringing the files back to what the last step left",
        Step.PLAN: "the architect plans",
        Step.REVISE: "the architect revises the plan",
        Step.REVIEW_PLAN: "the critic reviews the plan",
        Step.START_WORK: "making the branch of the work",
        Step.ESTIMATE: f"estimating phase {state.current_phase}",
        Step.DELEGATE: "the architect delegates",
        Step.OPEN_OVERRIDE: "opening an attempt on the tree as it stands",
        Step.CODE: "the coder works",
        Step.IMPLEMENT: "the architect implements",
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
        Step.CLOSE_PHASE: f"the architect sums up phase {state.current_phase}",
    }
    return words[step]


def _judged(state: State, stage: str, words: str) -> str:
    """What a role that judges is about to do: nothing where the user overruled it."""
    record = state.task(state.open)
    if record.running and overruled(record, record.running, stage):
        return f"{stage.replace('_', ' ')}: overruled by the user, not asked again"
    return words
