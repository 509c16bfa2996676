"""Data model of the users of an API in the project: who uses a broken symbol and whether it fails."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, order=True)
class Broken:
    """A place that uses a removed or changed form; `how` is the message, `parameter` what it is about."""

    path: str
    line: int
    column: int
    how: str
    parameter: str = field(default="", compare=False)


@dataclass
class Usage:
    """The files that use an API, and the places where they still use its broken form."""

    users: set[str] = field(default_factory=set)
    broken: set[Broken] = field(default_factory=set)

    def add(self, place: Broken) -> None:
        """Add a place; of several on one line the first is kept."""
        if not any((each.path, each.line) == (place.path, place.line) for each in self.broken):
            self.broken.add(place)


REMOVALS = frozenset({"contract-removed", "contract-module-removed"})
"""The rules about a name that is not there any more: nothing of it can be used."""

MOST_FILES = 300
"""So many files that import and name a broken contract are looked at; a wider net would cost seconds."""
