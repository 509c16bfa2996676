"""Starts the background workers of a run, and stops them when it ends."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from swarmgate.automation.hooks.events import ACTOR as HOOKS

if TYPE_CHECKING:
    from swarmgate.automation.ports import Ports
    from swarmgate.automation.watch.watcher import Watcher
    from swarmgate.domain.progress import Progress
    from swarmgate.project import Project

STOP_S = 2.0
"""Seconds that the workers have to end in; what is not done by then is left."""
_QUIET_S, _POLL_S = 0.5, 0.05
"""Seconds of waiting for hooks until a notice says so; and between two checks."""


@contextmanager
def workers_during(project: Project, ports: Ports, tell: Callable[[str, str], None]) -> Iterator[Watcher | None]:
    """The workers that are on, while the block lasts; none where another process watches the project.

    They report through `tell` (kind, text), as the run does itself, from threads of their own. Plan sync is the loop's
    own business (`engine.between_steps.plan_edits`). Their failures are reported, and the run goes on. The
    environment is the one of now: a run takes the keys out of the process's own while it works.
    """
    from swarmgate.automation.watch.make_watcher import watcher_of  # noqa: PLC0415 - late: brings the workers

    watcher = None

    def listener(progress: Progress) -> None:
        tell(progress.kind, progress.text)

    try:
        watcher = watcher_of(project.anew(listener=listener, environ=dict(project.environ)), ports, "run")
        watcher.start()
    except Exception as error:  # noqa: BLE001 - a fault in the background may not stop the run
        tell("notice", f"nothing works in the background of this run: {error}")
    try:
        yield watcher
    finally:
        if watcher is not None:
            try:
                watcher.stop(within_s=STOP_S)
            except Exception as error:  # noqa: BLE001 - an error of the run is worth more than this
                tell("notice", f"the work in the background did not end well: {error}")


async def wait_for_hooks(
    watcher: Watcher | None, within_s: float, *, tell: Callable[[str, str], None], asked: Callable[[], bool]
) -> None:
    """Waits for the hooks of what has happened: a slow one may hold up those of the last events.

    Args:
        watcher: of the workers of this run, if there are any.
        within_s: the longest time; what still waits then is left to the end of the workers.
        tell: prints a notice, by kind and text.
        asked: whether the user asked to stop, which ends it.
    """
    began, notified = time.monotonic(), False
    while watcher is not None and (waiting := watcher.waiting(HOOKS)) and not asked():
        gone = time.monotonic() - began
        if gone >= within_s:
            return
        if gone >= _QUIET_S and not notified:
            notified = True
            hooks = "1 hook" if waiting == 1 else f"{waiting} hooks"
            tell("notice", f"waiting for {hooks}, at most {within_s:g} s; Ctrl-C ends that")
        await asyncio.sleep(_POLL_S)
