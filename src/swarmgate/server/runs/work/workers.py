"""Starts worker processes that are warm, and finds those that a server before this one started.

They are forked from one process that has loaded all that a run needs (multiprocessing's forkserver), so that the next
step of a run begins in a fraction of a second. They are nobody's for a server that is killed: the lock that each holds
says that it is at work, and who it is.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import signal
import threading
from contextlib import suppress
from datetime import UTC, datetime
from multiprocessing.process import BaseProcess
from pathlib import Path

from swarmgate.errors import UsageError
from swarmgate.journal.lock import live_owner
from swarmgate.server.runs.work import worker
from swarmgate.server.runs.work.worker import Kind, Setup
from swarmgate.workspace.process.detached import Foreign

_LOADED = "swarmgate.server.runs.work.preloaded"
_POLL_S = 0.2
"""How often a worker is looked at that is not this server's child."""


class Worker:
    """A worker at work.

    Args:
        subject: the id of its goal or council.
        lock: that it holds, or will.
        process: where this server started it; None: one before it did.
    """

    def __init__(self, subject: str, lock: Path, process: BaseProcess | None) -> None:
        self.subject, self.since = subject, datetime.now(UTC).isoformat(timespec="seconds")
        self._lock, self._process, self._over = lock, process, False

    @property
    def pid(self) -> int:
        """Its process; 0: it has ended."""
        if self._process is not None:
            return 0 if self._over else self._process.pid or 0
        pid = live_owner(self._lock).get("pid")
        return pid if isinstance(pid, int) else 0

    def send(self, number: signal.Signals) -> None:
        """Sends it a signal; nothing where it has ended."""
        if pid := self.pid:
            with suppress(ProcessLookupError, PermissionError), Foreign(pid) as process:
                process.send(number)

    async def ended(self) -> None:
        """Returns when it has ended."""
        if self._process is None:
            while live_owner(self._lock):  # noqa: ASYNC110 - the lock of a stranger tells nobody
                await asyncio.sleep(_POLL_S)
            return
        loop, over = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(self._process.sentinel, over.set)
        try:
            await over.wait()
        finally:
            loop.remove_reader(self._process.sentinel)
        self._over = True
        await asyncio.to_thread(self._process.join)


class Workers:
    """Starts the workers of one server.

    Args:
        setup: what they need to know.

    Raises:
        UsageError: a worker makes them, since the script that serves has no guard.
    """

    def __init__(self, setup: Setup) -> None:
        if getattr(multiprocessing.current_process(), "_inheriting", False):  # a worker that imports its script
            raise UsageError(
                "The script that serves does so whenever it is imported, and every worker imports it. "
                'Put what starts the server below: if __name__ == "__main__":'
            )
        self._setup = setup
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload([_LOADED])

    def warm(self) -> None:
        """Has the process start that they are forked from, beside: the first one is as quick as any other.

        A server that ends meanwhile does not wait for it.
        """
        threading.Thread(target=lambda: self._started(worker.nothing, ()).join(), name="warming", daemon=True).start()

    def start(self, kind: Kind, subject: str, lock: Path) -> Worker:
        """Starts one.

        Raises:
            OSError: no process can be started.
        """
        return Worker(subject, lock, self._started(worker.main, (self._setup, kind, subject)))

    def _started(self, target: object, args: tuple[object, ...]) -> BaseProcess:
        process = self._context.Process(target=target, args=args)  # type: ignore[arg-type]  # one of the two above
        process.start()
        return process


def found(subject: str, lock: Path) -> Worker | None:
    """The worker that a server before this one started, where it is at work still."""
    return Worker(subject, lock, None) if live_owner(lock) else None
