from __future__ import annotations

import pytest

from swarmgate.server.services.reading.ids import ApprovalId, QuestionId, approval_id, question_id

GOAL = "g-0123456789ab"


@pytest.mark.parametrize("found", [ApprovalId(GOAL, 0, 5), ApprovalId("c-0123456789ab", 3, 1234)])
def test_ids_of_approvals_are_read_as_they_are_written(found: ApprovalId) -> None:
    assert approval_id(str(found)) == found


def test_ids_of_questions_are_read_as_they_are_written() -> None:
    assert question_id(str(QuestionId(GOAL, 7))) == QuestionId(GOAL, 7)


@pytest.mark.parametrize(
    "text",
    [
        "",
        GOAL,
        f"{GOAL}-plan",
        f"{GOAL}-phase-0-5",
        f"{GOAL}-plan-5\n",
        f"{GOAL}-plan-\u0665",
        "../x-plan-5",
        f"x{GOAL}-plan-5",
    ],
)
def test_what_is_no_id_of_an_approval_is_none(text: str) -> None:
    assert approval_id(text) is None


@pytest.mark.parametrize("text", [f"{GOAL}-q0", f"{GOAL}-q", f"{GOAL}-q1 ", f"{GOAL}-q{'9' * 10}", "g-x-q1"])
def test_what_is_no_id_of_a_question_is_none(text: str) -> None:
    assert question_id(text) is None
