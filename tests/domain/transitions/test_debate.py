"""A verdict passes only as its debate bears it, and every debate is counted."""

from __future__ import annotations

import pytest
from tests.domain.story import NO, YES, debated, legal, passing, planned, play, rejection, started

from swarmgate.domain.events import event as ev
from swarmgate.domain.events.event import Event
from swarmgate.domain.review.stage import UNDECIDED
from swarmgate.domain.review.votes import Tally
from swarmgate.domain.state.state import State
from swarmgate.domain.task.remedies import settings_for
from swarmgate.errors import IllegalMove, InvalidTaskStateTransition

GATED = [*started(), *passing("1.1")[:3]]
GIVEN = ev.ReviewGiven(task="1.1", attempt=1, review=YES, passed=True)
REFUSED = ev.ReviewGiven(task="1.1", attempt=1, review=NO, passed=False)


def changed(event: Event, **changes: object) -> Event:
    return event.model_copy(update=changes)


def test_a_review_says_what_its_debate_decided() -> None:
    assert legal(State(), *GATED, debated("1.1", 1), GIVEN)
    assert legal(State(), *GATED, debated("1.1", 1, "REJECT"), REFUSED)
    with pytest.raises(IllegalMove, match="ended in REJECTED"):
        play(State(), *GATED, debated("1.1", 1, "REJECT"), GIVEN)
    with pytest.raises(IllegalMove, match="ended in APPROVED"):
        play(State(), *GATED, debated("1.1", 1), REFUSED)


def test_an_approval_that_the_votes_do_not_bear_cannot_pass_whatever_it_says() -> None:
    tie = changed(debated("1.1", 1), tally=Tally(approve=1, reject=1))
    assert not legal(State(), *GATED, tie, GIVEN)
    assert legal(State(), *GATED, tie, REFUSED)


def test_a_debate_that_decided_nothing_bears_no_review() -> None:
    nothing = changed(debated("1.1", 1), verdict=None, tally=None, decided_by=None)
    assert not legal(State(), *GATED, nothing, GIVEN)
    assert not legal(State(), *GATED, nothing, REFUSED)
    ended = [*GATED, nothing, rejection("1.1", 1, UNDECIDED)]
    assert legal(State(), *ended)
    blocked = ev.TaskBlocked(task="1.1", stage=UNDECIDED, reason="x")
    overridden = ev.RejectionOverridden(task="1.1", stage=UNDECIDED, reason="I vouch")
    assert not legal(State(), *ended, blocked, overridden)
    assert "[review]" in settings_for("1.1", UNDECIDED, "x")[0]


def test_a_review_that_was_not_debated_says_what_it_says() -> None:
    skipped = changed(debated("1.1", 1), held=False, verdict=None, triggers=("large",), saved=900)
    assert legal(State(), *GATED, skipped, GIVEN)
    assert legal(State(), *GATED, skipped, REFUSED)


@pytest.mark.parametrize("before", [started(), [*started(), *passing("1.1")[:2]], [*started(), *passing("1.1")[:4]]])
def test_a_review_is_debated_when_it_is_due(before: list[Event]) -> None:
    with pytest.raises(InvalidTaskStateTransition):
        play(State(), *before, debated("1.1", 1))


@pytest.mark.parametrize("again", [{}, {"held": False, "verdict": None, "tally": None, "decided_by": None}])
def test_what_a_debate_decided_no_second_weighing_takes_back(again: dict[str, object]) -> None:
    rejected = debated("1.1", 1, "REJECT")
    with pytest.raises(IllegalMove, match=r"task 1\.1, attempt 1, was weighed already"):
        play(State(), *GATED, rejected, changed(debated("1.1", 1), **again))
    with pytest.raises(IllegalMove, match="this plan was weighed already"):
        play(State(), *planned()[:2], debated(verdict="REJECT"), changed(debated(), **again))


def test_the_next_attempt_is_weighed_by_itself() -> None:
    interrupted = ev.AttemptInterrupted(task="1.1", attempt=1, reason="killed")
    again = [*passing("1.1", 2)[:3], debated("1.1", 2), changed(GIVEN, attempt=2)]
    assert legal(State(), *GATED, debated("1.1", 1, "REJECT"), interrupted, *again)


def test_a_review_that_was_given_is_not_debated_afterwards() -> None:
    """A rejection, and an approval before a security review, leave the attempt where it was."""
    sensitive = [*GATED[:-1], changed(GATED[-1], sensitive=("it handles keys",))]
    for before in ([*GATED, REFUSED], [*sensitive, GIVEN]):
        assert legal(State(), *before)
        with pytest.raises(InvalidTaskStateTransition):
            play(State(), *before, debated("1.1", 1))


def kept(task: str = "", number: int = 0, digest: str = "a" * 64) -> Event:
    return ev.DebateKept(task=task, attempt=number, debate="d", part="round 1", sha256=digest)


def test_the_newest_file_of_a_debate_is_on_record_until_the_next_goal() -> None:
    state = play(State(), *GATED, kept("1.1", 1), kept("1.1", 1, "b" * 64))
    assert dict(state.debate_heads) == {"d": "b" * 64}
    saved = planned()[:2]
    state = play(State(), *saved, kept())
    assert dict(state.debate_heads) == {"d": "a" * 64}
    assert not play(state, *saved).debate_heads


def test_no_part_of_a_debate_is_kept_when_none_is_due() -> None:
    assert not legal(State(), *started(), kept("1.1", 1))
    assert not legal(State(), *GATED, debated("1.1", 1), kept("1.1", 1))
    assert not legal(State(), *GATED, GIVEN, kept("1.1", 1))
    assert not legal(State(), *planned(), kept())
    assert not legal(State(), *planned()[:2], debated(), kept())


def test_a_plan_passes_as_its_debate_says_and_an_undecided_one_objects() -> None:
    saved = planned()[:2]
    nothing = changed(debated(), verdict=None, tally=None, decided_by=None)
    yes, no = ev.PlanReviewed(review=YES), ev.PlanReviewed(review=NO)
    assert legal(State(), *saved, debated(), yes)
    assert not legal(State(), *saved, debated(verdict="REJECT"), yes)
    assert not legal(State(), *saved, nothing, yes)
    assert legal(State(), *saved, nothing, no)
    assert not legal(State(), *planned(), debated())  # it has been reviewed


def test_the_debate_of_a_plan_says_nothing_of_the_next_one() -> None:
    saved = planned()[:2]
    again = [debated(verdict="REJECT"), ev.PlanReviewed(review=NO), saved[1]]
    assert legal(State(), *saved, *again, ev.PlanReviewed(review=YES))


def test_a_review_of_an_older_version_is_read_and_folds_as_it_did() -> None:
    line = (
        '{"type":"review_given","task":"1.1","attempt":1,"review":{"verdict":"APPROVED","summary":"s"},"passed":true}'
    )
    state = play(State(), *GATED, ev.ReviewGiven.model_validate_json(line))
    assert state.task("1.1").attempts[-1].debate is None
    assert state.debates.weighed == 0


def test_debates_are_counted_across_goals() -> None:
    skipped = changed(debated(), held=False, verdict=None, triggers=("large",), tokens=100, debated=0, saved=900)
    quiet = changed(skipped, triggers=(), saved=0)
    saved, yes, no = planned()[:2], ev.PlanReviewed(review=YES), ev.PlanReviewed(review=NO)
    state = play(State(), *saved, skipped, no, saved[1], quiet, yes, *saved, debated(), yes)
    count = state.debates
    assert (count.weighed, count.contested, count.held, count.skipped) == (3, 2, 1, 1)
    assert (count.tokens, count.debated, count.saved) == (700, 500, 900)
    assert play(state, ev.GoalSet(goal="More")).debates == count


def test_a_deferral_is_remembered_and_is_no_review() -> None:
    deferral = changed(debated(), held=False, verdict=None, deferred=True, why="measured")
    count = play(State(), *planned()[:2], deferral).debates
    assert (count.weighed, count.deferral) == (0, "measured")
