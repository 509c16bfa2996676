"""Runs independent test runs concurrently, as many as the machine has cores."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Coroutine
from typing import Any, TypeVar

from swarmgate.engine.context import Context

_T = TypeVar("_T")


class RunGroup:
    """Test runs that are executed concurrently."""

    def __init__(self) -> None:
        self.tasks: list[asyncio.Task[Any]] = []

    def start(self, run: Coroutine[Any, Any, _T]) -> asyncio.Task[_T]:
        """Starts one run; its result is awaited."""
        task = asyncio.ensure_future(run)
        self.tasks.append(task)
        return task


@contextlib.asynccontextmanager
async def run_group() -> AsyncIterator[RunGroup]:
    """A context for concurrent runs; runs that are still pending at its end are cancelled."""
    runs = RunGroup()
    try:
        yield runs
    finally:
        for task in runs.tasks:
            task.cancel()
        await asyncio.gather(*runs.tasks, return_exceptions=True)


def concurrency(ctx: Context) -> int:
    """The number of concurrent runs: one a core, or one where they would share ports and temporary files."""
    if ctx.commands.sandbox.name == "none" or ctx.config.commands.network:
        return 1
    try:
        return max(1, len(os.sched_getaffinity(0)))
    except AttributeError:  # not on macOS
        return os.cpu_count() or 1
