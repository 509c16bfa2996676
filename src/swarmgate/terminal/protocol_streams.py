"""Takes stdin and stdout for a protocol alone: what else reads finds nothing, and what else prints goes to stderr."""

from __future__ import annotations

import os
import sys
from typing import BinaryIO


def claimed() -> tuple[BinaryIO, BinaryIO]:
    """The two streams, which no program that this process starts inherits."""
    sys.stdout.flush()
    incoming, outgoing = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return incoming, outgoing
