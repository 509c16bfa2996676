"""Names of tests as people and models write them: tolerant in the spelling, strict about what is there and ran."""

from __future__ import annotations

import pytest

from swarmgate.workspace.test_runs.named_tests import Fate, fate, has_run, names_a_file_only

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
        "tests/test_a.py::TestX::test_c", "test_d", "test_d[1-a b]", "tests/test_a.py::test_d[1-a b]", "test_deep.py",
        "SumTest.addsTwo", "com.acme.SumTest.addsTwo", "SumTest#addsTwo", "addsMany", "SumTest",
        "test_b and test_c", "tests/test_a.py::test_b, tests/unit/test_deep.py::test_e", "all tests in tests/test_a.py",
        "test_b of test_a", "test_b (as for test_gone)", "test_b[covers 2]", "addsMany(int)[1]", "test_b [criterion 2]",
        "`test_b` and `test_d[1-a b]`", "tests/test_a.py and tests/unit/test_deep.py", "test_b and the helper_of it",
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
        ("test_missing and test_b", Fate.ABSENT),
        ("test_b and test_missing", Fate.ABSENT),
        ("test_b, test_later", Fate.SKIPPED),
        ("test_b / test_hidden", Fate.NOT_RUN),
        ("tests/test_a.py::test_b tests/test_a.py::nothing_like_it", Fate.ABSENT),
        ("tests/test_a.py and tests/test_gone.py", Fate.ABSENT),
        ("test_d[99]", Fate.ABSENT),
        ("tests/test_a.py::test_d[other]", Fate.ABSENT),
        ("addsMany(int)[2]", Fate.ABSENT),
        ("tests/", Fate.ABSENT),
        ("test", Fate.ABSENT),
        ("checked by hand", Fate.ABSENT),
        ("", Fate.ABSENT),
    ],
)
def test_tests_that_did_not_run(name: str, expected: Fate) -> None:
    assert fate(name, ran=RAN, skipped=SKIPPED, files=PYTHON) is expected


@pytest.mark.parametrize(
    "name", ["test_a.py", "all tests in tests/test_a.py", "tests/test_a.py and tests/unit/test_deep.py"]
)
def test_names_that_say_no_more_than_a_file(name: str) -> None:
    assert has_run(name, RAN)
    assert names_a_file_only(name)


@pytest.mark.parametrize(
    "name", ["tests/test_a.py::test_b", "test_b in tests/test_a.py", "TestX", "tests/test_a.py > test_b"]
)
def test_names_that_say_more_than_a_file(name: str) -> None:
    assert has_run(name, RAN)
    assert not names_a_file_only(name)


def test_the_id_of_a_case_may_be_spelled_as_it_is_written() -> None:
    assert has_run("test_w[\u00e9]", [r"tests/test_a.py::test_w[\xe9]"])
    assert has_run("test_w[x[1], y]", ["tests/test_a.py::test_w[x[1], y]"])


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
        "test_adds_in_shell", "spec/sum_spec.rb", "tests/sum.rs::adds and tests/SumTest.php::test_adds",
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
        ("tests/sum.rs::adds and tests/sum.rs::takes", Fate.ABSENT),
        ("TestSum and TestGone", Fate.ABSENT),
        ("src/sum.test.ts: adds numbers never", Fate.ABSENT),
    ],
)
def test_what_is_not_defined_does_not_exist(name: str, expected: Fate) -> None:
    assert fate(name, ran=(), skipped=(), files=FILES) is expected
