"""Tells how far a run of tests has come, every few seconds."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from typing import Any

from swarmgate.domain.progress import TestCount
from swarmgate.engine.context import Context
from swarmgate.ledger.files.suite_times import Took

_EVERY_S = 3.0
"""Seconds between two lines; a run that is shorter has none."""


class RunningTests:
    """The tests of one run that have ended, as their runners say it while they run.

    Args:
        took: what the run took when it passed last; None where that is not known.
    """

    def __init__(self, took: Took | None) -> None:
        self._took, self._began = took, time.monotonic()
        self._outcomes: dict[tuple[Any, Any], bool] = {}

    def heard(self, record: dict[str, Any]) -> None:
        """Takes what a runner says; of what is no test nothing is counted."""
        if record.get("kind") == "test":
            test = record.get("process"), record.get("number")
            self._outcomes[test] = self._outcomes.get(test, False) or record.get("outcome") == "failed"

    @property
    def count(self) -> TestCount:
        """How far it has come; the time that is left is never less than nothing."""
        left = max(0.0, self._took.seconds - (time.monotonic() - self._began)) if self._took else None
        total = self._took.tests if self._took else 0
        return TestCount(done=len(self._outcomes), failed=sum(self._outcomes.values()), total=total, left_s=left)


@contextlib.asynccontextmanager
async def telling(ctx: Context, what: str, took: Took | None) -> AsyncIterator[RunningTests]:
    """Sends a `tests` message every few seconds while the block runs."""
    running = RunningTests(took)

    async def tell() -> None:
        while True:
            await asyncio.sleep(_EVERY_S)
            count = running.count
            ctx.notify("tests", f"{what}: {count.text}", tests=count, failed=count.failed > 0)

    teller = asyncio.ensure_future(tell())
    try:
        yield running
    finally:
        teller.cancel()
        await asyncio.gather(teller, return_exceptions=True)
