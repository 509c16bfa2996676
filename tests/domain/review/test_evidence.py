from __future__ import annotations

from typing import Any

import pytest

from swarmgate.domain.review.evidence import Review, TestRun, Verdict


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"exit_code": 0, "passed": 3}, ""),
        ({"exit_code": 0, "passed": 3, "failed": 0, "skipped": 2}, ""),
        ({"exit_code": 0}, "no test ran"),
        ({"exit_code": 0, "passed": 0, "skipped": 4}, "no test ran"),
        ({"exit_code": 5, "output": "collected 0 items\n\n"}, "collected 0 items"),
        ({"exit_code": 0, "passed": 3, "failed": 1, "failures": ("t::a",)}, "1 of 4 tests failed: t::a"),
        ({"exit_code": 1, "passed": 3}, "ended with exit code 1"),
        ({"exit_code": None, "passed": 3, "problem": "time limit"}, "time limit"),
        ({"exit_code": 0, "passed": 3, "problem": "time limit"}, "time limit"),
    ],
)
def test_green_is_exit_code_0_with_a_test_that_passed_and_none_that_failed(fields: dict[str, Any], reason: str) -> None:
    run = TestRun(command="pytest", **fields)
    assert run.green is (reason == "")
    assert reason in run.reason
    assert bool(run.reason) is not run.green


def test_there_is_no_third_verdict() -> None:
    assert Review(verdict=Verdict.APPROVED, summary="").approved
    assert not Review(verdict=Verdict.REJECTED, summary="").approved
    with pytest.raises(ValueError, match="verdict"):
        Review.model_validate({"verdict": "MAYBE", "summary": ""})
