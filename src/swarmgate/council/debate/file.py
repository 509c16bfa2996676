"""Reads a debate request from a TOML file and reports each mistake with file, line and key.

question = "Is this design sound?"
rounds = 3
files = ["docs/design.md"]

[[participants]]
id = "advocate"
model = "local/senior"
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from swarmgate.council.requests import casts
from swarmgate.council.requests.request_file import Described
from swarmgate.council.requests.seats import as_seat, numbered
from swarmgate.domain.base import Frozen
from swarmgate.domain.review.votes import LEAST_SEATS, MOST_ROUNDS, MOST_SEATS, Seat
from swarmgate.errors import CouncilRefused

Voice = Annotated[Seat, BeforeValidator(as_seat)]


class DebateFile(Frozen):
    """What may stand in the file; what is left out is as the options of `swarm debate` leave it."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    question: str = Field(min_length=1)
    participants: list[Voice] = Field(default_factory=list)
    cast: str = ""
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

    @model_validator(mode="before")
    @classmethod
    def _named_as_in_the_cast(cls, value: Any) -> Any:
        name, given = value.get("cast"), value.get("participants")
        if not (name and isinstance(name, str) and isinstance(given, list)):
            return value
        return {**value, "participants": [casts.cast(name).named(each) for each in given]}


FILE = Described(
    DebateFile,
    "debate file",
    asks="question",
    table=Seat,
    keys="swarm docs commands#swarm-debate",
    words={
        "string_pattern_mismatch": "letters, digits, `.`, `_` and `-`, at most 40, a letter or digit first",
        "model_type": 'must be a table with `id`, or a text such as "advocate=local/model"',
    },
    naming=True,
)


def read(path: Path) -> dict[str, Any]:
    """The arguments of `Council.debate` that the file gives.

    Raises:
        CouncilRefused: it cannot be read, or a key is unknown or out of bounds; names file, line and key.
    """
    if "tasks" in FILE.values(path):
        raise CouncilRefused(f"{path} has `tasks`, which are dispatched", hint=f"swarm dispatch --mode debate {path}")
    given = FILE.read(path)
    seats = given.participants
    if "participants" in given.model_fields_set:
        ids = [each["id"] for each in numbered([seat.model_dump() for seat in seats])]
        twice = next((at for at, name in enumerate(ids) if name in ids[:at]), None)
        if twice is not None:
            raise FILE.refusal(path, ("participants", twice, "id"), f"there is another participant {ids[twice]!r}")
        if not (1 if given.cast else LEAST_SEATS) <= len(seats) <= MOST_SEATS:
            problem = f"there are {len(seats)}, and a debate has {LEAST_SEATS} to {MOST_SEATS}"
            raise FILE.refusal(path, ("participants",), problem)
    return {key: getattr(given, key) for key in given.model_fields_set}
