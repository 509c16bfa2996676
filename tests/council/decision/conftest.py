"""Fixtures of decision tests: a scripted HTTP server, and records in files."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.council.conftest import Council, Rule
from tests.project import _after, _template, once, project

from swarmgate.agents.context import AgentContext
from swarmgate.council.context import CouncilContext
from swarmgate.council.decision.model import Decision, DecisionOutcome, DecisionRecord, DecisionRound
from swarmgate.council.decision.preparation import Preparation
from swarmgate.council.decision.request import decision_of
from swarmgate.council.decision.state import State
from swarmgate.council.decision.steps import DECISION
from swarmgate.council.decision.view import record_of
from swarmgate.council.records.record import Record
from swarmgate.council.records.store import Records
from swarmgate.council.run import run
from swarmgate.council.views.stream import PATTERN_EVENT, PatternEvent
from swarmgate.domain.review.votes import Seat
from swarmgate.journal.store import opened

__all__ = ["_after", "_template", "once", "project"]

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
    root: Path
    events: list[PatternEvent] = field(default_factory=list)
    agents: dict[tuple[str, str, int | None], AgentContext] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """Where the records are."""
        return self.root / "discussions"

    @property
    def records(self) -> Records:
        """The records, read anew."""
        return Records(opened(self.root, "files"), clean=lambda value: value)

    def agent(self, seat: Seat, *, folder: str = "") -> AgentContext:
        """One connection for all who speak with the same model, as the engine has it."""
        key = (seat.model, seat.system, self.council.windows.get(seat.id))
        if key not in self.agents:
            self.agents[key] = self.council.agent(seat, folder=folder)
        return self.agents[key]

    def parent(self) -> None:
        return None

    def play(self, *rules: Rule) -> None:
        self.agents.clear()
        self.council.play(*DEFAULTS, *rules)

    def decision(self, *seats: str | dict[str, Any], **settings: Any) -> Decision:
        given = [each if isinstance(each, dict) else {"id": each} for each in seats or NAMES]
        return decision_of(**{"id": "d1", "question": "Do we do it?", "participants": given, **settings})

    def record(self, name: str = "d1") -> Record[Decision, State, DecisionOutcome]:
        """A record, read anew."""
        return self.records.open(DECISION, name)

    def told_of(self, name: str = "d1") -> DecisionRecord:
        """All that is kept of it, for programs."""
        return record_of(self.record(name).standing)

    async def decide(self, decision: Decision, *, request_hash: str = "") -> DecisionOutcome:
        """Holds it, or goes on with it, as a process that begins now does."""
        records = self.records
        own = Preparation()
        context = CouncilContext(self, records, self._hear, own)
        DECISION.check(decision, context, lambda _: "")
        outcome = await run(DECISION, records.begin(DECISION, decision, request_hash=request_hash), context)
        assert outcome is not None
        return outcome

    def _hear(self, event: object) -> None:
        self.events.append(PATTERN_EVENT.validate_python(event))

    def rounds(self) -> tuple[DecisionRound, ...]:
        return self.record().standing.own.rounds

    def asked(self, **headers: str) -> int:
        return len(self.council.heard(**headers))

    def brief(self, who: str, number: int, step: str = "contribute") -> str:
        heard = self.council.heard(participant=who, round=str(number), step=step)
        return str(heard[0].messages[1]["content"])

    def told(self) -> list[str]:
        """The names of the events of the decision so far; every one of them survives the way over a wire."""
        for each in self.events:
            assert PATTERN_EVENT.validate_json(each.model_dump_json()) == each
        return [each.event for each in self.events if each.pattern == "decision"]


@pytest.fixture
def deciding(council: Council, tmp_path: Path) -> Deciding:
    return Deciding(council, tmp_path / "kept")
