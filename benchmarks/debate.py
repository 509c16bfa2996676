"""Measures swarmgate's overhead in a debate: 8 participants, 5 rounds, answers that take 200 ms each.

    python benchmarks/debate.py [SEATS] [ROUNDS]

The scripted server runs in a process of its own. Ideal is a latency a round, and one more for the synthesis. Target:
the rounds take at most 1.25 times of it.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from swarmgate.agents.context import AgentContext, Limits
from swarmgate.agents.prompts import Prompts
from swarmgate.config import Config
from swarmgate.council.context import CouncilContext
from swarmgate.council.debate.model import Outcome
from swarmgate.council.debate.request import debate_of
from swarmgate.council.debate.steps import DEBATING
from swarmgate.council.records.store import Records
from swarmgate.council.run import run
from swarmgate.council.views.events import CouncilEvent
from swarmgate.council.views.stream import RoundCompleted, RoundStarted
from swarmgate.domain.review.votes import Seat
from swarmgate.journal.store import opened
from swarmgate.llm.budget import Budget, Metered
from swarmgate.llm.connect import connect
from swarmgate.workspace.file_tools.files import FileTree
from swarmgate.workspace.sandbox.choice import choose
from swarmgate.workspace.sandbox.command_runner import CommandRunner
from swarmgate.workspace.sandbox.confine import confine

LATENCY_S = 0.2

SERVER = """
import json, sys, time
from swarmgate.testing import ScriptedServer
with ScriptedServer(json.loads(sys.argv[1]), latency_s=float(sys.argv[2]), keep_requests=False) as server:
    print(server.base_url, flush=True)
    sys.stdin.read()
"""


def script(rounds: int) -> list[dict[str, object]]:
    """Every speech makes three claims that nobody made before."""
    claims = [{"text": f"{{{{participant}}}} finds flaw {n} in round {{{{round}}}}"} for n in range(3)]
    speech = f"I have looked at it.\n{json.dumps({'claims': claims})}"
    ballot = 'FINAL_VERDICT: {"verdict": "APPROVE", "confidence": 0.8, "reasons": []}'
    made = '{"verdict": "APPROVE", "summary": "Fine.", "reasons": [{"text": "x", "cites": ["r1-msg-001"]}]}'
    return [
        {"match": {"role": "participant"}, "replies": [{"text": speech}]},
        {"match": {"role": "participant", "round": str(rounds)}, "replies": [{"text": ballot}]},
        {"match": {"role": "architect"}, "replies": [{"text": made}]},
    ]


@dataclass
class Table:
    """Voices, and when their rounds began and ended."""

    url: str
    root: Path
    models: list[Metered] = field(default_factory=list)
    agents: dict[str, AgentContext] = field(default_factory=dict)
    prompts: Prompts = field(default_factory=Prompts)
    cpu: list[float] = field(default_factory=list)
    clock: list[float] = field(default_factory=list)

    def agent(self, seat: Seat, *, folder: str = "") -> AgentContext:
        """An agent context at the server."""
        return self._agent("participant", self.root / folder, seat.system, seat.id)

    def parent(self) -> AgentContext | None:
        """The same."""
        return self._agent("architect", self.root, "", "the parent")

    def _agent(self, role: str, root: Path, persona: str, who: str) -> AgentContext:
        if who not in self.agents:
            self.agents[who] = self._made(role, root, persona)
        return self.agents[who]

    def _made(self, role: str, root: Path, persona: str) -> AgentContext:
        settings = {"providers": {"local": {"base_url": self.url}}, "roles": {role: {"model": "local/m"}}}
        model = connect(role, Config.model_validate(settings), environ={}, recorder=None, budget=Budget())
        self.models.append(model)
        commands = CommandRunner(choose("none"), confine(root, environ={}))
        return AgentContext(model, FileTree(root), self.prompts, commands, limits=Limits(), persona=persona)

    def record_event(self, event: CouncilEvent) -> None:
        """Notes the processor time when the first round begins, and at the end of each."""
        if isinstance(event, RoundCompleted) or (isinstance(event, RoundStarted) and not self.cpu):
            self.cpu.append(time.process_time())
            self.clock.append(time.perf_counter())


async def measured(url: str, root: Path, seats: int, rounds: int) -> tuple[Outcome, Table]:
    table = Table(url, root)
    given = [Seat(id=f"seat{number}") for number in range(seats)]
    debate = debate_of(
        id="d", question="Is it right?", material="x = 1\n" * 500, seats=given, rounds=rounds, tokens=10**9
    )
    records = Records(opened(root / ".swarm", "files"), clean=lambda value: value)
    context = CouncilContext(table, records, table.record_event, own={})
    try:
        DEBATING.check(debate, context, lambda _: "")
        outcome = await run(DEBATING, records.begin(DEBATING, debate), context)
        assert outcome
        return outcome, table
    finally:
        for each in table.models:
            await each.aclose()


def main(seats: int = 8, rounds: int = 5) -> None:
    command = [sys.executable, "-c", SERVER, json.dumps(script(rounds)), str(LATENCY_S)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        url = server.stdout.readline().strip()
        with tempfile.TemporaryDirectory() as folder:
            outcome, table = asyncio.run(measured(url, Path(folder).resolve(), seats, rounds))
        server.communicate()
    took = [end - start for start, end in pairwise(table.clock)]
    print(f"{seats} seats x {rounds} rounds, {LATENCY_S:g} s an answer, by round in ms")
    print("over the latency: " + " ".join(f"{(each - LATENCY_S) * 1000:6.0f}" for each in took))
    print("processor time:   " + " ".join(f"{(end - start) * 1000:6.0f}" for start, end in pairwise(table.cpu)))
    print(f"{'':24}{'ideal s':>10}{'measured s':>12}{'ratio':>8}")
    spent = sum(took)
    whole = spent + (outcome.synthesis.seconds if outcome.synthesis else 0)
    for name, count, seconds in (("rounds", rounds, spent), ("with the synthesis", rounds + 1, whole)):
        ideal = count * LATENCY_S
        print(f"{name:24}{ideal:>10.2f}{seconds:>12.2f}{seconds / ideal:>8.2f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
