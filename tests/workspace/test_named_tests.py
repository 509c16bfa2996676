"""Names of tests as people and models write them: tolerant in the spelling, strict about what is there and ran."""

from __future__ import annotations

import pytest

from swarmgate.workspace.named_tests import Fate, fate

RAN = (
    "tests/test_a.py::test_b",
    "tests/test_a.py::TestX::test_c",
    "tests/test_a.py::test_d[1-a b]",
    "tests/unit/test_deep.py::test_e",
    "com.acme.SumTest::addsTwo",
    "com.acme.SumTest::addsMany(int)[1]",
)
SKIPPED = ("tests/test_a.py::test_later",)
PYTHON = {
    "tests/test_a.py": "def test_b(): ...\ndef test_hidden(): ...\n# def test_remark(): ...\nassert test_called(1)\n",
    "tests/conftest.py": "",
}


@pytest.mark.parametrize(
    "name",
    [
        "tests/test_a.py::test_b", "test_a.py::test_b", "./tests/test_a.py::test_b", "test_b", "test_b()", "`test_b`",
        "tests.test_a.test_b", "tests.test_a::test_b", "tests/test_a.py", "test_a.py", "tests/test_a.py > test_b",
        "test_b in tests/test_a.py", "tests/test_a.py:test_b", "tests/test_a.py - test_b", "tests/test_a.py#test_b",
        "TestX.test_c", "TestX::test_c", "tests/test_a.py::test_c", "tests/test_a.py::TestX", "TestX",
        "tests/test_a.py::TestX::test_c", "test_d", "test_d[1-a b]", "tests/test_a.py::test_d[other]", "test_deep.py",
        "SumTest.addsTwo", "com.acme.SumTest.addsTwo", "SumTest#addsTwo", "addsMany", "SumTest",
    ],
)  # fmt: skip
def test_spellings_of_tests_that_ran(name: str) -> None:
    assert fate(name, ran=RAN, skipped=SKIPPED, files=PYTHON) is Fate.RAN


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("test_later", Fate.SKIPPED),
        ("tests/test_a.py::test_later", Fate.SKIPPED),
        ("test_hidden", Fate.NOT_RUN),
        ("tests/test_a.py::test_hidden", Fate.NOT_RUN),
        ("tests/conftest.py", Fate.NOT_RUN),
        ("test_remark", Fate.ABSENT),
        ("test_called", Fate.ABSENT),
        ("test_nowhere", Fate.ABSENT),
        ("tests/test_b.py::test_b", Fate.ABSENT),
        ("other/test_a.py::test_b", Fate.ABSENT),
        ("TestY::test_c", Fate.ABSENT),
        ("test_c.TestX", Fate.ABSENT),
        ("tests", Fate.ABSENT),
        ("tests/", Fate.ABSENT),
        ("test", Fate.ABSENT),
        ("checked by hand", Fate.ABSENT),
        ("", Fate.ABSENT),
    ],
)
def test_tests_that_did_not_run(name: str, expected: Fate) -> None:
    assert fate(name, ran=RAN, skipped=SKIPPED, files=PYTHON) is expected


FILES = {
    "src/sum.test.ts": "describe('sum', () => {\n  it('adds numbers', () => {})\n"
    "  it.each([[1, 2]])('adds %i to %i', f)\n"
    "  it.skip(`comes later`, f)\n  test.todo('is planned')\n})\n",
    "spec/sum_spec.rb": "describe Sum do\n  it 'adds' do\n  end\n  context \"when empty\" do\n",
    "sum_test.go": 'func TestSum(t *testing.T) {\n\tt.Run("zero", f)\n}\nfunc (s *Suite) TestMethod() {}\n',
    "tests/sum.rs": "#[test]\nfn adds() {\n    assert_eq!(helper(1), 1);\n}\n// fn gone() {}\n",
    "SumTests.cs": "    public async Task AddsTwo()\n    {\n        return Other(1);\n",
    "sum_test.cc": "TEST(SumTest, AddsTwo) {\n",
    "tests/SumTest.php": "public function test_adds(): void {\n",
    "tests/run.sh": "test_adds_in_shell() {\n",
}


@pytest.mark.parametrize(
    "name",
    [
        "adds numbers", "sum > adds numbers", "sum \u203a adds numbers", "src/sum.test.ts",
        "src/sum.test.ts: adds numbers", "adds numbers in src/sum.test.ts", "adds 1 to 2", "when empty", "TestSum",
        "sum_test.go::TestSum", "TestSum/zero", "adds", "sum::adds",
        "tests/sum.rs::adds", "AddsTwo", "SumTests.AddsTwo", "SumTest.AddsTwo", "SumTest::test_adds", "TestMethod",
        "test_adds_in_shell", "spec/sum_spec.rb",
    ],
)  # fmt: skip
def test_where_the_runner_names_no_tests_the_definition_is_enough(name: str) -> None:
    assert fate(name, ran=(), skipped=(), files=FILES) is Fate.EXISTS
    assert fate(name, ran=RAN, skipped=SKIPPED, files=FILES) is Fate.EXISTS  # a runner of another language reports


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("comes later", Fate.SKIPPED),
        ("is planned", Fate.SKIPPED),
        ("subtracts", Fate.ABSENT),
        ("adds numbers never", Fate.ABSENT),
        ("gone", Fate.ABSENT),
        ("helper", Fate.ABSENT),
        ("Other", Fate.ABSENT),
        ("src/other.test.ts", Fate.ABSENT),
        ("src/other.test.ts: adds numbers", Fate.ABSENT),
        ("TestSums", Fate.ABSENT),
        ("src/sum.test.ts: adds numbers never", Fate.ABSENT),
    ],
)
def test_what_is_not_defined_does_not_exist(name: str, expected: Fate) -> None:
    assert fate(name, ran=(), skipped=(), files=FILES) is expected
