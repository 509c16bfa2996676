"""What a worker does with a goal that a fleet works on: tells the fleet what is wanted, and follows it to its end."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from swarmgate.domain.events.event import Event, QuestionAnswered, RevisionRequested
from swarmgate.errors import FleetError, RemoteAway, Stopped, UsageError
from swarmgate.server.runs.fleet import OPEN
from swarmgate.server.runs.model import Goal, Verb, Wanted

if TYPE_CHECKING:
    from swarmgate.engine.swarm import Swarm
    from swarmgate.server.runs.fleet import Fleet
    from swarmgate.server.runs.goals import Goals
    from swarmgate.server.runs.work.session import Session

_SOONEST_S, _LATEST_S = 0.5, 5.0
"""Seconds between two looks at the remote: fewer while something happens."""
_EXIT_CODES = {"done": 0, "waiting": 3, "budget": 4}


async def work(session: Session, goals: Goals, goal: Goal) -> int:
    """Has a fleet do what is wanted of a goal; returns the exit code that the command line would have.

    Raises:
        Stopped: somebody asked for it; the goal is out of line then.
        FleetError: remote or database are out of reach, or a worker's step ended in an error.
        UsageError: what is wanted is nothing that workers elsewhere do.
    """
    fleet = goals.required_fleet()
    session.check()
    project = goals.prepare(goal)
    place = goal.fleet, goal.id, project
    await asyncio.to_thread(_tell, fleet, goal, project, session.wanted)
    await asyncio.to_thread(fleet.queue, *place)
    pause_s, seen = _SOONEST_S, ""
    try:
        while (standing := await followed(fleet, *place)) in OPEN:
            session.check()
            pause_s = _SOONEST_S if standing != seen else min(_LATEST_S, pause_s * 1.2)
            seen = standing
            await asyncio.sleep(pause_s)
    except Stopped:
        if not session.leaving:
            await asyncio.to_thread(fleet.leave, goal.fleet, goal.id)
        raise
    if standing not in _EXIT_CODES:
        raise FleetError(
            f"A step of goal {goal.id} ended in an error on its worker.", hint="See: swarm fleet status; then go on"
        )
    return _EXIT_CODES[standing]


async def followed(
    fleet: Fleet, repo: str, goal: str, project: Path, *, patience_s: float = 60.0, pause_s: float = _SOONEST_S
) -> str:
    """How a goal stands; a remote that is out of reach for a moment ends no work that goes on elsewhere.

    Args:
        fleet: that works on it.
        repo: the fleet's name of its repository.
        goal: its id.
        project: the folder that shows it.
        patience_s: how long the remote may be out of reach.
        pause_s: until it is asked again.

    Raises:
        RemoteAway: it is out of reach for longer.
        FleetError: what it has does not go on from what the project shows.
    """
    since = time.monotonic()
    while True:
        try:
            return await asyncio.to_thread(fleet.follow, repo, goal, project)
        except RemoteAway:
            if time.monotonic() - since > patience_s:
                raise
        await asyncio.sleep(pause_s)


def _tell(fleet: Fleet, goal: Goal, project: Path, wanted: Wanted) -> None:
    """Records what is wanted, once however often it is begun."""
    given = wanted.arguments
    if given.get("until") or given.get("stash"):
        raise UsageError("Workers of a fleet go as far as the goal's own settings say: [approve] auto.")
    text, spec = given.get("text") or goal.text, given.get("spec", "")
    fleet.begin(goal.fleet, goal.id, project, text=text, spec=spec, source=given.get("source", ""), actor=wanted.by)
    if text != goal.text:
        raise UsageError("A goal of a fleet is what it was begun as: begin another one.")
    match wanted.verb:
        case Verb.REVISE:
            events: list[Event] = [RevisionRequested(text=given["text"])]
        case Verb.PLAN:
            events = [QuestionAnswered(number=int(each), answer=said) for each, said in _answers(wanted).items()]
        case _:
            events = []
    for event in events:
        decision = partial(_recorded, event=event, wanted=wanted)
        fleet.decide(goal.fleet, goal.id, project, decision, actor=wanted.by, expect=None)


def _answers(wanted: Wanted) -> dict[str, str]:
    return dict(wanted.arguments.get("answers") or {})


def _recorded(swarm: Swarm, *, event: Event, wanted: Wanted) -> None:
    """Records one event, unless a worker before this one did."""
    entries = (entry for entry, _ in swarm.project.ledger().entries() if entry.seq > wanted.seq)
    if any(entry.event == event and entry.actor == wanted.by for entry in entries):
        return
    with swarm.project.writing() as ledger:
        ledger.append([event], expect=ledger.state.seq, actor=wanted.by)
