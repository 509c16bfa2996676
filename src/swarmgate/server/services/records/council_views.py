"""Makes the views of a council: how it stands, its transcript, its arguments, its votes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from pydantic import BaseModel

from swarmgate.council import patterns
from swarmgate.council.records.lifecycle import Standing
from swarmgate.council.records.record import Record
from swarmgate.engine.swarm import Swarm
from swarmgate.errors import SwarmError
from swarmgate.server.runs.model import Council
from swarmgate.server.services.reading.cleaning import cleaned, cleaner
from swarmgate.server.services.views.council import (
    ArgumentEdge,
    ArgumentGraph,
    ArgumentNode,
    CouncilSummary,
    CouncilView,
    UtteranceView,
    VotesView,
    VoteView,
)

_TOLD = ("text", "what", "title", "why")
"""Fields of progress events that say something in words."""
_LONGEST = 120
"""Characters of a title."""


def record_of(swarm: Swarm, job: Council) -> Record[Any, Any, Any]:
    """The record of a council.

    Raises:
        SwarmError: there is none yet, or it is damaged.
    """
    return swarm.council.shared.record(patterns.rules(job.pattern), job.id)


def standing_of(swarm: Swarm, job: Council) -> Standing[Any]:
    """How a council stands, with what waits for people."""
    return swarm.council.shared.standing(patterns.rules(job.pattern), job.id)


def short(job: Council, status: str, title: str, owner: str) -> CouncilSummary:
    """A council in a list."""
    return CouncilSummary(
        id=job.id,
        pattern=job.pattern,
        status=status,
        title=title or asked(job),
        repo=job.repo,
        goal=job.goal,
        owner=owner,
        created=job.created,
    )


def asked(job: Council) -> str:
    """What a council was asked, in a line."""
    texts = [each for each in job.request.values() if isinstance(each, str)]
    return " ".join(max(texts, key=len, default="").split())[:_LONGEST]


def not_begun(job: Council, status: str, owner: str) -> CouncilView:
    """A council that has no record yet."""
    ended = job.ended if job.ended and job.ended.code else None
    told = f"{ended.message} {ended.hint}".strip() if ended else ""
    base = short(job, status, "", owner).model_dump()
    return CouncilView(**base, problem=told, code=ended.code if ended else "")


def council_view(job: Council, swarm: Swarm, status: str, owner: str) -> CouncilView:
    """One council that has a record.

    Args:
        job: as the server has it.
        swarm: the facade of its project.
        status: what the server does with it; empty: what its record says.
        owner: the name of its owner.
    """
    rules, standing = patterns.rules(job.pattern), standing_of(swarm, job)
    data = rules.data(standing)
    base = not_begun(job, status or standing.status, owner).model_dump()
    more = {
        "title": rules.title(standing.own) or base["title"],
        "who": tuple(rules.who(standing.own)),
        "most": rules.most(standing.own),
        "usage": standing.usage,
        "seconds": standing.seconds,
        "why": standing.why,
        "summary": rules.summary(standing),
        "waits_for": tuple(getattr(standing.own, "people_missing", ())) if not standing.over else (),
        "documents": tuple(rules.views(standing)),
        "data": data.model_dump(mode="json") if isinstance(data, BaseModel) else dict(data),
    }
    return cleaned(CouncilView(**{**base, **more}), cleaner(swarm.project))


def transcript(job: Council, swarm: Swarm) -> Iterator[UtteranceView]:
    """What was said and what happened, in order."""
    rules, clean = patterns.rules(job.pattern), cleaner(swarm.project)
    for entry, before, after in record_of(swarm, job).steps():
        told = list(rules.progress_of_event(entry.event, before, after)) if before is not None else []
        texts = (getattr(each, name, "") for each in told for name in _TOLD)
        row = UtteranceView(
            seq=entry.seq,
            time=entry.time,
            type=entry.event.type,
            who=_who(told, entry.event) or entry.actor,
            text=_text(entry.event) or next((text for text in texts if text), ""),
            data=entry.event.model_dump(mode="json"),
        )
        yield cleaned(row, clean)


def _text(event: object) -> str:
    """All that somebody said."""
    said = next(
        (found for found in (event, *vars(event).values()) if isinstance(getattr(found, "text", None), str)), None
    )
    return str(getattr(said, "text", ""))


def _who(told: Iterable[object], event: object) -> str:
    names = (getattr(each, "who", "") for each in told)
    return next((name for name in names if isinstance(name, str) and name), "") or str(
        getattr(event, "participant", "")
    )


def arguments(job: Council, swarm: Swarm) -> ArgumentGraph:
    """Who said what for or against what."""
    standing = standing_of(swarm, job)
    make = _GRAPHS.get(job.pattern)
    nodes, edges = make(standing.own) if make else ([], [])
    found = ArgumentGraph(council=job.id, nodes=tuple(nodes), edges=tuple(edges))
    return cleaned(found, cleaner(swarm.project))


_Graph = tuple[list[ArgumentNode], list[ArgumentEdge]]


def _of_discussion(state: Any) -> _Graph:
    from swarmgate.council.discussion.argument.graph import graph  # noqa: PLC0415 - late: only discussions have one

    made = graph((*state.rounds, *([state.partial] if state.partial else [])))
    nodes = [
        ArgumentNode(id=each.id, author=each.author, round=each.round, step=each.step, text=each.gist)
        for each in made.nodes
    ]
    return nodes, [ArgumentEdge(source=each.source, target=each.target, kind=each.kind) for each in made.edges]


def _of_debate(state: Any) -> _Graph:
    nodes = [
        ArgumentNode(id=claim.id, author=speech.seat, round=speech.round, step=claim.stance, text=claim.text)
        for held in state.rounds
        for speech in held.speeches
        for claim in speech.claims
    ]
    return nodes, []


_GRAPHS: dict[str, Callable[[Any], _Graph]] = {"discussion": _of_discussion, "debate": _of_debate}


def votes(job: Council, swarm: Swarm) -> VotesView:
    """The votes, round by round."""
    standing = standing_of(swarm, job)
    found = _VOTES[job.pattern](standing.own) if job.pattern in _VOTES else ()
    return cleaned(VotesView(council=job.id, votes=tuple(found)), cleaner(swarm.project))


def _votes_of_decision(state: Any) -> Iterator[VoteView]:
    for held in state.rounds:
        for each in held.contributions:
            yield VoteView(
                round=held.number,
                who=each.participant,
                vote=each.stand or "",
                level=each.agreement,
                choices=each.ranking or each.approves,
                text=each.text,
                excluded=each.excluded,
            )


def _votes_of_debate(state: Any) -> Iterator[VoteView]:
    for held in state.rounds:
        for each in held.speeches:
            if held.final:
                ballot = each.ballot
                yield VoteView(
                    round=held.number,
                    who=each.seat,
                    vote=ballot.vote if ballot else "",
                    level=ballot.confidence if ballot else None,
                    text=each.text,
                    excluded=each.failed,
                )


_VOTES: dict[str, Callable[[Any], Iterator[VoteView]]] = {"decision": _votes_of_decision, "debate": _votes_of_debate}


def begun(swarm: Swarm, job: Council) -> bool:
    """Whether it has a record."""
    try:
        return job.id in swarm.council.shared.records.documents.records()
    except SwarmError:
        return False
