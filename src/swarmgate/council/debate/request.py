"""Validates the request for a debate before a model is called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from swarmgate.council.debate.model import Debate
from swarmgate.council.participants.contexts import ContextFactory
from swarmgate.council.pattern import Where
from swarmgate.council.requests.seats import cast_of, checked, seat_of, seats_of
from swarmgate.domain.review.votes import LEAST_SEATS, MOST_ROUNDS, MOST_SEATS, Seat
from swarmgate.errors import ConfigError, CouncilRefused, MissingRequirement
from swarmgate.project import Project

Participant = Seat | Mapping[str, Any] | str
"""A participant: a seat, its fields, or `ID` or `ID=provider/model`."""

BRIEFS = {
    "advocate": "Argue for it: find and state the strongest honest reasons why it should stand. Concede what is wrong.",
    "challenger": "Argue against it: look for what breaks, what is missing and what it will cost. Concede what holds.",
}
"""What these participants are to argue for where nobody says anything else."""


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
        seats: 2 to 8 participants, each with an id of its own.
        rounds: 1 to 5; the last one is the vote.
        material: what the question is about.
        moderator: a further participant, with an id of its own.
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


def seats_for(participants: Sequence[Participant], project: Project, where: Where) -> tuple[Seat, ...]:
    """The participants, under the name that the user knows them by; with the usual brief where one is given none.

    Raises:
        CouncilRefused: one is none, two have one id, or there are too few or too many.
    """

    def place(at: int, key: str) -> str:
        return where(("participants", at, key)) or f"`participants[{at}].{key}`: "

    cast = cast_of(participants, Seat.model_fields, project, place)
    briefed = [
        {"brief": BRIEFS.get(str(each.get("id")), ""), **each} if isinstance(each, dict) else each for each in cast
    ]
    seats = seats_of(briefed, name="participants")
    if not LEAST_SEATS <= len(seats) <= MOST_SEATS:
        there = "is 1 participant" if len(seats) == 1 else f"are {len(seats)} participants"
        raise CouncilRefused(
            f"there {there}: a debate has {LEAST_SEATS} to {MOST_SEATS}",
            hint="Name each voice: --participant ID[=MODEL], or `participants` in the file; without any they are an "
            "advocate and a challenger.",
        )
    return seats


def moderator_of(given: Participant, project: Project, where: Where) -> Seat:
    """The moderator, as `seats_for` has participants."""

    def place(_: int, key: str) -> str:
        return where(("moderator", key)) or f"`moderator.{key}`: "

    return seat_of(cast_of([given], Seat.model_fields, project, place, name="moderator")[0], "moderator")


def check_models(debate: Debate, contexts: ContextFactory, where: Where) -> None:
    """Tells what a participant lacks before anybody is asked.

    Raises:
        ConfigError, CouncilRefused, MissingRequirement: a participant cannot be had.
    """
    places: list[tuple[Seat, tuple[int | str, ...]]] = [
        (each, ("participants", at, "model")) for at, each in enumerate(debate.seats)
    ]
    places += [(debate.moderator, ("moderator", "model"))] if debate.moderator else []
    for each, place in places:
        try:
            contexts.agent(each)
        except (ConfigError, CouncilRefused, MissingRequirement) as error:
            raise type(error)(f"{where(place)}{each.id}: {error.message}", hint=error.hint) from error
    if debate.parent:
        contexts.parent()
