"""Detects an answer that repeats itself while it still streams. Pure, incremental, and bounded in memory.

A model that loops repeats one block exactly, to the end of its window. So does honest data: zeros in base64, equal rows
of a table, a ruler of dashes. What tells them apart is how much there is of it, and whether it has words.
"""

from __future__ import annotations

import re

WORDS = 4_000
"""Characters of the same words, one block after the other, after which an answer is cut: about 1,000 tokens."""

DATA = 24_000
"""The same of what has no words, and of anything inside of a call's arguments or a fence: there, files are written."""

BLOCKS = 6
"""How often a block stands there at the least, however long it is."""

_EVERY = 512
"""Characters between two looks."""
_LONGEST = 4_000
"""Characters of the longest block that is looked for."""
_STORED = max(DATA, BLOCKS * _LONGEST) + _EVERY
_PROBE = 32
"""Characters at the end that are looked for further up."""
_CANDIDATES = 40
"""How many places further up are looked at: a block may hold its own end several times."""

_WORD = re.compile(r"[^\W\d_]{3,}")
_ROW = re.compile(r"\n[ \t]*[|+]|\S[,;|\t]\S[^\n]*[,;|\t]\S")
"""A row of a table, or of values with separators: what is between them may be the same in each."""
_FILES = re.compile(r"```|~~~|\"arguments\"|<parameter|<content|\"content\"")
"""By what a text begins that may be a file's: a fence, or a call that is spelt in text."""


class Repetition:
    """Watches one text as it arrives.

    Args:
        files: whether it is that of a file from the beginning, as the arguments of a call may be.
    """

    def __init__(self, *, files: bool = False) -> None:
        self._files = files
        self._tail = ""
        self._new = 0
        self._seen = 0
        self.found: int | None = None

    def feed(self, text: str) -> bool:
        """Take in more; True from where the text has said the same too often.

        `found` is then the length of what was said once: the text up to the end of the first block.
        """
        for at in range(0, len(text), _EVERY):
            if self.found is not None:
                break
            piece = text[at : at + _EVERY]
            self._tail += piece
            self._seen += len(piece)
            self._new += len(piece)
            if self._new >= _EVERY:
                self._check()
        return self.found is not None

    def _check(self) -> None:
        self._new = 0
        self._files = self._files or _FILES.search(self._tail, max(0, len(self._tail) - _EVERY - 20)) is not None
        self._tail = self._tail[-_STORED:]
        if period := self._period():
            self.found = self._seen - self._span(period) + period

    def _period(self) -> int:
        """The length of the block that the text ends in too often; 0: none."""
        tail = self._tail
        end = len(tail) - _PROBE
        if end <= 0:
            return 0
        probe, at = tail[-_PROBE:], end
        for _ in range(_CANDIDATES):
            at = tail.rfind(probe, max(0, end - _LONGEST), at + _PROBE - 1)
            if at < 0:
                return 0
            period = end - at
            need = max(self._least(tail[-period:]), BLOCKS * period)
            if need <= len(tail) and tail[-need:-period] == tail[period - need :]:
                return period
        return 0

    def _least(self, block: str) -> int:
        """Characters that the repeats of a block have at the least before they are too many."""
        words = {each.lower() for each in _WORD.findall(block)}
        spoken = any(len(set(each)) > 1 for each in words) and re.search(r"\s", block) is not None
        return WORDS if spoken and not self._files and not _ROW.search(block + block) else DATA

    def _span(self, period: int) -> int:
        """How long the repeats are, as far as the text is kept."""
        tail, span = self._tail, period * BLOCKS
        while span + period <= len(tail) and tail[-span - period : -span] == tail[-period:]:
            span += period
        return span
