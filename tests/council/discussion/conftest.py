"""Fixtures of discussion tests: a scripted HTTP server with default answers for every step."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from tests.confined import runner

from swarmgate.agents.context import AgentContext, Limits
from swarmgate.agents.prompts import Prompts
from swarmgate.config import Config
from swarmgate.council.context import CouncilContext
from swarmgate.council.discussion.model import (
    Cast,
    Choice,
    ChoiceKind,
    Discussion,
    DiscussionRecord,
    DiscussionRound,
    Message,
    Mode,
    Step,
)
from swarmgate.council.discussion.pattern import DISCUSSION, Session
from swarmgate.council.discussion.request import discussion_of
from swarmgate.council.discussion.user_choices import FOLLOWING, Confirmed, Pause, People
from swarmgate.council.records.record import Record
from swarmgate.council.records.store import Records
from swarmgate.council.run import run
from swarmgate.council.views.stream import PATTERN_EVENT, PatternEvent
from swarmgate.domain.review.votes import Seat
from swarmgate.errors import ConfigError
from swarmgate.journal.documents import FileDocuments
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.llm.budget import Budget, Metered
from swarmgate.llm.connect import connect
from swarmgate.testing import ReceivedRequest, ScriptedServer
from swarmgate.workspace.file_tools.files import FileTree

Rule = dict[str, Any]
EXPERTS = ("economist", "ecologist", "engineer", "lawyer")
SUMMARY = "Cost is what divides them: one side would pay now and the other later. " * 3
"""As long as the summary of a round should be."""

EXECUTIVE = "It depends on who pays, on when it is paid, and on what is lost meanwhile, as both sides said. " * 6
"""As long as the summary of a discussion should be."""

SCORES = dict.fromkeys(
    (
        "genuineDisagreement",
        "evidenceQuality",
        "steelManning",
        "novelInsights",
        "positionEvolution",
        "overall",
    ),
    3,
)


# --- what voices say ---


def experts(*names: str, **more: Any) -> str:
    listed = [{"id": each, "name": each.title(), "expertise": f"what a {each} knows"} for each in names]
    tensions = [{"between": names[:2], "axis": "growth", "description": "more or less"}]
    return json.dumps({"experts": listed, "tensions": tensions} | more)


def linked(
    *links: tuple[str, str], prose: str = "{{participant}} says something in round {{round}}.", **more: Any
) -> str:
    listed = [
        {"to": to, "kind": kind} | ({"steelMan": f"at its best, {to} is right"} if kind == "counters" else {})
        for to, kind in links
    ]
    return f"{prose}\n\n```json\n{json.dumps({'links': listed} | more)}\n```"


def response(*links: tuple[str, str], shift: str = "none", cites: Sequence[str] = (), **more: Any) -> str:
    moved = {"shift": {"kind": shift, "reason": "it convinced me", "cites": list(cites)}}
    stands = {"position": "moved", "confidence": 0.5} if shift != "none" else {}
    return linked(*links, **{**moved, **stands, **more})


def assessed(recommendation: str = "continue", **more: Any) -> str:
    return json.dumps(
        {**SCORES, "summary": SUMMARY, "agreements": ["it costs"], "recommendation": recommendation, "focus": "cost"}
        | more
    )


def concluded(**more: Any) -> str:
    return json.dumps({"executiveSummary": EXECUTIVE, "insights": [{"text": "new", "cites": ["r1-msg-001"]}]} | more)


REOPENED = {
    "tension": "cost against growth",
    "question": "Who pays?",
    "settled": "nothing",
    "topic": "What it costs whom",
    "framing": "by numbers",
}


def rule(step: str, *replies: Any, who: str = "", number: int = 0, **match: Any) -> Rule:
    """What is answered to a step; the more is named, the stronger the rule."""
    wanted = {"role": "participant", "step": step, **match}
    wanted |= {"participant": who} if who else {}
    wanted |= {"round": str(number)} if number else {}
    return {"match": wanted, "replies": [{"text": each} if isinstance(each, str) else each for each in replies]}


def defaults(count: int) -> list[Rule]:
    """`count` experts; the first two positions of each round are argued about: the disagreement is 5 of 10."""
    position = {
        "position": "{{participant}} stands here",
        "confidence": 0.7,
        "wouldChangeIf": "it costs more than it saves",
        "keyRisk": "none",
    }
    rules = [
        rule("experts", experts(*EXPERTS[:count])),
        rule("position", json.dumps(position)),
        rule(
            "frame",
            json.dumps({"faultLines": [{"between": list(EXPERTS[:2]), "axis": "cost"}], "disagreementBudget": 4}),
        ),
        rule("ask", "What could go wrong with r1-msg-001?"),
        rule("assess", assessed()),
        rule("reopen", json.dumps(REOPENED)),
        rule("record", "Round {{round}} is on record."),
        rule("conclude", concluded()),
    ]
    for number in range(1, 6):
        first, second = f"r{number}-msg-001", f"r{number}-msg-002"
        rules += [
            rule("argue", linked((first, "supports")), number=number),
            rule("argue", linked((second, "supports")), number=number, who=EXPERTS[0]),
            rule("attack", linked((first, "counters"), (second, "counters")), number=number),
            rule("respond", response((first, "questions")), number=number),
            rule("respond", response((second, "questions")), number=number, who=EXPERTS[0]),
            rule("analogy", linked((first, "responds_to")), number=number),
        ]
    return rules


# --- the user ---


@dataclass
class User:
    """A user with a plan: what to say after which step, where to pause once, what to choose."""

    words: dict[tuple[int, Step], str] = field(default_factory=dict)
    pauses: set[tuple[int, Step]] = field(default_factory=set)
    choices: list[Choice] = field(default_factory=list)
    casts: list[Confirmed | Cast | Mode] = field(default_factory=list)
    asked: list[Cast] = field(default_factory=list)

    async def confirm(self, discussion: Discussion, cast: Cast) -> Confirmed | Cast | Mode:
        del discussion
        self.asked.append(cast)
        return self.casts.pop(0) if self.casts else Confirmed()

    async def speak(self, record: DiscussionRecord, after: Step) -> str:
        at = (record.partial.number if record.partial else 0, after)
        if at in self.pauses:
            self.pauses.discard(at)
            raise Pause
        return self.words.pop(at, "")

    async def choose(self, record: DiscussionRecord) -> Choice:
        after = len(record.rounds)
        return self.choices.pop(0) if self.choices else Choice(after=after, kind=ChoiceKind.FOLLOW, by="moderator")


# --- the table ---


@dataclass
class Room:
    """A discussion whose endpoint is a scripted server, with records in files."""

    repo: Path
    server: ScriptedServer
    agents: dict[str, str] = field(default_factory=dict)
    models: dict[str, str] = field(default_factory=dict)
    windows: dict[str, int] = field(default_factory=dict)
    missing: set[str] = field(default_factory=set)
    events: list[PatternEvent] = field(default_factory=list)
    budget: Budget = field(default_factory=Budget)
    documents: Any = None
    prompts: Prompts = field(default_factory=Prompts)
    model: Metered | None = None
    made: list[str] = field(default_factory=list)

    @property
    def records(self) -> Records:
        return Records(self.documents or FileDocuments(SwarmFolder(self.repo).path), clean=lambda value: value)

    def agent(self, seat: Seat, *, folder: str = "") -> AgentContext:
        del folder
        if seat.id in self.missing:
            raise ConfigError("no model is set", hint="set one")
        self.made.append(seat.id)
        self.agents[seat.id] = seat.system
        self.models[seat.id] = seat.model
        if self.model is None:
            provider = {"base_url": self.server.base_url, "max_retries": 0}
            config = Config.model_validate(
                {"providers": {"local": provider}, "roles": {"participant": {"model": "local/m"}}}
            )
            self.model = connect("participant", config, environ={}, recorder=None, budget=self.budget)
        limits = Limits(replies=2, max_turns=12, context_tokens=self.windows.get(seat.id, 128_000))
        return AgentContext(
            model=self.model,
            files=FileTree(self.repo),
            prompts=self.prompts,
            commands=runner(self.repo),
            limits=limits,
            persona=seat.system,
        )

    def parent(self) -> AgentContext | None:
        return None

    async def hold(self, people: People = FOLLOWING, **settings: Any) -> DiscussionRecord:
        """A lightweight discussion of one round unless the test says otherwise."""
        request, records = self.discussion(**settings), self.records
        there = request.id in records.documents.records()
        begun = records.open(DISCUSSION, request.id).standing.own if there else None
        context = CouncilContext(self, records, self.hear, own=Session(people, begun=begun))
        try:
            DISCUSSION.check(request, context, lambda _: "")
            held = await run(DISCUSSION, records.begin(DISCUSSION, request, request_hash="h"), context)
            assert held is not None
            return held
        finally:
            if self.model:
                await self.model.aclose()
                self.model = None

    def hear(self, event: Any) -> None:
        """Keeps an event, as a service would that forwards it."""
        self.events.append(PATTERN_EVENT.validate_json(event.model_dump_json()))

    def record(self, name: str = "d1") -> Record[Any, Any, DiscussionRecord]:
        """A record, read anew."""
        return self.records.open(DISCUSSION, name)

    def discussion(self, **settings: Any) -> Discussion:
        asked = {"id": "d1", "topic": "Should we?", "mode": "lightweight", "rounds": 1, "timeout_s": 20}
        return discussion_of(**{**asked, **settings})

    @property
    def folder(self) -> Path:
        return self.repo / ".swarm" / "discussions" / "d1"

    @property
    def wire(self) -> list[tuple[str, str, str]]:
        """Round, step and voice of every request, in order of arrival."""
        heard = [each.headers for each in self.server.requests]
        return [(str(each.get("ROUND", "")), str(each["STEP"]), str(each["PARTICIPANT"])) for each in heard]

    @property
    def steps(self) -> list[str]:
        """The steps on the wire in order, each once for all of its voices."""
        return [step for (_, step), _ in groupby(self.wire, key=lambda each: each[:2])]

    def brief(self, step: str, who: str, number: int = 1, nth: int = 0) -> str:
        """What a voice was told in a step."""
        wanted = (str(number) if number else "", step, who)
        found = [each for each, at in zip(self.server.requests, self.wire, strict=True) if at == wanted]
        return str(found[nth].messages[1]["content"])

    def requests(self, step: str) -> list[ReceivedRequest]:
        return [each for each in self.server.requests if each.headers["STEP"] == step]


def of(held: DiscussionRound, step: Step) -> list[Message]:
    """The messages of a step."""
    return [each for each in held.messages if each.step is step]


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Callable[..., Room]]:
    """`room(*rules, count=2)`: a room whose server answers as the defaults for so many experts, but for these rules."""
    servers: list[ScriptedServer] = []

    def made(*rules: Rule, count: int = 2, **options: Any) -> Room:
        server = ScriptedServer([*defaults(count), *rules], **options).start()
        servers.append(server)
        repo = tmp_path / f"repo{len(servers)}"
        (repo / ".swarm").mkdir(parents=True)
        return Room(repo, server)

    yield made
    for server in servers:
        server.stop()
