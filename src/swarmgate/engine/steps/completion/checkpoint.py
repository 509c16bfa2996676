"""The close_phase step: the architect summarises the phase, and the loop waits for the user."""

from __future__ import annotations

from swarmgate.agents.roles import architect
from swarmgate.domain.actor import actor_in_words
from swarmgate.domain.events.event import Event, PhaseClosed
from swarmgate.domain.state.state import State
from swarmgate.engine.context import Context
from swarmgate.engine.steps.recovery import quarantine_leftovers
from swarmgate.ledger.views.describe import finding_lines, verdict_in_words


async def close_phase(state: State, ctx: Context) -> list[Event]:
    """The architect's summary, from the facts of the ledger.

    Raises:
        BreakerTripped: it gives none; the run pauses, and the next one asks again.
    """
    if state.plan is None:
        raise ValueError("there is no phase to close")
    number = state.current_phase
    phase = state.plan.phase(number)
    report = phase_report(state, number)
    put_away = quarantine_leftovers(state, ctx.folder, ctx.repository)
    closing = await architect.close_phase(ctx.agent("architect"), phase=number, name=phase.name, report=report)
    closed = PhaseClosed(phase=number, summary=closing.summary, decisions=closing.decisions, lessons=closing.lessons)
    return [*put_away, closed]


def phase_report(state: State, number: int) -> str:
    """The report on a phase from the ledger: each task, its attempts and why they were rejected."""
    if state.plan is None:
        return ""
    lines = []
    for task in state.plan.phase(number).tasks:
        record = state.task(task.id)
        lines.append(f"Task {task.id}: {task.title} - {record.status}, {len(record.attempts)} attempts")
        lines += [f"  attempt {a.number}: {a.outcome} ({a.stage}) {a.reason}" for a in record.attempts if a.reason]
        lines += [f"  {each.in_words}" for each in state.asked_about(task.id)]
    whole = state.phase(number)
    for each in whole.reviews:
        lines += [
            f"Reviewers of the phase: {verdict_in_words(each)}",
            *(f"  {text}" for text in finding_lines(each.review)),
        ]
    lines += [
        f"Overruled by {actor_in_words(whole.overruled_by[stage])}, {stage}: {why}"
        for stage, why in sorted(whole.overruled.items())
    ]
    return "\n".join(lines)
