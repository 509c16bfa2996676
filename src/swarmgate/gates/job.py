"""What an adapter gets (`Job`), and the one Protocol that every adapter follows."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from swarmgate.config import Quality, Size
    from swarmgate.domain.change import ChangeSet
    from swarmgate.gates.definition import GateDefinition
    from swarmgate.gates.files import Source
    from swarmgate.gates.memory import Memory
    from swarmgate.gates.outcome import Outcome
    from swarmgate.workspace.repository import Repository
    from swarmgate.workspace.sandbox.running import CommandRunner


@dataclass(frozen=True, slots=True)
class Job:
    """One run of one gate over one change.

    `sources` are the files to look at (already filtered by the definition), with the content of the tree `change.tree`.
    `stop` is set when the time limit has passed: a scanner in a thread looks at it between two files. `quality` are the
    limits of the change's budget (None: the definition's), `size` those of its size (None: the built-in ones), `tested`
    says that the tests for the change are written: only then can it be judged how many there are. `announced` is what
    the task says that the change is for (None: it is for no task), so that what nobody asked for can be told.
    `commands` gives what confines the programs that the gate starts; `in_run`: those of a run, over the code of agents.
    """

    definition: GateDefinition
    repository: Repository
    change: ChangeSet
    sources: tuple[Source, ...]
    timeout_s: float
    quality: Quality | None = None
    size: Size | None = None
    tested: bool = False
    announced: str | None = None
    memory: Memory | None = None
    commands: Callable[[], CommandRunner] = field(kw_only=True)
    in_run: bool = False
    stop: threading.Event = field(default_factory=threading.Event)
    begun: list[tuple[str, float]] = field(default_factory=list)

    def at(self, path: str) -> None:
        """A file is begun: where the time ends, it is told which, and for how long it had been looked at."""
        self.begun[:] = [(path, time.monotonic())]

    @property
    def late(self) -> str:
        """The error of a gate whose time is over, with what allows it more."""
        gate = self.definition
        key = f"`timeout_s` in .swarm/gates/{gate.id}.toml" if self.timeout_s >= gate.timeout_s else "`gates.timeout_s`"
        where = "".join(f"; it was at {path} for {time.monotonic() - since:.0f} s" for path, since in self.begun)
        return f"did not end within {self.timeout_s:g} s{where}: raise {key}, or judge fewer files"


class Adapter(Protocol):
    """A built-in scanner. It may raise anything: the pipeline turns that into an ERROR result."""

    async def __call__(self, job: Job) -> Outcome:
        """Look at `job.sources` and say what was found."""
        ...
