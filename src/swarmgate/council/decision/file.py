"""Reads a decision request from a TOML file and reports each mistake with file, line and key.

question = "Which store do we take?"
strategy = "approval"
options = ["SQLite", "Postgres"]

[[participants]]
id = "ops"
perspective = "You keep it running."
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field

from swarmgate.council.decision.model import DecisionSeat
from swarmgate.council.decision.request import check_depth
from swarmgate.council.requests.request_file import Described
from swarmgate.council.requests.seats import as_seat
from swarmgate.council.requests.toml_lines import Place
from swarmgate.domain.base import Frozen
from swarmgate.errors import CouncilRefused

_KEY = re.compile(r"`([a-z_]+)(?:\.([0-9]+))?(?:\.([a-z_]+))?`")


class _Seat(Frozen):
    """One `[[participants]]` table; its numbers and modes are judged with the rest of the request."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    id: str
    agent: str = ""
    role: str = ""
    weight: float = 1.0
    perspective: str = ""
    system: str = ""
    model: str = ""
    model_tier: str = ""
    folder: str = ""
    discussion: str = ""
    critique: int = 0
    human: bool = False


class DecisionFile(Frozen):
    """What may stand in the file; what is left out is as the options of `swarm decide` leave it."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    question: str
    participants: list[Annotated[_Seat, BeforeValidator(as_seat)]] = Field(default_factory=list)
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


FILE = Described(
    DecisionFile,
    "decision file",
    asks="question",
    table=DecisionSeat,
    keys="swarm docs consensus#a-file",
    words={"model_type": 'must be a table with `id`, or a text such as "ops=local/model"'},
)


def read(path: Path) -> dict[str, Any]:
    """The arguments of `Council.decide` that the file gives.

    Raises:
        CouncilRefused: it cannot be read, or a key is missing, unknown or of another kind; names file, line and key.
    """
    _check_depth(path)
    given = FILE.read(path)
    found = {key: getattr(given, key) for key in given.model_fields_set}
    if "participants" in found:
        found["participants"] = [_fields(each) for each in given.participants]
    return found


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


def _check_depth(path: Path) -> None:
    """Refuses patterns inside of what a participant prepares."""
    listed = FILE.values(path).get("participants")
    for at, each in enumerate(listed if isinstance(listed, list) else ()):
        try:
            check_depth(each, f"participants.{at + 1}")
        except CouncilRefused as error:
            begins = FILE.places(path)(("participants", at))
            raise CouncilRefused(f"{begins}{error.message}", hint=error.hint) from None
