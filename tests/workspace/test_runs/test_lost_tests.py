"""Tests that passed and do not run any more are found by their names; where there are none, by their number."""

from __future__ import annotations

import pytest

from swarmgate.domain.review.evidence import TestRun
from swarmgate.workspace.test_runs.lost_tests import lost


def run(*names: str, failed: tuple[str, ...] = (), skips: tuple[str, ...] = ()) -> TestRun:
    return TestRun(
        command="pytest",
        exit_code=0,
        passed=len(names),
        failed=len(failed),
        skipped=len(skips),
        failures=failed,
        names=(*names, *failed),
        skips=skips,
    )


def counted(passed: int) -> TestRun:
    return TestRun(command="npm test", exit_code=0, passed=passed)


A, B, CLASS = "tests/test_a.py::test_a", "tests/test_a.py::test_b", "tests/test_a.py::TestX::test_a"


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        (run(A, B), run(A, B, "tests/test_a.py::test_c"), ()),
        (run(A, B), run(A), (f"{B} is not run",)),
        (run(A, B), run(A, skips=(B,)), (f"{B} is skipped",)),
        (run(A, skips=(B,)), run(A), ()),
        (run(A, failed=(B,)), run(A), ()),
        (run(A), run("tests/other/test_a.py::test_a"), ()),
        (run(A, CLASS), run(A), (f"{CLASS} is not run",)),
        (run(A, CLASS), run("tests/test_n.py::test_a", "tests/test_n.py::TestX::test_a"), ()),
        (run(A, CLASS), run("tests/test_n.py::test_a"), (f"{CLASS} is not run",)),
        (run(f"{A}[1-a]", f"{A}[2-b]"), run(f"{A}[3-c::d]"), ()),
        (run(f"{A}[x::y]"), run(f"{A}[x::z]"), ()),
        (run(f"{A}[1]", f"{A}[2]"), run(B, skips=(f"{A}[1]", f"{A}[2]")), (f"{A} is skipped",)),
        (run(A, B), run(B, skips=("tests.test_a",)), (f"{A} is not run",)),
        (run("com.acme.FooTest::adds()"), run("com.acme.BarTest::adds"), ()),
        (run("com.acme.FooTest::adds()"), run("com.acme.FooTest::subtracts()"), ("com.acme.FooTest::adds is not run",)),
        (counted(5), counted(5), ()),
        (counted(5), counted(7), ()),
        (counted(0), counted(1), ()),
        (TestRun(command="make", exit_code=2), counted(1), ()),
        (counted(5), counted(3), ("2 of 5 tests that passed before the task (the runner does not name them)",)),
        (run(A, B), counted(1), ("1 of 2 tests that passed before the task (the runner does not name them)",)),
    ],
)
def test_what_passed_still_runs(before: TestRun, after: TestRun, found: tuple[str, ...]) -> None:
    assert lost(before, after) == found
