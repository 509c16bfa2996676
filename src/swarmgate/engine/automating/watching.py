"""`swarm watch` in the foreground, and what its daemon does in its own process: one crew, until somebody ends it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from swarmgate.automation.crew import Crew
from swarmgate.domain.progress import Progress
from swarmgate.domain.status import Place
from swarmgate.engine.automating.crew import crew_of
from swarmgate.errors import Stopped
from swarmgate.project import Project

STOP_S = 2.0
"""Seconds in which watching ends (issue 7)."""
_NOTHING = "nothing is switched on, so nothing will be done; switch on with: swarm automation on NAME"
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def watch(project: Project, *, place: Place = "watch", begun: Callable[[], None] = lambda: None) -> None:
    """See `Automation.watch`. What happens is told to the project's listener.

    Args:
        project: the project.
        place: as whose crew it works.
        begun: called when it really watches.

    Raises:
        AlreadyWatching: another process watches this project.
        Stopped: by Ctrl-C.
    """
    crew = crew_of(project, place)
    listener = project.listener
    with _signals(crew) as asked:
        crew.start()
        try:
            if not crew.on:
                listener(Progress(kind="notice", text=_NOTHING))
            begun()
            crew.wait()
        finally:
            listener(Progress(kind="notice", text=f"watching ends: {crew.why or 'an error'}"))
            crew.stop(STOP_S - 0.5)  # the rest is for the signal to be noticed, and the process to end
    if signal.SIGINT in asked:
        raise Stopped("Watching ended, as asked.", hint="Go on with: swarm watch")


@contextmanager
def _signals(crew: Crew) -> Iterator[set[int]]:
    """While the block lasts, signals end the crew; those that came are in the set. Only the main thread gets any."""
    asked: set[int] = set()
    if threading.current_thread() is not threading.main_thread():
        yield asked
        return

    def on_signal(number: int, frame: FrameType | None) -> None:
        del frame
        asked.add(number)
        crew.end(f"{signal.Signals(number).name} received")

    before = {each: signal.signal(each, on_signal) for each in _SIGNALS}
    try:
        yield asked
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
