"""Debounces file changes: reported after a quiet time, and after five of them at most while changes continue."""

from __future__ import annotations

from pathlib import Path

MOST = 5
"""Quiet times after the first change when it is taken in although more keep coming."""


class Debounce:
    """Collects changed files until they are due. Times are seconds of `time.monotonic`, given by the caller.

    Args:
        quiet_s: seconds without a change before the files are due.
    """

    def __init__(self, quiet_s: float) -> None:
        self.quiet_s = quiet_s
        self._paths: set[Path] = set()
        self._first = self._last = 0.0

    def touch(self, path: Path, now: float) -> None:
        """A file changed."""
        if not self._paths:
            self._first = now
        self._last = now
        self._paths.add(path)

    def waits(self, path: Path) -> bool:
        """Whether a change of that file is not handed out yet."""
        return path in self._paths

    @property
    def due(self) -> float | None:
        """When the files are to be taken; None when there are none."""
        return min(self._last + self.quiet_s, self._first + MOST * self.quiet_s) if self._paths else None

    def take(self, now: float) -> frozenset[Path]:
        """The files, if they are due; empty before."""
        due = self.due
        if due is None or now < due:
            return frozenset()
        taken = frozenset(self._paths)
        self._paths.clear()
        return taken
