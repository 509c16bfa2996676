"""Validates the request for a swarm chat, from arguments or a TOML file, before a model is called.

The file is TOML with `[[agents]]`, `[initial]` and, if it likes, bounds of its own.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from swarmgate.config import nearest
from swarmgate.config.setting_errors import unknown
from swarmgate.council.chat.model import (
    ALL,
    LEAST_AGENTS,
    MODERATOR,
    MOST_AGENTS,
    MOST_CONTENT,
    MOST_TTL_S,
    Chat,
    Draft,
    spoken,
)
from swarmgate.council.requests import casts
from swarmgate.council.requests.request_file import begins, tables_of, text_of
from swarmgate.council.requests.seats import as_seat, cast_of, seats_of
from swarmgate.domain.review.votes import Seat
from swarmgate.errors import CouncilRefused
from swarmgate.project import Project

AGENT_KEYS = ("id", "agent", "role", "model", "model_tier", "system", "folder")
OPENING_KEYS = ("from", "to", "content")
KEYS = ("id", "ttl_s", "ttl_ms", "messages", "tokens", "moderator", "cast", "agents", "initial")
"""What may stand in the file of a chat."""

_LEFT_OUT = {"id": "chat", "messages": 1, "tokens": 1}
"""For keys that the file leaves out: the settings say them, which were checked already."""

_PLACE = re.compile(r"`(\w+)(?:\[(\d+)\])?(?:\.(\w+))?`")
_UNKNOWN = re.compile(r"unknown key `([^`]+)`")

_ID = r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}"
_MOST_MESSAGES = 100_000


def chat_of(
    *,
    id: str,  # noqa: A002 - the field's name
    agents: Sequence[Seat | Mapping[str, Any]],
    initial: Mapping[str, Any],
    ttl_s: float,
    messages: int,
    tokens: int,
    moderator: str | None = None,
    created_at: float,
) -> Chat:
    """A chat that can be held.

    Args:
        id: its name.
        agents: 2 to 32, each with an id of its own; `all` is nobody's.
        initial: `from` (an agent, or `moderator`), `to` (an agent, several, or `all`) and `content` of the opening.
        ttl_s: seconds until it is over, at most a week.
        messages: that agents may send.
        tokens: that they may use together.
        moderator: the id of the agent that moderates; an agent named `moderator` does in any case.
        created_at: seconds since 1970.

    Raises:
        CouncilRefused: it cannot; the message names the parameter and its bounds.
    """
    if not re.fullmatch(_ID, str(id)):
        raise CouncilRefused(f"`id` is {str(id)[:60]!r}: letters, digits, `.`, `_` and `-`, at most 40, are an id")
    _number("ttl_s", ttl_s, most=MOST_TTL_S)
    _number("messages", messages, most=_MOST_MESSAGES, whole=True)
    _number("tokens", tokens, whole=True)
    seats = _agents(agents)
    names = [seat.id for seat in seats]
    head = _moderator(moderator, names)
    return Chat(
        id=str(id),
        agents=seats,
        opening=_opening(initial, names, head),
        moderator=head,
        ttl_s=ttl_s,
        messages=messages,
        tokens=tokens,
        created_at=created_at,
    )


def read(path: Path, project: Project) -> dict[str, Any]:
    """What a file asks for: the arguments of `Council.swarm`, by name, which make a chat that can be held.

    Args:
        path: of the file.
        project: whose settings have the agents that are named there.

    Raises:
        CouncilRefused: the file cannot be read, or is not that of such a chat; the message names file, line and key.
    """
    text = text_of(path, "chat file", hint="Give the path of a TOML file; the format: swarm chat --help")
    values = tables_of(path, text)
    try:
        check_keys(values, KEYS, "")
        if "cast" in values:
            name, given = str(values.pop("cast")), values.get("agents", [])
            seats = casts.cast(name).seated(given if isinstance(given, list) else (), project.config.agents)
            values["agents"] = [casts.in_one_text(each) for each in cast(seats, project)]
        for key in ("agents", "initial"):
            if key not in values:
                what = "[[agents]] tables" if key == "agents" else "[initial] table"
                raise CouncilRefused(f"this is not a chat file: it has no {what}", hint="See: swarm chat --help")
        ttl_s = ttl_of(values.get("ttl_s"), values.get("ttl_ms"), default=1)
        rest = {key: value for key, value in values.items() if key not in ("ttl_s", "ttl_ms")}
        chat_of(**{**_LEFT_OUT, **rest, "agents": cast(values["agents"], project)}, ttl_s=ttl_s, created_at=0.0)
    except CouncilRefused as error:
        where = begins(path, text, _place(error.message), naming=False)
        raise CouncilRefused(f"{where}{error.message}", hint=error.hint) from None
    return values


def ttl_of(ttl_s: float | None, ttl_ms: float | None, *, default: float) -> float:
    """How long a chat may last, in seconds, of what is said in seconds or in milliseconds.

    Raises:
        CouncilRefused: both are given, or the milliseconds are none.
    """
    if ttl_ms is None:
        return default if ttl_s is None else ttl_s
    if ttl_s is not None:
        raise CouncilRefused("`ttl_ms` is given, and `ttl_s`, too: give one of the two")
    _number("ttl_ms", ttl_ms, most=MOST_TTL_S * 1000, unit="milliseconds")
    return ttl_ms / 1000


def _place(message: str) -> tuple[int | str, ...]:
    """What a refusal of `chat_of` is about, which it names first: `ttl_s`, `agents[2].id`, or an unknown key."""
    found, strange = _PLACE.search(message), _UNKNOWN.search(message)
    place: list[int | str] = []
    if found and not (strange and strange.start() < found.start()):
        place = [found[1], *([int(found[2])] if found[2] else []), *([found[3]] if found[3] else [])]
    return (*place, strange[1]) if strange else tuple(place)


def check_keys(values: Mapping[str, Any], known: Sequence[str], where: str) -> None:
    """Whether every key is known.

    Raises:
        CouncilRefused: one is not.
    """
    for key in values:
        if key not in known:
            raise CouncilRefused(f"{where}{unknown(str(key), known)}")


def _number(name: str, value: object, *, most: float = math.inf, whole: bool = False, unit: str = "seconds") -> None:
    kinds = int if whole else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds) or not 0 < value <= most or value == math.inf:
        kind = "a whole number" if whole else f"a number of {unit}"
        bound = f", at most {most:,.0f}" if most < math.inf else ""
        raise CouncilRefused(f"`{name}` is {str(value)[:40]!r}: it must be {kind} above 0{bound}")


def cast(agents: Any, project: Project) -> Any:
    """The agents as the settings have those that are named there; what is no list is given back.

    Raises:
        CouncilRefused: there is no such agent, or tier.
    """
    if isinstance(agents, str) or not isinstance(agents, Sequence):
        return agents
    return cast_of(agents, AGENT_KEYS, project, lambda at, key: f"`agents[{at}].{key}`: ", name="agents")


def _agents(agents: object) -> tuple[Seat, ...]:
    if isinstance(agents, str | Mapping) or not isinstance(agents, Sequence):
        raise CouncilRefused("`agents` must be a list of agents, each with `id`, `model` and `system`")
    for number, each in enumerate(map(as_seat, agents)):
        if isinstance(each, Mapping):
            check_keys(each, AGENT_KEYS, f"`agents[{number}]`: ")
    seats = seats_of(agents, name="agents")
    if not LEAST_AGENTS <= len(seats) <= MOST_AGENTS:
        raise CouncilRefused(f"`agents` has {len(seats)}: a chat has {LEAST_AGENTS} to {MOST_AGENTS} agents")
    if any(seat.id == ALL for seat in seats):
        raise CouncilRefused(f"`agents`: none may be named `{ALL}`, which means everybody")
    return seats


def _moderator(wanted: str | None, names: Sequence[str]) -> str:
    if not wanted:
        return MODERATOR if MODERATOR in names else ""
    if wanted not in names:
        raise CouncilRefused(f"`moderator`: {_stranger(wanted, names)}")
    if MODERATOR in names and wanted != MODERATOR:
        raise CouncilRefused(f"`moderator` is {wanted}, and another agent is named `{MODERATOR}`: give it another id")
    return wanted


def _opening(initial: object, names: Sequence[str], moderator: str) -> Draft:
    if not isinstance(initial, Mapping):
        raise CouncilRefused("`initial` must have `from`, `to` and `content`: the message that the chat begins with")
    check_keys(initial, OPENING_KEYS, "`initial`: ")
    sender = initial.get("from", MODERATOR)
    if sender not in (*names, MODERATOR):
        raise CouncilRefused(f"`initial.from`: {_stranger(sender, [*names, MODERATOR])}")
    if sender == MODERATOR and moderator:
        sender = moderator
    to = initial.get("to", ALL)
    wanted = [to] if isinstance(to, str) else list(to) if isinstance(to, Sequence) else []
    others = [name for name in names if name != sender]
    for each in wanted:
        if each not in (*others, ALL):
            why = "the sender itself" if each == sender else _stranger(each, [*others, ALL])
            raise CouncilRefused(f"`initial.to`: {why}")
    if not wanted:
        raise CouncilRefused(f"`initial.to` names nobody; here are: {', '.join(others)}, and `{ALL}`")
    readers = tuple(name for name in others if ALL in wanted or name in wanted)
    return Draft(sender=sender, to=readers, content=_content(initial.get("content", "")))


def _content(content: object) -> str:
    content = spoken(content) if isinstance(content, str) else ""
    if not content:
        raise CouncilRefused("`initial.content` is empty: a chat begins with something to talk about")
    if len(content) > MOST_CONTENT:
        raise CouncilRefused(
            f"`initial.content` has {len(content):,} characters; a message has {MOST_CONTENT:,} at most",
            hint="Put it into a file of the repository and name that: the agents can read it.",
        )
    return content


def _stranger(name: object, known: Sequence[str]) -> str:
    close = nearest(str(name), known)
    here = f"did you mean {close}?" if close else f"known: {', '.join(known)}"
    return f"there is no {str(name)[:40]!r}; {here}"
