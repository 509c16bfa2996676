"""The input of a gate's scanner: files, limits, settings, and progress reporting."""

from __future__ import annotations

import contextlib
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from swarmgate.config import Quality, Size
    from swarmgate.domain.review.change import ChangeSet
    from swarmgate.gates.cache.scan_results import Memory
    from swarmgate.gates.definition import GateDefinition
    from swarmgate.gates.project.index import Project
    from swarmgate.gates.source.file import SourceFile
    from swarmgate.workspace.git.repository import Repository
    from swarmgate.workspace.sandbox.command_runner import CommandRunner


@dataclass(slots=True)
class Progress:
    """The progress of a gate: the file it is at and since when, and whether it waits for a program."""

    stop: threading.Event = field(default_factory=threading.Event)
    begun: tuple[str, float] = ("", 0.0)
    programs: int = 0

    @contextlib.contextmanager
    def waiting(self) -> Iterator[None]:
        """Mark that a program with a time limit of its own is running."""
        self.programs += 1
        try:
            yield
        finally:
            self.programs -= 1


@dataclass(frozen=True, slots=True)
class Job:
    """One run of one gate over one change.

    `sources` are the files to look at (already filtered by the definition), with the content of the tree `change.tree`.
    `progress` says when the time is over: a scanner in a thread looks at it between two files. `quality` are the
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
    progress: Progress = field(default_factory=Progress)

    @property
    def stop(self) -> threading.Event:
        """Set when the time limit is reached."""
        return self.progress.stop

    def at(self, path: str) -> None:
        """Record that a file is begun, for the message of a timeout."""
        self.progress.begun = path, time.monotonic()

    @property
    def late(self) -> str:
        """The error message of a gate that exceeded its time limit, with the setting that raises it."""
        gate = self.definition
        key = f"`timeout_s` in .swarm/gates/{gate.id}.toml" if self.timeout_s >= gate.timeout_s else "`gates.timeout_s`"
        path, since = self.progress.begun
        where = f"; it was at {path} for {time.monotonic() - since:.0f} s" if path else ""
        return f"did not end within {self.timeout_s:g} s{where}: raise {key}, or judge fewer files"
