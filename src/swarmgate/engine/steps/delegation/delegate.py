"""Opens the work branch; delegates a task, overrides for it, or blocks it; and has the cost of a change weighed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from swarmgate.agents.ask_user import Asked
from swarmgate.agents.briefs.feedback import feedback_text
from swarmgate.agents.roles import architect
from swarmgate.domain.events.event import (
    AttemptKind,
    Event,
    GuardActed,
    RejectionOverridden,
    TaskBlocked,
    TaskDelegated,
    WorkStarted,
)
from swarmgate.domain.guard import Effect, GuardNote
from swarmgate.domain.next_step import next_task
from swarmgate.domain.plan.plan import Plan, Task
from swarmgate.domain.review.evidence import Review, Verdict
from swarmgate.domain.review.stage import Judge, Stage
from swarmgate.domain.state.state import State, TaskRecord
from swarmgate.domain.task.failure_patterns import EFFECTS, RULE, Observation, is_news, observe, stopping
from swarmgate.domain.task.remedies import removed_files
from swarmgate.domain.transitions.task import WEIGHED, attempt_kind, weighed
from swarmgate.engine.context import Context
from swarmgate.engine.steps import questions
from swarmgate.engine.steps.agent_turn import after_turn
from swarmgate.engine.steps.delegation.uncommitted import refuse_dirty_tree
from swarmgate.engine.steps.recovery import quarantine_leftovers
from swarmgate.engine.steps.testing.adversarial import RULE as ATTACK_RULE
from swarmgate.errors import BreakerTripped, NoUsableReply, SelfCodingBlocked, WorkspaceError
from swarmgate.ledger.witness.anchors import branches_of_others


async def start_work(state: State, ctx: Context) -> list[Event]:
    """Creates the work branch from the current HEAD; the tree has to be clean."""
    ctx.repository.require_quiet()
    refuse_dirty_tree(ctx)
    _refuse_branch_of_another(ctx)
    title = state.plan.title if state.plan else state.goal
    name = ctx.ledger.publication.branch or f"{ctx.config.git.branch_prefix}{_slug(title)}"
    if ctx.repository.branch() != name or _of_earlier_goal(ctx, name):
        name = _free_name(ctx, name)
        ctx.repository.create_branch(name)
    ctx.evidence.archive(state.goals - 1)
    return [WorkStarted(branch=name, base=ctx.repository.head())]


def _refuse_branch_of_another(ctx: Context) -> None:
    """Raises WorkspaceError where the branch of another project of this repository is checked out."""
    here = ctx.repository.branch()
    if here and here in branches_of_others(ctx.folder):
        raise WorkspaceError(
            f"{here} is checked out, the branch of another project of this repository: its work would be built on.",
            hint="git switch to where this work is to begin, then: swarm run. If that is meant: git switch -c NAME",
        )


async def delegate(state: State, ctx: Context) -> list[Event]:
    """Opens the next attempt at the next task: for the coder, or for the architect after too many rejections."""
    plan, task = _next(state)
    record = state.task(task.id)
    asking = questions.asking(state, ctx, task.id, "architect", "delegate")
    events: list[Event] = []
    if not record.unfinished:
        events = quarantine_leftovers(state, ctx.folder, ctx.repository)
        refuse_dirty_tree(ctx)
    observed = observe(record)
    events += [_noted(task.id, each) for each in observed if is_news(record, each)]
    number, kind = len(record.attempts) + 1, attempt_kind(state, task.id)
    tree, base = ctx.repository.snapshot(), ctx.repository.head()
    if kind is AttemptKind.ESCALATED and record.last is not None:
        scope, instructions = record.last.scope or task.files, "Architect implementing directly"
    else:
        try:
            delegation = await architect.delegate(
                ctx.agent("architect"),
                task=task,
                attempt=number,
                plan=plan,
                feedback=feedback_text(record.attempts, record.notes)
                + (f"\n\nYour verdict on it: {verdict}" if (verdict := weighed(record)) else ""),
                others=_other_open_tasks(state, plan, task),
                observed=observed,
                known=ctx.background(state, task),
                asking=asking,
            )
        except BreakerTripped as error:
            return [
                *events,
                TaskBlocked(task=task.id, stage=Stage.of(Judge.BREAKER, error.breaker), reason=error.message),
            ]
        except SelfCodingBlocked as error:
            return [*events, TaskBlocked(task=task.id, stage=Judge.ARCHITECT, reason=error.message)]
        tree = after_turn(ctx, "architect", "delegate", before=tree, base=base).tree
        if isinstance(delegation, Asked):
            return [*events, questions.asked(ctx, task.id, number, "architect", "delegate", delegation)]
        scope, instructions = delegation.scope, delegation.instructions
    opened = TaskDelegated(
        task=task.id,
        attempt=number,
        kind=kind,
        scope=scope,
        instructions=instructions,
        tree=tree,
        base=base,
        house_rules=_house_rules(ctx, scope),
    )
    return [*events, opened]


async def weigh(state: State, ctx: Context) -> list[Event]:
    """Asks the architect whether a change that only the quality budget is against may stay.

    Its verdict goes on record either way, so that it is asked once for an attempt. None that can be read overrules
    nothing.
    """
    _, task = _next(state)
    last = state.task(task.id).attempts[-1]
    over = "\n".join(filter(None, (last.reason, *(each.message for each in last.feedback))))
    base, before = ctx.repository.head(), ctx.repository.snapshot()
    patch = ctx.repository.patch(ctx.repository.tree_of(base), before).decode("utf-8", "replace")
    agent = ctx.agent("architect")
    try:
        review = await architect.weigh(
            agent,
            task=task,
            attempt=last.number,
            scope=last.scope,
            over=over,
            patch=patch,
            known=ctx.background(state, task),
        )
    except (BreakerTripped, NoUsableReply, SelfCodingBlocked) as error:
        review = Review(verdict=Verdict.REJECTED, summary=f"it was not weighed: {error.message}")
    after_turn(ctx, "architect", "weigh", before=before, base=base)
    reason = " ".join(review.summary.split())
    if review.approved:
        return [RejectionOverridden(task=task.id, stage=last.stage, reason=reason, by="architect")]
    note = GuardNote(rule=WEIGHED, effect=Effect.NOTED, detail=reason, role="architect", attempt=last.number)
    return [GuardActed(task=task.id, note=note)]


async def open_override(state: State, ctx: Context) -> list[Event]:
    """Opens an attempt on the current tree after the user overruled a rejection."""
    _, task = _next(state)
    record = state.task(task.id)
    put_away = _attacks_put_away(ctx, task.id, record)
    told = next((each.told for each in reversed(state.overrides) if each.task == task.id), "overridden by the user")
    scope = record.last.scope if record.last else task.files
    return [
        *put_away,
        TaskDelegated(
            task=task.id,
            attempt=len(record.attempts) + 1,
            kind=AttemptKind.OVERRIDE,
            scope=scope,
            instructions=told,
            tree=ctx.repository.snapshot(),
            base=ctx.repository.head(),
            house_rules=_house_rules(ctx, scope),
        ),
    ]


def _house_rules(ctx: Context, scope: Sequence[str]) -> dict[str, str]:
    """The files of the project's own instructions that hold for a scope, each with its blob."""
    return {each.path: each.blob for each in ctx.house_rules(scope)}


def _attacks_put_away(ctx: Context, task_id: str, record: TaskRecord) -> list[GuardActed]:
    """Where the user overruled an attack: its test files leave the tree, or they would fail in every task to come."""
    overruled = removed_files(record, record.overrides)
    if not overruled or record.last is None:
        return []
    base = ctx.repository.head_tree()
    there = set(ctx.repository.list_tree(base))
    files = [path for path in overruled if path not in there]
    quarantine = ctx.folder.quarantine_folder("overruled-attacks")
    paths = ctx.repository.restore(base, quarantine=quarantine, only=files) if files else ()
    if not paths:
        return []
    message = f"the user overruled {', '.join(paths)}: taken out, kept in {ctx.folder.relative(quarantine)}"
    note = GuardNote(rule=ATTACK_RULE, effect=Effect.NOTED, detail=message, attempt=len(record.attempts) + 1)
    return [GuardActed(task=task_id, note=note)]


async def block(state: State, ctx: Context) -> list[Event]:
    """Blocks the task: a failure pattern stops it, or the last allowed attempt was rejected."""
    del ctx
    _, task = _next(state)
    record = state.task(task.id)
    if pattern := stopping(record):
        stage = Stage.of(Judge.TRAJECTORY, pattern.pattern)
        last = record.last
        message = f"{pattern.text}. The last rejection was by {last.stage}: {last.reason}" if last else pattern.text
        return [_noted(task.id, pattern), TaskBlocked(task=task.id, stage=stage, reason=message)]
    if record.last is None:
        raise ValueError(f"task {task.id} has no attempt that could have been rejected")
    return [TaskBlocked(task=task.id, stage=record.last.stage, reason=record.last.reason)]


def _noted(task_id: str, observed: Observation) -> GuardActed:
    """The guard event for a failure pattern in the attempts at a task."""
    effect = EFFECTS[observed.level]
    return GuardActed(
        task=task_id, note=GuardNote(rule=RULE, effect=effect, detail=observed.text, attempt=observed.attempt)
    )


def _next(state: State) -> tuple[Plan, Task]:
    task = next_task(state)
    if state.plan is None or task is None:
        raise ValueError("there is no task to work on")
    return state.plan, task


def _other_open_tasks(state: State, plan: Plan, task: Task) -> dict[str, Task]:
    return {
        other.id: other for other in plan.tasks.values() if other.id != task.id and not state.task(other.id).settled
    }


def _slug(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:50].strip("-") or "work"


def _of_earlier_goal(ctx: Context, name: str) -> bool:
    """Whether work began on a branch before; else, where it is checked out, a crash came right after it was made."""
    events = (entry.event for entry, _ in ctx.ledger.entries())
    return any(isinstance(event, WorkStarted) and event.branch == name for event in events)


def _free_name(ctx: Context, name: str) -> str:
    candidate, counter = name, 1
    while ctx.repository.branch_exists(candidate):
        counter += 1
        candidate = f"{name}-{counter}"
    return candidate
