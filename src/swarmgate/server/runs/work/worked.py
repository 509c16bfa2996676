"""What a worker does with a goal: plans it, revises its plan, or runs it, each from wherever a worker before it was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from swarmgate.domain.events.event import Entry, GoalSet, QuestionAnswered, RevisionRequested
from swarmgate.domain.next_step import Waiting
from swarmgate.domain.state.state import Planning
from swarmgate.domain.state.unattended import Until
from swarmgate.engine.reports.outcome import EXIT_CODES, RunOutcome
from swarmgate.errors import UsageError
from swarmgate.journal.lock import forget_renamed
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.server.runs.goals import Goals
from swarmgate.server.runs.model import Goal, Verb, Wanted
from swarmgate.server.runs.work import handed

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from swarmgate.engine.swarm import Swarm
    from swarmgate.server.runs.work.session import Session


async def work(session: Session, goals: Goals, goal: Goal) -> int:
    """Does what is wanted of a goal; returns the exit code that the command line would have.

    Raises:
        SwarmError: what ended it.
    """
    if goal.fleet:
        return await handed.work(session, goals, goal)
    session.check()
    project = goals.prepare(goal)
    if goal.kind == "clone":
        forget_renamed(SwarmFolder(project).lock)  # nobody else works in it
    swarm = session.swarm(project)
    session.check()
    outcome = await _VERBS[Verb(session.wanted.verb)](swarm, goal, session.wanted)
    return EXIT_CODES[outcome.waiting]


async def _plan(swarm: Swarm, goal: Goal, wanted: Wanted) -> RunOutcome:
    given = wanted.arguments
    if answers := given.get("answers"):
        return await swarm.plan(answers=_unsaid(swarm, wanted, answers))
    text = given.get("text") or ("" if swarm.state.goals else goal.text)
    if not text or _since(swarm, wanted, GoalSet):
        return await _planned(swarm)
    return await swarm.plan(text, spec=given.get("spec", ""), source=given.get("source", ""))


async def _planned(swarm: Swarm) -> RunOutcome:
    """Goes on with planning; where the plan was approved before its worker wrote down that it was done, it is done."""
    state = swarm.state
    if state.planning is Planning.APPROVED:
        return RunOutcome(waiting=Waiting.NOTHING, seq=state.seq)
    return await swarm.plan()


def _unsaid(swarm: Swarm, wanted: Wanted, answers: dict[str, str]) -> dict[int, str]:
    """The answers that no worker before this one put on record."""
    said = {each.number for each in _since(swarm, wanted, QuestionAnswered)}
    return {int(number): text for number, text in answers.items() if int(number) not in said}


async def _revise(swarm: Swarm, goal: Goal, wanted: Wanted) -> RunOutcome:
    del goal
    if _since(swarm, wanted, RevisionRequested):
        return await _planned(swarm)
    return await swarm.revise(wanted.arguments["text"])


async def _run(swarm: Swarm, goal: Goal, wanted: Wanted) -> RunOutcome:
    del goal
    given = wanted.arguments
    until = Until(given["until"]) if given.get("until") else None
    return await swarm.run(stash=bool(given.get("stash")), until=until, attended=until is None)


_VERBS: dict[Verb, Callable[[Swarm, Goal, Wanted], Awaitable[RunOutcome]]] = {
    Verb.PLAN: _plan,
    Verb.REVISE: _revise,
    Verb.RUN: _run,
}


def _since(swarm: Swarm, wanted: Wanted, kind: type[Any]) -> list[Any]:
    """The events of a kind that are on record since something was wanted: a worker before this one put them there."""
    entries: list[Entry] = [entry for entry, _ in swarm.project.ledger().entries() if entry.seq > wanted.seq]
    return [entry.event for entry in entries if isinstance(entry.event, kind) and entry.actor == wanted.by]


def checked(verb: Verb, arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a verb, as they stand in a record.

    Raises:
        UsageError: one is unknown or wrong.
    """
    known = {Verb.PLAN: {"text", "spec", "source", "answers"}, Verb.REVISE: {"text"}, Verb.RUN: {"until", "stash"}}
    if strange := sorted(set(arguments) - known[verb]):
        raise UsageError(f"{verb} takes no {', '.join(strange)}.", hint=f"It takes {', '.join(sorted(known[verb]))}.")
    if verb is Verb.REVISE and not str(arguments.get("text", "")).strip():
        raise UsageError("Say what should be different.")
    if (until := arguments.get("until")) and until not in [each.value for each in Until]:
        raise UsageError(f"{str(until)[:80]!r} is no end of a run.", hint=f"It is {', '.join(Until)}.")
    found = {key: value for key, value in arguments.items() if value}
    if "answers" in found:
        found["answers"] = {str(int(number)): str(text) for number, text in found["answers"].items()}
    return found
