"""Runs a council session with live progress; Ctrl-C stops it at once and keeps what is complete."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from swarmgate.errors import Stopped
from swarmgate.terminal.terminal import Terminal

if TYPE_CHECKING:
    from swarmgate.domain.progress import Listener, Progress
    from swarmgate.engine.swarm import Swarm

T = TypeVar("T")


def run_session(
    repo: Path | None,
    terminal: Terminal,
    work: Callable[[Swarm], Coroutine[Any, Any, T]],
    *,
    resume_command: str,
    quiet: bool = False,
) -> T:
    """Runs a council session with live progress.

    Args:
        repo: a folder in the repository; None: the current one.
        terminal: where it prints.
        work: what is done with the project.
        resume_command: the command line with which it goes on after it was stopped; empty: there is none.
        quiet: no progress is printed; `work` prints its own.

    Raises:
        Stopped: Ctrl-C, or SIGTERM.
    """
    import asyncio
    import gc

    gc.enable()
    from swarmgate.engine.swarm import Swarm
    from swarmgate.terminal.progress import listener

    with listener(as_json=terminal.as_json or quiet) as listen:
        swarm = Swarm(repo) if quiet else Swarm(repo, listener=_timed(listen, terminal.began))
        return asyncio.run(_until_signals(work(swarm), resume_command))


def _timed(listen: Listener, began: float) -> Listener:
    """The listener with one clock for all progress, from the start of the command on."""

    def timed(progress: Progress) -> None:
        listen(progress.model_copy(update={"seconds": time.monotonic() - began}))

    return timed


async def _until_signals(work: Coroutine[Any, Any, T], resume_command: str) -> T:
    import asyncio

    task, loop = asyncio.ensure_future(work), asyncio.get_running_loop()
    for each in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(each, task.cancel)
    try:
        return await task
    except asyncio.CancelledError:
        hint = f"Go on with: {resume_command}" if resume_command else ""
        raise Stopped("stopped at once. What is whole is kept.", hint=hint) from None
    finally:
        for each in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(each)
