"""A debate described in a TOML file: the arguments of `Council.debate`, and every mistake with file, line and key.

question = "Is this design sound?"
rounds = 3
files = ["docs/design.md"]

[[participants]]
id = "advocate"
model = "local/senior"
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field, ValidationError

from swarmgate.config.refusals import unknown
from swarmgate.council.described import tables_of, text_of
from swarmgate.council.toml_lines import line_of
from swarmgate.domain.base import Frozen
from swarmgate.domain.debate import LEAST_SEATS, MOST_ROUNDS, MOST_SEATS, Seat
from swarmgate.errors import CouncilRefused


def _spelled(value: Any) -> Any:
    """A voice that is written as on the command line, `ID` or `ID=provider/model`, as a table."""
    if not isinstance(value, str):
        return value
    name, sign, model = (part.strip() for part in value.partition("="))
    if sign and not model:
        raise ValueError(f"{value!r} names no model behind `=`")
    return {"id": name, "model": model}


Voice = Annotated[Seat, BeforeValidator(_spelled)]


class DebateFile(Frozen):
    """What may stand in the file; what is left out is as the options of `swarm debate` leave it."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    question: str = Field(min_length=1)
    participants: list[Voice] = Field(default_factory=list)
    rounds: int | None = Field(None, ge=1, le=MOST_ROUNDS)
    moderator: Voice | None = None
    material: str = ""
    files: list[str] = Field(default_factory=list)
    diff: str = ""
    order: Literal["fixed", "rotate"] | None = None
    synthesis: bool = True
    id: str = ""
    tokens: int | None = Field(None, ge=1)
    usd: float | None = Field(None, ge=0)


def read(path: Path) -> dict[str, Any]:
    """The arguments of `Council.debate` that the file gives.

    Raises:
        CouncilRefused: it cannot be read, or a key is unknown or out of bounds; names file, line and key.
    """
    text = _text(path)
    values = tables_of(path, text)
    try:
        given = DebateFile.model_validate(values)
    except ValidationError as error:
        raise _refusal(path, text, error) from None
    seats = given.participants
    if "participants" in values:
        ids = [seat.id for seat in seats]
        twice = next((at for at, name in enumerate(ids) if name in ids[:at]), None)
        if twice is not None:
            raise _located(path, text, ("participants", twice, "id"), f"there is another participant {ids[twice]!r}")
        if not LEAST_SEATS <= len(seats) <= MOST_SEATS:
            told = f"there are {len(seats)}, and a debate has {LEAST_SEATS} to {MOST_SEATS}"
            raise _located(path, text, ("participants",), told)
    return {key: getattr(given, key) for key in values}


def places(path: Path) -> Callable[[tuple[int | str, ...]], str]:
    """How a message about a key of the file begins: with file, line and key.

    Raises:
        CouncilRefused: it cannot be read.
    """
    text = _text(path)
    return lambda place: _begins(path, text, place)


def _refusal(path: Path, text: str, error: ValidationError) -> CouncilRefused:
    first = error.errors(include_url=False, include_input=False)[0]
    place = tuple(first["loc"])
    if first["type"] == "extra_forbidden":
        known: Iterable[str] = DebateFile.model_fields if len(place) == 1 else Seat.model_fields
        return _located(path, text, place, unknown(str(place[-1]), known))
    if first["type"] == "missing":
        return _located(path, text, place[:-1], f"the key `{place[-1]}` is missing")
    if first["type"] == "string_pattern_mismatch":
        return _located(path, text, place, "letters, digits, `.`, `_` and `-`, at most 40, a letter or digit first")
    if first["type"] == "model_type":
        return _located(path, text, place, 'must be a table with `id`, or a text such as "advocate=local/model"')
    told = re.sub(r"^(Input|String|List) should", "must", first["msg"].removeprefix("Value error, "))
    return _located(path, text, place, told)


def _located(path: Path, text: str, place: tuple[int | str, ...], what: str) -> CouncilRefused:
    return CouncilRefused(
        f"{_begins(path, text, place)}{what}",
        hint="Mend that, then try again; every key: docs/commands.md, swarm debate.",
    )


def _begins(path: Path, text: str, place: tuple[int | str, ...]) -> str:
    line = line_of(text, place, tables="participants")
    key = ".".join(str(part + 1 if isinstance(part, int) else part) for part in place)
    return f"{path}{f', line {line}' if line else ''}: {f'`{key}`: ' if key else ''}"


def _text(path: Path) -> str:
    return text_of(
        path,
        "debate file",
        hint=f"Give the path of a TOML file. For a question of these letters, add a blank: '{path} '",
    )
