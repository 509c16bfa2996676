"""Cuts answers into pages that stay below 20,000 tokens.

A page has at most `LARGEST` bytes of JSON: however a model counts, no text has less than 1.5 bytes of UTF-8 a token.
"""

from __future__ import annotations

import json
import secrets
from collections import OrderedDict
from typing import Any, NamedTuple

from swarmgate.errors import UsageError

LARGEST = 28_000
"""Bytes of a result as JSON, in UTF-8; what is around it takes less than 2,000 more."""

_KEPT = 16
"""As many answers are kept for their next pages; the oldest goes first."""

_CUTS = ((4_000, 200), (1_000, 60), (300, 20), (80, 6), (20, 2))
"""The longest text (characters) and list (items) of an answer that is too large, tried in this order."""


class Page(NamedTuple):
    """A page: its data, the cursor of the next one (empty: it is the last), and whether anything in it was cut."""

    data: dict[str, Any]
    next: str
    cut: bool


class _Kept(NamedTuple):
    tool: str
    data: dict[str, Any]


class Pages:
    """The answers of one session that have more pages than were asked for yet."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, _Kept] = OrderedDict()

    def first(self, tool: str, data: dict[str, Any], listed: str) -> Page:
        """The first page.

        Args:
            tool: whose answer it is.
            data: the result, JSON-ready.
            listed: the key of the list that is spread over pages; empty: the answer has one page.
        """
        key = secrets.token_hex(8)
        page = self._page(key, _Kept(tool, data), listed, 0)
        if page.next:
            self._kept[key] = _Kept(tool, data)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return page

    def after(self, tool: str, cursor: str, listed: str) -> Page:
        """The page behind a cursor.

        Raises:
            UsageError: no answer of this tool has such a page, or it is not kept any more.
        """
        key, _, begins = cursor.partition("-")
        kept = self._kept.get(key)
        if kept is None or kept.tool != tool or not (begins.isascii() and begins.isdigit() and len(begins) < 10):  # noqa: PLR2004 - digits
            raise UsageError("There is no such page, or it is not kept any more.", hint="Call again without `after`.")
        return self._page(key, kept, listed, int(begins))

    def _page(self, key: str, kept: _Kept, listed: str, begins: int) -> Page:
        if not listed:
            data, cut = fitting(kept.data, LARGEST)
            return Page(data, "", cut)
        data, cut = fitting(kept.data | {listed: []}, LARGEST // 2)
        items: list[Any] = []
        room, place = LARGEST - _size(data), begins
        for each in kept.data[listed][begins:]:
            item, shortened = fitting(each, LARGEST // 4)
            if (room := room - _size(item) - 1) < 0:
                break
            items.append(item)
            cut, place = cut or shortened, place + 1
        return Page(data | {listed: items}, f"{key}-{place}" if place < len(kept.data[listed]) else "", cut)


def fitting(value: Any, room: int) -> tuple[Any, bool]:
    """The value in at most so many bytes of JSON, and whether texts or lists were cut for that."""
    found = value
    for longest, most in _CUTS:
        if _size(found) <= room:
            return found, found is not value
        found = _cut(value, longest, most)
    return found, True


def _cut(value: Any, longest: int, most: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= longest else f"{value[:longest]} [{len(value) - longest} characters more]"
    if isinstance(value, list):
        return [_cut(each, longest, most) for each in value[:most]]
    if isinstance(value, dict):
        return {name: _cut(each, longest, most) for name, each in value.items()}
    return value


def _size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))
