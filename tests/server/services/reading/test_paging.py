from __future__ import annotations

import pytest

from swarmgate.errors import UsageError
from swarmgate.server.services.reading.paging import LONGEST, number, numbered, page


def walked(items: list[str], limit: int) -> list[list[str]]:
    parts, after = [], ""
    while True:
        part = page(items, after=after, limit=limit, key=str)
        parts.append(list(part.items))
        if not (after := part.next):
            return parts


@pytest.mark.parametrize(("count", "sizes"), [(0, [0]), (1, [1]), (4, [2, 2]), (5, [2, 2, 1])])
def test_pages_hold_everything_once_and_the_last_one_names_no_next(count: int, sizes: list[int]) -> None:
    items = [f"i{each}" for each in range(count)]
    parts = walked(items, 2)
    assert [len(part) for part in parts] == sizes
    assert [each for part in parts for each in part] == items


def test_where_the_last_item_is_gone_the_list_begins_anew() -> None:
    assert page(["a", "b"], after="gone", limit=1, key=str).items == ("a",)


def test_no_page_is_longer_than_the_longest() -> None:
    items = [str(each) for each in range(LONGEST + 1)]
    assert len(page(items, after="", limit=10**9, key=str).items) == LONGEST


def test_numbered_items_go_on_behind_a_number() -> None:
    part = numbered(range(1, 8), after="2", limit=3, key=int)
    assert (part.items, part.next) == ((3, 4, 5), "5")
    assert numbered(range(1, 8), after="5", limit=3, key=int).next == ""


@pytest.mark.parametrize("after", ["x", "-1", "1.5", "\u0661", "9" * 19])
def test_what_is_no_number_is_refused(after: str) -> None:
    with pytest.raises(UsageError, match="number of an entry"):
        number(after)
