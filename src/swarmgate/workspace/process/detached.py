"""Starts processes that outlive this one, and sends signals to processes that somebody else started."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self


def start(
    argv: Sequence[str], *, cwd: Path, environ: Mapping[str, str], given: bytes, errors: Path, within_s: float
) -> bytes:
    """Starts a program in a session of its own and waits for the first line that it prints.

    It has to fork once and let the first process end, so that it is nobody's child; what it prints after the line has
    nobody to read it.

    Args:
        argv: the program and its arguments.
        cwd: the folder that it runs in.
        environ: its whole environment.
        given: its standard input.
        errors: the file that its standard error goes to, at its end.
        within_s: how long the line is waited for.

    Returns:
        The line; empty when it ended, or went on, without a word.

    Raises:
        OSError: it could not be started.
    """
    with errors.open("ab") as error_log:
        process = subprocess.Popen(
            argv,
            cwd=cwd,
            env=dict(environ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=error_log,
            start_new_session=True,
        )
    with process:
        if process.stdin is None or process.stdout is None:
            raise ValueError("a process that was started with pipes has none")
        with contextlib.suppress(BrokenPipeError):  # it ended before it read: what it says of that is asked for below
            process.stdin.write(given)
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        return _line(process.stdout.fileno(), time.monotonic() + within_s)


def _line(descriptor: int, until: float) -> bytes:
    data = b""
    while not data.endswith(b"\n"):
        if not select.select([descriptor], [], [], max(0.0, until - time.monotonic()))[0]:
            return b""
        more = os.read(descriptor, 65_536)
        if not more:
            return b""
        data += more
    return data


class Foreign:
    """Another process, which is still the same one however late the signal: where the system can tell (Linux).

    Raises:
        ProcessLookupError: there is none of that number.
    """

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._descriptor = os.pidfd_open(pid) if hasattr(os, "pidfd_open") else -1

    def send(self, number: signal.Signals) -> None:
        """Sends a signal.

        Raises:
            ProcessLookupError: it has ended.
            PermissionError: it is another user's.
        """
        if self._descriptor >= 0:
            signal.pidfd_send_signal(self._descriptor, number)
        else:
            os.kill(self.pid, number)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
