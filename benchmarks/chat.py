"""Measures swarmgate's overhead in a swarm chat: time, memory and the length of briefs as the chat grows.

    python benchmarks/chat.py [MESSAGES ...]

Four agents talk through an in-process model that answers at once: what is left is scheduling, briefs, turns and the
journal.
One message a turn, the hardest case, and no call is waited for. Work is processor time: other programs do not count.
Memory is what Python holds (tracemalloc, in a run of its own: it halves the speed) and what the process holds (resident
set): the fold holds what was said, some 4 KiB a message. Target: at most 2 ms of own work a message.
"""

from __future__ import annotations

import asyncio
import gc
import json
import resource
import sys
import tempfile
import time
import tracemalloc
from collections import deque
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from swarmgate.agents.context import AgentContext, Limits
from swarmgate.agents.prompts import Prompts
from swarmgate.config.guards import Bounds
from swarmgate.council.chat.model import ChatEnd, ChatResult
from swarmgate.council.chat.request import chat_of
from swarmgate.council.chat.steps import CHAT, SessionState
from swarmgate.council.context import CouncilContext
from swarmgate.council.records import redaction
from swarmgate.council.records.store import Records
from swarmgate.council.run import run
from swarmgate.domain.review.votes import Seat
from swarmgate.domain.text.redaction import masked, redact
from swarmgate.domain.usage import Usage
from swarmgate.journal.store import opened
from swarmgate.llm.model import ModelReply, ModelRequest, ToolCall
from swarmgate.workspace.file_tools.files import FileTree
from swarmgate.workspace.sandbox.choice import choose
from swarmgate.workspace.sandbox.command_runner import CommandRunner
from swarmgate.workspace.sandbox.confinement import Confinement

NAMES = ("ada", "bob", "cyd", "dee")
SIZES = (500, 1_000, 2_000)


@dataclass
class Talker:
    """A model that sends one message to the next agent in each turn, then ends the turn."""

    seat: str
    name: str = "local/talker"
    messages_sent: int = 0
    briefs: deque[int] = field(default_factory=lambda: deque(maxlen=50))

    async def complete(self, request: ModelRequest) -> ModelReply:
        """A message, or the end of the turn."""
        usage = Usage(calls=1, prompt_tokens=100, completion_tokens=10)
        if request.messages[-1].role == "tool":
            return ModelReply(text="That is all.", usage=usage)
        self.messages_sent += 1
        self.briefs.append(len(request.messages[1].content))
        to = NAMES[(NAMES.index(self.seat) + 1) % len(NAMES)]
        arguments = json.dumps({"to": to, "content": f"{self.seat} has thought number {self.messages_sent}. " * 6})
        return ModelReply(tool_calls=(ToolCall(id="c", name="send_message", arguments=arguments),), usage=usage)


class Participants:
    """An agent context for each talker."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._prompts = Prompts()
        self.models = {name: Talker(name) for name in NAMES}

    def agent(self, seat: Seat, *, folder: str = "") -> AgentContext:
        """The agent context of a talker."""
        place = self._place / folder
        return AgentContext(
            model=self.models[seat.id],
            files=FileTree(place),
            prompts=self._prompts,
            commands=CommandRunner(choose("none"), Confinement(root=place, home=place)),
            limits=Limits(bounds=Bounds()),
            persona=seat.system,
        )

    def parent(self) -> None:
        """Nobody: a chat has no parent."""


async def hold_chat(place: Path, messages: int) -> tuple[ChatResult, Participants, float]:
    """One whole chat; how it ended, the models, and its seconds of work."""
    participants = Participants(place)
    request = chat_of(
        id=f"chat-{messages}",
        agents=[{"id": name, "system": f"You are {name}."} for name in NAMES],
        initial={"from": "moderator", "to": "all", "content": "Is the cache safe?"},
        ttl_s=600,
        messages=messages,
        tokens=1_000_000_000,
        created_at=time.time(),
    )
    clean = partial(masked, mask=redact, names=redaction.NAMES)
    records = Records(opened(place / ".swarm", "files"), clean=clean)
    began = time.process_time()
    context = CouncilContext(participants, records, own=SessionState())
    result = await run(CHAT, records.begin(CHAT, request), context)
    assert result is not None
    return result, participants, time.process_time() - began


def resident() -> float:
    """MiB that the process holds now; on other systems than Linux, the most that it ever held."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return pages * resource.getpagesize() / 2**20


def measured(messages: int, *, traced: bool) -> tuple[float, float, float, float]:
    """Seconds, MiB at the peak of Python's own, MiB resident after, and characters of the newest briefs."""
    with tempfile.TemporaryDirectory() as name:
        gc.collect()
        if traced:
            tracemalloc.start()
        result, participants, seconds = asyncio.run(hold_chat(Path(name), messages))
        peak = tracemalloc.get_traced_memory()[1] / 2**20 if traced else 0.0
        tracemalloc.stop()
    assert (result.end, result.messages) == (ChatEnd.MESSAGES, messages), result
    briefs = [size for model in participants.models.values() for size in model.briefs]
    return seconds, peak, resident(), sum(briefs) / len(briefs)


def main() -> None:
    sizes = [int(each) for each in sys.argv[1:]] or SIZES
    measured(50, traced=False)  # imports, templates and schemas are made once
    measured(50, traced=True)
    print(f"{'messages':>9}{'work':>9}{'ms/message':>12}{'ratio':>8}{'Python peak':>13}{'resident':>11}{'brief':>14}")
    first = 0.0
    for size in sizes:
        seconds, _, rss, brief = measured(size, traced=False)
        peak = measured(size, traced=True)[1]
        each = seconds / size * 1000
        first = first or each
        row = f"{size:>9}{seconds:>7.2f} s{each:>12.2f}{each / first:>8.2f}{peak:>9.1f} MiB{rss:>7.0f} MiB"
        print(f"{row}{brief:>8.0f} chars", flush=True)
    print("target: at most 2 ms a message, briefs flat")


if __name__ == "__main__":
    main()
