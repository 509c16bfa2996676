"""Runs a program interactively: sends lines to its stdin, reads lines from its stdout, and ends all that it started."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
from collections import deque
from typing import TYPE_CHECKING

from swarmgate.errors import WorkspaceError
from swarmgate.workspace.process.lines import Lines
from swarmgate.workspace.process.process import Bounded, marked, starting
from swarmgate.workspace.process.supervision.call import PIPE_GRACE_S, Call

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence
    from pathlib import Path

_WAITING = 64 << 20
"""Bytes of lines that nobody has read yet, until the program is taken for one that floods us."""


class Ended(EOFError):
    """Raised when the program reads no more input or writes no more output."""


class Piped:
    """A running program with pipes to its stdin and stdout.

    Args:
        output_limit: characters kept of what it prints on stderr.
    """

    def __init__(self, output_limit: int) -> None:
        self._stderr = Bounded(output_limit)
        self._waiting: deque[bytes] = deque()
        self._size = 0
        self._lines = Lines(self._queue)
        self._news = asyncio.Event()
        self._over = False
        self._writing = asyncio.Lock()
        self._input = -1
        self._call: Call | None = None

    def feed(self, stream: int, data: bytes) -> None:
        """Takes what the program printed."""
        if stream == 2:  # noqa: PLR2004 - stderr
            self._stderr.feed(data)
        elif self._size <= _WAITING:
            self._lines.feed(data)

    @property
    def stderr(self) -> str:
        """What it complained of so far."""
        return self._stderr.text()

    @property
    def exit_code(self) -> int | None:
        """How it ended; None while it runs."""
        return self._call.exit_code if self._call is not None and self._call.ended.is_set() else None

    async def receive(self) -> bytes:
        """The next line, without its end.

        Raises:
            Ended: there is none any more, or the program floods us.
        """
        while not self._waiting:
            if self._over:
                raise Ended
            self._news.clear()
            await self._news.wait()
        line = self._waiting.popleft()
        if self._size > _WAITING:
            raise Ended
        self._size -= len(line)
        return line

    async def send(self, line: bytes) -> None:
        """Write one line.

        Raises:
            Ended: nobody reads it.
        """
        async with self._writing:
            data = memoryview(line + b"\n")
            while data:
                try:
                    data = data[os.write(self._input, data) :]
                except BlockingIOError:
                    await self._writable()
                except OSError as error:
                    raise Ended from error

    async def _writable(self) -> None:
        """Waits until the pipe has room, or the program has ended."""
        loop, room = asyncio.get_running_loop(), asyncio.Event()
        loop.add_writer(self._input, room.set)
        try:
            await room.wait()
        finally:
            loop.remove_writer(self._input)

    def _queue(self, line: bytes) -> None:
        self._waiting.append(line)
        self._size += len(line)
        self._news.set()

    async def _until_its_end(self, call: Call) -> None:
        await call.ended.wait()
        with contextlib.suppress(TimeoutError):  # what it printed last may still be on its way
            async with asyncio.timeout(PIPE_GRACE_S):
                await call.silent.wait()
        self._over = True
        self._news.set()

    @contextlib.asynccontextmanager
    async def running(self, command: Sequence[str], cwd: Path, variables: Mapping[str, str]) -> AsyncIterator[None]:
        """The time in which the program runs."""
        reading, self._input = os.pipe()
        os.set_blocking(self._input, False)
        call = Call(command, cwd, variables, reading, self)
        try:
            async with contextlib.AsyncExitStack() as stack:
                try:
                    self._call = await stack.enter_async_context(call)
                finally:
                    os.close(reading)  # a pipe whose reader is gone says so only where nobody else could read
                watch = asyncio.ensure_future(self._until_its_end(call))
                try:
                    yield
                finally:
                    watch.cancel()
        finally:
            os.close(self._input)


@contextlib.asynccontextmanager
async def start(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    inherit: bool = True,
    output_limit: int = 200_000,
) -> AsyncIterator[Piped]:
    """A program in a session of its own, for the length of a block; it and what it started are ended behind it.

    Args:
        argv: the argument list.
        cwd: the folder that it runs in.
        env: variables on top of the inherited environment.
        inherit: False: `env` is the whole environment.
        output_limit: characters kept of stderr.

    Raises:
        MissingRequirement: the program is not there or cannot be executed.
        WorkspaceError: `cwd` is no folder, the operating system refused to start the process, or something that it
            started cannot be ended.
    """
    command = shlex.join(argv)
    if not cwd.is_dir():  # noqa: ASYNC240 - one stat call
        raise WorkspaceError(f"`{command}` cannot run in {cwd}: there is no such folder")
    piped = Piped(output_limit)
    async with contextlib.AsyncExitStack() as stack:
        with starting(list(argv), command):
            await stack.enter_async_context(piped.running(argv, cwd, marked(env, inherit=inherit)))
        yield piped
