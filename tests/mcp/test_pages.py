from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarmgate.errors import UsageError
from swarmgate.mcp.pages import LARGEST, Pages, fitting

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=90),
    lambda inner: st.lists(inner, max_size=9) | st.dictionaries(st.sampled_from("abcdef"), inner),
    max_leaves=30,
)


def size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))


def test_a_list_is_told_whole_over_its_pages() -> None:
    pages, lines = Pages(), [{"seq": number, "text": "ä" * 300} for number in range(500)]
    page = pages.first("history", {"about": "all", "lines": lines}, "lines")
    found, count = list(page.data["lines"]), 1
    while page.next:
        page = pages.after("history", page.next, "lines")
        assert page.data["about"] == "all"
        assert size(page.data) <= LARGEST
        assert not page.cut
        found, count = found + page.data["lines"], count + 1
    assert found == lines
    assert count > 5


def test_one_item_that_is_larger_than_a_page_is_cut_and_does_not_stand_in_the_way() -> None:
    page = Pages().first("history", {"lines": [{"text": "x" * 10 * LARGEST}, {"text": "y"}]}, "lines")
    assert [each["text"][0] for each in page.data["lines"]] == ["x", "y"]
    assert "characters more]" in page.data["lines"][0]["text"]
    assert page.cut
    assert not page.next


@pytest.mark.parametrize("cursor", ["", "x", "0-0", "-1", "0000000000000000-99", "../../etc/passwd-1"])
def test_a_cursor_that_nobody_gave_is_refused(cursor: str) -> None:
    with pytest.raises(UsageError, match="no such page"):
        Pages().after("history", cursor, "lines")


def test_a_cursor_belongs_to_its_tool() -> None:
    pages = Pages()
    page = pages.first("history", {"lines": ["x" * 6000 for _ in range(50)]}, "lines")
    assert pages.after("history", page.next, "lines").data["lines"]
    with pytest.raises(UsageError, match="no such page"):
        pages.after("failures", page.next, "lines")


@pytest.mark.slow
@given(JSON)
def test_what_fits_is_as_it_was_and_what_does_not_is_cut(value: Any) -> None:
    found, cut = fitting(value, 300)
    assert cut == (found != value)
    assert cut or size(found) <= 300
