"""Runs a server process while a block of code runs, and ends it afterwards."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from swarmgate.errors import MissingRequirement

_GRACE_S = 5.0


@contextmanager
def serving(argv: Sequence[str]) -> Iterator[str]:
    """Starts a program and yields the first line that it prints: by custom, where it can be reached.

    Its stdin stays open for the length of the block, so that a program which ends when stdin closes cannot outlive us.

    Raises:
        MissingRequirement: it ended without a word; the message carries what it said on stderr.
    """
    process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with process:
        try:
            line = process.stdout.readline().strip() if process.stdout else ""
            if not line:
                output = process.stderr.read().strip() if process.stderr else ""
                raise MissingRequirement(f"`{argv[0]}` did not start: {output or 'it ended without a word'}")
            yield line
        finally:
            process.terminate()
            try:
                process.wait(_GRACE_S)
            except subprocess.TimeoutExpired:
                process.kill()
