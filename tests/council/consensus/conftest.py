"""Decisions over a real HTTP server that plays a script, and records in files."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.council.conftest import Council, Rule

from swarmgate.agents.desk import Desk
from swarmgate.council.consensus.deciding import Prepare, decide, nothing
from swarmgate.council.consensus.request import decision_of
from swarmgate.council.records import Manifest, Records
from swarmgate.council.stream import PATTERN_EVENT, PatternEvent
from swarmgate.domain.consensus import Decision, DecisionOutcome, DecisionRound
from swarmgate.domain.debate import Seat
from swarmgate.journal.documents import FileDocuments
from swarmgate.ledger.folder import SwarmFolder

NAMES = ("ann", "bob", "cy")


def stance(stand: str, level: float, prose: str = "I looked at it.") -> str:
    return f"{prose}\n```json\n{json.dumps({'agreement': level, 'stand': stand})}\n```"


def says(who: str | None, *replies: Any, number: int | None = None) -> Rule:
    """What a participant answers, in any round or in one; a text or a reply as scripts have it."""
    match = {"role": "participant", "step": "contribute"}
    match |= {"participant": who} if who else {}
    match |= {"round": str(number)} if number else {}
    return {"match": match, "replies": [{"text": each} if isinstance(each, str) else each for each in replies]}


def facilitates(*replies: Any, **match: str) -> Rule:
    turns = [{"text": each} if isinstance(each, str) else each for each in replies]
    return {"match": {"role": "participant", "step": "facilitate", **match}, "replies": turns}


DEFAULTS = (
    says(None, stance("agree", 0.8)),
    facilitates('{"proposal": "We do it, in round {{round}}.", "openPoints": ["who pays"]}'),
)


@dataclass
class Deciding:
    """Decisions of three, whose endpoint is a scripted server."""

    council: Council
    records: Records
    folder: Path
    events: list[PatternEvent] = field(default_factory=list)
    desks: dict[tuple[str, str, int | None], Desk] = field(default_factory=dict)

    def desk(self, seat: Seat, *, folder: str = "") -> Desk:
        """One connection for all who speak with the same model, as the engine has it."""
        key = (seat.model, seat.system, self.council.windows.get(seat.id))
        if key not in self.desks:
            self.desks[key] = self.council.desk(seat, folder=folder)
        return self.desks[key]

    def parent(self) -> None:
        return None

    def play(self, *rules: Rule) -> None:
        self.desks.clear()
        self.council.play(*DEFAULTS, *rules)

    def decision(self, *seats: str | dict[str, Any], **settings: Any) -> Decision:
        given = [each if isinstance(each, dict) else {"id": each} for each in seats or NAMES]
        return decision_of(**{"id": "d1", "question": "Do we do it?", "participants": given, **settings})

    async def decide(
        self, decision: Decision, prepare: Prepare = nothing, manifest: Manifest | None = None
    ) -> DecisionOutcome:
        tell = self.events.append
        return await decide(
            decision, voices=self, records=self.records, prepare=prepare, manifest=manifest, on_event=tell
        )

    def rounds(self) -> tuple[DecisionRound, ...]:
        return self.records.rounds("d1", DecisionRound)

    def asked(self, **headers: str) -> int:
        return len(self.council.heard(**headers))

    def brief(self, who: str, number: int, step: str = "contribute") -> str:
        heard = self.council.heard(participant=who, round=str(number), step=step)
        return str(heard[0].messages[1]["content"])

    def told(self) -> list[str]:
        """The names of the events so far; every one of them survives the way over a wire."""
        for each in self.events:
            assert PATTERN_EVENT.validate_json(each.model_dump_json()) == each
        return [each.event for each in self.events]


def votes(rules: Iterable[tuple[str, str]]) -> tuple[Rule, ...]:
    return tuple(says(who, text) for who, text in rules)


@pytest.fixture
def deciding(council: Council, tmp_path: Path) -> Deciding:
    folder = SwarmFolder(tmp_path / "kept")
    documents = FileDocuments(folder.path)
    return Deciding(council, Records(documents, clean=lambda value: value), folder.discussions)
