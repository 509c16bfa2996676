"""Finds functions and files that the change makes too long."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from swarmgate.gates.quality.complexity import Grown
    from swarmgate.gates.quality.revisions import Change
    from swarmgate.gates.source.file import SourceFile

SHARE = 0.1
"""What a change has to add, as a share of the limit, to answer for the size: the drop that spills over is no fault."""


def long_functions(grown: Iterable[Grown], limit: int) -> Iterator[Grown]:
    """Functions beyond `limit` lines of code that were not before."""
    for each in grown:
        before = each.old.length if each.old else 0
        if before <= limit < each.function.length and each.longer > limit * SHARE:
            yield each


def long_files(change: Change, limit: int) -> Iterator[tuple[SourceFile, int, int]]:
    """Files beyond `limit` lines, blank ones not counted, that were not before: the file, its lines then and now."""
    for file in change.product:
        fresh = len(change.fresh[file.path])
        if fresh > limit * SHARE:
            was, now = count(file.was.text), count(file.now.text)
            if was <= limit < now and now - was > limit * SHARE:
                yield file, was, now


def count(text: str) -> int:
    """The lines of a text that are not blank."""
    return sum(1 for line in text.split("\n") if line.strip())
