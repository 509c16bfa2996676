"""Tests how lines are wrapped: by the columns of a terminal, between words, with nothing lost."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from swarmgate.domain.text.screen import columns, wrapped


def _lines(text: str, width: int, hang: int = 0) -> list[str]:
    return ["".join(part for part, _ in line) for line in wrapped([(text, "")], width, hang)]


@pytest.mark.parametrize(
    ("text", "wide"), [("abc", 3), ("日本語", 6), ("é", 1), ("e\u0301", 1), ("😀", 2), ("a\u200bb", 2), ("", 0)]
)
def test_columns_are_those_of_a_terminal(text: str, wide: int) -> None:
    assert columns(text) == cell_len(text) == wide


def test_a_line_is_broken_between_words_and_goes_on_below_where_it_began() -> None:
    assert _lines("one two three four", 9, 2) == ["one two", "  three", "  four"]
    assert _lines("  - one two three", 11, 4) == ["  - one two", "    three"]
    assert _lines("one two three", 0) == ["one two three"]


def test_a_word_that_is_too_long_stays_whole() -> None:
    assert _lines("a src/a/very/long/path.py b", 10) == ["a", "src/a/very/long/path.py", "b"]


def test_a_word_begins_further_left_where_it_would_not_fit_otherwise() -> None:
    assert _lines("FAILED tests/a.py::b now", 14, 4) == ["FAILED", " tests/a.py::b", "    now"]


def test_scripts_without_blanks_are_broken_between_characters() -> None:
    assert _lines("検索を速くする", 6) == ["検索を", "速くす", "る"]


def test_styles_stay_with_their_words() -> None:
    assert [*wrapped([("one ", "red"), ("two three", "green")], 8)] == [
        [("one ", "red"), ("two", "green")],
        [("three", "green")],
    ]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text("abcé日本😀", min_size=1, max_size=12), min_size=1), st.integers(4, 30), st.integers(0, 3))
def test_no_word_is_broken_and_nothing_is_lost(words: list[str], width: int, hang: int) -> None:
    text = " ".join(words)
    lines = _lines(text, width, hang)
    assert "".join("".join(lines).split()) == "".join(words)
    for line in lines:
        assert columns(line) <= width or len(line.split()) == 1
