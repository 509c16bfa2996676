"""The crew of background workers beside a run: begun with it, ended with it, and never in its way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from swarmgate.engine.progress import Progress

if TYPE_CHECKING:
    from swarmgate.engine.swarm import Swarm

STOP_S = 2.0
"""Seconds that the crew has to end in; what is not done by then is left."""


@contextmanager
def crew_beside(swarm: Swarm) -> Iterator[None]:
    """The workers that are on, while the block lasts; none where another process watches the project.

    Plan sync is the loop's own business (`engine.edits`). Whatever the crew fails at is told, and the run goes on. The
    environment is the one of now: a run takes the keys out of the process's own while it works.
    """
    from swarmgate.engine.automating.crew import crew_of  # noqa: PLC0415 - late: brings the workers
    from swarmgate.engine.swarm import Swarm  # noqa: PLC0415 - as above

    listener, environ, flags = swarm.made_with
    crew = None
    try:
        crew = crew_of(Swarm(swarm.folder.root, listener=listener, environ=dict(environ), flags=flags), "run")
        crew.start()
    except Exception as error:  # noqa: BLE001 - beside the work: no fault of it may stop that
        listener(Progress(kind="notice", text=f"nothing works in the background of this run: {error}"))
    try:
        yield
    finally:
        if crew is not None:
            try:
                crew.stop(within_s=STOP_S)
            except Exception as error:  # noqa: BLE001 - as above; and an error of the run is worth more than this
                listener(Progress(kind="notice", text=f"the work in the background did not end well: {error}"))
