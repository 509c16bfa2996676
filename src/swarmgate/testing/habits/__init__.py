"""Simulated quirks of real OpenAI-compatible endpoints ("habits"), each selectable by its name.

    with ScriptedServer(rules, habits=["deepseek-reasoning-must-return"]) as server:
        ...

Each says in one sentence what it does and where it was seen. The table of all is in docs/models.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from swarmgate.errors import UsageError
from swarmgate.testing.habits import (
    answers,
    errors,
    limits,
    reasoning,
    refusals,
    streaming,
    text_calls,
    tool_calls,
    transport,
    usage,
)
from swarmgate.testing.habits.habit import Habit

HABITS: tuple[Habit, ...] = (
    *answers.HABITS,
    *reasoning.HABITS,
    *tool_calls.HABITS,
    *text_calls.HABITS,
    *streaming.HABITS,
    *usage.HABITS,
    *refusals.HABITS,
    *errors.HABITS,
    *limits.HABITS,
    *transport.HABITS,
)
"""All of them, by group."""

_BY_NAME = {each.name: each for each in HABITS}


def named(names: Iterable[str]) -> tuple[Habit, ...]:
    """The habits of these names, in this order.

    Raises:
        UsageError: there is none of a name; the nearest ones are named.
    """
    found: list[Habit] = []
    for name in names:
        if name not in _BY_NAME:
            near = get_close_matches(name, _BY_NAME, n=3)
            hint = f"did you mean {' or '.join(near)}?" if near else "python -m swarmgate.testing --list-habits"
            raise UsageError(f"there is no habit `{name}`", hint=hint)
        found.append(_BY_NAME[name])
    return tuple(found)


__all__ = ["HABITS", "Habit", "named"]
