"""`swarm watch` in the foreground, and the main loop of its daemon: one watcher until it is stopped."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from swarmgate.automation.ports import Ports
from swarmgate.automation.watch.make_watcher import watcher_of
from swarmgate.automation.watch.watcher import Watcher
from swarmgate.domain.progress import Progress
from swarmgate.domain.status import Place
from swarmgate.errors import Stopped
from swarmgate.project import Project

STOP_S = 2.0
"""Seconds in which watching ends (issue 7)."""
_NOTHING = "nothing is switched on, so nothing will be done; switch on with: swarm automation on NAME"
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def watch(project: Project, ports: Ports, *, place: Place = "watch", begun: Callable[[], None] = lambda: None) -> None:
    """See `Automation.watch`. The project's listener gets what happens.

    Args:
        project: the project.
        ports: what its workers ask of models and of the loop.
        place: for which verb it works.
        begun: called when it really watches.

    Raises:
        AlreadyWatching: another process watches this project.
        Stopped: by Ctrl-C.
    """
    watcher = watcher_of(project, ports, place)
    listener = project.listener
    with _signals(watcher) as asked:
        watcher.start()
        try:
            if not watcher.on:
                listener(Progress(kind="notice", text=_NOTHING))
            begun()
            watcher.wait()
        finally:
            listener(Progress(kind="notice", text=f"watching ends: {watcher.why or 'an error'}"))
            watcher.stop(STOP_S - 0.5)  # the rest is for the signal to be noticed, and the process to end
    if signal.SIGINT in asked:
        raise Stopped("Watching ended, as asked.", hint="Go on with: swarm watch")


@contextmanager
def _signals(watcher: Watcher) -> Iterator[set[int]]:
    """Signals end the watching while the block lasts; those that came are in the set. Only the main thread gets any."""
    asked: set[int] = set()
    if threading.current_thread() is not threading.main_thread():
        yield asked
        return

    def on_signal(number: int, frame: FrameType | None) -> None:
        del frame
        asked.add(number)
        watcher.end(f"{signal.Signals(number).name} received")

    before = {each: signal.signal(each, on_signal) for each in _SIGNALS}
    try:
        yield asked
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
