"""The worker that runs the user's hook commands, each in the sandbox and with a time limit.

A command that fails is told and not tried again: what it did before it failed may not be done twice.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from swarmgate.automation.hooks.events import ACTOR, HOOKABLE, NEVER, is_own, meant, subject_of, variables_of
from swarmgate.config import Config
from swarmgate.domain.events.automation import Happening, HookRan
from swarmgate.domain.state.state import State
from swarmgate.errors import SwarmError
from swarmgate.journal.disk_errors import writing
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.workspace.files.folders import make

if TYPE_CHECKING:
    from swarmgate.automation.bus.worker import BusEvent
    from swarmgate.workspace.process.process import Completed
    from swarmgate.workspace.sandbox.command_runner import CommandRunner

OUTPUT_CHARS = 2_000
"""Characters kept of what a hook prints: its end."""

_READ_CHARS = 20_000
"""So much of its output is read: secrets are masked before it is cut."""

_LAST_S = 2.0
"""What the end of a hook may hold up the end of this process."""

_ENDING_S = 15.0
"""What the end of a hook may take beyond its time limit: its process group gets a moment to clean up."""


def unknown_hooks(config: Config) -> tuple[str, ...]:
    """The keys of `[hooks]` that no event has, or that no hook may be on: they never run, and the others do."""
    return tuple(event for event in config.hooks if event not in HOOKABLE)


def why_not(event: str) -> str:
    """Why no hook can be on something, with the nearest that one can be on."""
    if event in NEVER:
        return "a hook on it would start itself"
    near = meant(event)
    return f"there is no such event{f'; did you mean {near}?' if near else ''}"


@dataclass
class Hooks:
    """The worker that runs hooks.

    Attributes:
        commands: the shell command of each event.
        runner: gives what confines them; asked for when the first one runs.
        root: the repository, where they run.
        hook_s: longest time of one.
        redact: masks secrets in what they print.
        withheld: variables that they do not get: the providers' keys.
        problem: why some of those that the settings name never run; empty: all do.
    """

    commands: Mapping[str, str]
    runner: Callable[[], CommandRunner]
    root: Path
    hook_s: float
    redact: Callable[[str], str]
    withheld: Iterable[str] = ()
    problem: str = ""
    name: str = ACTOR
    limit_s: float | None = field(init=False)

    def __post_init__(self) -> None:
        self.limit_s = self.hook_s + _ENDING_S

    def subject(self, bus_event: BusEvent) -> str:
        """The event and what it is about, where a hook is on it that it does not come from itself."""
        happening = bus_event.happening
        wanted = self.commands.get(happening.type, "").strip()  # an empty line switches off what another file set
        return subject_of(happening) if wanted and not is_own(happening) else ""

    def work(self, subject: str, bus_event: BusEvent) -> HookRan:
        """Runs the hook; how that went."""
        del subject
        return self.run(bus_event.happening, bus_event.after)

    def run(self, happening: Happening, state: State) -> HookRan:
        """Runs the hook of an event. It raises nothing: the event it returns has the problem."""
        started = time.monotonic()
        ran = HookRan(event=happening.type, seq=happening.seq, exit_code=None)
        try:
            done, refused = asyncio.run(self._done(happening, state))
        except SwarmError as error:
            problem = f"{error.message} {error.hint}".strip()
            return ran.model_copy(update={"problem": problem, "seconds": _since(started)})
        problem = refused or (f"it did not end within {self.hook_s:g} s and was ended" if done.timed_out else "")
        output = self.redact(done.output).strip()[-OUTPUT_CHARS:]
        outcome = {"exit_code": None if refused else done.exit_code, "problem": problem, "output": output}
        return ran.model_copy(update={**outcome, "seconds": _since(started)})

    async def _done(self, happening: Happening, state: State) -> tuple[Completed, str]:
        """The event is on standard input and in variables: nothing of it ever stands in the command."""
        runner = self._confined()
        with _ended_with_us():
            done = await runner.run(
                [*self._without_keys(), "/bin/sh", "-c", self.commands[happening.type]],
                timeout_s=self.hook_s,
                env=variables_of(happening, state, str(runner.root), str(SwarmFolder(runner.root).hooks)),
                stdin=happening.model_dump_json().encode("utf-8", "replace") + b"\n",
                output_limit=_READ_CHARS,
            )
        return done, runner.refused(done)

    def _confined(self) -> CommandRunner:
        """What they write in the tree would be taken for an agent's work: they read it, and have a folder of their own.

        Raises:
            LedgerWriteFailed: the disk refuses the folder.
            WorkspaceError: a link stands in its place.
        """
        runner, folder = self.runner(), SwarmFolder(self.root)
        with writing(folder.hooks):
            make(folder.hooks)
        return runner.reading(folder.relative(folder.hooks))

    def _without_keys(self) -> list[str]:
        """What takes variables away: where nothing confines a command, it would inherit them all."""
        there = [name for name in self.withheld if name in os.environ]
        return ["/usr/bin/env", *(part for name in there for part in ("-u", name))] if there else []


@contextmanager
def _ended_with_us() -> Iterator[None]:
    """Where this process ends before the hook, which runs in a thread that nobody waits for, the hook ends with it."""
    loop, task, over = asyncio.get_running_loop(), asyncio.current_task(), threading.Event()

    def end() -> None:
        if task is not None:
            loop.call_soon_threadsafe(task.cancel)
            over.wait(_LAST_S)

    atexit.register(end)
    try:
        yield
    finally:
        atexit.unregister(end)
        over.set()


def _since(started: float) -> float:
    return round(time.monotonic() - started, 3)
