"""Decides from the messages so far which step of a discussion round is due and which participants are asked.

`Extent.calls` bounds the messages of ARGUE, ATTACK, RESPOND, ANALOGY and STRESS of one round. That reading of the
issue's calls a round is the one whose numbers fit its modes, as argument + attack + response + analogy: lightweight
2+1+2 = 5; standard 2+1+2+1 = 6 to 3+1+3+1 = 8; deep 3+1+3+1 = 8 to 4+1+4+1 = 10, and with both forced passes 12. So a
forced pass takes the place of the analogy, then of the responders to whom fewest links go; one expert responds always.
That leaves a cold lightweight round no room for both: its second attack stands for the stress pass. A participant that
is asked once more, because its answer could not be read, still makes one contribution.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import Enum

from swarmgate.council.discussion.argument.structure import BY, measured
from swarmgate.council.discussion.model import (
    CONTRIBUTIONS,
    CROSS_DOMAIN,
    HISTORIAN,
    Cast,
    DiscussionRound,
    Extent,
    Step,
)

COLD_BELOW, HOT_ABOVE = 2, 8
"""Disagreement, of 10, below which what could go wrong is asked for, and above which common ground."""

_OPENING = (Step.POSITION, Step.FRAME, Step.ARGUE, Step.ATTACK)


class DisagreementLevel(Enum):
    """What the disagreement after the attack asks for."""

    COLD = "cold"
    FIT = "fit"
    HOT = "hot"


def next_step(held: DiscussionRound, before: Sequence[DiscussionRound], extent: Extent) -> Step | None:
    """The step that is due; None: the round is whole.

    Args:
        held: the round at work.
        before: the rounds before it.
        extent: the bounds of the mode.
    """
    done = held.done
    if opening := next((step for step in _OPENING if step not in done), None):
        return opening
    if Step.RESPOND not in done:
        return _forced(held, before) or Step.RESPOND
    if Step.ASSESS not in done:
        return _last_word(held, before, extent) or Step.ASSESS
    return Step.RECORD if HISTORIAN in extent.roles and Step.RECORD not in done else None


def disagreement_level(held: DiscussionRound, before: Sequence[DiscussionRound]) -> DisagreementLevel:
    """What was measured before the moderator asked, or until now where it did not."""
    asked = next((at for at, each in enumerate(held.messages) if each.step is Step.ASK), len(held.messages))
    until = held.model_copy(update={"messages": held.messages[:asked]})
    disagreement = measured(until, before).disagreement
    return (
        DisagreementLevel.COLD
        if disagreement < COLD_BELOW
        else DisagreementLevel.HOT
        if disagreement > HOT_ABOVE
        else DisagreementLevel.FIT
    )


def speakers(
    step: Step, held: DiscussionRound, before: Sequence[DiscussionRound], cast: Cast, extent: Extent
) -> tuple[str, ...]:
    """Who speaks in a step that is due, in order of seats."""
    if step is Step.RESPOND:
        return responders(held, before, cast, extent)
    return (BY[step],) if step in BY else tuple(each.id for each in cast.experts)


def responders(held: DiscussionRound, before: Sequence[DiscussionRound], cast: Cast, extent: Extent) -> tuple[str, ...]:
    """The experts who respond, in order of seats: all for whom there is room, those first to whom most links go."""
    authors = {each.id: each.author for each in held.messages}
    linked = Counter(authors[link.to] for each in held.messages for link in each.links if link.to in authors)
    seats = [each.id for each in cast.experts]
    left = _left(held, extent)
    room = max(left - _stress_due(held, before), min(left, 1))
    first = sorted(seats, key=lambda seat: -linked[seat])[: max(room, 0)]
    return tuple(seat for seat in seats if seat in first)


def forced_by(
    step: Step, held: DiscussionRound, before: Sequence[DiscussionRound], cast: Cast, extent: Extent
) -> tuple[str, ...]:
    """Which rule makes somebody speak, or be silent, in a step that is due; a phrase each."""
    if step is Step.ASK:
        disagreement = measured(held, before).disagreement
        cold = disagreement_level(held, before) is DisagreementLevel.COLD
        rule = f"below {COLD_BELOW}: what could go wrong" if cold else f"above {HOT_ABOVE}: common ground"
        return (f"after the attack, disagreement {disagreement:g} of 10 is {rule} is asked for",)
    if step is Step.ATTACK and step in held.done:
        return ("the contrarian goes again after too little disagreement",)
    if step is Step.STRESS:
        return ("nobody countered anything: a stress pass", *_no_analogy(held, extent))
    if step is Step.ASSESS and Step.STRESS not in held.done:
        return _no_analogy(held, extent)
    if step is Step.RESPOND:
        asked = responders(held, before, cast, extent)
        silent = [each.id for each in cast.experts if each.id not in asked]
        return (f"no response of {', '.join(silent)}: forced passes took the place",) if silent else ()
    return ()


def _no_analogy(held: DiscussionRound, extent: Extent) -> tuple[str, ...]:
    missing = CROSS_DOMAIN in extent.roles and Step.ANALOGY not in held.done
    return ("no analogy: a forced pass took its place",) if missing else ()


def _forced(held: DiscussionRound, before: Sequence[DiscussionRound]) -> Step | None:
    """The moderator's question and the second attack, where the measure asks for them."""
    measure = disagreement_level(held, before)
    if measure is not DisagreementLevel.FIT and Step.ASK not in held.done:
        return Step.ASK
    again = measure is DisagreementLevel.COLD and held.done.count(Step.ATTACK) == 1
    return Step.ATTACK if again else None


def _last_word(held: DiscussionRound, before: Sequence[DiscussionRound], extent: Extent) -> Step | None:
    """The analogy where there is room, then the stress pass where nobody countered anything."""
    left, stress = _left(held, extent), _stress_due(held, before)
    if Step.STRESS in held.done or left <= 0:
        return None
    if CROSS_DOMAIN in extent.roles and Step.ANALOGY not in held.done and left > stress:
        return Step.ANALOGY
    return Step.STRESS if stress else None


def _left(held: DiscussionRound, extent: Extent) -> int:
    """Contributions that the bound leaves."""
    return extent.calls[1] - sum(each.step in CONTRIBUTIONS and not each.human for each in held.messages)


def _stress_due(held: DiscussionRound, before: Sequence[DiscussionRound]) -> bool:
    """Whether nobody countered anything so far: a place is kept for the stress pass."""
    return not measured(held, before).counters
