"""Reads the record of a council as services answer it: transcript, argument graph, votes, and how far it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from swarmgate.council.debate.model import Speech
from swarmgate.council.debate.state import DebateState
from swarmgate.council.discussion.argument.graph import Edge, Graph, Node, gist, graph
from swarmgate.council.discussion.model import Relation, Step
from swarmgate.council.discussion.view.phrases import all_rounds
from swarmgate.council.facade import Council
from swarmgate.council.patterns import PATTERNS, rules
from swarmgate.council.records.lifecycle import Standing
from swarmgate.council.records.record import Record
from swarmgate.council.records.rules import Rules
from swarmgate.council.views import stream
from swarmgate.domain.base import Frozen
from swarmgate.domain.review.votes import Vote
from swarmgate.errors import CouncilRefused
from swarmgate.server.services.views.record import ArgumentGraph, UtteranceView, VotesView

_SAID = ("text", "version", "summary", "executiveSummary", "content", "why", "failed", "excluded")
"""Fields of an event that are its text: the first that is not empty."""

_PARTS = ("message", "speech", "turn", "assessment", "synthesis", "conclusion", "moderation", "result")
"""Fields of an event that hold what was said, with who said it."""

_SPEAKERS = ("participant", "seat", "author", "agent", "who", "by", "criterion")
_ROUNDS = ("round", "number")
_VOTE = ("participant", "stand", "agreement", "approves", "ranking", "excluded")


@dataclass(frozen=True)
class OnRecord:
    """The record of a council with its rules.

    Attributes:
        council: of the project that it is held in.
        rules: of its pattern.
        record: with its journal, checked.
        standing: how far it is, with what waits beside the record.
    """

    council: Council
    rules: Rules[Any, Any, Any]
    record: Record[Any, Any, Any]
    standing: Standing[Any]


def on_record(council: Council, id: str) -> OnRecord | None:  # noqa: A002 - the field's name
    """The record of that id; None: nothing was written yet, or it is of no pattern that there is.

    Raises:
        LedgerError: it is damaged, or was altered.
    """
    shared = council.shared
    if id not in shared.records.documents.records():
        return None
    try:
        pattern = shared.records.begun(id).pattern
    except CouncilRefused:  # of an earlier swarmgate
        return None
    if pattern not in PATTERNS:
        return None
    found = rules(pattern)
    return OnRecord(council, found, shared.record(found, id), shared.standing(found, id))


def rounds_of(held: OnRecord) -> int:
    """How many of its rounds are whole."""
    return max((each.number for each in held.record.replayed() if isinstance(each, stream.RoundCompleted)), default=0)


def data_of(held: OnRecord) -> dict[str, Any]:
    """All of it, JSON-ready."""
    data = held.rules.data(held.standing)
    return data.model_dump(mode="json") if isinstance(data, Frozen) else dict(data)


def utterances(held: OnRecord) -> Iterator[UtteranceView]:
    """Its transcript: an utterance for each line of its journal."""
    for entry in held.record.entries():
        data = entry.event.model_dump(mode="json")
        parts = tuple(_parts(data))
        yield UtteranceView(
            seq=entry.seq,
            time=entry.time,
            type=str(data.pop("type")),
            who=_first(parts, _SPEAKERS),
            round=next((part[key] for part in parts for key in _ROUNDS if isinstance(part.get(key), int)), 0),
            text=_first(parts, _SAID),
            data=data,
        )


def argument_graph(held: OnRecord) -> ArgumentGraph:
    """Who said what for or against what: in discussions messages are linked, in debates votes cite them.

    Raises:
        SwarmError: as `Council.discussion_record`.
    """
    if held.rules.name == "discussion":
        found = graph(all_rounds(held.council.discussion_record(held.record.id)))
    elif held.rules.name == "debate":
        found = _of_debate(_speeches(held.standing.own))
    else:
        return ArgumentGraph(council=held.record.id)
    return ArgumentGraph(
        council=held.record.id,
        nodes=tuple(each.model_dump(mode="json") for each in found.nodes),
        edges=tuple(each.model_dump(mode="json") for each in found.edges),
    )


def _speeches(state: DebateState) -> tuple[Speech, ...]:
    """All speeches of a debate, in order; those of the round at work too."""
    whole = (speech for each in state.rounds for speech in each.speeches)
    return (*whole, *(each.speech for each in state.spoken))


def _of_debate(speeches: tuple[Speech, ...]) -> Graph:
    """The graph of a debate: a vote supports what it cites of those who voted the same, and counters the others."""
    by_id = {each.id: each for each in speeches}
    voted = {each.seat: each.ballot.vote for each in speeches if each.ballot}

    def relation(speech: Speech, cited: Speech) -> Relation:
        own, other = voted.get(speech.seat), voted.get(cited.seat)
        if own is None or other is None or Vote.ABSTAIN in (own, other):
            return Relation.RESPONDS_TO
        return Relation.SUPPORTS if own is other else Relation.COUNTERS

    cited = (
        (speech, by_id[name])
        for speech in speeches
        for reason in (speech.ballot.reasons if speech.ballot else ())
        for name in reason.cites
        if name in by_id and by_id[name].seat != speech.seat
    )
    links = dict.fromkeys(Edge(source=one.id, target=to.id, kind=relation(one, to)) for one, to in cited)
    nodes = (
        Node(id=s.id, author=s.seat, round=s.round, step=Step.ARGUE, gist=gist(s.text), failed=bool(s.failed))
        for s in speeches
    )
    return Graph(nodes=tuple(nodes), edges=tuple(links), evolution=())


def votes(held: OnRecord) -> VotesView:
    """What everybody voted, by round: the stands and ballots of a decision, the ballots of a debate."""
    found = _ballots(held.standing.own) if held.rules.name == "debate" else _stands(data_of(held))
    return VotesView(council=held.record.id, votes=tuple(found))


def _ballots(state: DebateState) -> Iterator[dict[str, Any]]:
    for each in _speeches(state):
        if each.ballot:
            yield {"round": each.round, "participant": each.seat, **each.ballot.model_dump(mode="json")}


def _stands(data: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for held in data.get("rounds") or ():
        if isinstance(held, dict):  # others have the number of their rounds there
            for each in held.get("contributions", ()):
                yield {"round": held.get("number"), **{key: each.get(key) for key in _VOTE}}


def _parts(data: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The event, and what it holds of what was said, from the outermost in."""
    yield data
    for key in _PARTS:
        if isinstance(data.get(key), dict):
            yield from _parts(data[key])


def _first(parts: Iterable[dict[str, Any]], keys: tuple[str, ...]) -> str:
    found = (part[key] for part in parts for key in keys if isinstance(part.get(key), str) and part[key])
    return next(found, "")
