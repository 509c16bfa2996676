"""Words for every event, a function for every step, a way out of every waiting state."""

from __future__ import annotations

import inspect
from typing import get_args

import pytest

from swarmgate.domain.events import event as ev
from swarmgate.domain.next_step import Step, Waiting
from swarmgate.domain.review.evidence import Review, Verdict
from swarmgate.domain.state.state import State
from swarmgate.engine.loop import STEPS, describe_step
from swarmgate.engine.reports.outcome import EXIT_CODES
from swarmgate.ledger.views.describe import _WORDS, describe, first_line

pytestmark = pytest.mark.suite("unittest")


def test_every_event_has_words() -> None:
    assert set(_WORDS) == {event.model_fields["type"].default for event in get_args(get_args(ev.Event)[0])}


def test_every_step_has_one_coroutine_and_words() -> None:
    assert set(STEPS) == set(Step)
    assert len(set(STEPS.values())) == len(Step)
    assert all(inspect.iscoroutinefunction(step) for step in STEPS.values())
    assert len({describe_step(step, State()) for step in Step}) == len(Step)


def test_every_waiting_state_has_an_exit_code() -> None:
    assert set(EXIT_CODES) == set(Waiting)


def test_long_texts_are_cut() -> None:
    assert first_line("a\nb") == "a"
    assert len(first_line("x" * 500)) == 120
    assert first_line("") == ""


def test_a_phase_of_seconds_takes_less_than_a_minute() -> None:
    estimate = ev.PhaseEstimated(phase=2, tasks=1, basis=1, tokens=10, usd=0.1, seconds=12)
    assert ", less than a minute (" in describe(estimate)
    assert ", 2 min (" in describe(estimate.model_copy(update={"seconds": 130}))


def test_a_verdict_that_the_user_overruled_is_told_as_one() -> None:
    said = Review(verdict=Verdict.REJECTED, summary="NO-UNIT")
    asked, overruled = (ev.ReviewGiven(task="1.1", attempt=1, review=said, passed=passed) for passed in (False, True))
    assert describe(asked) == "task 1.1: reviewer REJECTED - NO-UNIT"
    assert describe(overruled) == "task 1.1: reviewer overruled by the user, not asked again"
