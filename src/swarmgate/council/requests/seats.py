"""Seats of a request: each has a name of its own, and is what the request says, an agent of the settings, or a role.

`seated` is the one place where `[agents]`, roles and tiers become the system text, the model, the weight and the folder
of a voice, for every pattern. What the request says of a seat wins over its agent, and that over its role.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from swarmgate.config import PROJECT_FILE, SPEAKING, Config, nearest
from swarmgate.council.limits import PERSONA
from swarmgate.council.requests.perspectives import PERSPECTIVES
from swarmgate.domain.review.votes import Seat
from swarmgate.errors import CouncilRefused, UsageError
from swarmgate.workspace.file_tools.files import FileTree

M = TypeVar("M")
Place = Callable[[str], str]
"""The beginning of a message about a key of a seat."""

_SEAT_ID = "letters, digits, `.`, `_` and `-`, at most 40, a letter or digit first"
_LONGEST = 40
_NUMBERED = 37
"""Characters of a name that a number follows: with it a seat's id has 40 at most."""

_MOST_READ = 1_000_000
"""Characters of a system text in a file that are counted."""

_OTHER_NAMES = {"systemPrompt": "system", "system_prompt": "system", "modelTier": "model_tier"}
"""Keys as requests for other programs have them, and what they are called here."""


class Rooted(Protocol):
    """What has a root in the file system."""

    @property
    def root(self) -> Path:
        """The root of the repository."""
        ...


class Settings(Protocol):
    """The settings of a project, and where its files are."""

    @property
    def config(self) -> Config:
        """The merged settings."""
        ...

    @property
    def folder(self) -> Rooted:
        """Its folder."""
        ...


def as_seat(value: Any) -> Any:
    """A participant as a table with an `id`; one that has none is called as its agent, or its role.

    Args:
        value: a table, or as on the command line `ID` or `ID=provider/model`; anything else is given back.

    Raises:
        ValueError: there is a `=` and no model behind it.
    """
    if isinstance(value, str):
        name, sign, model = (part.strip() for part in value.partition("="))
        if sign and not model:
            raise ValueError(f"{value!r} names no model behind `=`")
        return {"id": name, "model": model}
    if not isinstance(value, Mapping):
        return value
    fields = renamed(value)
    called = fields.get("agent") or fields.get("role")
    return {"id": _lent(called), **fields} if isinstance(called, str) else fields


def renamed(value: Mapping[str, Any]) -> dict[str, Any]:
    """The table with the keys of requests for other programs under our names; one that has both keeps both."""
    ours = {key: name for key, name in _OTHER_NAMES.items() if name not in value}
    return {ours.get(key, key): each for key, each in value.items()}


def slug(name: str) -> str:
    """A name as an id: `product manager` is `product-manager`; without accents, and empty where nothing is left."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9._-]+", "-", plain).strip("-._")[:_LONGEST].rstrip("-._")


def _lent(name: str) -> str:
    """The id of a seat that is called as its agent, or its role."""
    return slug(name) or "participant"


def seated(given: Mapping[str, Any], fields: Collection[str], project: Settings, place: Place) -> dict[str, Any]:
    """A seat with what its agent and its role say where it says nothing itself; one that has all of it stays as it is.

    Args:
        given: what the request says of it.
        fields: what its pattern reads of a seat; the rest of an agent, such as its weight in a debate, is left out.
        project: whose settings hold.
        place: how a message about a key of it begins.

    Returns:
        Its fields; those of one that was settled before are the same again.

    Raises:
        CouncilRefused: there is no such agent, tier, or file of a system text, or it has a model and a tier.
    """
    if given.get("human"):  # a person has neither
        return dict(given)
    said = _agent(given, project, place)
    if given.get("model") or given.get("model_tier"):
        said = {key: value for key, value in said.items() if key not in ("model", "model_tier")}
    found = {**said, **{key: value for key, value in given.items() if value not in ("", None) or key not in said}}
    if found.get("model") and found.get("model_tier"):
        raise CouncilRefused(f"{place('model_tier')}a `model` is given, too: give one of the two")
    role, own = str(found.get("role", "")), str(found.get("system", ""))
    found["model"] = found.get("model") or _model(role, str(found.pop("model_tier", "")), project.config, place)
    label = f"You take part as: {role}." if role and "perspective" not in fields else ""  # beside which a role is told
    as_role = PERSPECTIVES.get(role, label)
    found["system"] = own if own.startswith(as_role) else "\n\n".join(filter(None, (as_role, own)))
    return {key: value for key, value in found.items() if key in fields or key in given}


def _agent(given: Mapping[str, Any], project: Settings, place: Place) -> dict[str, Any]:
    """What the agent says that a seat names; nothing where it names none."""
    agents, name = project.config.agents, str(given.get("agent") or "")
    if not name and str(given.get("id")) in agents:
        name = str(given["id"])
    if name in agents:
        agent = agents[name]
        said = agent.model_dump(exclude_unset=True, exclude={"system_file"})
        said |= {"system": _text(agent.system_file, project, place)} if agent.system_file else {}
        return {"role": name if name in SPEAKING else "", **said, "agent": name}
    if not name or name in SPEAKING:
        return {"agent": name, "role": name} if name else {}
    known = tuple(dict.fromkeys((*agents, *SPEAKING)))
    close = nearest(name, known)
    meant = f"did you mean `{close}`?" if close else f"known here: {', '.join(known)}"
    raise CouncilRefused(
        f"{place('agent')}there is no agent {name[:60]!r}; {meant}",
        hint=f"Describe it in {PROJECT_FILE}: [agents.{slug(name) or 'NAME'}] with `role`, `system` and `model`.",
    )


def _text(path: str, project: Settings, place: Place) -> str:
    root, begins = project.folder.root, f"{place('agent')}`system_file`: "
    if not os.path.exists(root / path):  # noqa: PTH110 - it may be too long for a path
        raise CouncilRefused(f"{begins}there is no file {path!r} in the repository")
    try:
        text = FileTree(root).read(path, limit=_MOST_READ).strip()
    except UsageError as error:
        raise CouncilRefused(f"{begins}{error.message}", hint=error.hint) from error
    if not 0 < len(text) <= PERSONA.most:
        raise CouncilRefused(f"{begins}{path!r} has {len(text):,} characters: the limit is 1 to {PERSONA.most:,.0f}")
    return text


def _model(role: str, tier: str, config: Config, place: Place) -> str:
    """The model of a tier, or of a role that models speak as; empty: the one that participants have."""
    try:
        if tier:
            return config.tier(tier)
        return config.role(role).model if role in SPEAKING else ""
    except UsageError as error:
        raise CouncilRefused(f"{place('model_tier' if tier else 'model')}{error.message}", hint=error.hint) from error


def cast_of(
    given: Sequence[BaseModel | Mapping[str, Any] | str],
    fields: Collection[str],
    project: Settings,
    place: Callable[[int, str], str],
    *,
    name: str = "participants",
) -> list[Any]:
    """All seats of a request as tables, each with a name of its own, and as `seated` has it.

    Args:
        given: seats, their fields, or `ID` and `ID=provider/model`; what is none of these is given back.
        fields: as of `seated`.
        project: as of `seated`.
        place: how a message about a key of the seat at a place, from 0 on, begins.
        name: of the parameter.

    Raises:
        CouncilRefused: as `seated`; or one names no model behind `=`.
    """
    found: list[Any] = []
    for at, each in enumerate(given):
        try:
            table = each.model_dump(exclude_unset=True) if isinstance(each, BaseModel) else as_seat(each)
        except ValueError as error:
            who = str(each).partition("=")[0].strip()
            hint = f"A variable that is not set? With the model of [roles.participant] it is: {who}"
            raise CouncilRefused(f"`{name}`: {error}", hint=hint) from None
        found.append(seated(table, fields, project, partial(place, at)) if isinstance(table, Mapping) else table)
    return numbered(found)


def voice_of(word: str, project: Settings, place: Place) -> Seat:
    """A voice that is given in a word, an agent or a role; anything else is its model.

    Raises:
        CouncilRefused: as `seated`.
    """
    if word not in (*project.config.agents, *SPEAKING):
        return Seat(id="voice", model=word)
    return Seat.model_validate(seated({"id": "voice", "agent": word}, Seat.model_fields, project, place))


def registered(project: Settings) -> dict[str, dict[str, Any]]:
    """The agents of the settings by name, each with the model that it speaks with; `problem`: why it cannot."""
    found = {}
    for name, agent in project.config.agents.items():
        seat, problem = dict[str, Any](), ""
        try:
            seat = seated({"id": name}, ("id", *type(agent).model_fields), project, lambda key: f"{key}: ")
        except CouncilRefused as error:
            problem = error.message
        told = agent.model_dump(mode="json") | {"model": seat.get("model", ""), "role": seat.get("role", agent.role)}
        found[name] = {**told, "problem": problem}
    return found


def numbered(seats: Sequence[Any]) -> list[Any]:
    """The seats with a number behind the names of those that are called as their agent or role, where several are."""
    lent = [
        isinstance(each, Mapping)
        and each.get("id") in [_lent(name) for key in ("agent", "role") if (name := str(each.get(key) or ""))]
        for each in seats
    ]
    often = Counter(each["id"] for each, is_lent in zip(seats, lent, strict=True) if is_lent)
    seen, found = Counter[str](), []
    for each, is_lent in zip(seats, lent, strict=True):
        name = each["id"] if is_lent else ""
        seen[name] += 1
        found.append({**each, "id": f"{name[:_NUMBERED]}-{seen[name]}"} if often[name] > 1 else each)
    return found


def seats_of(seats: Iterable[Seat | Mapping[str, Any]], *, name: str = "seats") -> tuple[Seat, ...]:
    """Participants, each with an id of its own; `name` is the parameter's, for messages.

    Raises:
        CouncilRefused: a seat is none, or two have one id.
    """
    tables = numbered(
        [each.model_dump(exclude_unset=True) if isinstance(each, Seat) else as_seat(each) for each in seats]
    )
    found = tuple(seat_of(each, f"{name}[{number}]") for number, each in enumerate(tables))
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
