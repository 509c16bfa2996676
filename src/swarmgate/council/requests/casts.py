"""Loads the casts that ship with swarmgate: personas who sit together in one kind of meeting.

A name is found however people write it: `Product Manager`, `product_manager` and `pm` are `product-manager`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any

from swarmgate import assets
from swarmgate.config import Agent, nearest
from swarmgate.council.requests.seats import as_seat, slug
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

    def persona(self, name: str, agents: Collection[str] = ()) -> Persona | None:
        """The persona of a name; None: there is none, or one of `agents` of the settings is called so and is meant."""
        wanted = _plain(name)
        known = (each for each in self.personas if wanted in map(_plain, (each.id, *each.also)))
        found = next(known, None)
        return None if found and name in agents and name != found.id else found

    def filled(self, given: Any, agents: Mapping[str, Agent]) -> Any:
        """A participant as people write it, with what its persona says where it says nothing itself.

        Args:
            given: a seat, its fields, or `NAME` or `NAME=provider/model`; one that is no persona is given back.
            agents: those of the settings; what one of them says of a persona by its name wins, too.
        """
        said = given.model_dump(exclude_unset=True) if isinstance(given, Seat) else as_seat(given)
        persona = self.persona(str(said.get("id", "")), agents) if isinstance(said, Mapping) else None
        if persona is None:
            return given
        own = agents.get(persona.id)
        left_out = {"also", *(("system",) if own and (own.system or own.system_file) else ())}
        return {
            **persona.model_dump(exclude=left_out),
            **{key: each for key, each in said.items() if each and key != "id"},
        }

    def named(self, given: Any) -> Any:
        """A participant whose name is one of a persona's, as people write it, with that name as an id."""
        if isinstance(given, str):
            name, sign, model = given.partition("=")
            return f"{slug(name)}{sign}{model}" if self.persona(name) else given
        said = given.get("id") if isinstance(given, Mapping) else None
        return {**given, "id": slug(said)} if isinstance(said, str) and self.persona(said) else given

    def seated(self, given: Sequence[Any] = (), agents: Mapping[str, Agent] = MappingProxyType({})) -> list[Any]:
        """Those who come where nobody says who does, and who else is `given`; each persona sits there once."""
        found: dict[Any, Any] = {}
        for number, each in enumerate((*self.seats, *given)):
            seat = self.filled(each, agents)
            found[seat["id"] if seat is not each else number] = seat
        return list(found.values())


def in_one_text(seat: Any) -> Any:
    """A seat with who it is and what it does as one text, which is all that an agent of a chat has."""
    if not isinstance(seat, Mapping) or not seat.get("brief"):
        return seat
    said = "\n\n".join(filter(None, (seat.get("system"), seat["brief"])))
    return {**{key: each for key, each in seat.items() if key != "brief"}, "system": said}


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
