"""Asks the person at the client what no tool may decide: answers to questions, and the approval of a plan or a phase.

It goes by elicitation, a form that the client shows to its person and no model fills in. Where the client has none,
nothing is asked: `swarm approve` and `swarm answer` in a terminal do the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from swarmgate.domain.next_step import Waiting
from swarmgate.engine.reports.outcome import EXIT_CODES
from swarmgate.mcp.answers import Worked

if TYPE_CHECKING:
    from swarmgate.engine.reports.outcome import RunOutcome
    from swarmgate.engine.swarm import Swarm
    from swarmgate.mcp.backend import Ask, Document

_LONGEST = 8_000
"""Characters of what is shown with a form."""

_APPROVAL: dict[str, Any] = {
    "type": "object",
    "properties": {
        "decision": {
            "type": "string",
            "title": "Your decision",
            "description": "Leave it to look at it yourself; `swarm approve` and `swarm revise` decide later.",
            "enum": ["leave", "approve"],
            "default": "leave",
        }
    },
    "required": ["decision"],
}


async def answered(ask: Ask | None, outcome: RunOutcome) -> dict[int, str]:
    """What the person answers to the open questions, by their numbers; empty: nobody can be asked, or answers."""
    if ask is None or not outcome.questions:
        return {}
    fields = {f"question_{number}": {"type": "string", "title": text[:_LONGEST]} for number, text in outcome.questions}
    lines = outcome.asked.lines if outcome.asked else tuple(f"{number}. {text}" for number, text in outcome.questions)
    message = "\n".join(("swarmgate: an agent asks you.", *lines))[:_LONGEST]
    filled = await ask(message, {"type": "object", "properties": fields})
    said = {number: str((filled or {}).get(f"question_{number}") or "").strip() for number, _ in outcome.questions}
    return {number: text for number, text in said.items() if text}


async def settled(ask: Ask | None, outcome: RunOutcome, swarm: Swarm, plan: Callable[[], Document]) -> Worked:
    """The answer of a tool that worked, after the person was asked whether they approve what waits for them.

    Args:
        ask: asks the person; None: nobody can be.
        outcome: where the work ended.
        swarm: with which they decide about what stood there, and nothing newer.
        plan: as they read it.

    Raises:
        StaleWriter: what they were shown has changed meanwhile; nothing was approved.
        SwarmError: it cannot be approved, as `Swarm.approve` says.
    """
    exit_code = EXIT_CODES[outcome.waiting]
    if ask is None or outcome.waiting not in (Waiting.PLAN_APPROVAL, Waiting.PHASE_APPROVAL):
        return Worked(outcome=outcome, exit_code=exit_code)
    message = "\n".join(("swarmgate: this waits for your approval.", "", *await _page(outcome, plan)))
    filled = await ask(message[:_LONGEST], _APPROVAL)
    if not filled or filled.get("decision") != "approve":
        return Worked(outcome=outcome, exit_code=exit_code, person="left")
    await asyncio.to_thread(swarm.approve)
    return Worked(outcome=outcome, exit_code=exit_code, person="approved")


async def _page(outcome: RunOutcome, plan: Callable[[], Document]) -> tuple[str, ...]:
    if outcome.checkpoint is not None:
        return tuple(outcome.checkpoint.page)
    objections = [f"The {outcome.judge} objects: {text}" for text in outcome.objections]
    return (*objections, (await asyncio.to_thread(plan)).text)
