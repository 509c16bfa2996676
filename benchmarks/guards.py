"""Measures the overhead of the guards for each tool call in a turn of the coder.

    python benchmarks/guards.py [CALLS]

The agent context is that of a run, in a real repository: authority, scope and policy judge, breakers count and show
their counts, results are cut, the conversation is kept within its window. A scripted model in this process asks for one
tool call a reply, of four kinds by turns. From the time between its reply and the next request the deed is taken off:
the file tree reading or writing, or the confined command from its start to its end. (What the sandbox adds to a command
is measured by a test of its own.) Target: a median of at most 5 ms for each kind.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from workload import make_project

from swarmgate.agents.context import AgentContext
from swarmgate.agents.roles.coder import code
from swarmgate.domain.plan.plan import Task
from swarmgate.engine.build import build
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger
from swarmgate.llm.model import ModelReply, ModelRequest, ToolCall
from swarmgate.project import Project
from swarmgate.workspace.file_tools.files import FileTree
from swarmgate.workspace.process.process import Completed
from swarmgate.workspace.sandbox.command_runner import CommandRunner

CALLS = 160
TARGET_MS = 5.0
PART = "src/pkg/part.py"
TASK = Task(id="1.1", title="Part", acceptance=("it is there",), files=(PART,))
KINDS = ("write_file", "read_file", "edit_file", "run_command")


def text_of(number: int) -> str:
    return f'"""Part {number}."""\n' + "".join(f"VALUE_{line} = {line}\n" for line in range(200))


def asked(number: int) -> ToolCall:
    """The call with that number; no two are the same."""
    arguments: dict[str, Any] = {
        "write_file": {"path": PART, "content": text_of(number)},
        "read_file": {"path": PART},
        "edit_file": {"path": PART, "old": f"Part {number - 2}.", "new": f"Part {number - 2}, edited."},
        "run_command": {"command": f"test -f {PART} && echo {number} | cat"},
    }[kind_of(number)]
    return ToolCall(id=f"c{number}", name=kind_of(number), arguments=json.dumps(arguments))


def kind_of(number: int) -> str:
    return KINDS[number % len(KINDS)]


class Clocked:
    """A model that asks for `calls` tool calls, and the seconds that each took until the next request."""

    name = "bench/scripted"

    def __init__(self, calls: int) -> None:
        self.calls = calls
        self.taken: list[float] = []
        self._replied = 0.0

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Ask for the next tool call."""
        now = time.perf_counter()
        if self._replied:
            self.taken.append(now - self._replied)
        assert "Error" not in request.messages[-1].content[:5], request.messages[-1].content
        number = len(self.taken)
        over = number == self.calls
        call = ToolCall(id="end", name="finish", arguments='{"summary": "done"}') if over else asked(number)
        self._replied = time.perf_counter()
        return ModelReply(tool_calls=(call,), model=self.name)


class ToolTimes:
    """The seconds that the deeds of each tool call took, by the number of the model's reply that asked for it."""

    def __init__(self, model: Clocked) -> None:
        self.seconds: dict[int, float] = defaultdict(float)
        self._model = model

    @contextmanager
    def timed(self) -> Iterator[None]:
        """A deed of the call that goes on."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[len(self._model.taken)] += time.perf_counter() - started


class TimedTree(FileTree):
    """The file tree of the run, with a clock."""

    def __init__(self, root: Path, tool_times: ToolTimes) -> None:
        super().__init__(root)
        self._tool_times = tool_times

    def read(self, *args: Any, **kwargs: Any) -> str:
        """Read, timed."""
        with self._tool_times.timed():
            return super().read(*args, **kwargs)

    def write(self, *args: Any, **kwargs: Any) -> None:
        """Write, timed."""
        with self._tool_times.timed():
            super().write(*args, **kwargs)

    def edit(self, *args: Any, **kwargs: Any) -> None:
        """Edit, timed."""
        with self._tool_times.timed():
            super().edit(*args, **kwargs)


class TimedRunner(CommandRunner):
    """The runner of commands of the run, with a clock."""

    tool_times: ToolTimes

    async def run(self, *args: Any, **kwargs: Any) -> Completed:
        """Run, timed."""
        with self.tool_times.timed():
            return await CommandRunner.run(self, *args, **kwargs)


def clocked(runner: CommandRunner, tool_times: ToolTimes) -> TimedRunner:
    made = TimedRunner(**{field.name: getattr(runner, field.name) for field in dataclasses.fields(runner)})
    object.__setattr__(made, "tool_times", tool_times)  # frozen, and measured from outside
    return made


def agent_context_of(folder: SwarmFolder, ledger: Ledger) -> AgentContext:
    """The coder's agent context as `swarm run` makes it."""
    project = Project(folder.root, flags={"breakers": {"tool_calls": 100_000}, "loop": {"max_turns": 1000}})
    context = build(project, repository=project.repository(), ledger=ledger)
    return context.agent("coder")


async def work(agent: AgentContext, calls: int) -> dict[str, list[float]]:
    """One turn of the coder; the milliseconds of each call beside its deed, by tool."""
    model = Clocked(calls)
    tool_times = ToolTimes(model)

    async def gates() -> str:
        return "all gates pass"

    await code(
        dataclasses.replace(
            agent,
            model=model,
            files=TimedTree(agent.files.root, tool_times),
            commands=clocked(agent.commands, tool_times),
        ),
        task=TASK,
        attempt=1,
        scope=TASK.files,
        instructions="Write the part.",
        feedback="",
        run_gates=gates,
    )
    overheads: dict[str, list[float]] = defaultdict(list)
    for number, seconds in enumerate(model.taken):
        overheads[kind_of(number)].append((seconds - tool_times.seconds[number]) * 1000)
    return overheads


def main() -> None:
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else CALLS
    with tempfile.TemporaryDirectory() as name:
        folder = make_project(Path(name) / "project", "http://127.0.0.1:9/v1")
        ledger = Ledger.write(folder)
        try:
            agent = agent_context_of(folder, ledger)
            overheads = asyncio.run(work(agent, calls))
        finally:
            ledger.close()
    every = [each for kind in KINDS for each in overheads[kind]]
    print(f"{calls} tool calls in one turn, sandbox: {agent.commands.sandbox.name}; milliseconds beside the deed")
    print(f"{'':<14}{'median':>8}{'95th':>8}")
    for kind, values in (*((kind, overheads[kind]) for kind in KINDS), ("all", every)):
        print(f"{kind:<14}{statistics.median(values):>8.2f}{statistics.quantiles(values, n=20)[-1]:>8.2f}")
    print(f"target: each median at most {TARGET_MS:g} ms")
    if max(map(statistics.median, overheads.values())) > TARGET_MS:
        sys.exit(1)


if __name__ == "__main__":
    main()
