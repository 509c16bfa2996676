"""The coder's turn, or the architect's in an escalated attempt, and what git says came of it."""

from __future__ import annotations

from swarmgate.agents import architect, coder
from swarmgate.agents.feedback import feedback_text
from swarmgate.domain.events import AttemptRejected, ChangeCaptured, Event
from swarmgate.domain.state import State
from swarmgate.engine.context import Context
from swarmgate.engine.steps.attempts import current
from swarmgate.errors import NoUsableReply
from swarmgate.gates.report import lines
from swarmgate.ledger.evidence import PATCH


async def code(state: State, ctx: Context) -> list[Event]:
    """The coder works in the tree until it says that it has finished."""
    task, record, attempt = current(state)
    try:
        summary = await coder.code(
            ctx.desk("coder"),
            task=task,
            attempt=attempt.number,
            scope=attempt.scope,
            instructions=attempt.instructions,
            feedback=feedback_text(record.attempts[:-1], record.notes),
            run_gates=lambda: _gates_for_agents(ctx),
        )
    except NoUsableReply as error:
        return [*_captured(state, ctx, ""), _rejected(state, "coder", error)]
    return _captured(state, ctx, summary)


async def implement(state: State, ctx: Context) -> list[Event]:
    """The architect writes the code itself, under the same gates and verdicts."""
    task, record, attempt = current(state)
    try:
        summary = await architect.implement(
            ctx.desk("architect"),
            task=task,
            attempt=attempt.number,
            scope=attempt.scope,
            instructions=attempt.instructions,
            feedback=feedback_text(record.attempts[:-1], record.notes),
        )
    except NoUsableReply as error:
        return [*_captured(state, ctx, ""), _rejected(state, "architect", error)]
    return _captured(state, ctx, summary)


async def capture(state: State, ctx: Context) -> list[Event]:
    """The tree as the user vouched for it."""
    return _captured(state, ctx, "")


async def _gates_for_agents(ctx: Context) -> str:
    return "\n".join(lines(await ctx.judge(fix=False)))


def _captured(state: State, ctx: Context, summary: str) -> list[Event]:
    task, _, attempt = current(state)
    ctx.keep_head(attempt)
    tree = ctx.repository.snapshot()
    change = ctx.change(attempt, tree)
    patch = ctx.repository.patch(change.base, change.tree)
    return [
        ChangeCaptured(
            task=task.id,
            attempt=attempt.number,
            tree=tree,
            files=change.paths,
            added=sum(file.added for file in change.files),
            removed=sum(file.removed for file in change.files),
            summary=summary,
            evidence=ctx.evidence.write(task.id, attempt.number, PATCH, patch),
        )
    ]


def _rejected(state: State, stage: str, error: NoUsableReply) -> Event:
    task, _, attempt = current(state)
    return AttemptRejected(task=task.id, attempt=attempt.number, stage=stage, reason=error.message)
