"""Words of others stay words in a page of ours."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarmgate.domain.text.markdown import code, inert, inline, prose


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("# a", r"\# a"),
        ("1. a", r"1\. a"),
        ("- a", r"\- a"),
        ("a\n## b", "a ## b"),
        ("snake_case and _this_", r"snake_case and \_this\_"),
        ("<!-- x -->", r"\<!-- x -->"),
        ("a | b", r"a \| b"),
        ("&lt;b&gt; R&D", r"\&lt;b\&gt; R\&D"),
        ("see https://x.y/z or FTP://x", r"see https\://x.y/z or FTP\://x"),
        ("www.x.y, WwW.x.y; a.b", r"www\.x.y, WwW\.x.y; a.b"),
        ("\u202egnp", "\ufffdgnp"),
    ],
)
def test_what_marks_something_is_escaped(text: str, shown: str) -> None:
    assert inline(text) == shown


@given(st.text())
def test_it_is_always_one_line_that_opens_nothing(text: str) -> None:
    shown = inline(text, 100)
    assert len(shown.splitlines()) <= 1
    assert not re.match(r"[#>+=-]|\d{1,9}[.)]|```|~~~|\|", shown)
    assert not re.search(r"(?<!\\)&|\w://|www\.", shown, re.IGNORECASE)
    assert all(line.startswith("> ") for line in prose(text))


@pytest.mark.parametrize(("emphasis", "shown"), [(False, r"\*a\* \`b\` c\://d"), (True, r"*a* \`b\` c\://d")])
def test_emphasis_alone_may_stay(shown: str, *, emphasis: bool) -> None:
    assert inert("*a* `b` c://d", emphasis=emphasis) == shown


def test_prose_says_how_much_it_leaves_out() -> None:
    assert prose("a\n\nb\nc", 2) == ["> a", "> b", "> ... (1 more lines)"]


@pytest.mark.parametrize(("text", "shown"), [("a b", "`a b`"), ("a `b`", "`` a `b` ``"), ("a\nb", "`a b`")])
def test_code_stays_as_it_is_typed(text: str, shown: str) -> None:
    assert code(text) == shown
