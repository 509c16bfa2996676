"""docs/sources.md has every requirement of the source documents once, with a state and with tests that are there."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/sources.md"
REQUIREMENTS = 315
_ROW = re.compile(r"^\| (\d+) \| [^|]+ \| [^|]+ \| (\w+) \| ([^|]*) \|$", re.MULTILINE)
_TEST = re.compile(r"`(tests/(?:\w+/)*test_\w+\.py)::(\w+)`")


def section(text: str, title: str) -> str:
    return text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


@cache
def functions(path: str) -> frozenset[str]:
    """The tests that pytest collects from a file."""
    place = ROOT / path
    if not place.is_file():
        return frozenset()
    tree = ast.parse(place.read_text("utf-8"))
    return frozenset(
        each.name
        for each in tree.body
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) and each.name.startswith("test_")
    )


def unproven(proof: str) -> str:
    """What is wrong with the proof of a row; empty when it names tests, and each of them is there."""
    named = _TEST.findall(proof)
    if not named or _TEST.sub("", proof).replace(",", "").strip():
        return f"no list of tests: {proof!r}"
    return ", ".join(f"{path}::{name}" for path, name in named if name not in functions(path))


def explained(text: str) -> dict[int, list[str]]:
    """Why a row differs and what to type instead, by its number."""
    rows = [line.strip("| ").split(" | ") for line in section(text, "Different on purpose").splitlines()]
    return {int(number): row[3:] for row in rows if row[0][:1].isdigit() for number in row[0].split(", ")}


def problems(text: str) -> list[str]:
    rows = [(int(number), state, proof) for number, state, proof in _ROW.findall(text)]
    found = [f"{number}: {told}" for number, _, proof in rows if (told := unproven(proof))]
    if (numbers := [row[0] for row in rows]) != list(range(1, REQUIREMENTS + 1)):
        found.append(
            f"the numbers are not 1 to {REQUIREMENTS}: {sorted(set(range(1, REQUIREMENTS + 1)) ^ set(numbers))}"
        )
    why = explained(text)
    for number, state, _ in rows:
        if state not in {"works", "different"}:
            found.append(f"{number}: {state} is no state of it")
        if state != "works" and (len(why.get(number, ())) != 2 or not all(why[number])):
            found.append(f"{number}: {state}, without a reason and what to type instead")
    return found


def test_every_requirement_has_a_state_and_tests_that_are_there() -> None:
    assert problems(PAGE.read_text("utf-8")) == []


def test_every_package_of_the_design_card_has_tests() -> None:
    rows = [line.split(" | ") for line in section(PAGE.read_text("utf-8"), "The design card").splitlines()]
    proofs = [row[-1].removesuffix(" |") for row in rows if row[0].startswith("| ") and row[0] != "| it asks for"]
    assert len(proofs) >= 8
    assert [told for proof in proofs if (told := unproven(proof))] == []


def test_what_is_wrong_is_found() -> None:
    text = PAGE.read_text("utf-8")
    row = re.search(r"^\| 27 \|.*\n", text, re.MULTILINE)
    assert row
    for wrong, told in (
        (text.replace(row[0], ""), "the numbers are not 1 to 315: [27]"),
        (text.replace(row[0], row[0] * 2), "the numbers are not 1 to 315: []"),
        (text.replace(row[0], row[0].replace("::test_", "::test_no_", 1)), "27: tests/"),
        (text.replace(row[0], row[0].replace("tests/", "tests/no/", 1)), "27: tests/no/"),
        (text.replace(row[0], re.sub(r"`.*`", "by hand", row[0])), "27: no list of tests: 'by hand'"),
        (text.replace(row[0], row[0].replace("| works |", "| partial |")), "27: partial is no state of it"),
        (text.replace(row[0], row[0].replace("| works |", "| different |")), "27: different, without a reason"),
    ):
        assert any(each.startswith(told) for each in problems(wrong)), told
