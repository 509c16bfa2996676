"""Reads the record of a council as services answer it: transcript, argument graph, votes, and how far it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from swarmgate.council.discussion.argument.graph import graph
from swarmgate.council.discussion.view.phrases import all_rounds
from swarmgate.council.facade import Council
from swarmgate.council.patterns import PATTERNS, rules
from swarmgate.council.records.lifecycle import Standing
from swarmgate.council.records.record import Record
from swarmgate.council.records.rules import Rules
from swarmgate.council.views import stream
from swarmgate.domain.base import Frozen
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
    """Who said what for or against what; in discussions alone messages are linked.

    Raises:
        SwarmError: as `Council.discussion_record`.
    """
    if held.rules.name != "discussion":
        return ArgumentGraph(council=held.record.id)
    found = graph(all_rounds(held.council.discussion_record(held.record.id)))
    return ArgumentGraph(
        council=held.record.id,
        nodes=tuple(each.model_dump(mode="json") for each in found.nodes),
        edges=tuple(each.model_dump(mode="json") for each in found.edges),
    )


def votes(held: OnRecord) -> VotesView:
    """What everybody voted, by round: the stands and ballots of a decision, the ballots of a debate."""
    found = (
        {"round": each.get("number"), **vote}
        for each in data_of(held).get("rounds") or ()
        if isinstance(each, dict)
        for vote in _votes_of(each)
    )
    return VotesView(council=held.record.id, votes=tuple(found))


def _votes_of(held: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for each in held.get("contributions", ()):
        yield {key: each.get(key) for key in _VOTE}
    for each in held.get("speeches", ()):
        if each.get("ballot"):
            yield {"participant": each.get("seat"), **each["ballot"]}


def _parts(data: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The event, and what it holds of what was said, from the outermost in."""
    yield data
    for key in _PARTS:
        if isinstance(data.get(key), dict):
            yield from _parts(data[key])


def _first(parts: Iterable[dict[str, Any]], keys: tuple[str, ...]) -> str:
    found = (part[key] for part in parts for key in keys if isinstance(part.get(key), str) and part[key])
    return next(found, "")
