"""Lets the server of the package read and write two streams of bytes, until the input ends or a signal comes."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import AsyncIterator
from typing import IO, TYPE_CHECKING, Any, cast

import anyio
from mcp.server.stdio import stdio_server

from swarmgate.errors import UsageError

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server


class Requests:
    """The lines that come in.

    Args:
        stream: they come from.
        first: the one that was read already.
        longest: bytes of a line.
    """

    def __init__(self, stream: IO[bytes], first: bytes, longest: int) -> None:
        self._stream, self._first, self._longest = stream, first, longest

    def __aiter__(self) -> AsyncIterator[str]:
        """The lines, in order."""
        return self

    async def __anext__(self) -> str:
        """The next line; raises `UsageError` where it is too long."""
        line, self._first = self._first, b""
        if not line:
            line = await anyio.to_thread.run_sync(self._stream.readline, self._longest, abandon_on_cancel=True)
        if not line:
            raise StopAsyncIteration
        if len(line) >= self._longest:
            raise UsageError(f"A request has more than {self._longest} bytes.", hint="Name a file instead of its text.")
        return line.decode("utf-8", "replace")


class Replies:
    """The lines that go out.

    Args:
        stream: they go to.
        greeted: the id of the request that was answered before the package was there: its answer is not sent again.
    """

    def __init__(self, stream: IO[bytes], greeted: int | str | None) -> None:
        self._stream, self._greeted = stream, greeted

    async def write(self, line: str) -> None:
        """Writes one line."""
        if self._greeted is not None and _answers(line, self._greeted):
            self._greeted = None
            return
        await anyio.to_thread.run_sync(self._stream.write, line.encode("utf-8", "replace"))

    async def flush(self) -> None:
        """Sends what was written."""
        await anyio.to_thread.run_sync(self._stream.flush)


async def served(server: Server, requests: Requests, replies: Replies) -> None:
    """Serves one client.

    Raises:
        UsageError: it floods us.
    """
    task, loop = asyncio.current_task(), asyncio.get_running_loop()
    if task is None:
        raise RuntimeError("this runs in a task")
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, task.cancel)
    try:
        async with stdio_server(cast("Any", requests), cast("Any", replies)) as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())
    except asyncio.CancelledError:
        pass  # somebody ends us
    except BaseExceptionGroup as group:
        _, other = group.split((BrokenPipeError, anyio.BrokenResourceError, asyncio.CancelledError))
        if other is not None:  # the client is not just gone
            raise _first(other) from None


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    found: BaseException = group
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    return found


def _answers(line: str, request: int | str) -> bool:
    told = json.loads(line)
    return told.get("id") == request and "method" not in told
