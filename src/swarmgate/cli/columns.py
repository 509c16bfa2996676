"""Rows as lines in columns."""

from __future__ import annotations

from collections.abc import Sequence


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """A line a row; every column but the last as wide as its widest cell."""
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    return [
        "  ".join([*(cell.ljust(width) for cell, width in zip(row[:-1], widths, strict=False)), row[-1]]).rstrip()
        for row in rows
    ]


def gist(text: str, most: int = 100) -> str:
    """The beginning of a text on one line."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 3]}..."
