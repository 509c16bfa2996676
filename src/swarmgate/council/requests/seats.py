"""Validates the participants (seats) of a request: each has an id of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from pydantic import ValidationError

from swarmgate.domain.review.votes import Seat
from swarmgate.errors import CouncilRefused

M = TypeVar("M")

_SEAT_ID = "letters, digits, `.`, `_` and `-`, at most 40, a letter or digit first"


def seats_of(seats: Iterable[Seat | Mapping[str, Any]], *, name: str = "seats") -> tuple[Seat, ...]:
    """Participants, each with an id of its own; `name` is the parameter's, for messages.

    Raises:
        CouncilRefused: a seat is none, or two have one id.
    """
    found = tuple(seat_of(each, f"{name}[{number}]") for number, each in enumerate(seats))
    twice = [seat for seat, count in Counter(each.id for each in found).items() if count > 1]
    if twice:
        raise CouncilRefused(f"`{name}` names {', '.join(twice)} twice: every participant has an id of its own")
    return found


def seat_of(value: Seat | Mapping[str, Any], name: str) -> Seat:
    """A participant; `name` is the parameter's, for messages.

    Raises:
        CouncilRefused: it is none.
    """
    return value if isinstance(value, Seat) else checked(Seat, value, name)


def checked(
    model: type[M], fields: Any, name: str, *, first: int = 0, words: Callable[[Any, Any], str] = lambda *_: ""
) -> M:
    """The fields as a model.

    Args:
        model: of pydantic.
        fields: of it.
        name: the parameter's, for messages; empty: the fields are parameters themselves.
        first: what places in a list count from, in messages.
        words: what is said of a mistake, as pydantic has it, in a model; empty: as everywhere.

    Raises:
        CouncilRefused: they are none.
    """
    try:
        return model.model_validate(fields)  # type: ignore[attr-defined,no-any-return]  # a pydantic model
    except ValidationError as error:
        mistake = error.errors(include_url=False, include_input=False)[0]
        way = (str(part + first if isinstance(part, int) else part) for part in mistake["loc"])
        usual = _SEAT_ID if mistake["type"] == "string_pattern_mismatch" else mistake["msg"]
        place = ".".join([*([name] if name else []), *way])
        raise CouncilRefused(f"`{place}`: {words(mistake, model) or usual}") from None
