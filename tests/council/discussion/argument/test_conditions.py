"""Tests whether what would change an expert's mind came up, by the messages that are cited for it."""

from __future__ import annotations

import pytest
from tests.council.discussion.records import CAST, held, message

from swarmgate.council.discussion.argument.conditions import checked_conditions, declared_conditions
from swarmgate.council.discussion.model import DiscussionRound


def stands(condition: str) -> dict[str, object]:
    return {"position": "here", "confidence": 0.5, "would_change_if": condition}


def rounds() -> tuple[DiscussionRound, ...]:
    """The economist is moved by the attack; the ecologist names another condition in the second round."""
    moved = {"kind": "minor", "reason": "so", "cites": ["r1-msg-005"]}
    first = held(
        1,
        [
            message(1, 1, "position", "economist", position=stands("repair doubles")),
            message(1, 2, "position", "ecologist", position=stands("salmon return")),
            message(1, 3, "argue", "economist", "So.", would_change_if="a cheaper dam"),
            message(1, 4, "argue", "ecologist", "No.", links={"r1-msg-001": "counters"}),
            message(1, 5, "attack", "contrarian", "Repair doubled in May.", links={"r1-msg-001": "counters"}),
            message(1, 6, "respond", "economist", "Hm.", links={"r1-msg-005": "responds_to"}, shift=moved),
        ],
    )
    second = held(
        2,
        [
            message(2, 1, "position", "economist", position=stands("repair doubles")),
            message(2, 2, "position", "ecologist", position=stands("the silt is clean")),
            message(2, 3, "argue", "economist", "The silt is clean.", links={"r2-msg-002": "counters"}),
            message(2, 4, "argue", "ecologist", failed="no answer"),
        ],
        (first,),
    )
    return first, second


def test_the_newest_condition_of_a_position_counts_from_where_it_was_first_named() -> None:
    assert [(each.author, each.text, each.source) for each in declared_conditions(rounds(), CAST)] == [
        ("economist", "repair doubles", "r1-msg-001"),
        ("ecologist", "the silt is clean", "r2-msg-002"),
    ]
    silent = rounds()[0].model_copy(update={"messages": rounds()[0].messages[2:3]})
    assert [each.text for each in declared_conditions([silent], CAST)] == ["a cheaper dam"]
    assert declared_conditions([], CAST) == ()


@pytest.mark.parametrize(
    ("expert", "came_up", "cites", "status", "kept", "moved"),
    [
        ("economist", True, ("r1-msg-005",), "came-up", ("r1-msg-005",), True),
        ("economist", True, ("r1-msg-004",), "came-up", ("r1-msg-004",), False),
        ("economist", True, ("r1-msg-003",), "unproven", (), False),  # its own words
        ("economist", True, ("r9-msg-001",), "unproven", (), False),
        ("economist", True, (), "unproven", (), False),
        ("economist", False, ("r1-msg-005",), "absent", (), False),
        ("ecologist", True, ("r1-msg-005",), "unproven", (), False),  # before it was named
        ("ecologist", True, ("r1-msg-005", "r2-msg-003"), "came-up", ("r2-msg-003",), False),
    ],
)
def test_what_came_up_is_shown_by_a_later_message_of_somebody_else(
    *, expert: str, came_up: bool, cites: tuple[str, ...], status: str, kept: tuple[str, ...], moved: bool
) -> None:
    checked = {each.author: each for each in checked_conditions(rounds(), CAST, {expert: (came_up, cites)})}
    assert (checked[expert].status, checked[expert].cites, checked[expert].moved) == (status, kept, moved)
    (other,) = checked.keys() - {expert}
    assert checked[other].status == "unclaimed"
