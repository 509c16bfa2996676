"""Tests that TOML which is expensive to parse is refused, and that all other TOML is read as by tomllib."""

from __future__ import annotations

import time
import tomllib

import pytest

from swarmgate.config import toml_text

MANY = 3000  # parts: tomllib takes a tenth of a second for these, and minutes for those of an attacker


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (".".join("a" * MANY) + " = 1", 1),
        ("x = 1\n[" + ".".join("a" * MANY) + "]", 2),
        ("x = 1\n[[" + " . ".join("a" * MANY) + "]]", 2),
        ('"a".' * MANY + "a = 1", 1),
        ("x = '''\n\n'''\ny = {" + ".".join("a" * MANY) + " = 1}", 4),
        ("x = " + "[" * MANY, 1),
        ("x = 1\ny = " + "{a = " * MANY, 2),
    ],
)
def test_what_is_nested_too_deeply_is_refused_by_line(text: str, line: int) -> None:
    with pytest.raises(toml_text.TooDeep, match=rf"nested too deeply.*line {line},"):
        toml_text.loads(text)


def test_many_dotted_keys_together_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toml_text, "DOTS", 500)
    with pytest.raises(toml_text.TooDeep, match=r"500 dots"):
        toml_text.loads("".join(f"a{n}.b.c = 1\n" for n in range(300)))


@pytest.mark.parametrize(
    "text",
    [
        'x = "' + "." * 900 + '"  # ' + "[." * 900 + "\ny = '" + "{." * 900 + "'",
        'x = """' + '.[{"' * 300 + "\"\"\"\ny = '''" + ".[{'" * 300 + " '''''\n[a.b]\nc.d = 1.5",
        "x = [" + "1.5, " * 900 + "]\ny = [" + "{a = 1}, " * 300 + "]",
        'x = "\\"' + ".[" * 300 + '"\n',
    ],
)
def test_dots_and_brackets_within_texts_and_numbers_count_for_nothing(text: str) -> None:
    assert toml_text.loads(text) == tomllib.loads(text)


@pytest.mark.parametrize(
    "text",
    ['x = """' + '\\"""' * 50_000, 'x = """\n' * 20_001, "x = " + '"' * 100_001, "x = '" * 50_000, "x = " + "9" * 9000],
)
def test_what_is_not_toml_is_refused_in_linear_time(text: str) -> None:
    started = time.process_time()
    with pytest.raises(tomllib.TOMLDecodeError):
        toml_text.loads(text + "[." * 200)
    assert time.process_time() - started < 1


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a = 1\nb = [\n 1,\n [2],\n", 2),
        ("a = 1\nb = { c = 1,", 2),
        ('a = "[" # [\nb = """x\n[y\n\n', 2),
        ("\na = '''\n", 2),
        ('a = 1\nb = "x', 2),
        ("a = 1\nb =\n\n", 2),
        ("a = 1\n[automation", 2),
        ("a", 1),
    ],
)
def test_what_the_end_cuts_off_is_told_by_the_line_where_it_began(text: str, line: int) -> None:
    with pytest.raises(tomllib.TOMLDecodeError, match=rf"\((begun )?at line {line}[,)]"):
        toml_text.loads(text)


@pytest.mark.parametrize("text", ["", "a = 3", "[a]\nb = 3", "[a]\nb = []", "[a]\nc = {d = 1}"])
def test_what_is_no_table_is_an_empty_one(text: str) -> None:
    assert toml_text.table(toml_text.loads(text), "a", "b") == {}


def test_a_table_is_found_by_its_keys() -> None:
    document = toml_text.loads("[a.b]\nc = 1")
    assert toml_text.table(document, "a", "b") == {"c": 1}
    assert toml_text.table(document) == document
