"""Run one external program: bounded in time and memory, and nothing in its process group outlives the call.

On Linux neither does what left the group, unless it also wiped its environment (`leftovers`). Elsewhere a daemon that
makes a session of its own is not found.
"""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import os
import shlex
import signal
import tempfile
import time
from collections import deque
from typing import TYPE_CHECKING

from swarmgate.domain.base import Frozen
from swarmgate.errors import MissingRequirement, WorkspaceError
from swarmgate.workspace import leftovers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

_TERM_GRACE_S = 1.0
"""How long a process group may take to clean up after SIGTERM before it gets SIGKILL."""

_PIPE_GRACE_S = 1.0
"""How long output is still collected after the group was ended; only a daemon that left the group holds it open."""

_POLL_S = 0.01
"""The longest pause between two looks; the first is a tenth of it, since most groups are gone by then."""


class Completed(Frozen):
    """A process that has ended.

    `exit_code` is None when it was ended at its time limit, minus the number of the signal that ended it.
    `stdout` and `stderr` keep head and tail of what was printed, UTF-8 with replacement characters.
    """

    command: str
    exit_code: int | None
    stdout: str
    stderr: str
    seconds: float
    timed_out: bool = False

    @property
    def ok(self) -> bool:
        """Exit code 0."""
        return self.exit_code == 0

    @property
    def output(self) -> str:
        """Both streams, stdout first."""
        separator = "\n" if self.stdout and self.stderr and not self.stdout.endswith("\n") else ""
        return self.stdout + separator + self.stderr


async def run(
    argv: Sequence[str] | str,
    *,
    cwd: Path,
    timeout_s: float,
    env: Mapping[str, str] | None = None,
    inherit: bool = True,
    stdin: bytes | None = None,
    output_limit: int = 200_000,
) -> Completed:
    """Run a program in a session of its own and wait for its end.

    At the time limit, on cancellation and after a normal exit the whole process group is ended (SIGTERM, a short
    grace, SIGKILL).

    Args:
        argv: the argument list, or a string for `/bin/sh -c`.
        cwd: the folder that it runs in.
        timeout_s: seconds until it is ended.
        env: variables on top of the inherited environment.
        inherit: False: `env` is the whole environment.
        stdin: its standard input, empty when None.
        output_limit: characters kept of each of stdout and stderr.

    Raises:
        MissingRequirement: the program is not there or cannot be executed.
        WorkspaceError: `cwd` is no folder, or the operating system refused to start the process.
    """
    command = ["/bin/sh", "-c", argv] if isinstance(argv, str) else list(argv)
    shown = argv if isinstance(argv, str) else shlex.join(command)
    capture = _Capture(output_limit)
    variables = {**(os.environ if inherit else {}), **(env or {})}
    mark = leftovers.mark()
    variables[leftovers.VARIABLE] = variables.get(leftovers.VARIABLE, "") + mark
    started = time.monotonic()
    with _input(stdin) as source:
        starting = asyncio.create_task(_start(command, shown, capture, cwd=cwd, env=variables, stdin=source))
        transport = await _whole(starting, capture, mark)
    timed_out = False
    try:
        async with asyncio.timeout(timeout_s):
            await capture.exited.wait()
    except TimeoutError:
        timed_out = True
    finally:
        await _settle(transport, capture, mark)
    return Completed(
        command=shown.encode(errors="replace").decode(),
        exit_code=None if timed_out else transport.get_returncode(),
        stdout=capture.text(1),
        stderr=capture.text(2),
        seconds=time.monotonic() - started,
        timed_out=timed_out,
    )


@contextlib.contextmanager
def _input(data: bytes | None) -> Iterator[int]:
    """A descriptor to read `data` from: a file, since a pipe could block on a program that never reads."""
    if not data:
        yield asyncio.subprocess.DEVNULL
        return
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.seek(0)
        yield file.fileno()


async def _start(
    command: list[str], shown: str, capture: _Capture, *, cwd: Path, env: Mapping[str, str], stdin: int
) -> asyncio.SubprocessTransport:
    if not cwd.is_dir():  # noqa: ASYNC240 - one stat call
        raise WorkspaceError(f"`{shown}` cannot run in {cwd}: there is no such folder")
    try:
        transport, _ = await asyncio.get_running_loop().subprocess_exec(
            lambda: capture,
            *command,
            stdin=stdin,
            cwd=cwd,
            env=env,
            start_new_session=True,
        )
    except (FileNotFoundError, NotADirectoryError) as error:
        raise MissingRequirement(
            f"the program `{command[0]}` (or the interpreter that it names) was not found",
            hint=f"install `{command[0]}`, or put its folder on PATH",
        ) from error
    except PermissionError as error:
        raise MissingRequirement(
            f"the program `{command[0]}` cannot be executed: permission denied", hint=f"chmod +x {command[0]}"
        ) from error
    except (OSError, ValueError) as error:
        raise WorkspaceError(f"`{shown[:200]}` could not be started: {error}") from error
    return transport


async def _whole(
    starting: asyncio.Task[asyncio.SubprocessTransport], capture: _Capture, mark: str
) -> asyncio.SubprocessTransport:
    """The transport of a start that is not cut in half: cancelled there, asyncio waits for ever (CPython 3.11).

    A cancellation lets the start come to its end, ends what was started, and goes on.
    """
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        await asyncio.wait([starting])
        if not starting.cancelled() and starting.exception() is None:
            await _settle(starting.result(), capture, mark)
        raise


async def _settle(transport: asyncio.SubprocessTransport, capture: _Capture, mark: str) -> None:
    """End all that the call started, take what it still printed, and let go of it."""
    try:
        try:
            await _end_group(transport.get_pid())
        finally:
            leftovers.end(mark, but=transport.get_pid())
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_PIPE_GRACE_S):
                await capture.exited.wait()
                await capture.closed.wait()
    finally:
        transport.close()
        if capture.exited.is_set():
            leftovers.reap(transport.get_pid())


async def _end_group(group: int) -> None:
    """End every process of the group; kills at once when this is itself cancelled."""
    try:
        if not _signal(group, signal.SIGTERM):
            return
        await _gone(group)
    finally:
        _signal(group, signal.SIGKILL)
    # Whose parent is killed becomes ours only when that is dead: then `leftovers` finds it.
    await _gone(group)


async def _gone(group: int) -> None:
    """Wait for the end of a group, up to the grace."""
    deadline, pause = time.monotonic() + _TERM_GRACE_S, _POLL_S / 10
    while _alive(group) and time.monotonic() < deadline:
        await asyncio.sleep(pause)
        pause = min(2 * pause, _POLL_S)


def _alive(group: int) -> bool:
    """Whether a process of the group still runs. Zombies do not: where nobody reaps orphans, they stay for ever."""
    if not _signal(group, 0):
        return False
    try:
        stats = [f"/proc/{entry.name}/stat" for entry in os.scandir("/proc") if entry.name.isdigit()]
    except OSError:
        return True  # no /proc: not Linux
    return any(_runs_in(group, stat) for stat in stats)


def _runs_in(group: int, stat: str) -> bool:
    try:
        with open(stat, "rb") as file:  # noqa: PTH123 - hundreds a call
            state, _, own = file.read().rpartition(b")")[2].split()[:3]
    except (OSError, ValueError):
        return False
    return int(own) == group and state not in {b"Z", b"X"}


def _signal(group: int, number: int) -> bool:
    """Whether the group was there to take the signal; macOS answers EPERM for a group of zombies."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


class _Capture(asyncio.SubprocessProtocol):
    """What a process printed, bounded; `exited` once it has ended, `closed` once both streams have as well."""

    def __init__(self, limit: int) -> None:
        self.exited = asyncio.Event()
        self.closed = asyncio.Event()
        self._streams = {1: _Bounded(limit), 2: _Bounded(limit)}
        self._open = {1, 2}

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._streams[fd].feed(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        self._open.discard(fd)
        if not self._open:
            self.closed.set()

    def process_exited(self) -> None:
        self.exited.set()

    def text(self, fd: int) -> str:
        return self._streams[fd].text()


class _Bounded:
    """The first and the last characters of a stream, and how many stood between them."""

    def __init__(self, limit: int) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._head_room = limit // 2
        self._tail_room = limit - limit // 2
        self._head: list[str] = []
        self._tail: deque[str] = deque()
        self._tail_size = 0
        self._dropped = 0

    def feed(self, data: bytes, *, final: bool = False) -> None:
        text = self._decoder.decode(data, final)
        if self._head_room:
            self._head.append(text[: self._head_room])
            text, self._head_room = text[self._head_room :], max(0, self._head_room - len(text))
        if text:
            self._tail.append(text)
            self._tail_size += len(text)
        while self._tail and self._tail_size - len(self._tail[0]) >= self._tail_room:
            gone = len(self._tail.popleft())
            self._tail_size -= gone
            self._dropped += gone

    def text(self) -> str:
        self.feed(b"", final=True)
        tail = "".join(self._tail)
        surplus = max(0, len(tail) - self._tail_room)
        dropped = self._dropped + surplus
        gap = f"\n[... {dropped} characters left out ...]\n" if dropped else ""
        return "".join(self._head) + gap + tail[surplus:]
