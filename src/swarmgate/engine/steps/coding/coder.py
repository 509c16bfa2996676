"""The code step: runs the turn of the coder (or of the architect when escalated) and captures the change with git."""

from __future__ import annotations

from swarmgate.agents.briefs.feedback import feedback_text
from swarmgate.agents.roles import architect, coder
from swarmgate.domain.events.event import AttemptKind, ChangeCaptured, Event
from swarmgate.domain.guard import Effect
from swarmgate.domain.state.state import State, current
from swarmgate.domain.task.failure_patterns import observe
from swarmgate.engine.context import Context
from swarmgate.engine.steps.coding import scope, weakened_tests
from swarmgate.engine.steps.turn.authority import after_turn
from swarmgate.engine.steps.turn.breaker import rejection_by
from swarmgate.errors import BreakerTripped
from swarmgate.gates.formats.text import lines
from swarmgate.ledger.evidence.evidence import PATCH


async def code(state: State, ctx: Context) -> list[Event]:
    """The coder works in the tree until it says that it has finished."""
    task, record, attempt = current(state)
    try:
        summary = await coder.code(
            ctx.agent("coder"),
            task=task,
            attempt=attempt.number,
            scope=attempt.scope,
            instructions=attempt.instructions,
            feedback=feedback_text(record.attempts[:-1], record.notes),
            run_gates=lambda: _gates_for_agents(ctx),
            test_command=ctx.test_command(),
            observed=observe(record),
            known=ctx.background(state, task),
        )
    except BreakerTripped as error:
        return [*_captured(state, ctx, ""), rejection_by(state, error)]
    return _captured(state, ctx, summary, judge_scope=True)


async def implement(state: State, ctx: Context) -> list[Event]:
    """The architect writes the code itself, under the same gates and verdicts."""
    task, record, attempt = current(state)
    try:
        summary = await architect.implement(
            ctx.agent("architect"),
            task=task,
            attempt=attempt.number,
            scope=attempt.scope,
            instructions=attempt.instructions,
            feedback=feedback_text(record.attempts[:-1], record.notes),
            observed=observe(record),
            known=ctx.background(state, task),
        )
    except BreakerTripped as error:
        return [*_captured(state, ctx, ""), rejection_by(state, error)]
    return _captured(state, ctx, summary, judge_scope=True)


async def capture(state: State, ctx: Context) -> list[Event]:
    """The tree as the user vouched for it."""
    return _captured(state, ctx, "")


async def _gates_for_agents(ctx: Context) -> str:
    return "\n".join(lines(await ctx.judge(fix=False)))


def _captured(state: State, ctx: Context, summary: str, *, judge_scope: bool = False) -> list[Event]:
    """What git says came of the turn, after what the role may not write was taken back."""
    task, record, attempt = current(state)
    ctx.keep_head(attempt)
    role, step = ("coder", "code") if attempt.kind is AttemptKind.CODER else ("architect", "implement")
    if attempt.kind is AttemptKind.OVERRIDE:
        tree = ctx.repository.snapshot()
    else:
        tree = after_turn(ctx, role, step, before=attempt.tree, base=attempt.base).tree
    change = ctx.change(attempt, tree)
    patch = ctx.repository.patch(change.base, change.tree)
    beyond = scope.outside_of_scope(ctx, change, record)
    events: list[Event] = [
        ChangeCaptured(
            task=task.id,
            attempt=attempt.number,
            tree=tree,
            files=change.paths,
            outside=beyond,
            contents={file.path: file.new_id for file in change.files},
            added=sum(file.added for file in change.files),
            removed=sum(file.removed for file in change.files),
            summary=summary,
            evidence=ctx.evidence.write(task.id, attempt.number, PATCH, patch),
        )
    ]
    weaker = weakened_tests.note(ctx, record, change, role=role, step=step)
    if weaker is not None and attempt.kind is not AttemptKind.OVERRIDE:
        ctx.reports.append(weaker)
    note = scope.judged(ctx, beyond, record, attempt) if judge_scope else None
    if note is not None:
        ctx.reports.append(note)
        if note.effect is Effect.REJECTED:
            events.append(scope.rejection(task.id, attempt.number, beyond, ctx.config.scope.max_outside))
    return events
