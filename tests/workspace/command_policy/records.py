"""Reads the two lists of command lines beside it."""

from __future__ import annotations

from pathlib import Path

ROOT, HOME = Path("/home/dev/project"), Path("/home/dev")
"""Where the lines of the lists are judged."""


def records(name: str) -> list[str]:
    """The records of a list, without its heading."""
    text = (Path(__file__).parent / name).read_text("utf-8")
    return [record.strip("\n") for record in text.split("\n%\n")[1:]]


def ordinary() -> list[str]:
    """Commands that an agent may run."""
    return records("ordinary.txt")


def dangerous() -> list[tuple[str, str]]:
    """A rule, and a command that it refuses."""
    return [(rule, line) for rule, _, line in (record.partition("\n") for record in records("dangerous.txt"))]
