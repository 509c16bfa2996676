"""Hard limits of discussions, decisions, critiques and orchestrations, which no setting or request can exceed.

A refusal names the limit: `within("rounds", 12, ROUNDS)`.
"""

from __future__ import annotations

import math
from typing import Any

from swarmgate.config.council import MOST_SYSTEM
from swarmgate.domain.base import Frozen
from swarmgate.errors import CouncilRefused


class Limit(Frozen):
    """The least and the most that a number may be; `unit` stands behind them in messages."""

    least: float
    most: float
    unit: str = ""

    def __str__(self) -> str:
        return f"{self.least:g} to {self.most:g}{f' {self.unit}' if self.unit else ''}"


ROUNDS = Limit(least=1, most=10)
"""Rounds of a discussion or decision."""

ITERATIONS = Limit(least=1, most=10)
"""Iterations of a critique."""

PARTICIPANTS = Limit(least=1, most=10)
"""Participants of a decision; experts of a discussion."""

CRITERIA = Limit(least=1, most=10)
"""Criteria of a critique."""

VOICE_SECONDS = Limit(least=1, most=900, unit="s")
"""The longest time of one participant in one step."""

WHOLE_SECONDS = Limit(least=1, most=1800, unit="s")
"""The longest time of one whole pattern, in one session: what is taken up again starts anew."""

TOPIC = Limit(least=1, most=10_000, unit="characters")
"""A topic or a question; what it is about goes into the material."""

PROMPT = Limit(least=1, most=100_000, unit="characters")
"""The task of a critique, the text of an orchestration's step."""

MATERIAL = Limit(least=0, most=400_000, unit="characters")
"""What it is about. It must fit the windows of the participants too."""

PERSONA = Limit(least=0, most=MOST_SYSTEM, unit="characters")
"""The system text, perspective or rubric of one participant or criterion."""

STEPS = Limit(least=1, most=50)
"""Steps of an orchestration, those inside of others too."""

ITEMS = Limit(least=1, most=100, unit="items")
"""Items of a map."""

DEPTH = Limit(least=1, most=2)
"""How deep patterns nest: a participant of a decision may be a discussion, and nothing in that may nest further."""


_LONG = 10**20


def within(name: str, value: Any, limit: Limit, *, whole: bool = True) -> None:
    """Insists that a number keeps to its limit.

    Args:
        name: the parameter, for the message.
        value: what was given.
        limit: the bounds, both ends included.
        whole: whether it must be a whole number.

    Raises:
        CouncilRefused: it is no such number; the message names parameter, value and limit.
    """
    kinds = (int,) if whole else (int, float)
    fits = isinstance(value, kinds) and not isinstance(value, bool)
    if not fits or not limit.least <= value <= limit.most:  # what is not finite keeps to no bounds
        raise CouncilRefused(f"`{name}` is {_shortened(value)}: the limit is {limit}")


def _shortened(value: Any) -> str:
    """A value as a message names it: in short."""
    if isinstance(value, int) and abs(value) >= _LONG:
        return f"about {'-' if value < 0 else ''}10^{math.log10(abs(value)):.0f}"  # `repr` refuses 4,300 digits
    return f"{value!r:.100}"


def sized(name: str, text: str, limit: Limit) -> None:
    """Insists that a text keeps to its limit, and is not blank where it may not be empty.

    Raises:
        CouncilRefused: it does not; the message names parameter, size and limit.
    """
    size = len(text.strip())
    if not size and limit.least:
        raise CouncilRefused(f"`{name}` is empty: the limit is {limit}")
    if len(text) > limit.most:
        raise CouncilRefused(
            f"`{name}` has {len(text):,} characters: the limit is {limit.most:,.0f}",
            hint="Say it in short; what it is about can be given as a file of the material.",
        )


MOST_TEXT = 12_000
"""Characters of one contribution that are kept and shown to the others."""
