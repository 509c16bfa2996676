"""A debate as it is asked for: every bound is checked here, before anybody is asked anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from swarmgate.council.debate.model import Debate
from swarmgate.council.requests import checked, seat_of, seats_of
from swarmgate.domain.debate import LEAST_SEATS, MOST_ROUNDS, MOST_SEATS, Seat
from swarmgate.errors import CouncilRefused


def debate_of(
    *,
    id: str,  # noqa: A002 - the field's name
    question: str,
    seats: Sequence[Seat | Mapping[str, Any]],
    rounds: int = 2,
    material: str = "",
    moderator: Seat | Mapping[str, Any] | None = None,
    order: Literal["fixed", "rotate"] = "rotate",
    **bounds: Any,
) -> Debate:
    """A debate that can be held.

    Args:
        id: its name.
        question: what is debated; not empty.
        seats: 2 to 8 voices, each with an id of its own.
        rounds: 1 to 5; the last one is the vote.
        material: what the question is about.
        moderator: a further voice, with an id of its own.
        order: who is read first: always the same, or in turns.
        bounds: the other fields of `Debate`.

    Raises:
        CouncilRefused: it cannot; the message names the parameter and its bounds.
    """
    fields: dict[str, Any] = {
        "id": id,
        "question": question,
        "seats": seats_of(seats),
        "rounds": rounds,
        "material": material,
        "moderator": seat_of(moderator, "moderator") if moderator is not None else None,
        "order": order,
    }
    _check_counts(len(fields["seats"]), rounds)
    debate = checked(Debate, fields | bounds, "")
    check(debate)
    return debate


def check(debate: Debate) -> None:
    """Whether a debate can be held, however it was made.

    Raises:
        CouncilRefused: it cannot; the message names the parameter and its bounds.
    """
    _check_counts(len(debate.seats), debate.rounds)
    if not debate.question:
        raise CouncilRefused("`question` is empty: a debate needs something to decide")
    seats_of(debate.seats)
    if debate.moderator and debate.moderator.id in {each.id for each in debate.seats}:
        raise CouncilRefused(f"`moderator` has the id of a participant, {debate.moderator.id}: give it one of its own")


def _check_counts(seats: int, rounds: Any) -> None:
    if isinstance(rounds, bool) or not isinstance(rounds, int) or not 1 <= rounds <= MOST_ROUNDS:
        raise CouncilRefused(f"`rounds` is {rounds!r}: a debate has 1 to {MOST_ROUNDS} rounds")
    if not LEAST_SEATS <= seats <= MOST_SEATS:
        who = "1 participant" if seats == 1 else f"{seats} participants"
        raise CouncilRefused(f"`seats` has {who}: a debate has {LEAST_SEATS} to {MOST_SEATS}")
