"""Decides whether the quality of a round is said to be poor, from its score and from the disagreement of two rounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from swarmgate.council.discussion.argument.graph import gist
from swarmgate.council.discussion.findings import Assessment
from swarmgate.council.discussion.model import DiscussionRound
from swarmgate.council.discussion.planning import COLD_BELOW, HOT_ABOVE

POOR_BELOW = 3
"""The overall score, of 5, below which a round is poor."""

_CAUSE = 300
"""Characters of the cause that a moderator gives, as it is shown with the warning; all of it stands in the round."""

_COLD = (
    "hardly anybody counters anybody",
    "deep-dive into what they agree on most; in a new discussion, another model for the contrarian (--model)",
)
_HOT = ("they share no premises", "deep-dive into a premise that both sides need, and what evidence would settle it")
_LOWEST = {
    "genuine_disagreement": _COLD,
    "evidence_quality": (
        "claims stand without scenarios, numbers or code",
        "inject the constraint that every claim names a scenario, a number or code",
    ),
    "steel_manning": (
        "views are countered without being put at their strongest",
        "inject the constraint that a counter begins with what it counters at its best",
    ),
    "novel_insights": ("nothing came up that the first positions did not have", "different-angle"),
    "position_evolution": ("nobody moved", "deep-dive into what evidence would change the minds of two sides"),
}


def warnings(held: DiscussionRound, before: Sequence[DiscussionRound], *, last: bool = False) -> tuple[str, ...]:
    """What is wrong with the quality of a whole round, each with its cause and a next step.

    The moderator's cause is told where it names one; else what failed, what was measured, or its lowest score.

    Args:
        held: the round, measured.
        before: the rounds before it.
        last: whether there is no round after it.
    """
    given = next((each.assessment for each in held.messages if each.assessment), None)
    named = gist(given.cause, _CAUSE).removesuffix(".") if given else ""
    anew = "discuss it anew with more rounds (--rounds): " if last else ""
    found = [*_poor(held, given), *_outside_twice(held, before)]
    return tuple(f"{wrong}. Cause: {named or cause}. Next: {anew}{then}" for wrong, (cause, then) in found)


def _poor(held: DiscussionRound, given: Assessment | None) -> Iterator[tuple[str, tuple[str, str]]]:
    if given and given.overall < POOR_BELOW:
        yield f"the quality of round {held.number} is {given.overall} of 5, below {POOR_BELOW}", _cause(held, given)


def _outside_twice(held: DiscussionRound, before: Sequence[DiscussionRound]) -> Iterator[tuple[str, tuple[str, str]]]:
    last = before[-1].measured if before else None
    if held.measured and last and _outside(held.measured.disagreement) and _outside(last.disagreement):
        scores = f"{last.disagreement:g} and {held.measured.disagreement:g} of 10"
        outside = f"disagreement is outside of {COLD_BELOW} to {HOT_ABOVE} in two rounds running, {scores}"
        yield outside, _COLD if held.measured.disagreement < COLD_BELOW else _HOT


def _outside(disagreement: float) -> bool:
    return not COLD_BELOW <= disagreement <= HOT_ABOVE


def _cause(held: DiscussionRound, given: Assessment) -> tuple[str, str]:
    """Why a round is poor, and what to do, by what was counted and scored."""
    failed = list(dict.fromkeys(each.author for each in held.messages if each.failed))
    if failed:
        return f"{', '.join(failed)} gave no answer", "look at their models, then go on"
    score = held.measured.disagreement if held.measured else COLD_BELOW
    if _outside(score):
        return _COLD if score < COLD_BELOW else _HOT
    return _LOWEST[min(_LOWEST, key=lambda name: int(getattr(given, name)))]
