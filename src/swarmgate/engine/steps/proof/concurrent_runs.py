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
    """Runs that go at once."""

    def __init__(self) -> None:
        self.tasks: list[asyncio.Task[Any]] = []

    def start(self, run: Coroutine[Any, Any, _T]) -> asyncio.Task[_T]:
        """Begins one; what it gives is awaited."""
        task = asyncio.ensure_future(run)
        self.tasks.append(task)
        return task


@contextlib.asynccontextmanager
async def run_group() -> AsyncIterator[RunGroup]:
    """Where runs go at once; those that nobody waits for any more, or that an error leaves behind, are ended."""
    runs = RunGroup()
    try:
        yield runs
    finally:
        for task in runs.tasks:
            task.cancel()
        await asyncio.gather(*runs.tasks, return_exceptions=True)


def concurrency(ctx: Context) -> int:
    """How many runs go at once: one a core, and one alone where they would share ports and temporary files."""
    if ctx.commands.sandbox.name == "none" or ctx.config.commands.network:
        return 1
    try:
        return max(1, len(os.sched_getaffinity(0)))
    except AttributeError:  # not on macOS
        return os.cpu_count() or 1
