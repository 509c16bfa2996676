"""Data model of one syntax error: its position and a message."""

from __future__ import annotations

import re
from typing import NamedTuple


class Problem(NamedTuple):
    """`line` and `column` (in characters) count from 1; 0 is the whole file."""

    line: int
    column: int
    message: str


def place(content: bytes, offset: int) -> tuple[int, int]:
    """Line and column of a byte of the content."""
    offset = min(max(offset, 0), len(content))
    begin = content.rfind(b"\n", 0, offset) + 1
    return content.count(b"\n", 0, offset) + 1, len(content[begin:offset].decode("utf-8", "replace")) + 1


def problem_at(content: bytes, offset: int, message: str) -> Problem:
    """A problem at a byte of the content."""
    return Problem(*place(content, offset), message)


def blank(text: bytes) -> bytes:
    """As many bytes, the line ends kept: what follows stays where it is."""
    return re.sub(rb"[^\n]", b" ", text)
