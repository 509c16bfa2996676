"""Measures swarmgate's overhead in a discussion, by the message: 5 rounds, 4 experts, answers without delay.

    python benchmarks/discussion.py [ROUNDS] [RUNS]

The scripted server runs in a process of its own and the records are files. The floor is measured in the same run: the
very conversations of the discussion, sent again as they are by the same client. What is more than that is our
own: prompts, windowing, reading, links, records, artifacts. Target: at most 3 ms of processor time a message.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from swarmgate.agents.context import AgentContext, Limits
from swarmgate.agents.prompts import Prompts
from swarmgate.config import Config
from swarmgate.council.context import CouncilContext
from swarmgate.council.discussion.model import DiscussionRecord
from swarmgate.council.discussion.pattern import DISCUSSION, Session
from swarmgate.council.discussion.request import discussion_of
from swarmgate.council.records.redaction import NAMES
from swarmgate.council.records.store import Records
from swarmgate.council.run import run
from swarmgate.domain.review.votes import Seat
from swarmgate.domain.text.redaction import masked, redact
from swarmgate.journal.documents import FileDocuments
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.llm.budget import Budget, Metered
from swarmgate.llm.connect import connect
from swarmgate.llm.model import ModelReply, ModelRequest
from swarmgate.workspace.file_tools.files import FileTree
from swarmgate.workspace.sandbox.choice import choose
from swarmgate.workspace.sandbox.command_runner import CommandRunner
from swarmgate.workspace.sandbox.confine import confine

_MASK = cache(lambda text: redact(text, ["sk-key-key-key-12345"]))


def cleaned(value: Any) -> Any:
    """Without secrets, as the engine keeps it."""
    return masked(value, _MASK, names=NAMES)


TARGET_MS = 3.0
EXPERTS = ("economist", "ecologist", "engineer", "lawyer")
SERVER = """
import json, sys
from swarmgate.testing import ScriptedServer
with ScriptedServer(json.load(open(sys.argv[1])), keep_requests=False) as server:
    print(server.base_url, flush=True)
    sys.stdin.read()
"""


def rules(rounds: int) -> list[dict[str, Any]]:
    """Answers of a usual length for every step, with links within each round."""

    def rule(step: str, fields: dict[str, Any], **match: str) -> dict[str, Any]:
        prose = "{{participant}} looks at round {{round}} and finds a reason that can be checked. " * 12
        text = f"{prose}\n```json\n{json.dumps(fields)}\n```"
        return {"match": {"role": "participant", "step": step, **match}, "replies": [{"text": text}]}

    listed = [{"id": each, "name": each.title(), "expertise": f"{each} things"} for each in EXPERTS]
    scores = ("genuineDisagreement", "evidenceQuality", "steelManning", "novelInsights", "positionEvolution", "overall")
    lines = [{"between": EXPERTS[:2], "axis": "cost"}]
    made = [
        rule("experts", {"experts": listed, "tensions": [{"between": EXPERTS[:2], "axis": "growth"}]}),
        rule("position", {"position": "here", "confidence": 0.7, "wouldChangeIf": "it rains", "keyRisk": "rain"}),
        rule("frame", {"faultLines": lines, "disagreementBudget": 4}),
        rule("assess", {**dict.fromkeys(scores, 3), "summary": "So it is. " * 25, "recommendation": "continue"}),
        rule("record", {}),
        rule(
            "conclude",
            {"executiveSummary": "It depends. " * 50, "insights": [{"text": "x", "cites": ["r1-msg-001"]}]},
        ),
    ]
    for number in map(str, range(1, rounds + 1)):
        first, second = ({"to": f"r{number}-msg-00{each}", "steelMan": "it is right at its best"} for each in (1, 2))
        moved = {"kind": "minor", "reason": "so", "cites": [f"r{number}-msg-010"]}
        made += [
            rule("argue", {"links": [{**first, "kind": "supports"}]}, round=number),
            rule("argue", {"links": [{**second, "kind": "supports"}]}, round=number, participant=EXPERTS[0]),
            rule("attack", {"links": [{**first, "kind": "counters"}, {**second, "kind": "counters"}]}, round=number),
            rule(
                "respond",
                {"links": [{"to": f"r{number}-msg-010", "kind": "questions"}], "shift": moved}
                | {"position": "there", "confidence": 0.6},
                round=number,
            ),
            rule("analogy", {"links": [{**first, "kind": "extends"}]}, round=number),
        ]
    return made


@dataclass
class RecordingModel:
    """A model that keeps what it was asked."""

    inner: Metered
    asked: list[ModelRequest] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The name of the model."""
        return self.inner.name

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Answer, and keep the request."""
        self.asked.append(request)
        return await self.inner.complete(request)


@dataclass
class Room:
    """The voices, all at one client."""

    root: Path
    model: RecordingModel
    commands: CommandRunner
    prompts: Prompts = field(default_factory=Prompts)

    def agent(self, seat: Seat, *, folder: str = "") -> AgentContext:
        """An agent context at the server."""
        files = FileTree(self.root / folder)
        return AgentContext(self.model, files, self.prompts, self.commands, limits=Limits(), persona=seat.system)

    def parent(self) -> AgentContext | None:
        """Nobody."""
        return None


async def once(url: str, root: Path, rounds: int, name: str) -> tuple[float, float, DiscussionRecord]:
    """Processor seconds of a discussion, of its conversations alone, and its record."""
    settings = {"providers": {"local": {"base_url": url}}, "roles": {"participant": {"model": "local/m"}}}
    budget = Budget()
    model = connect("participant", Config.model_validate(settings), environ={}, recorder=None, budget=budget)
    recorder = RecordingModel(model)
    discussion = discussion_of(id=name, topic="Should we?", mode="deep", rounds=rounds, material="x = 1\n" * 500)
    records = Records(FileDocuments(SwarmFolder(root).path), clean=cleaned)
    room = Room(root, recorder, CommandRunner(choose("none"), confine(root, environ={})))
    try:
        began = time.process_time()
        context = CouncilContext(room, records, own=Session())
        DISCUSSION.check(discussion, context, lambda _: "")
        record = await run(DISCUSSION, records.begin(DISCUSSION, discussion), context)
        whole = time.process_time() - began
        began = time.process_time()
        for request in recorder.asked:
            await model.complete(request)
        assert record
        return whole, time.process_time() - began, record
    finally:
        await model.aclose()


def main(rounds: int = 5, runs: int = 5) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        (root / ".swarm").mkdir()
        script = root / "script.json"
        script.write_text(json.dumps(rules(rounds)))
        command = [sys.executable, "-c", SERVER, str(script)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout
            url = server.stdout.readline().strip()
            taken = [asyncio.run(once(url, root, rounds, f"d{number}")) for number in range(runs + 1)][1:]
            server.communicate()
    messages = sum(len(each.messages) for each in taken[0][2].rounds)
    whole, floor = min(each[0] for each in taken), min(each[1] for each in taken)
    own = (whole - floor) / messages * 1000
    print(f"a deep discussion of {rounds} rounds, {messages} messages; best of {runs} runs, processor time")
    print(f"whole {whole:.3f} s, its conversations alone {floor:.3f} s, ratio {whole / floor:.2f}")
    print(f"own work {own:.2f} ms a message; target {TARGET_MS:g} ms: {'met' if own <= TARGET_MS else 'MISSED'}")
    raise SystemExit(0 if own <= TARGET_MS else 1)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
