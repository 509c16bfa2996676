"""The map from criteria to tests, held against the tests that ran."""

from __future__ import annotations

from collections.abc import Mapping

from swarmgate.domain.review.evidence import Criterion, Review, TestRun, Verdict
from swarmgate.engine.steps.proof.criteria import Mapped, mapped

RAN = TestRun(
    command="pytest",
    exit_code=0,
    passed=1,
    skipped=1,
    names=("tests/test_a.py::test_b",),
    skips=("tests/test_a.py::test_c",),
)


def held(*tests: tuple[str, ...], ran: TestRun = RAN, files: Mapping[str, str] | None = None) -> Mapped:
    criteria = tuple(Criterion(criterion=f"criterion of {len(each)} tests", tests=each) for each in tests)
    review = Review(verdict=Verdict.APPROVED, summary="ok", criteria=criteria)
    return mapped(review, ran, lambda: files or {})


def test_tests_that_ran_satisfy_and_no_file_is_read() -> None:
    review = Review(
        verdict=Verdict.APPROVED,
        summary="ok",
        criteria=(Criterion(criterion="a", tests=("test_b", "tests/test_a.py::test_b")),),
    )

    def never() -> Mapping[str, str]:
        raise AssertionError

    assert mapped(review, RAN, never) == Mapped()


def test_each_false_name_is_told_with_its_criterion() -> None:
    found = held(
        ("test_b",),
        ("test_b", "test_c", "test_gone"),
        ("test_hidden",),
        files={"tests/test_a.py": "def test_hidden(): ..."},
    )
    assert found.false == (
        "criterion 2 names test_c, which was skipped",
        "criterion 2 names test_gone, which does not exist",
        "criterion 3 names test_hidden, which did not run",
    )


def test_criteria_without_tests_are_told() -> None:
    assert held(("test_b",), ()).unmapped == ("criterion 2 has no test: criterion of 0 tests",)


def test_where_no_runner_names_tests_definitions_count_and_are_told() -> None:
    silent = RAN.model_copy(update={"names": (), "skips": ()})
    found = held(
        ("TestSum",), ("TestSum", "TestGone"), ran=silent, files={"sum_test.go": "func TestSum(t *testing.T) {}\n"}
    )
    assert found == Mapped(false=("criterion 2 names TestGone, which does not exist",), unseen=("TestSum",))


def test_a_whole_file_is_accepted_and_told() -> None:
    found = held(("test_b",), ("all tests in tests/test_a.py",))
    assert found == Mapped(
        vague=("criterion 2 names all tests in tests/test_a.py: any test there would do, so it shows little",)
    )


def test_each_of_several_tests_must_have_run() -> None:
    found = held(("test_gone and test_b",), ("tests/test_a.py::test_b[9]",))
    assert found.false == ("criterion 1 names test_gone and test_b, which does not exist",)
