"""Runs a verb at a terminal of its own: what a user would see, with every escape, and what he types."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Sequence
from pathlib import Path

_LONGEST_S = 120
_CTRL_C, _AGAIN_S = "\x03", 10.0
"""Ctrl-C between Python's last look for signals and its read is not noticed: it is pressed again, as people do."""

_OF_OTHER_TERMINALS = {"COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR"}

Typed = tuple[str, str | Callable[[], str]]


def at_terminal(
    root: Path, *args: str, columns: int = 80, typed: Sequence[Typed] = (), **environ: str
) -> tuple[str, int]:
    """What was written to the terminal, and the exit code.

    Args:
        root: where the verb runs.
        args: the verb and its arguments.
        columns: how wide the terminal is.
        typed: pairs of a text that is waited for and what is typed then, or what does something first; in order.
        environ: variables that are added.
    """
    inherited = {name: value for name, value in os.environ.items() if name not in _OF_OTHER_TERMINALS}
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-m", "swarmgate", *args],
        cwd=root,
        env={**inherited, "TERM": "xterm-256color", **environ},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - so that Ctrl-C reaches it
    )
    os.close(theirs)
    try:
        seen = _read(ours, list(typed))
        return seen, process.wait(timeout=_LONGEST_S)
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def _read(terminal: int, typed: list[Typed]) -> str:
    seen, answered, end = "", 0, time.monotonic() + _LONGEST_S
    last = ""
    while time.monotonic() < end:
        if not select.select([terminal], [], [], _AGAIN_S)[0]:
            if last == _CTRL_C:
                os.write(terminal, last.encode())
            continue
        try:
            data = os.read(terminal, 65_536)
        except OSError:  # Linux: nobody has the other side open any more
            break
        if not data:
            break
        seen += data.decode("utf-8", "replace")
        if typed and typed[0][0] in seen[answered:]:
            answer = typed.pop(0)[1]
            last = answer if isinstance(answer, str) else answer()
            os.write(terminal, last.encode())
            answered = len(seen)
    assert not typed, f"never asked {typed[0][0]!r}:\n{seen}"
    return seen
