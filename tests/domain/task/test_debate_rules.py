"""When a review is contested, when a first look is enough, and what an outcome means."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from tests.domain.story import NO, YES, make_plan, make_task, passing, play, rejected, started

from swarmgate.domain.plan.plan import Complexity
from swarmgate.domain.review.evidence import Verdict
from swarmgate.domain.review.votes import Ballot, Tally, Vote
from swarmgate.domain.state.debate_count import DebateCount
from swarmgate.domain.state.state import State, TaskRecord, replace
from swarmgate.domain.task.debate_rules import (
    LARGE_LINES,
    LARGE_PLAN,
    DebateWorth,
    change_triggers,
    expected_tokens,
    plan_triggers,
    settled,
    weigh,
)

APPROVED, REJECTED = Verdict.APPROVED, Verdict.REJECTED


def running(*earlier: str, sensitive: tuple[str, ...] = ()) -> TaskRecord:
    """A task in an attempt after those that these stages rejected."""
    events = [event for number, stage in enumerate(earlier, 1) for event in rejected("1.1", number, stage)]
    last = passing("1.1", len(earlier) + 1)[:3]
    record = play(State(), *started(max_rejections=5), *events, *last).task("1.1")
    attempt = replace(record.attempts[-1], sensitive=sensitive)
    return replace(record, attempts=(*record.attempts[:-1], attempt))


def triggers(record: TaskRecord, lines: int = 10, complexity: Complexity = Complexity.SMALL) -> tuple[str, ...]:
    task = make_task("1.1").model_copy(update={"complexity": complexity})
    return change_triggers(task, record, record.attempts[-1], lines)


def test_an_ordinary_change_is_not_contested() -> None:
    assert triggers(running(), LARGE_LINES - 1) == ()


def test_what_makes_a_change_contested() -> None:
    assert triggers(running(), LARGE_LINES) == ("the change is LARGE: 400 lines",)
    assert triggers(running(), complexity=Complexity.LARGE) == ("the task is LARGE",)
    assert triggers(running(sensitive=("src/auth.py: path",))) == ("the change is security-sensitive",)
    assert triggers(running("reviewer")) == ("the reviewer rejected an earlier attempt",)
    assert triggers(running("security_reviewer")) == ("the security reviewer rejected an earlier attempt",)
    assert triggers(running("tests", "gates: ruff")) == ()


def test_a_rejection_before_the_users_retry_no_longer_counts() -> None:
    assert triggers(replace(running("reviewer"), renewed=1)) == ()


def test_what_makes_a_plan_contested() -> None:
    small = make_plan([make_task("1.1")])
    assert plan_triggers(small, ()) == plan_triggers(small, (YES,)) == ()
    assert plan_triggers(small, (NO,)) == ("the critic objected in an earlier round",)
    many = make_plan([make_task(f"1.{number}") for number in range(1, LARGE_PLAN + 1)])
    assert plan_triggers(many, ()) == (f"the plan is LARGE: {LARGE_PLAN} tasks",)
    large = make_plan([make_task("1.1").model_copy(update={"complexity": Complexity.LARGE})])
    assert plan_triggers(large, ()) == ("a task of the plan is LARGE",)


def look(vote: Vote, confidence: float = 0.9) -> Ballot:
    return Ballot(vote=vote, confidence=confidence)


@pytest.mark.parametrize(
    ("known", "seen", "meant"),
    [
        ((), look(Vote.APPROVE), "quiet"),
        ((), look(Vote.APPROVE, 0.1), "quiet"),
        ((), look(Vote.ABSTAIN), "quiet"),
        ((), None, "quiet"),
        ((), look(Vote.REJECT, 0.1), "debated"),
        (("large",), look(Vote.APPROVE, 0.8), "skipped"),
        (("large",), look(Vote.APPROVE, 0.79), "debated"),
        (("large",), look(Vote.ABSTAIN, 1), "debated"),
        (("large",), look(Vote.REJECT), "debated"),
        (("large",), None, "debated"),
    ],
)
def test_a_first_look_that_agrees_and_is_sure_is_enough(
    known: tuple[str, ...], seen: Ballot | None, meant: str
) -> None:
    found = weigh(known, judge="reviewer", approved=True, look=seen, sure=0.8)
    assert ("debated" if found.held else "skipped" if found.triggers else "quiet") == meant
    assert found.why


def test_a_look_agrees_with_a_rejection_too() -> None:
    assert not weigh(("large",), judge="critic", approved=False, look=look(Vote.REJECT), sure=0.8).held
    disagreed = weigh((), judge="critic", approved=False, look=look(Vote.APPROVE), sure=0.8)
    assert (disagreed.held, disagreed.triggers) == (True, ("critic and first look disagree",))


def test_what_is_saved_is_the_mean_of_the_debates_that_were_held() -> None:
    assert expected_tokens(DebateCount(), once=1_000, seats=2, rounds=2) == 5_000
    assert expected_tokens(DebateCount(held=2, debated=30_000), once=1, seats=2, rounds=2) == 15_000


@pytest.mark.parametrize(
    ("verdict", "votes", "by", "meant"),
    [
        (Vote.APPROVE, {"approve": 2}, "majority", APPROVED),
        (Vote.APPROVE, {"approve": 1, "abstain": 1}, "majority", APPROVED),
        (Vote.APPROVE, {"approve": 1, "reject": 1}, "synthesis", APPROVED),
        (Vote.APPROVE, {"approve": 1, "reject": 1}, "majority", REJECTED),  # a tie rejects, whoever says otherwise
        (Vote.APPROVE, {"reject": 2}, "synthesis", REJECTED),
        (Vote.APPROVE, {"abstain": 2}, "synthesis", REJECTED),
        (Vote.APPROVE, {"reject": 1, "failed": 1}, "synthesis", REJECTED),
        (Vote.APPROVE, {"approve": 1, "failed": 1}, "synthesis", None),
        (Vote.REJECT, {"approve": 1, "failed": 1}, "majority", None),
        (Vote.REJECT, {"approve": 1, "failed": 1}, "synthesis", REJECTED),
        (Vote.REJECT, {"reject": 1, "failed": 1}, "majority", REJECTED),
        (Vote.REJECT, {"approve": 1, "reject": 1}, "majority", REJECTED),
        (Vote.REJECT, {"approve": 2}, "synthesis", REJECTED),
    ],
)
def test_what_an_outcome_means(verdict: Vote, votes: dict[str, int], by: str, meant: Verdict | None) -> None:
    assert settled(verdict, Tally(**votes), by) is meant  # type: ignore[arg-type]  # one of the two words


counts = st.integers(0, 4)


@given(counts, counts, counts, counts, st.sampled_from(["synthesis", "majority"]))
def test_nothing_is_approved_that_nobody_or_only_half_a_debate_approves(
    approve: int, reject: int, abstain: int, failed: int, by: str
) -> None:
    tally = Tally(approve=approve, reject=reject, abstain=abstain, failed=failed)
    meant = settled(Vote.APPROVE, tally, by)  # type: ignore[arg-type]  # as above
    if meant is APPROVED:
        assert approve > 0
        assert approve > reject + failed or (by == "synthesis" and not failed)
    assert settled(Vote.REJECT, tally, by) is not APPROVED  # type: ignore[arg-type]  # as above


def test_a_measurement_holds_numbers_only() -> None:
    fields = {"decision": "use", "lift": float("nan"), "interval": (0, 1), "items": 1, "models": ()}
    with pytest.raises(ValidationError):
        DebateWorth.model_validate({**fields, "fixtures": "", "date": ""})


def test_a_first_look_that_failed_counts_as_unsure_and_is_told() -> None:
    why = "the first look failed: nobody is there"
    quiet = weigh((), judge="reviewer", approved=True, look=None, sure=0.8, failed="nobody is there")
    assert (quiet.held, quiet.why) == (False, why)
    contested = weigh(("large",), judge="reviewer", approved=True, look=None, sure=0.8, failed="nobody is there")
    assert (contested.held, contested.triggers, contested.why) == (True, ("large",), why)
