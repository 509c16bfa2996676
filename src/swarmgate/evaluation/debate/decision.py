"""Decides from the results whether a debate is worth its cost, and whether there were enough items to tell."""

from __future__ import annotations

from math import ceil
from typing import Literal

from swarmgate.domain.base import Frozen
from swarmgate.evaluation.debate.statistics import Comparison

LEAST_LIFT = 0.10
"""The lift in accuracy, against as many independent ballots, from which a debate is used."""

LEAST_ITEMS = 30
"""Fewer items cannot tell: where all of n agree, a rate of up to 3/n is still possible (the rule of three)."""

RULE = (
    "debate against parallel ballots at equal calls: a lift in accuracy below 10 points -> defer debate, else use "
    "debate; nobody can be sure while the 95% interval of the lift holds 10 points, or with fewer than 30 items, and "
    "what nobody can be sure of is not written unless asked for"
)


class Decision(Frozen):
    """What is decided, whether the measurement is enough to be sure of it, and in words why.

    `needed` is about how many items of this kind would tell; None where these do, or where nobody can say.
    """

    decision: Literal["use", "defer"]
    sure: bool
    why: str
    needed: int | None = None
    rule: str = RULE

    @property
    def told(self) -> str:
        """`use debate` or `defer debate`."""
        return f"{self.decision} debate"


def decide(comparison: Comparison) -> Decision | None:
    """The decision; None for a single item, whose lift has no interval."""
    if comparison.interval is None:
        return None
    low, high = comparison.interval
    lift, items = comparison.lift, comparison.items
    use = lift >= LEAST_LIFT
    measured = f"a lift of {points(lift)} points ({points(low)} to {points(high)}) over {items} items"
    side = "at least 10" if use else "below 10"
    if items >= LEAST_ITEMS and not low <= LEAST_LIFT <= high:
        return Decision(decision="use" if use else "defer", sure=True, why=f"{measured} is {side}")
    needed = _needed(comparison)
    more = f"about {needed:,} items of this kind would" if needed else "many more items"
    return Decision(
        decision="use" if use else "defer",
        sure=False,
        why=f"{measured} is {side}, but that is too few to tell: {more}",
        needed=needed,
    )


def points(share: float) -> str:
    """A difference of shares in percentage points, with its sign."""
    return f"{100 * share:+.1f}"


def _needed(comparison: Comparison) -> int | None:
    """Items until the interval, which narrows with their square root, no longer reaches the threshold."""
    low, high = comparison.interval or (0.0, 0.0)
    distance = abs(comparison.lift - LEAST_LIFT)
    reach = comparison.lift - low if comparison.lift >= LEAST_LIFT else high - comparison.lift
    if distance * _FAR < reach:
        return None
    return max(LEAST_ITEMS, ceil(comparison.items * (reach / distance) ** 2) + 1)


_FAR = 20
"""Beyond 400 times the items nobody would go on."""
