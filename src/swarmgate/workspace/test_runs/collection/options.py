"""Parses a test command into its options with their values, and the paths that it names."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from fnmatch import fnmatch


def words_after(command: str, names: Iterable[str]) -> list[str] | None:
    """The words of a command line behind the last one that names the runner; None where none does."""
    wanted = frozenset(names)
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    places = [at for at, word in enumerate(words) if word.rpartition("/")[2] in wanted]
    return words[places[-1] + 1 :] if places else None


def values_of(words: Sequence[str], *names: str) -> list[str]:
    """The values of an option under any of its names: behind a `=`, or the word after it."""
    found = []
    for at, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name in names and equals and name.startswith("--"):
            found.append(value)
        elif word in names and at + 1 < len(words):
            found.append(words[at + 1])
    return found


def plain(place: str) -> str:
    """A path as git spells it: without `./` and without a slash at its end; `.` for the top."""
    return place.removeprefix("./").rstrip("/") or "."


def within(path: str, place: str) -> bool:
    """Whether a path is, or lies in, a place, which may be a glob."""
    if place in {".", path} or path.startswith(f"{place}/"):
        return True
    return any(char in place for char in "*?[") and (fnmatch(path, place) or fnmatch(path, f"{place}/*"))
