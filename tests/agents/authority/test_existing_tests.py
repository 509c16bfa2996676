"""A test that was there before the task may be added to; whatever takes something from it is seen."""

from __future__ import annotations

import pytest

from swarmgate.agents.authority.existing_tests import weakened

PY = '''\
"""Tests of sums."""

import pytest
from calc import add


def helper() -> int:
    return 2


@pytest.mark.parametrize("a", [1, 2])
def test_add(a: int) -> None:
    assert add(a, 1) == a + 1


class TestMore:
    def test_zero(self) -> None:
        assert add(0, 0) == 0
'''
JS = """\
import { add } from './calc'
describe('add', () => {
  it('adds', () => {
    expect(add(1, 2)).toBe(3)
  })
})
"""


@pytest.mark.parametrize(
    "after",
    [
        PY,
        PY + "\n\ndef test_new() -> None:\n    assert add(2, 2) == 4\n",
        PY.replace("from calc import add", "import os\n\nfrom calc import add, subtract"),
        PY + "\n    def test_one(self) -> None:\n        assert add(0, 1) == 1\n",
        PY + "\n\n@pytest.mark.skip\ndef test_new() -> None:\n    pass\n",
        PY + "\n\nCASES = [1, 2]\n\n\ndef helper_two() -> int:\n    return 1\n",
        PY.replace("def helper", "# a comment\ndef helper"),
    ],
)
def test_additions_are_fine(after: str) -> None:
    assert weakened("tests/test_calc.py", PY, PY, after) == ""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("assert add(a, 1) == a + 1", "assert True"),
        ("    assert add(a, 1) == a + 1\n", ""),
        ("    assert add(a, 1)", "    return\n    assert add(a, 1)"),
        ("    assert add(a, 1)", "    pytest.skip('later')\n    assert add(a, 1)"),
        ("    assert add(a, 1)", "    a = 0\n    assert add(a, 1)"),
        ("[1, 2]", "[1]"),
        ("def test_add", "def not_a_test"),
        ("@pytest.mark.param", "@pytest.mark.skip\n@pytest.mark.param"),
        ("class TestMore", "@pytest.mark.xfail\nclass TestMore"),
        ("    def test_zero", "    pytestmark = pytest.mark.skip\n\n    def test_zero"),
        ("    return 2", "    return 3"),
        ("\n\ndef helper", "\npytestmark = pytest.mark.skip\n\n\ndef helper"),
        ("\n\ndef helper", '\npytest.skip("all", allow_module_level=True)\n\n\ndef helper'),
        ("\n\ndef helper", "\npytest.importorskip('nothing')\n\n\ndef helper"),
        ("== 0\n", "== 0\n\n\ndef test_add() -> None:\n    assert True\n"),
        ("== 0\n", "== 0\n\n\ntest_add = None\n"),
        ("== 0\n", "== 0\n\n\ndel TestMore\n"),
        ("== 0\n", "== 0\n\n\nif True:\n    def gone() -> None: ...\n    test_add = gone\n"),
        ("== 0\n", "== 0\n\n\nfrom calc import add as test_add\n"),
        ("== 0\n", "== 0\n\n\n@pytest.fixture(autouse=True)\ndef off() -> None:\n    pytest.skip('x')\n"),
        ("== 0\n", "== 0\n\n\ntest_add.__test__ = False\n"),
        ("== 0\n", "== 0\n\n\nTestMore.test_zero = lambda self: None\n"),
        ("== 0\n", "== 0\n\n\ntest_add.__dict__['pytestmark'] = [pytest.mark.skip]\n"),
        ("== 0\n", "== 0\n\n\nX = lambda: a" + ".b" * 5_000 + "\n"),
        ("== 0\n", "== 0\n\n\nX = lambda: a" + ".b" * 100_000 + "\n"),
        ("== 0\n", "== 0\n\n\ndef pytest_collection_modifyitems(items):\n    items.clear()\n"),
    ],
)
def test_what_takes_away_from_a_python_test_is_seen(old: str, new: str) -> None:
    assert old in PY
    assert weakened("tests/test_calc.py", PY, PY, PY.replace(old, new)) != ""


@pytest.mark.parametrize(
    ("old", "new", "seen"),
    [
        ("  it('adds'", "  it('subtracts', () => { expect(1).toBe(1) })\n  it('adds'", False),
        ("import { add }", "import { add, sub }", False),
        ("toBe(3)", "toBeTruthy()", True),
        ("  it('adds'", "  it.skip('adds'", True),
        ("  it('adds'", "  it.only('other', () => {})\n  it('adds'", True),
        ("    expect", "    return\n    expect", True),
        ("describe(", "xdescribe(", True),
    ],
)
def test_other_languages_keep_their_lines_and_their_tests_switched_on(old: str, new: str, seen: object) -> None:
    assert old in JS
    assert bool(weakened("src/add.test.js", JS, JS, JS.replace(old, new, 1))) is seen


def test_what_the_coder_changed_in_this_attempt_may_be_changed_again() -> None:
    coders = PY.replace("== a + 1", "== 1 + a") + "\n\ndef test_fresh() -> None:\n    assert add(5, 5) == 10\n"
    mended = coders.replace("== 1 + a", "== a + 1 + 0").replace("add(5, 5)", "add(5, 6)")
    assert weakened("tests/test_calc.py", PY, coders, mended) == ""
    assert "is gone or changed" in weakened("tests/test_calc.py", PY, coders, mended.replace("add(0, 0)", "add(1, 0)"))


def test_a_file_that_does_not_parse_still_keeps_its_lines() -> None:
    broken = PY + "\n\ndef test_new(:\n"
    assert weakened("tests/test_calc.py", PY, PY, broken) == ""
    assert weakened("tests/test_calc.py", PY, PY, broken.replace("assert add(a", "assert (a")) != ""
