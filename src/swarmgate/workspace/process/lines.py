"""Reads the lines of a program's output while it prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

LONGEST = 8 << 20
"""Bytes of a line; a longer one is passed over: an event that holds a whole file is as long as the file."""


class Lines:
    """Cuts bytes into lines as they come, and gives each whole line away, without its end.

    Args:
        take: gets each line.
        longest: bytes of a line; of a longer one nothing is given.
    """

    def __init__(self, take: Callable[[bytes], None], longest: int = LONGEST) -> None:
        self._take = take
        self._longest = longest
        self._begun = bytearray()
        self._passed = False

    def feed(self, data: bytes) -> None:
        """Takes the next bytes; raises what `take` raises."""
        *whole, rest = data.split(b"\n")
        for piece in whole:
            self._add(piece)
            line, passed = bytes(self._begun), self._passed
            self._begun.clear()
            self._passed = False
            if not passed:
                self._take(line)
        self._add(rest)

    def _add(self, piece: bytes) -> None:
        if not self._passed and len(self._begun) + len(piece) <= self._longest:
            self._begun += piece
        else:
            self._passed = True
            self._begun.clear()
