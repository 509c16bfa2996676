"""Fixtures of council tests: participants that call a scripted HTTP server, and records in a temporary folder."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from tests.confined import runner
from tests.project import _after, _template, once, project
from tests.server.redis_server import redis_program, redis_server

from swarmgate.agents.briefs.house_rules import HouseRulesOf
from swarmgate.agents.briefs.house_rules import none as no_rules
from swarmgate.agents.context import AgentContext, Limits
from swarmgate.agents.prompts import Prompts
from swarmgate.config import Config
from swarmgate.council.context import CouncilContext
from swarmgate.council.debate.model import Debate, DebateRecord, Outcome, Round
from swarmgate.council.debate.request import debate_of
from swarmgate.council.debate.rules import RULES
from swarmgate.council.debate.state import DebateState
from swarmgate.council.debate.steps import DEBATING
from swarmgate.council.records.lifecycle import Standing
from swarmgate.council.records.store import Records
from swarmgate.council.run import run
from swarmgate.council.views.events import CouncilEvent
from swarmgate.domain.review.votes import Seat
from swarmgate.journal.store import opened
from swarmgate.llm.budget import Budget, Metered
from swarmgate.llm.connect import connect
from swarmgate.testing import ReceivedRequest, ScriptedServer
from swarmgate.workspace.file_tools.files import FileTree

__all__ = ["_after", "_template", "once", "project", "redis_program", "redis_server"]

Rule = dict[str, Any]


# --- what voices say ---


def speech(*claims: str, prose: str = "I have looked at it.", stance: str = "against") -> str:
    listed = [{"text": each, "stance": stance, "evidence": ""} for each in claims]
    return f"{prose}\n\n```json\n{json.dumps({'claims': listed})}\n```"


def ballot(word: str = "APPROVE", confidence: float = 0.8, *cites: str) -> str:
    reasons = [{"text": "it holds", "cites": list(cites)}]
    return "FINAL_VERDICT:\n" + json.dumps({"verdict": word, "confidence": confidence, "reasons": reasons})


def synthesis(word: str = "APPROVE", *cites: str, **more: Any) -> str:
    reasons = [{"text": "it was shown", "cites": list(cites or ("r1-msg-001",))}]
    return json.dumps({"verdict": word, "summary": "It holds.", "reasons": reasons, "dissent": [], **more})


def voice(who: str | None, number: int | None, *replies: Any, **match: Any) -> Rule:
    """What a voice says in a round; None: any."""
    wanted = {"role": "participant", "step": "debate", **match}
    wanted |= {"participant": who} if who else {}
    wanted |= {"round": str(number)} if number else {}
    return {"match": wanted, "replies": [{"text": each} if isinstance(each, str) else each for each in replies]}


def parent(*replies: Any) -> Rule:
    turns = [{"text": each} if isinstance(each, str) else each for each in replies]
    return {"match": {"role": "architect", "step": "synthesize"}, "replies": turns}


def moderator(number: int, *replies: Any) -> Rule:
    turns = [{"text": each} if isinstance(each, str) else each for each in replies]
    return {"match": {"role": "participant", "step": "moderate", "round": str(number)}, "replies": turns}


DEFAULTS = (
    voice(None, None, speech("{{participant}} has a point in round {{round}}.")),
    parent(synthesis()),
)


# --- the table ---

_NUMBERS = count(1)


def records_in(place: Path) -> Records:
    return Records(opened(place / ".swarm", "files"), clean=lambda value: value)


@dataclass
class Council:
    """A council whose endpoint is a scripted server."""

    repo: Path
    records: Records
    events: list[CouncilEvent] = field(default_factory=list)
    limits: Limits = field(default_factory=lambda: Limits(replies=2, max_turns=12))
    windows: dict[str, int] = field(default_factory=dict)
    has_parent: bool = True
    budget: Budget = field(default_factory=Budget)
    house_rules: HouseRulesOf = no_rules
    server: ScriptedServer | None = None
    models: list[Metered] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def play(self, *rules: Rule, **options: Any) -> ScriptedServer:
        if self.server:
            self.server.stop()
        self.server = ScriptedServer([*DEFAULTS, *rules], **options).start()
        return self.server

    def agent(self, seat: Seat, *, folder: str = "") -> AgentContext:  # noqa: ARG002 - a fixed signature
        return self._agent("participant", seat.model or "local/plain", seat.system, self.windows.get(seat.id))

    def parent(self) -> AgentContext | None:
        return self._agent("architect", "local/wise", "", self.windows.get("parent")) if self.has_parent else None

    def _agent(self, role: str, model: str, persona: str, window: int | None) -> AgentContext:
        url = self.server.base_url if self.server else "http://127.0.0.1:9/v1"
        provider = {"base_url": url, "max_retries": 0}
        config = Config.model_validate({"providers": {"local": provider}, "roles": {role: {"model": model}}})
        connected = connect(role, config, environ={}, recorder=None, budget=self.budget)
        self.models.append(connected)
        limits = self.limits
        if window:
            limits = Limits(replies=limits.replies, max_turns=limits.max_turns, context_tokens=window)
        return AgentContext(
            model=connected,
            files=FileTree(self.repo),
            prompts=Prompts(),
            commands=runner(self.repo),
            limits=limits,
            persona=persona,
            house_rules=self.house_rules,
        )

    async def hold(self, *seats: str | Seat, **settings: Any) -> Outcome:
        """Two voices, two rounds and a vote, unless the test says otherwise."""
        return await self.held(self.debate(*seats, **settings))

    async def held(self, debate: Debate) -> Outcome:
        """Holds a debate, or goes on with it, in a process of its own as far as the record knows."""
        context = CouncilContext(self, self.records, self.events.append, own={})
        DEBATING.check(debate, context, lambda _: "")
        outcome = await run(DEBATING, self.records.begin(DEBATING, debate), context)
        assert outcome
        return outcome

    def forget(self) -> None:
        """Another project, in which nothing is on record."""
        self.records = records_in(self.repo / f"another-{next(_NUMBERS)}")

    def debate(self, *seats: str | Seat, **settings: Any) -> Debate:
        names = seats or ("advocate", "challenger")
        given = [each if isinstance(each, Seat) else Seat(id=each) for each in names]
        return debate_of(**{"id": "d1", "question": "Is it right?", "seats": given, "timeout_s": 20, **settings})

    @property
    def standing(self) -> Standing[DebateState]:
        return self.records.open(RULES, "d1").standing

    @property
    def kept(self) -> DebateRecord:
        return RULES.record(self.standing)

    @property
    def rounds(self) -> tuple[Round, ...]:
        return self.kept.rounds

    def heard(self, **headers: str) -> list[ReceivedRequest]:
        """The requests with these headers of the brief, in order of arrival."""
        assert self.server
        wanted = {key.upper(): value for key, value in headers.items()}
        return [each for each in self.server.requests if wanted.items() <= each.headers.items()]

    def brief(self, who: str, number: int) -> str:
        """What a voice was told at the beginning of a round."""
        return str(self.heard(participant=who, round=str(number), step="debate")[0].messages[1]["content"])


@pytest.fixture
async def council(repo: Path) -> AsyncIterator[Council]:
    made = Council(repo, records_in(repo))
    yield made
    for each in made.models:
        await each.aclose()
    if made.server:
        made.server.stop()
