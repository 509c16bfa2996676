"""A decision described in a TOML file: the arguments of `Council.decide`, and every mistake with file, line and key.

question = "Which store do we take?"
strategy = "approval"
options = ["SQLite", "Postgres"]

[[participants]]
id = "ops"
perspective = "You keep it running."
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field, ValidationError

from swarmgate.config.refusals import unknown
from swarmgate.council.decision.model import DecisionSeat
from swarmgate.council.decision.request import check_depth
from swarmgate.council.described import tables_of, text_of
from swarmgate.council.toml_lines import line_of
from swarmgate.domain.base import Frozen
from swarmgate.errors import CouncilRefused

Place = tuple[int | str, ...]

_KEY = re.compile(r"`([a-z_]+)(?:\.([0-9]+))?(?:\.([a-z_]+))?`")
_HINT = "Mend that, then try again; every key: docs/consensus.md, A file."


class _Seat(Frozen):
    """One `[[participants]]` table; its numbers and modes are judged with the rest of the request."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    id: str
    role: str = ""
    weight: float = 1.0
    perspective: str = ""
    system: str = ""
    model: str = ""
    discussion: str = ""
    critique: int = 0


def _spelled(value: Any) -> Any:
    """A participant that is written as on the command line, `ID` or `ID=provider/model`, as a table."""
    if not isinstance(value, str):
        return value
    name, sign, model = (part.strip() for part in value.partition("="))
    if sign and not model:
        raise ValueError(f"{value!r} names no model behind `=`")
    return {"id": name, "model": model}


class DecisionFile(Frozen):
    """What may stand in the file; what is left out is as the options of `swarm decide` leave it."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    question: str
    participants: list[Annotated[_Seat, BeforeValidator(_spelled)]] = Field(default_factory=list)
    strategy: str | None = None
    threshold: float | None = None
    options: list[str] = Field(default_factory=list)
    facilitator: str | None = None
    weights: dict[str, float] = Field(default_factory=dict)
    rounds: int | None = None
    material: str = ""
    files: list[str] = Field(default_factory=list)
    diff: str = ""
    cache: bool | None = None
    id: str = ""
    tokens: int | None = Field(None, ge=1)
    usd: float | None = Field(None, ge=0)
    timeout_s: float | None = None


def read(path: Path) -> dict[str, Any]:
    """The arguments of `Council.decide` that the file gives.

    Raises:
        CouncilRefused: it cannot be read, or a key is missing, unknown or of another kind; names file, line and key.
    """
    text = _text(path)
    values = tables_of(path, text)
    _check_depth(path, text, values)
    try:
        given = DecisionFile.model_validate(values)
    except ValidationError as error:
        place, what = _mistake(error)
        key = ".".join(str(part + 1 if isinstance(part, int) else part) for part in place)
        begins = f"{_begins(path, text, place)}{f'`{key}`: ' if key else ''}"
        raise CouncilRefused(f"{begins}{what}", hint=_HINT) from None
    found = {key: getattr(given, key) for key in values}
    if "participants" in found:
        found["participants"] = [_fields(each) for each in given.participants]
    return found


def places(path: Path) -> Callable[[Place], str]:
    """How a message about a key of the file begins: with file and line.

    Raises:
        CouncilRefused: it cannot be read.
    """
    text = _text(path)
    return lambda place: _begins(path, text, place)


def place_in(message: str) -> Place:
    """The place of the key that a refusal names first, such as `participants.2.weight`; empty: it names none."""
    found = _KEY.search(message)
    if found is None or found[1] not in DecisionFile.model_fields:
        return ()
    return tuple(part for part in (found[1], int(found[2]) - 1 if found[2] else None, found[3]) if part is not None)


# --- inside ---


def _fields(seat: _Seat) -> dict[str, Any]:
    """What the table says; an empty mode is none."""
    fields = seat.model_dump(exclude_unset=True)
    return {key: value for key, value in fields.items() if not (key == "discussion" and not value)}


def _check_depth(path: Path, text: str, values: dict[str, Any]) -> None:
    """Refuses patterns inside of what a participant prepares."""
    listed = values.get("participants")
    for at, each in enumerate(listed if isinstance(listed, list) else ()):
        try:
            check_depth(each, f"participants.{at + 1}")
        except CouncilRefused as error:
            raise CouncilRefused(
                f"{_begins(path, text, ('participants', at))}{error.message}", hint=error.hint
            ) from None


def _mistake(error: ValidationError) -> tuple[Place, str]:
    """The first mistake of the form: where it is, and what. A misspelled key is missing, too: the spelling is told."""
    found = error.errors(include_url=False, include_input=False)
    first = next((each for each in found if each["type"] == "extra_forbidden"), found[0])
    place = tuple(first["loc"])
    match first["type"]:
        case "extra_forbidden":
            known: Iterable[str] = DecisionFile.model_fields if len(place) == 1 else DecisionSeat.model_fields
            return place, unknown(str(place[-1]), known)
        case "missing":
            return place[:-1], f"the key `{place[-1]}` is missing"
        case "model_type":
            return place, 'must be a table with `id`, or a text such as "ops=local/model"'
    return place, re.sub(r"^(Input|String|List) should", "must", first["msg"].removeprefix("Value error, "))


def _begins(path: Path, text: str, place: Place) -> str:
    line = line_of(text, place, tables="participants") if place else 0
    return f"{path}{f', line {line}' if line else ''}: "


def _text(path: Path) -> str:
    return text_of(
        path,
        "decision file",
        hint=f"Give the path of a TOML file. For a question of these letters, add a blank: '{path} '",
    )
