from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarmgate.domain.text.same_message import failing_lines, normalised, steady

SAME = [
    ("src/a.py:3 `encode` only raises", "src/b/c.py:17 `decode` only raises"),
    ("Missing expiration claim in issue_token().", "missing expiration claim in refresh_token()"),
    ("The module calc.parser has no docstring", "Module calc.render has no docstring."),
    ("2 findings, worst in src/x/y.py", "11 findings, worst in lib/z.ts"),
    ("'part' has no unit", '"size" has no unit'),
    ("commit 63dac09 was refused", "commit a1b2c3d4e5 was refused"),
    ("object at 0x7f12ab is shared", "object at 0xdeadbeef is shared"),
    ("did not end within 80 model calls", "did not end within 12 model calls"),
    ("`a`, `b` and `c` are unused", "`d` is unused".replace(" is ", " are ")),
    ("tests/test_a.py::test_one[x] is empty", "tests/unit/test_b.py::TestC::test_two is empty"),
    ("took 3.5 s instead of 200 ms", "took 12 s instead of 10 ms"),
]

DIFFERENT = [
    ("`x`", "`the cache is never invalidated`"),
    ("'does not lock the file'", "'is too slow to use'"),
    ('It says "it cannot be null"', 'It says "tests are missing"'),
    ("user_id", "session_token"),
    ("auth.login() leaks", "db.query() leaks"),
    ("KeyError: 'a'", "KeyError: 'b'"),
    ("no unit", "no test"),
    ("F401: `os` imported but unused", "F841: `os` imported but unused"),
    ("CWE-78 in src/a.py", "CWE-89 in src/a.py"),
    ("A03 Injection: `q` is built from input", "A01 Injection: `q` is built from input"),
    ("`a` calls itself", "`a` never calls itself"),
    ("The handler doesn't check and can't refuse", "The handler doesn't log and can't refuse"),
    ("read and/or write is open", "read is open"),
    ("needs a test, e.g. for None", "needs a test, i.e. for None"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_messages_that_differ_in_names_and_numbers_meet(one: str, other: str) -> None:
    assert normalised(one) == normalised(other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_messages_about_different_things_stay_apart(one: str, other: str) -> None:
    assert normalised(one) != normalised(other)


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.from_regex(r"[a-z]{2,8}", fullmatch=True))
def test_neither_numbers_nor_quoted_names_tell_messages_apart(one: int, other: int, name: str) -> None:
    assert normalised(f"`{name}` fails {one} times") == normalised(f"`x` fails {other} times")


@given(st.text(max_size=200))
def test_any_text_is_taken_and_the_second_time_changes_little(text: str) -> None:
    once = normalised(text)
    assert "\n" not in once
    assert len(normalised(once)) <= len(once)


def test_what_differs_between_runs_is_no_difference() -> None:
    one = "tests/test_a.py:12: AssertionError in 0.12s at 0x7f00aa /tmp/pytest-1/x"
    other = "tests/test_a.py:14: AssertionError in 3.5s at 0x7f00bb /tmp/pytest-9/y"
    assert steady(one) == steady(other)


def test_values_and_names_are() -> None:
    assert steady("assert 3 == 4") != steady("assert 2 == 4")
    assert steady("test_a failed") != steady("test_b failed")


def test_of_an_output_the_lines_that_tell_are_kept() -> None:
    output = """
    def test_it() -> None:
        value = compute()
>       assert value == 4
E       assert 3 == 4
tests/test_a.py:9: AssertionError
FAILED tests/test_a.py::test_it - assert 3 == 4
1 failed, 3 passed in 0.02s
"""
    lines = failing_lines(output)
    assert "E assert 3 == 4" in lines
    assert not any("compute" in line or "passed" in line for line in lines)
    assert failing_lines(output.replace("3 == 4", "2 == 4")) != lines
    assert failing_lines(output.replace(":9:", ":11:").replace("0.02s", "0.05s").replace("compute", "other")) == lines


def test_an_output_that_says_nothing_counts_whole() -> None:
    assert failing_lines("segfault\n\nbye") == {"segfault", "bye"}
    assert failing_lines("") == frozenset()
