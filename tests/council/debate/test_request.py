"""Tests the validation of debate requests; each refusal names the parameter and its bounds."""

from __future__ import annotations

from typing import Any

import pytest

from swarmgate.council.debate.model import Debate
from swarmgate.council.debate.request import debate_of
from swarmgate.council.requests.seats import seat_of
from swarmgate.domain.review.votes import Seat
from swarmgate.errors import CouncilRefused

GOOD: dict[str, Any] = {"id": "d1", "question": "Good?", "seats": [{"id": "a"}, Seat(id="b")]}


def test_what_can_be_held_is_made() -> None:
    made = debate_of(**GOOD, rounds=5, moderator={"id": "chair"}, tokens=900, task="1.2", attempt=1)
    assert made == Debate(
        id="d1", question="Good?", seats=(Seat(id="a"), Seat(id="b")), rounds=5, moderator=Seat(id="chair"), tokens=900,
        task="1.2", attempt=1,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"rounds": 0}, "`rounds` is 0: a debate has 1 to 5 rounds"),
        ({"rounds": 6}, "`rounds` is 6"),
        ({"rounds": True}, "`rounds` is True"),
        ({"rounds": "2"}, "`rounds` is '2'"),
        ({"seats": [{"id": "a"}]}, "`seats` has 1 participant: a debate has 2 to 8"),
        ({"seats": []}, "`seats` has 0 participants"),
        ({"seats": [{"id": f"s{n}"} for n in range(9)]}, "`seats` has 9 participants"),
        ({"seats": [{"id": "a"}, {"id": "b"}, {"id": "a"}]}, "`seats` names a twice"),
        ({"seats": [{"id": "a"}, {"id": "b c"}]}, "`seats[1].id`: letters, digits"),
        ({"seats": [{"id": "a"}, {"id": "b", "modle": "x"}]}, "`seats[1].modle`: Extra inputs"),
        ({"seats": [{"id": "a"}, 7]}, "`seats[1]`: "),
        ({"question": " \n"}, "`question` is empty"),
        ({"moderator": {"id": "a"}}, "`moderator` has the id of a participant, a"),
        ({"moderator": {"id": ""}}, "`moderator.id`: letters"),
        ({"order": "random"}, "`order`: "),
        ({"tokens": 0}, "`tokens`: "),
        ({"timeout_s": 0}, "`timeout_s`: "),
        ({"similarity": 101}, "`similarity`: "),
        ({"budget": 1}, "`budget`: Extra inputs"),
    ],
)
def test_what_cannot_is_refused(wrong: dict[str, Any], told: str) -> None:
    with pytest.raises(CouncilRefused) as caught:
        debate_of(**{**GOOD, **wrong})
    assert told in caught.value.message


def test_a_seat_is_named_by_its_parameter() -> None:
    with pytest.raises(CouncilRefused, match=r"`agents\.3\.id`"):
        seat_of({"id": "?"}, "agents.3")
