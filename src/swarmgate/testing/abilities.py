"""Limits the capabilities of a scripted endpoint: features that it refuses, and its answers to probes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from swarmgate.errors import UsageError
from swarmgate.testing.exchange import Exchange, refused
from swarmgate.testing.habits.habit import Habit
from swarmgate.testing.script import Call, Reply

LACKING = ("tools", "parallel_tools", "stream", "json_schema", "system")
"""What may be named as lacking. `parallel_tools`: of several calls only the first is given; the others are refused."""


def checked(lacks: Collection[str]) -> frozenset[str]:
    """Checks that all names are known, and returns them.

    Raises:
        UsageError: one is not.
    """
    if unknown := sorted(set(lacks) - set(LACKING)):
        raise UsageError(f"a scripted server cannot lack {unknown[0]!r}; known: {', '.join(LACKING)}")
    return frozenset(lacks)


def _refusing(feature: str, why: str, asked: Callable[[Exchange], bool]) -> Habit:
    return Habit(
        name=f"lacks-{feature}",
        about=f"It answers 400: {why}",
        source="`lacks` of the scripted server",
        group="refusals",
        refuse=lambda exchange: refused(400, why, type="scripted") if asked(exchange) else None,
    )


_REFUSING = {
    "tools": _refusing("tools", "this model does not support tools", lambda exchange: exchange.offers_tools),
    "stream": _refusing("stream", "streaming is not supported by this endpoint", lambda exchange: exchange.streams),
    "json_schema": _refusing(
        "json_schema",
        "response_format is not supported by this model",
        lambda exchange: bool(exchange.body.get("response_format")),
    ),
    "system": _refusing(
        "system",
        "System role not supported",
        lambda exchange: any(each.get("role") == "system" for each in exchange.messages),
    ),
}


def lacking(lacks: Collection[str]) -> tuple[Habit, ...]:
    """What is lacking as habits that refuse it; what is not refused by a status is left out."""
    return tuple(habit for feature, habit in _REFUSING.items() if feature in lacks)


def probe_reply(headers: Mapping[str, str | list[str]]) -> Reply | None:
    """What a capable model answers to a probe; None when the request is none."""
    if headers.get("ROLE") != "probe":
        return None
    if headers.get("STEP") == "tools":
        return Reply(tool_calls=tuple(Call(name="report_number", arguments={"number": n}) for n in (1, 2)))
    answers = {"system": "PLUM", "json_schema": '{"plum_count": 3, "plum_colour": "blue"}'}
    return Reply(text=answers.get(str(headers.get("STEP")), "?"))
