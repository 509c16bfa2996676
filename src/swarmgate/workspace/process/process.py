"""Runs one external program, bounded in time and memory; nothing that it started outlives the call.

Who sees to that is `supervision`. Elsewhere than on Linux a daemon that makes a session of its own is not found.
"""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import os
import shlex
import signal
import time
from collections import deque
from typing import TYPE_CHECKING

from swarmgate.domain.base import Frozen
from swarmgate.errors import MissingRequirement, WorkspaceError
from swarmgate.workspace import system
from swarmgate.workspace.process import orphans, table, temporary
from swarmgate.workspace.process.lines import Lines
from swarmgate.workspace.process.supervision.call import Call

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
    from pathlib import Path

PATIENCE = 20
"""How many times its limit a program may take that others keep from the processors."""

IDLE = 0.01
"""Of the time that passed, what uses less of one processor, and asks for none, waits for what will not come."""

_SHORTEST_S = 0.05

KILLED = tuple(code for number in (system.KILL, signal.SIGTERM) for code in (-number, 128 + number))
"""Exit codes of what was ended from outside; a shell and bubblewrap say so of their program by the second kind."""


class Completed(Frozen):
    """The result of a process that has ended.

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
    def was_killed(self) -> bool:
        """Whether somebody ended it: the kernel where memory is short, a user, another program."""
        return self.exit_code in KILLED

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
    on_line: Callable[[bytes], None] | None = None,
    while_at_work: bool = False,
) -> Completed:
    """Run a program in a session of its own and wait for its end.

    At the time limit, on cancellation and after a normal exit the whole process group is ended (SIGTERM, a short
    grace, SIGKILL), and then whoever is left of what it started.

    Args:
        argv: the argument list, or a string for `/bin/sh -c`.
        cwd: the folder that it runs in.
        timeout_s: seconds until it is ended.
        env: variables on top of the inherited environment.
        inherit: False: `env` is the whole environment.
        stdin: its standard input, empty when None.
        output_limit: characters kept of each of stdout and stderr.
        on_line: hears each line of stdout as it comes (`lines.Lines`); what it raises ends the program, and is raised
            here afterwards.
        while_at_work: at its limit, a program that computes and had less than that of the processors goes on, up to
            `PATIENCE` times as long: what it says shall not hang on who else is at work. Only where the system tells
            (Linux).

    Raises:
        MissingRequirement: the program is not there or cannot be executed.
        WorkspaceError: `cwd` is no folder, the operating system refused to start the process, or something that it
            started cannot be ended.
    """
    command = ["/bin/sh", "-c", argv] if isinstance(argv, str) else list(argv)
    displayed = argv if isinstance(argv, str) else shlex.join(command)
    if not cwd.is_dir():  # noqa: ASYNC240 - one stat call
        raise WorkspaceError(f"`{displayed}` cannot run in {cwd}: there is no such folder")
    capture = _Capture(output_limit, on_line)
    variables = marked(env, inherit=inherit)
    started = time.monotonic()
    with temporary.holding(stdin) as source, starting(command, displayed):
        call = Call(command, cwd, variables, source, capture)
        capture.stop = call.ended.set
        async with call:
            timed_out = not await _ended(call, timeout_s, while_at_work=while_at_work)
    capture.raise_refusal()
    return Completed(
        command=displayed.encode(errors="replace").decode(),
        exit_code=None if timed_out else call.exit_code,
        stdout=capture.text(1),
        stderr=capture.text(2),
        seconds=time.monotonic() - started,
        timed_out=timed_out,
    )


async def _ended(call: Call, limit: float, *, while_at_work: bool) -> bool:
    """Whether a program has ended in its time."""
    started, left, used = time.monotonic(), limit, 0.0
    while True:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(left):
                await call.ended.wait()
        if call.ended.is_set():
            return True
        now = table.processor_s(call.supervisor) if while_at_work else None
        if now is None or now >= limit or time.monotonic() - started > PATIENCE * limit:
            return False
        if 0 <= now - used < IDLE * left and not table.starves(call.supervisor):
            return False
        used, left = now, min(max(limit - now, _SHORTEST_S), limit)


async def again_if_killed(once: Callable[[], Awaitable[Completed]]) -> Completed:
    """What `once` runs; a second time where somebody ended the first, which says nothing of what was run."""
    completed = await once()
    return await once() if completed.was_killed else completed


def marked(env: Mapping[str, str] | None, *, inherit: bool) -> dict[str, str]:
    """The environment of a program that is about to be started, with the mark by which what it leaves is found."""
    variables = {**(os.environ if inherit else {}), **(env or {})}
    variables[orphans.VARIABLE] = variables.get(orphans.VARIABLE, "") + orphans.mark()
    return variables


@contextlib.contextmanager
def starting(command: list[str], displayed: str) -> Iterator[None]:
    """Turns the failure to start a program into an error that says why, and what to do."""
    try:
        yield
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
        raise WorkspaceError(f"`{displayed[:200]}` could not be started: {error}") from error


class _Capture:
    """What a process printed, bounded; `stop` is called where somebody who hears its lines raises."""

    def __init__(self, limit: int, on_line: Callable[[bytes], None] | None = None) -> None:
        self._streams = {1: Bounded(limit), 2: Bounded(limit)}
        self._lines = Lines(on_line) if on_line else None
        self._refusal: Exception | None = None
        self.stop: Callable[[], None] = lambda: None

    def feed(self, stream: int, data: bytes) -> None:
        self._streams[stream].feed(data)
        if stream == 1 and self._lines and self._refusal is None:
            try:
                self._lines.feed(data)
            except Exception as error:  # noqa: BLE001 - it is raised where the program was started
                self._refusal = error
                self.stop()

    def raise_refusal(self) -> None:
        """Raises what ended the program, where a hearer did."""
        if self._refusal is not None:
            raise self._refusal

    def text(self, stream: int) -> str:
        return self._streams[stream].text()


class Bounded:
    """The first and the last characters of a stream, and how many were left out between them."""

    def __init__(self, limit: int) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._head_room = limit // 2
        self._tail_room = limit - limit // 2
        self._head: list[str] = []
        self._tail: deque[str] = deque()
        self._tail_size = 0
        self._dropped = 0

    def feed(self, data: bytes, *, final: bool = False) -> None:
        """Takes bytes; the last ones are `final`."""
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
        """The stored characters, with a note of what was left out."""
        self.feed(b"", final=True)
        tail = "".join(self._tail)
        surplus = max(0, len(tail) - self._tail_room)
        dropped = self._dropped + surplus
        gap = f"\n[... {dropped} characters left out ...]\n" if dropped else ""
        return "".join(self._head) + gap + tail[surplus:]
