"""Writes `.swarm/runtime/status.json` half a second after each event, and regularly as a heartbeat."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable

from swarmgate.automation.bus.worker import BusEvent
from swarmgate.domain.events.automation import Happening
from swarmgate.domain.state.state import State
from swarmgate.domain.status import LAST_EVENTS, Place, StatusEvent, StatusFile, WorkerStatus, work_status
from swarmgate.journal.lock import at_work, describe
from swarmgate.ledger.files import status_file
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.workspace import system

PAUSE_S = 0.5
"""Seconds between two writes while things happen."""
HEARTBEAT_S = 30.0
"""Seconds between two writes while nothing does."""

Describe = Callable[[Happening], str]
OnEvent = Callable[[Happening, str], None]
_Changed = Callable[[], None]


class StatusBoard:
    """The newest events, and the file. A subscriber of the bus.

    Args:
        folder: the project.
        place: which verb started the workers.
        describe_event: an event in words; empty for bookkeeping, which is not shown.
        on_event: told each event that has words, with them.
        changed: called when there is something new to write.
    """

    name = "status"

    def __init__(
        self, folder: SwarmFolder, place: Place, *, describe_event: Describe, on_event: OnEvent, changed: _Changed
    ) -> None:
        self._folder, self._place = folder, place
        self._describe, self._on_event, self._changed = describe_event, on_event, changed
        self._started = status_file.stamp()
        self._events: deque[StatusEvent] = deque(maxlen=LAST_EVENTS)
        self._written = float("-inf")
        self._dirty = True
        self.problem = ""
        """Why the file could not be written the last time; empty if it could."""

    def handle(self, bus_event: BusEvent) -> None:
        """Takes an event."""
        happening = bus_event.happening
        if text := self._describe(happening):
            self._events.append(
                StatusEvent(
                    source=happening.source, seq=happening.seq, time=happening.time, type=happening.type, text=text
                )
            )
            self._on_event(happening, text)
        self.touch()

    def wants(self, bus_event: BusEvent) -> bool:
        """None: an event that did not arrive before the end is not shown, and has no other effect."""
        del bus_event
        return False

    def touch(self) -> None:
        """Something changed that the file shows. Who is to write it is woken once: `due` says when."""
        if not self._dirty:
            self._dirty = True
            self._changed()

    @property
    def due(self) -> float:
        """When it is to be written next, on the clock of `time.monotonic`."""
        return self._written + (PAUSE_S if self._dirty else HEARTBEAT_S)

    def write(
        self,
        state: State,
        *,
        mode: str,
        watching: str,
        reason: str,
        workers: tuple[WorkerStatus, ...],
        edits_waiting: tuple[str, ...],
        config_problem: str,
    ) -> None:
        """Writes the file now. What the disk refuses is kept in `problem`."""
        self._written, self._dirty = time.monotonic(), False
        owner = at_work(self._folder.lock)
        if watching == "stopped" and owner.get("pid") == os.getpid():
            owner = {}  # a run that ends: it gives the lock back right after this
        status = StatusFile(
            written_at=status_file.stamp(),
            started_at=self._started,
            heartbeat_s=HEARTBEAT_S,
            pid=os.getpid(),
            host=system.host(),
            place=self._place,
            mode=mode,
            watching=watching,
            reason=reason,
            workers=workers,
            last_events=tuple(sorted(self._events, key=lambda each: each.time)[::-1]),
            work=work_status(state, describe(owner) if owner else ""),
            edits_waiting=edits_waiting,
            config_problem=config_problem,
        )
        self.problem = status_file.write(self._folder, status)
