"""Cuts lists into pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from swarmgate.errors import UsageError
from swarmgate.server.services.views.view import Page

T = TypeVar("T")

LONGEST = 1000
"""As many items has a page at most."""


def page(items: Sequence[T], *, after: str, limit: int, key: Callable[[T], str]) -> Page[T]:
    """The part of a list behind an item.

    Args:
        items: all of them, in order.
        after: the key of the last item of the part before; empty: from the first one on. Where that item is gone, the
            list begins anew.
        limit: as many at most.
        key: what names an item.
    """
    begins = next((place for place, each in enumerate(items, start=1) if after and key(each) == after), 0)
    size = max(1, min(limit, LONGEST))
    part = tuple(items[begins : begins + size])
    return Page[T](items=part, next=key(part[-1]) if part and begins + size < len(items) else "")


def number(after: str) -> int:
    """The position that a page of numbered items goes on behind; 0 where none is given.

    Raises:
        UsageError: it is no number.
    """
    if not after:
        return 0
    if not after.isascii() or not after.isdigit() or len(after) > 18:  # noqa: PLR2004 - digits of 64 bits
        raise UsageError(f"`after` is the number of an entry, not {after[:40]!r}.", hint="Take it from `next`.")
    return int(after)


def numbered(items: Iterable[T], *, after: str, limit: int, key: Callable[[T], int]) -> Page[T]:
    """The part of a list whose items are numbered in rising order, behind a number."""
    begins, size = number(after), max(1, min(limit, LONGEST))
    part: list[T] = []
    for each in items:
        if key(each) <= begins:
            continue
        if len(part) == size:
            return Page[T](items=tuple(part), next=str(key(part[-1])))
        part.append(each)
    return Page[T](items=tuple(part))
