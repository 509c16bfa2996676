"""Who takes part in a debate: the voices as they may be given, and what each needs before anybody is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from swarmgate.council.requests import seats_of
from swarmgate.council.voices import Voices
from swarmgate.domain.debate import LEAST_SEATS, MOST_SEATS, Debate, Seat
from swarmgate.errors import ConfigError, CouncilRefused, MissingRequirement

Participant = Seat | Mapping[str, Any] | str
"""A voice: a seat, its fields, or `ID` or `ID=provider/model`."""

Where = Callable[[tuple[int | str, ...]], str]
"""How a message about a key begins, such as `debate.toml, line 3: `; a place in a list counts from 0."""

BRIEFS = {
    "advocate": "Argue for it: find and state the strongest honest reasons why it should stand. Concede what is wrong.",
    "challenger": "Argue against it: look for what breaks, what is missing and what it will cost. Concede what holds.",
}
"""What these voices are to argue for where nobody says anything else."""


def seat(given: Participant, name: str = "participants") -> Seat | Mapping[str, Any]:
    """A voice as it may be given; an advocate or challenger that is given no brief gets its usual one.

    Raises:
        CouncilRefused: `ID=` without a model behind it; the message has the `name` of the parameter.
    """
    if isinstance(given, str):
        who, sign, model = (part.strip() for part in given.partition("="))
        if sign and not model:
            raise CouncilRefused(
                f"`{name}`: {given!r} names no model behind `=`",
                hint=f"A variable that is not set? With the model of [roles.participant] it is: {who}",
            )
        return {"id": who, "model": model, "brief": BRIEFS.get(who, "")}
    if isinstance(given, Seat) and not given.brief:
        return given.model_copy(update={"brief": BRIEFS.get(given.id, "")})
    if isinstance(given, Mapping) and not given.get("brief"):
        return {**given, "brief": BRIEFS.get(str(given.get("id")), "")}
    return given


def seats_for(participants: Sequence[Participant]) -> tuple[Seat, ...]:
    """The voices, under the name that the user knows them by.

    Raises:
        CouncilRefused: one is none, two have one id, or there are too few or too many.
    """
    seats = seats_of([seat(each) for each in participants], name="participants")
    if not LEAST_SEATS <= len(seats) <= MOST_SEATS:
        there = "is 1 participant" if len(seats) == 1 else f"are {len(seats)} participants"
        raise CouncilRefused(
            f"there {there}: a debate has {LEAST_SEATS} to {MOST_SEATS}",
            hint="Name each voice: --participant ID[=MODEL], or `participants` in the file; without any they are an "
            "advocate and a challenger.",
        )
    return seats


def check_desks(debate: Debate, voices: Voices, where: Where) -> None:
    """Tells what a voice lacks before anybody is asked.

    Raises:
        ConfigError, CouncilRefused, MissingRequirement: a voice cannot be had.
    """
    places: list[tuple[Seat, tuple[int | str, ...]]] = [
        (each, ("participants", at, "model")) for at, each in enumerate(debate.seats)
    ]
    places += [(debate.moderator, ("moderator", "model"))] if debate.moderator else []
    for each, place in places:
        try:
            voices.desk(each)
        except (ConfigError, CouncilRefused, MissingRequirement) as error:
            raise type(error)(f"{where(place)}{each.id}: {error.message}", hint=error.hint) from error
    if debate.parent:
        voices.parent()
