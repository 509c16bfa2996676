"""Loads the casts that ship with swarmgate: personas who sit together in one kind of meeting.

A name is found however people write it: `Product Manager`, `product_manager` and `pm` are `product-manager`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from swarmgate import assets
from swarmgate.config import nearest
from swarmgate.council.requests.request_file import as_seat
from swarmgate.domain.base import Frozen, Line, Text
from swarmgate.domain.review.votes import Seat, SeatId
from swarmgate.errors import CouncilRefused

VISION_ALIGNMENT = "vision-alignment"
"""The cast of a Vision Alignment Meeting."""


class Persona(Frozen):
    """Who somebody is (`system`) and what they do with a proposal (`brief`); `also` are other names."""

    id: SeatId
    also: tuple[str, ...] = ()
    system: Text
    brief: Text


class Cast(Frozen):
    """The personas of one kind of meeting; `seats` are those who come where nobody says who does."""

    title: Line
    seats: tuple[SeatId, ...]
    personas: tuple[Persona, ...]

    def seat(self, name: str, model: str = "") -> Seat | None:
        """The seat of a persona by any of its names; None: there is none."""
        wanted = _plain(name)
        for each in self.personas:
            if wanted in map(_plain, (each.id, *each.also)):
                return Seat(id=each.id, model=model, brief=each.brief, system=each.system)
        return None

    def seated(self, given: Sequence[Any] = ()) -> list[Any]:
        """The participants of a meeting: those who come by themselves, then who else is given.

        Args:
            given: participants as people write them. One with the name of a persona takes its seat; what it says of
                itself (its model, its brief) counts, the rest is the persona's.
        """
        found: dict[str, Any] = {}
        for each in (*self.seats, *given):
            own = as_seat(each)
            fields = dict(own) if isinstance(own, Mapping) else own.model_dump() if isinstance(own, Seat) else {}
            persona = self.seat(str(fields.get("id", "")))
            if persona is None:
                found[str(fields.get("id", ""))] = each
            else:
                said = {key: value for key, value in fields.items() if value and key != "id"}
                found[persona.id] = {**persona.model_dump(exclude_defaults=True), **said}
        return list(found.values())

    def agents(self, given: Sequence[Any] = ()) -> list[Any]:
        """The same as agents of a chat, where who somebody is and what they do is one text."""
        seats = [each if isinstance(each, Mapping) else as_seat(each) for each in self.seated(given)]
        return [
            {**each, "system": "\n\n".join(filter(None, (each.get("system"), brief)))}
            if (brief := each.pop("brief", ""))
            else each
            for each in map(dict, seats)
        ]


@cache
def cast(name: str) -> Cast:
    """The cast of that name.

    Raises:
        CouncilRefused: there is none; the message names the nearest.
    """
    folder = assets.prompts() / "casts"
    known = sorted(path.stem for path in folder.glob("*.toml"))
    wanted = _plain(name).removesuffix("-meeting")
    if wanted not in known:
        raise CouncilRefused(f"there is no cast {stranger(name, known)}")
    return Cast.model_validate(tomllib.loads((folder / f"{wanted}.toml").read_text("utf-8")))


def stranger(name: str, known: Sequence[str]) -> str:
    """What is said of a name that nobody has: with the nearest one, or with all."""
    close = nearest(_plain(name), known)
    return f"{name[:60]!r}; " + (f"did you mean {close}?" if close else f"known: {', '.join(known)}")


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]+", "-", name.strip()).lower().replace("'", "")
