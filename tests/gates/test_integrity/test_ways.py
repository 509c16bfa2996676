"""Tests weakenings that leave the tests in place, each beside a similar change that weakens nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.gates.test_integrity.test_shapes import blocking

if TYPE_CHECKING:
    from tests.gates.test_integrity.test_shapes import Found

PYTHON = """import pytest
from shop import parse, total


def test_total():
    rows = parse("a,b")
    assert total(rows, 0.2) == 31.2


def test_empty():
    assert parse("") == []
"""
SCRIPT = """import { total } from "../src/calc";

it("adds", async () => {
  expect(total([1], 2)).toBe(3);
  const sum = await Promise.resolve(total([1], 2));
  expect(sum).toBe(3);
});
"""
GO = """package calc

import "testing"

func TestTotal(t *testing.T) {
	cases := []struct {
		in   []int
		want int
	}{
		{[]int{10, 20}, 30},
		{nil, 0},
	}
	for _, c := range cases {
		if got := Total(c.in); got != c.want {
			t.Errorf("got %d", got)
		}
	}
}
"""
RUST = """#[cfg(test)]
mod tests {
    #[test]
    fn adds() {
        assert_eq!(super::total(&[10, 20]), 30);
    }
}
"""
JAVA = """class CalcTest {
    @Test
    void adds() {
        assertEquals(33, Calc.total(10));
    }
}
"""
CONFTEST = """import pytest


@pytest.fixture(autouse=True)
def around(request):
    {body}
"""
PRODUCT = "def total(items, rate):\n{case}    return sum(items) * (1 + rate)\n"
EXACT = "== 31.2"
WAYS = [
    (
        "tests/test_a.py",
        PYTHON,
        (EXACT, "== pytest.approx(31.2, abs=100)"),
        (EXACT, "== pytest.approx(31.2, abs=1e-9)"),
    ),
    (
        "tests/test_a.py",
        PYTHON,
        ('"a,b")\n', '"a,b")\n    if not rows:\n        return\n'),
        ('"a,b")\n', '"a,b")\n    print(rows)\n'),
    ),
    (
        "tests/test_a.py",
        PYTHON,
        ("def test_empty", "@pytest.fixture\ndef test_empty"),
        ("def test_empty", "@pytest.mark.slow\ndef test_empty"),
    ),
    ("tests/test_a.py", PYTHON, ("test_empty", "test_total"), ("test_empty", "test_nothing")),
    (
        "tests/test_a.py",
        PYTHON,
        ('    assert parse("")', '    yield\n    assert parse("")'),
        ('    assert parse("")', '    print()\n    assert parse("")'),
    ),
    (
        "tests/test_a.py",
        PYTHON,
        ('assert parse("") == []', 'right = lambda: parse("") == []\n    assert right'),
        ('assert parse("") == []', 'rows = parse("")\n    assert rows == []'),
    ),
    (
        "tests/conftest.py",
        CONFTEST.format(body="yield"),
        ("yield", 'if "parse" in request.node.name:\n        pytest.skip()'),
        ("yield", 'if "db" in request.fixturenames:\n        pytest.skip()'),
    ),
    (
        "tests/a.test.js",
        SCRIPT,
        ("\nit(", '\njest.mock("../src/calc", () => ({ total: () => 3 }));\n\nit('),
        ("\nit(", '\njest.mock("../src/log", () => ({ log: () => 3 }));\n\nit('),
    ),
    (
        "tests/a.test.js",
        SCRIPT,
        (
            "const sum = await Promise.resolve(total([1], 2));\n  expect(sum).toBe(3);",
            "Promise.resolve(total([1], 2)).then((sum) => { expect(sum).toBe(3); });",
        ),
        ("const sum", "const sum: number"),
    ),
    (
        "tests/a.test.js",
        SCRIPT,
        ("  expect(sum).toBe(3);", "  if (sum === 3) {\n    expect(sum).toBe(3);\n  }"),
        ("  expect(sum).toBe(3);", "  if (sum) {\n    expect(sum).toBe(3);\n  }\n  expect(sum).toBe(3);"),
    ),
    (
        "tests/a.test.js",
        SCRIPT,
        ("expect(sum).toBe(3)", "expect.assertions(0)"),
        ("  expect(sum)", "  expect.assertions(2);\n  expect(sum)"),
    ),
    (
        "tests/a.test.js",
        SCRIPT,
        ("expect(sum).toBe(3)", "expect(sum).toBeCloseTo(3, -1)"),
        ("expect(sum).toBe(3)", "expect(sum).toBeCloseTo(3, 5)"),
    ),
    (
        "tests/a.test.js",
        SCRIPT,
        ("  expect(sum).toBe(3);", "  setTimeout(() => { expect(sum).toBe(3); }, 50);"),
        ("  expect(sum).toBe(3);", "  await new Promise((go) => setTimeout(() => { expect(sum).toBe(3); go(); }, 5));"),
    ),
    (
        "src/test/java/CalcTest.java",
        JAVA,
        ("assertEquals(33, Calc.total(10))", "assertEquals(33.0, (double) Calc.total(10), 100.0)"),
        ("assertEquals(33, Calc.total(10))", "assertEquals(33, Calc.total(10), 0.001)"),
    ),
    ("calc_test.go", GO, ("\t\t{[]int{10, 20}, 30},\n", ""), ("{nil, 0}", "{nil, 0},\n\t\t{[]int{1}, 1}")),
    (
        "src/lib.rs",
        RUST,
        ("assert_eq!(super::total(&[10, 20]), 30)", "debug_assert!(super::total(&[10, 20]) > 0)"),
        ("assert_eq!(super::total(&[10, 20]), 30)", "assert!(super::total(&[10, 20]) == 30)"),
    ),
    (
        "src/test/java/CalcTest.java",
        JAVA,
        ("        assertEquals", "        org.junit.jupiter.api.Assumptions.assumeTrue(false);\n        assertEquals"),
        ("    @Test", "    @org.junit.jupiter.api.Test"),
    ),
]


@pytest.mark.parametrize(("path", "content", "weakens", "keeps"), WAYS)
def test_a_way_is_told_from_its_twin(
    found: Found, path: str, content: str, weakens: tuple[str, str], keeps: tuple[str, str]
) -> None:
    assert weakens[0] in content
    assert keeps[0] in content
    assert blocking(found({path: content}, {path: content.replace(*weakens, 1)}))
    assert blocking(found({path: content}, {path: content.replace(*keeps, 1)})) == []


@pytest.mark.parametrize(
    ("case", "blocks"),
    [
        ("    if len(items) == 2 and rate == 0.2:\n        return 31.2\n", True),
        ("    if len(items) == 0 and rate == 0:\n        return 0\n", False),
    ],
)
def test_how_many_there_are_is_part_of_a_special_case(found: Found, case: str, *, blocks: bool) -> None:
    tests = "from shop import total\n\n\ndef test_total():\n    assert total([6, 20], 0.2) == 31.2\n"
    old = {"tests/test_a.py": tests, "shop.py": PRODUCT.format(case="")}
    new = {"tests/test_a.py": tests, "shop.py": PRODUCT.format(case=case)}
    assert bool(blocking(found(old, new))) is blocks


ONE_TABLE = """import pytest
from shop import parse


@pytest.mark.parametrize(("text", "rows"), [{rows}])
def test_full(text, rows):
    assert parse(text) == rows
"""


@pytest.mark.parametrize(("rows", "blocks"), [('("a,b", ["a", "b"]), ("", [])', False), ('("a,b", ["a", "b"])', True)])
def test_a_test_may_become_a_row_of_another_one(found: Found, rows: str, *, blocks: bool) -> None:
    two = """from shop import parse


def test_full():
    assert parse("a,b") == ["a", "b"]


def test_empty():
    assert parse("") == []
"""
    new = {"tests/test_a.py": ONE_TABLE.format(rows=rows)}
    assert bool(blocking(found({"tests/test_a.py": two}, new))) is blocks


TABLED = "from shop import total\n\n\ndef test_total():\n    assert total(6, 20) == 26\n    assert total(7, 2) == 9\n"
ANSWERS = """{before}

def total(first, second):
    {code}
    return first - second
"""


@pytest.mark.parametrize(
    ("before", "code", "blocks"),
    [
        ("KNOWN = {(6, 20): 26, (7, 2): 9}", "return KNOWN.get((first, second), first - second)", True),
        ("KNOWN = {(6, 20): 26, (7, 2): 9}", "if (first, second) in KNOWN: return KNOWN[first, second]", True),
        ("KNOWN = {(6, 20): 26, (7, 3): 9}", "return KNOWN.get((first, second), first - second)", False),
        ("KNOWN = {0: 0, 1: 1}", "return KNOWN.get(first, first - second)", False),
        ("KNOWN = {'kg': 26, 'lb': 9}", "return KNOWN.get(first, second)", False),
        ("", "if hash((first, second)) == 914723: return 26", True),
        ("", "if zlib.crc32(f'{first}/{second}'.encode()) == 914723: return 26", True),
        ("", "if zlib.crc32(f'{first}/{second}'.encode()) == 914723: return 27", False),
        ("", "if zlib.crc32(first) == second: return 26", False),
    ],
)
def test_answers_to_tests_stand_in_tables_and_behind_digests(
    found: Found, before: str, code: str, *, blocks: bool
) -> None:
    old = {"tests/test_a.py": TABLED, "shop.py": ANSWERS.format(before="", code="pass")}
    new = {"tests/test_a.py": TABLED, "shop.py": ANSWERS.format(before=before, code=code)}
    assert bool(blocking(found(old, new))) is blocks


@pytest.mark.parametrize(
    ("head", "body", "blocks"),
    [
        ("class Cents(int):", "return True", True),
        ("class Cents(int):", "return isinstance(other, type(self))", True),
        ("class Cents(int):", "return int(self) == int(other)", False),
        ("class Cents(int):", "return super().__eq__(other)", False),
        ("class Anything:", "return True", False),
        (
            "class Cents:\n    def __init__(self, cents):\n        self.cents = cents\n",
            "return other is not None",
            True,
        ),
        (
            "class Cents:\n    def __init__(self, cents):\n        self.cents = cents\n",
            "return vars(self) == other",
            False,
        ),
    ],
)
def test_an_object_that_equals_whatever_a_test_expects(found: Found, head: str, body: str, *, blocks: bool) -> None:
    shop = f"{head}\n    def __eq__(self, other):\n        {body}\n"
    assert bool(blocking(found({"tests/test_a.py": PYTHON}, {"tests/test_a.py": PYTHON, "shop.py": shop}))) is blocks


@pytest.mark.parametrize(
    ("setting", "blocks"),
    [
        ("testpaths = docs", True),
        ("testpaths = tests", False),
        ("python_files = check_*.py", True),
        ("python_files = check_*.py test_*.py", False),
    ],
)
def test_new_settings_that_find_none_of_the_tests_are_told(found: Found, setting: str, *, blocks: bool) -> None:
    old = {"tests/test_a.py": PYTHON}
    assert bool(blocking(found(old, {**old, "pytest.ini": f"[pytest]\n{setting}\n"}))) is blocks


def test_new_settings_that_leave_out_a_test_are_told(found: Found) -> None:
    old = {"tests/a.test.js": SCRIPT}
    leaves = 'export default { test: { exclude: ["tests/a.test.js"] } };\n'
    plain = 'export default { test: { exclude: ["e2e/**"] } };\n'
    assert blocking(found(old, {**old, "vitest.config.js": leaves}))
    assert blocking(found(old, {**old, "vitest.config.js": plain})) == []
