"""Who takes part in a decision: participants as they may be given, with their weights, and the usual ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from swarmgate.config import nearest
from swarmgate.domain.consensus import DecisionSeat
from swarmgate.errors import CouncilRefused

Participant = DecisionSeat | Mapping[str, Any] | str
"""A participant: a seat, its fields, or `ID` or `ID=provider/model`."""

PERSPECTIVES = {
    "builder": "You look at it as one who has to build it: what it takes, what gets simpler, what it shuts out.",
    "operator": "You look at it as one who has to keep it running: what breaks, who notices, how one goes back.",
    "user": "You look at it as one who uses the result: what gets better, what gets worse, what it costs to change.",
}
"""Who decides where nobody is named."""


def seats(participants: Sequence[Participant] | None) -> list[DecisionSeat | Mapping[str, Any]]:
    """The participants as seats or their fields; the usual ones where nobody is named."""
    if participants is None:
        return [{"id": name, "perspective": text} for name, text in PERSPECTIVES.items()]
    return [_seat(each) for each in participants]


def _seat(given: Participant) -> DecisionSeat | Mapping[str, Any]:
    if not isinstance(given, str):
        return given
    name, model = named(given, "participants")
    return {"id": name, "model": model, "perspective": PERSPECTIVES.get(name, "")}


def named(given: str, parameter: str) -> tuple[str, str]:
    """The id and the model of `ID` or `ID=provider/model`.

    Raises:
        CouncilRefused: there is a `=` and nothing behind it.
    """
    name, sign, model = (part.strip() for part in given.partition("="))
    if sign and not model:
        raise CouncilRefused(
            f"`{parameter}`: {given[:100]!r} names no model behind `=`",
            hint=f"A variable that is not set? With the model of [roles.participant] it is: {name}",
        )
    return name, model


def weighed(
    seats: Sequence[DecisionSeat | Mapping[str, Any]], weights: Mapping[str, float]
) -> list[DecisionSeat | Mapping[str, Any]]:
    """The participants with these weights over their own.

    Raises:
        CouncilRefused: a weight is for nobody.
    """
    fields = [each.model_dump() if isinstance(each, DecisionSeat) else dict(each) for each in seats]
    known = [str(each.get("id")) for each in fields]
    for name in weights:
        if name not in known:
            close = nearest(name, known)
            meant = f"did you mean `{close}`?" if close else f"known here: {', '.join(known)}"
            raise CouncilRefused(f"`weights` names {name[:100]!r}, who does not take part; {meant}")
    return [
        {**each, "weight": weights[name]} if name in weights else each for name, each in zip(known, fields, strict=True)
    ]
