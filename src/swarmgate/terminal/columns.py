"""Formats rows as aligned columns."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """A line a row; every column but the last as wide as its widest cell."""
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    return [
        "  ".join([*(cell.ljust(width) for cell, width in zip(row[:-1], widths, strict=False)), row[-1]]).rstrip()
        for row in rows
    ]


def at(began: str) -> str:
    """A time of ISO 8601 for people: `2026-11-22 02:29:54 UTC`; `?` where there is none."""
    with suppress(ValueError):
        return datetime.fromisoformat(began).astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    return "?"


def gist(text: str, most: int = 100) -> str:
    """The beginning of a text on one line."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 3]}..."
