"""One supervised program from swarmgate's side: started, awaited, ended."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, Self

from swarmgate.errors import WorkspaceError
from swarmgate.workspace.process.supervision import connection, wire

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from types import TracebackType

_PATIENCE_S = 30.0
"""For how long a supervisor that does not answer is waited for; its own limit for stubborn processes is shorter."""
PIPE_GRACE_S = 1.0
"""How long output is still collected when all is over; only who was handed the pipe from outside holds it open."""
_CUT_SHORT_S = 5.0
"""How long the rest of a call is waited for by who is cancelled twice, or gave up on it."""
_CHUNK = 1 << 16
_KILLED = -9


class Listener(Protocol):
    """Receives the output of a program."""

    def feed(self, stream: int, data: bytes) -> None:
        """Takes bytes of stream 1 or 2."""
        ...


@dataclass
class Call:
    """One program: an asynchronous context, at whose end nothing is left of what it started.

    Args:
        argv: the program and its arguments.
        cwd: the folder that it runs in.
        env: its whole environment.
        stdin: a descriptor to read from.
        listener: takes what it prints.
    """

    argv: Sequence[str]
    cwd: Path
    env: Mapping[str, str]
    stdin: int
    listener: Listener
    exit_code: int = field(default=_KILLED, init=False)
    """Minus the number of the signal that ended it; so, too, where somebody killed its supervisor."""
    ended: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    """The program itself has ended; what it started may not have."""
    silent: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    """Nobody can print anything any more, and all that was printed was taken."""
    supervisor: int = field(default=0, init=False)
    """The process that the program, and all that it started, is below."""
    _lines: asyncio.Queue[str] = field(default_factory=asyncio.Queue, init=False)
    _over: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    _talk: socket.socket | None = field(default=None, init=False)
    _buffer: bytes = field(default=b"", init=False)
    _streams: dict[int, int] = field(default_factory=dict, init=False)
    _left: str = field(default="", init=False)

    async def __aenter__(self) -> Self:
        """Start the program.

        Raises:
            OSError: the system refused.
            ValueError: an argument or a variable is none that a program can be given.
            WorkspaceError: the supervisor cannot be started, or does not answer.
        """
        request = wire.encoded(self.argv, str(self.cwd.absolute()), self.env)
        for _ in range(2):  # one that was killed since the last call is replaced
            try:
                if await self._begun(request):
                    return self
            except BaseException:
                self._close()
                raise
            self._close()
        raise WorkspaceError("programs cannot be started: the process that watches them ends at once")

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End what is left, take what it still printed, and let go.

        Raises:
            WorkspaceError: a process cannot be ended.
        """
        try:
            self._send(wire.GENTLY)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_PATIENCE_S):
                    await self._over.wait()
            if self._left or not self._over.is_set():
                which = f"processes {self._left}" if self._left else "what it started"
                raise WorkspaceError(
                    f"`{' '.join(self.argv)[:200]}` ended, and {which} cannot be ended",
                    hint="end it by hand: what it writes would count as the work of whoever comes next",
                )
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(PIPE_GRACE_S):
                    await self.silent.wait()
        finally:
            self._close()

    async def _begun(self, request: bytes) -> bool:
        """Whether it was started; False where its supervisor was gone before it could be."""
        self._buffer = b""
        for event in (self._over, self.ended, self.silent):
            event.clear()
        loop = asyncio.get_running_loop()
        self._talk, theirs = socket.socketpair()
        self._talk.setblocking(False)
        loop.add_reader(self._talk, self._receive)
        with theirs:
            ends = [self._stream(number) for number in (1, 2)]
            try:
                connection.send_descriptors([theirs.fileno(), self.stdin, *ends])
            finally:
                for end in ends:
                    os.close(end)
        async with asyncio.timeout(_PATIENCE_S):
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                await loop.sock_sendall(self._talk, request)
            answer = await self._lines.get()
        word, _, rest = answer.partition(" ")
        if word == wire.REFUSED:
            number, _, text = rest.partition(" ")
            raise OSError(int(number), text) if int(number) else ValueError(text)
        self.supervisor = int(rest) if word == wire.STARTED else 0
        return word == wire.STARTED

    def _stream(self, number: int) -> int:
        """A pipe for what the program prints: the end that it writes to."""
        reading, writing = os.pipe()
        os.set_blocking(reading, False)
        self._streams[reading] = number
        asyncio.get_running_loop().add_reader(reading, self._take, reading)
        return writing

    def _take(self, reading: int) -> None:
        try:
            data = os.read(reading, _CHUNK)
        except BlockingIOError:
            return
        if data:
            self.listener.feed(self._streams[reading], data)
            return
        self._shut(reading)
        if not self._streams:
            self.silent.set()

    def _shut(self, reading: int) -> None:
        asyncio.get_running_loop().remove_reader(reading)
        os.close(reading)
        del self._streams[reading]

    def _receive(self) -> None:
        """Receives the supervisor's messages, a line each; when it closes the socket, all is over."""
        if self._talk is None:
            return
        try:
            data = self._talk.recv(_CHUNK)
        except BlockingIOError:
            return
        except (ConnectionError, TimeoutError):
            data = b""
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        for line in lines:
            word, _, rest = line.decode(errors="replace").partition(" ")
            if word == wire.ENDED:
                self.exit_code = int(rest)
                self.ended.set()
            elif word == wire.OVER:
                self._over.set()
            elif word == wire.LEFT:
                self._left = rest
                self._over.set()
            else:
                self._lines.put_nowait(f"{word} {rest}")
        if not data:
            asyncio.get_running_loop().remove_reader(self._talk)
            self._lines.put_nowait("")
            self.ended.set()
            self._over.set()

    def _send(self, word: bytes) -> None:
        if self._talk is not None:
            with contextlib.suppress(OSError):  # it is over already
                self._talk.send(word)

    def _close(self) -> None:
        """Let go: what still runs is killed, and waited for, since who gave up waiting goes on at once."""
        if self._talk is not None:
            asyncio.get_running_loop().remove_reader(self._talk)
            self._send(wire.AT_ONCE)
            with contextlib.suppress(OSError):
                self._talk.shutdown(socket.SHUT_WR)  # a fork of this process may hold the socket open
            self._talk.settimeout(_CUT_SHORT_S)
            while not self._over.is_set():
                self._receive()
            self._talk.close()
            self._talk = None
        for reading in list(self._streams):
            self._shut(reading)
