"""The crew of background workers beside a run: begun with it, ended with it, and never in its way."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from swarmgate.domain.hooks import ACTOR as HOOKS

if TYPE_CHECKING:
    from swarmgate.automation.crew import Crew
    from swarmgate.domain.progress import Progress
    from swarmgate.project import Project

STOP_S = 2.0
"""Seconds that the crew has to end in; what is not done by then is left."""
_QUIET_S, _LOOK_S = 0.5, 0.05
"""After so many seconds of waiting for hooks it is told; and between two looks."""


@contextmanager
def crew_beside(project: Project, tell: Callable[[str, str], None]) -> Iterator[Crew | None]:
    """The workers that are on, while the block lasts; none where another process watches the project.

    They tell through `tell` (kind, text), as the run does itself, from threads of their own. Plan sync is the loop's
    own business (`engine.edits`). Whatever the crew fails at is told, and the run goes on. The environment is the one
    of now: a run takes the keys out of the process's own while it works.
    """
    from swarmgate.engine.automating.crew import crew_of  # noqa: PLC0415 - late: brings the workers

    crew = None

    def listener(progress: Progress) -> None:
        tell(progress.kind, progress.text)

    try:
        crew = crew_of(project.anew(listener=listener, environ=dict(project.environ)), "run")
        crew.start()
    except Exception as error:  # noqa: BLE001 - beside the work: no fault of it may stop that
        tell("notice", f"nothing works in the background of this run: {error}")
    try:
        yield crew
    finally:
        if crew is not None:
            try:
                crew.stop(within_s=STOP_S)
            except Exception as error:  # noqa: BLE001 - as above; and an error of the run is worth more than this
                tell("notice", f"the work in the background did not end well: {error}")


async def let_hooks_end(
    crew: Crew | None, within_s: float, *, tell: Callable[[str, str], None], asked: Callable[[], bool]
) -> None:
    """Waits for the hooks of what has happened: a slow one may hold up those of the last events.

    Args:
        crew: the workers of this run, if there are any.
        within_s: the longest time; what still waits then is left to the end of the crew.
        tell: as in `crew_beside`.
        asked: whether the user asked to stop, which ends it.
    """
    began, told = time.monotonic(), False
    while crew is not None and (waiting := crew.waiting(HOOKS)) and not asked():
        gone = time.monotonic() - began
        if gone >= within_s:
            return
        if gone >= _QUIET_S and not told:
            told = True
            hooks = "1 hook" if waiting == 1 else f"{waiting} hooks"
            tell("notice", f"waiting for {hooks}, at most {within_s:g} s; Ctrl-C ends that")
        await asyncio.sleep(_LOOK_S)
