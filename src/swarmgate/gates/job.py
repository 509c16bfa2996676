"""What an adapter gets (`Job`), and the one Protocol that every adapter follows."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from swarmgate.config import Quality, Size
    from swarmgate.domain.change import ChangeSet
    from swarmgate.gates.definition import GateDefinition
    from swarmgate.gates.memory import Memory
    from swarmgate.gates.outcome import Outcome
    from swarmgate.gates.project.index import Project
    from swarmgate.gates.source.file import SourceFile
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

    `project` are both trees, as all gates of the run know them. `commands` gives what confines the programs that the
    gate starts; `in_run`: those of a run, over the code of agents.
    """

    definition: GateDefinition
    repository: Repository
    change: ChangeSet
    sources: tuple[SourceFile, ...]
    timeout_s: float
    quality: Quality | None = None
    size: Size | None = None
    tested: bool = False
    announced: str | None = None
    memory: Memory | None = None
    project: Project = field(kw_only=True)
    commands: Callable[[], CommandRunner] = field(kw_only=True)
    in_run: bool = False
    stop: threading.Event = field(default_factory=threading.Event)

    @property
    def late(self) -> str:
        """The error of a gate whose time is over, with what allows it more."""
        gate = self.definition
        key = f"`timeout_s` in .swarm/gates/{gate.id}.toml" if self.timeout_s >= gate.timeout_s else "`gates.timeout_s`"
        return f"did not end within {self.timeout_s:g} s: raise {key}, or judge fewer files"


class Adapter(Protocol):
    """A built-in scanner. It may raise anything: the pipeline turns that into an ERROR result."""

    async def __call__(self, job: Job) -> Outcome:
        """Look at `job.sources` and say what was found."""
        ...
