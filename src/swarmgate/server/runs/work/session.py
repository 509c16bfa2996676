"""One piece of work of a worker: the facade that it is done with, the signals that end it, and how it ended."""

from __future__ import annotations

import asyncio
import signal
import traceback
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from swarmgate.domain.progress import Progress
from swarmgate.engine.swarm import Swarm
from swarmgate.errors import LedgerLocked, LimitReached, Stopped, SwarmError
from swarmgate.server.runs import queue
from swarmgate.server.runs.goals import Goals, now
from swarmgate.server.runs.model import Ended, Wanted

LOG = "worker.log"
"""What a worker prints, in the folder of its record."""
_LOCKED_PAUSE_S = 1.0
"""After how long a project that somebody else works in is looked at again."""


class Session:
    """One piece of work with its signals.

    Args:
        wanted: what is done.
        goals: of the server.

    Attributes:
        asked: somebody asked for a stop.
        leaving: and it was the server, which ends.
    """

    def __init__(self, wanted: Wanted, goals: Goals) -> None:
        self.wanted, self.goals = wanted, goals
        self.asked = self.leaving = False
        self._stops: Callable[[], object] = lambda: None

    def swarm(self, project: Path) -> Swarm:
        """The facade of a project, for whoever wants this."""
        swarm = Swarm(project, environ=self.goals.environ, actor=self.wanted.by, listener=self._heard)
        self._stops = swarm.interrupt
        return swarm

    def stops_at_once(self, task: asyncio.Task[Any]) -> None:
        """Has a stop end a task at once: a council keeps what is complete."""
        self._stops = task.cancel

    def check(self) -> None:
        """Raises where a stop was asked for before there was anything to stop.

        Raises:
            Stopped: it was.
        """
        if self.asked:
            raise Stopped("Stopped before it began.")

    def run(self, work: Callable[[Session], Coroutine[Any, Any, int]]) -> tuple[Ended, Wanted | None]:
        """Does the work; how it ended, and what of it is still wanted."""
        verb = self.wanted.verb
        try:
            exit_code = asyncio.run(self._with_signals(work(self)))
            return Ended(time=now(), verb=verb, exit_code=exit_code), None
        except asyncio.CancelledError:
            stopped = Stopped("stopped at once. What is whole is kept.")
            return _ended(stopped, verb), None
        except LimitReached as error:
            until = error.until.astimezone(UTC).isoformat(timespec="microseconds") if error.until else ""
            goes_on = self.wanted.model_copy(update={"not_before": until, "crashes": 0}) if until else None
            return _ended(error, verb, until=until), goes_on
        except LedgerLocked as error:
            at = queue.later(datetime.now(UTC), _LOCKED_PAUSE_S)
            return _ended(error, verb), self.wanted.model_copy(update={"not_before": at})
        except SwarmError as error:
            return _ended(error, verb), None
        except Exception as error:  # noqa: BLE001 - the boundary of the process: a bug is told, and not tried again
            traceback.print_exc()
            message = f"This is a bug in swarmgate: {type(error).__name__}. It is in {LOG} on the server's machine."
            return Ended(time=now(), verb=verb, exit_code=70, code="BUG", message=message), None

    async def _with_signals(self, work: Coroutine[Any, Any, int]) -> int:
        task, loop = asyncio.ensure_future(work), asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._ask)
        loop.add_signal_handler(signal.SIGHUP, lambda: self._ask(leaving=True))
        loop.add_signal_handler(signal.SIGTERM, self._end, task)
        return await task

    def _ask(self, *, leaving: bool = False) -> None:
        self.asked, self.leaving = True, leaving
        self._stops()

    def _end(self, task: asyncio.Task[Any]) -> None:
        self.leaving = True  # whoever wants it to be over has said so in the record
        task.cancel()

    def _heard(self, progress: Progress) -> None:
        """Passes a stop on that was asked for before the run had anything to hear it with."""
        if self.asked and progress.kind == "step":
            self._stops()


def _ended(error: SwarmError, verb: str, *, until: str = "") -> Ended:
    return Ended(
        time=now(),
        verb=verb,
        exit_code=error.exit_code,
        code=error.code,
        message=error.message,
        hint=error.hint,
        until=until,
    )
