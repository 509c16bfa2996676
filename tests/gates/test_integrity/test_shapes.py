"""Tests the labelled samples: each weakening of tests blocks, each other change does not."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from swarmgate.domain.review.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Callable

    Found = Callable[..., list[Finding]]

Shape = dict[str, Any]


def _read(name: str) -> Any:
    return tomllib.loads((Path(__file__).parent / f"{name}.toml").read_text(encoding="utf-8"))


def _id(shape: Shape) -> str:
    return f"{shape['language']}: {shape['title']}"


BASES = _read("bases")
WEAKENINGS: list[Shape] = _read("weakenings")["shape"]
CHANGES: list[Shape] = _read("changes")["shape"]


def sides(shape: Shape) -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    """The files before and after a shape, and where the moved ones were."""
    old: dict[str, str] = BASES[shape["language"]]
    new, moved = dict(old), dict[str, str]()
    for edit in shape["edit"]:
        path = edit["path"]
        if "old" in edit:
            assert new[path].count(edit["old"]) >= 1, f"{path} holds no {edit['old']!r}"
            new[path] = new[path].replace(edit["old"], edit["new"], 1)
        elif "new" in edit:
            new[path] = edit["new"]
        else:
            content = new.pop(path)
            if "moved" in edit:
                new[edit["moved"]], moved[edit["moved"]] = content, path
    return old, new, moved


def blocking(found: list[Finding]) -> list[str]:
    return [f"{each.rule}: {each.message}" for each in found if each.severity.rank >= Severity.MEDIUM.rank]


@pytest.mark.parametrize("shape", WEAKENINGS, ids=_id)
def test_a_weakening_blocks(found: Found, shape: Shape) -> None:
    old, new, moved = sides(shape)
    assert blocking(found(old, new, moved=moved))


@pytest.mark.parametrize("shape", CHANGES, ids=_id)
def test_a_change_that_weakens_nothing_passes(found: Found, shape: Shape) -> None:
    old, new, moved = sides(shape)
    assert blocking(found(old, new, moved=moved)) == []


_CODE = {
    "python": ("src/shop/price.py", "sum(prices) * (1 + tax)", "sum(each for each in prices) * (tax + 1.0)"),
    "javascript": ("src/price.js", "reduce((a, b) => a + b, 0) * (1 + tax)", "reduce((a, b) => b + a, 0) * (tax + 1)"),
    "go": ("price.go", "sum += each", "sum = sum + each*1"),
    "rust": ("src/lib.rs", "prices.iter().sum()", "prices.iter().copied().fold(0, |a, b| a + b)"),
    "java": ("src/main/java/shop/Price.java", "sum += each", "sum = sum + each * 1"),
}


@pytest.mark.parametrize("shape", WEAKENINGS, ids=_id)
def test_a_weakening_blocks_beside_a_change_of_the_tested_code(found: Found, shape: Shape) -> None:
    old, new, moved = sides(shape)
    path, was, now = _CODE[shape["language"]]
    new[path] = new[path].replace(was, now)
    findings = found(old, new, moved=moved)
    assert blocking(findings) or "expected-changed" in {each.rule for each in findings}


_MANIFEST = """
it("names itself", () => {{
  expect(json).to.have.property("author", "{author}");
  expect(json).to.have.property("homepage", "https://example.org");
  expect(json.bugs).to.eql({{ {bugs} }});
}});
"""


@pytest.mark.parametrize(
    ("path", "before", "now", "blocks"),
    [
        ("tests/test_a.py", "def test_a():\n    assert 0, 'finish me'\n", "", False),
        ("tests/test_a.py", "def test_a():\n    assert load() == 0\n", "", True),
        ("tests/test_a.py", "def test_a():\n    load()\n    assert 0\n", "", True),
        ("tests/test_a.py", "def test_a():\n    pass\n", "", True),
        (
            "test/package.test.js",
            _MANIFEST.format(author="Labs <help@example.org>", bugs='url: "https://example.org/issues"'),
            _MANIFEST.format(author="Inc.", bugs='url: "https://example.org/issues", email: "help@example.org"'),
            False,
        ),
    ],
)
def test_what_a_change_of_one_file_says(found: Found, path: str, before: str, now: str, *, blocks: bool) -> None:
    other = "x = 1\n" if path.endswith(".py") else "// x\n"
    old, new = {path: other + before, "src/a.py": "a = 1\n"}, {path: other + now, "src/a.py": "a = 2\n"}
    findings = found(old, new)
    assert bool(blocking(findings)) is blocks, findings
