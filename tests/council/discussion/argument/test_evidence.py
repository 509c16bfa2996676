"""Tests how a statement is weighed by the messages that it cites."""

from __future__ import annotations

from typing import Any

import pytest
from tests.council.discussion.records import held, message

from swarmgate.council.discussion.argument.evidence import Evidence

FIRST = [
    message(1, 1, "position", "economist", "Keep it."),
    message(1, 2, "position", "ecologist", "Take it."),
    message(1, 3, "frame", "moderator", "Price or right."),
    message(1, 4, "argue", "economist", "It sells."),
    message(1, 5, "argue", "ecologist", "It dies."),
]


def evidence(attack: dict[str, Any], **answer: Any) -> Evidence:
    """The positions and arguments, an attack with these links, and a response of the economist."""
    return Evidence(
        [
            held(
                1,
                [
                    *FIRST,
                    message(1, 6, "attack", "contrarian", "No.", links=attack),
                    message(1, 7, "respond", "economist", "Well.", **answer),
                ],
            )
        ]
    )


NOBODY = evidence({})
OPEN = evidence({"r1-msg-004": "counters"})
ANSWERED = evidence({"r1-msg-004": "counters"}, links={"r1-msg-006": "counters"})
MOVED = {"kind": "minor", "reason": "true", "cites": ["r1-msg-006"]}
CONCEDED = evidence({"r1-msg-004": "counters"}, links={"r1-msg-006": "responds_to"}, shift=MOVED)


@pytest.mark.parametrize(
    ("there", "cites", "against", "expected"),
    [
        (NOBODY, (), (), (0, 0, 0, "low")),
        (NOBODY, ("r1-msg-004",), (), (1, 0, 0, "medium")),
        (NOBODY, ("r1-msg-004", "r1-msg-001"), (), (2, 0, 0, "high")),
        (NOBODY, ("r1-msg-003",), (), (0, 0, 0, "low")),
        (NOBODY, ("r1-msg-004", "r1-msg-001"), ("r1-msg-005",), (2, 1, 1, "medium")),
        (NOBODY, ("r1-msg-004",), ("r9-msg-001",), (1, 0, 0, "medium")),
        (OPEN, ("r1-msg-004",), (), (1, 1, 1, "low")),
        (OPEN, ("r1-msg-004", "r1-msg-001"), (), (2, 1, 1, "medium")),
        (OPEN, ("r1-msg-004", "r1-msg-006"), (), (2, 0, 0, "high")),
        (ANSWERED, ("r1-msg-004",), (), (1, 1, 0, "high")),
        (CONCEDED, ("r1-msg-004",), (), (1, 1, 1, "low")),
    ],
    ids=[
        "nothing is cited",
        "one message, untried",
        "two messages",
        "the moderator's words carry nothing",
        "dissent that nobody answered",
        "dissent that does not exist",
        "countered",
        "countered in part",
        "a counter that is itself cited",
        "a counter that was answered",
        "a counter that moved its author",
    ],
)
def test_confidence_follows_from_what_is_cited_countered_and_unanswered(
    there: Evidence, cites: tuple[str, ...], against: tuple[str, ...], expected: tuple[int, int, int, str]
) -> None:
    found = there.weight(cites, against)
    assert (found.cited, found.countered, found.unanswered, str(found.confidence)) == expected


def test_nobody_answers_its_own_counter_and_a_failed_answer_is_none() -> None:
    alone = Evidence(
        [
            held(
                1,
                [
                    *FIRST,
                    message(1, 6, "attack", "contrarian", "No.", links={"r1-msg-004": "counters"}),
                    message(1, 7, "respond", "economist", failed="no answer"),
                    message(1, 8, "stress", "contrarian", "So.", links={"r1-msg-006": "extends"}),
                ],
            )
        ]
    )
    assert alone.answered == {"r1-msg-004"}
