"""Decides what may be approved in the user's place, in a run that nobody attends, and what never may."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import takewhile
from typing import get_args

from swarmgate.domain.events.event import PhaseStage
from swarmgate.domain.review.votes import Vote
from swarmgate.domain.state.state import PhaseRecord, Planning, State


@dataclass(frozen=True, slots=True)
class Unattended:
    """What is approved in the user's place: nothing by default.

    `by` names, for the `plan` and for a `phase`, the setting or the option that says so; it goes on record. After
    `in_a_row` phases that nobody looked at, the next one waits for the user.
    """

    by: Mapping[str, str] = field(default_factory=dict)
    in_a_row: int = 0


ATTENDED = Unattended()
"""Nothing is approved in the user's place."""


class Until(StrEnum):
    """How far one run goes, as the user says who starts it."""

    PHASE = "phase"
    """To the checkpoint of the phase, whatever the settings approve."""
    BLOCKED = "blocked"
    """Over checkpoints, to where somebody has to decide: a plan, a blocked task, a rejected phase."""
    DONE = "done"
    """The same, and over a plan that waits for approval, too."""


def rules_of(auto: Collection[str], in_a_row: int, until: Until | None) -> Unattended:
    """What is approved in the user's place.

    Args:
        auto: what the settings name: `plan`, `phase`.
        in_a_row: after so many phases the user is asked all the same.
        until: what the user said when the run was started; None: nothing.
    """
    by = {what: "[approve] auto" for what in auto if (what, until) != ("phase", Until.PHASE)}
    over = {Until.BLOCKED: ("phase",), Until.DONE: ("plan", "phase")}.get(until, ()) if until else ()
    return Unattended(by | dict.fromkeys(over, f"swarm run --until {until}"), in_a_row)


def plan_needs_person(state: State) -> str:
    """Why nobody but the user can approve the plan that waits; empty: there is no reason."""
    if state.planning is not Planning.REVIEWED:
        return "the architect gave none that can be used"
    newest = state.plan_reviews[-1]
    return "" if newest.approved else f"the {'debate' if newest.debate else 'critic'} objects to it"


def phase_needs_person(record: PhaseRecord) -> str:
    """Why nobody but the user can approve a phase; empty: there is no reason.

    That the user went on in spite of its reviewers is no approval of what came of it.
    """
    tallies = (record.tally(stage) for stage in get_args(PhaseStage) if record.verdicts(stage))
    rejected = record.overruled or any(tally.verdict is not Vote.APPROVE for tally in tallies)
    return "its reviewers rejected it" if rejected else ""


def too_many(state: State, rules: Unattended) -> str:
    """Says that so many phases in a row have been approved that nobody looked at; empty: there were fewer."""
    before = (state.phase(number) for number in range(state.current_phase - 1, 0, -1))
    count = sum(1 for _ in takewhile(lambda record: record.approved_by, before))
    told = f"phases in a row that nobody looked at: {count} ([approve] phases_in_a_row)"
    return told if count >= rules.in_a_row else ""
