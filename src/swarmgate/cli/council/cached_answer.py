"""Prints an answer that came from the cache, for `discuss`, `decide` and `critique`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class CachedAnswer:
    """Which record answers a request: the one that was to be made (`asked`), or an earlier one of the same request."""

    asked: str
    id: str

    @property
    def cached(self) -> bool:
        """Whether nobody was asked."""
        return self.asked != self.id

    def data(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """The result as JSON, with `cached`."""
        return {**data, "cached": self.cached}

    def lines(self, lines: Sequence[str], *, cost: str = "") -> list[str]:
        """The result in lines: that it cost nothing now comes first, and its line `cost` says when that was spent."""
        if not self.cached:
            return list(lines)
        marked = [f"Spent then: {each.removeprefix('Cost: ')}" if each == cost else each for each in lines]
        return [f"Answered from the record of {self.id}, at no cost; --no-cache holds it anew", *marked]
