"""How codes, times and numbers read in a page."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from swarmgate.domain.next_step import Waiting
from swarmgate.domain.state.plan_view import PhaseStatus
from swarmgate.domain.state.state import Outcome, TaskStatus
from swarmgate.domain.usage import Usage
from swarmgate.server.pages import words

NOW = datetime(2026, 5, 3, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("before", "told"),
    [
        (timedelta(seconds=5), "just now"),
        (timedelta(minutes=1), "1 minute ago"),
        (timedelta(minutes=59, seconds=59), "59 minutes ago"),
        (timedelta(hours=1), "1 hour ago"),
        (timedelta(days=6, hours=23), "6 days ago"),
        (timedelta(days=7), "26 April 2026"),
        (timedelta(seconds=-30), "in a moment"),
        (timedelta(hours=-2), "in 2 hours"),
    ],
)
def test_a_time_is_told_as_people_tell_it(before: timedelta, told: str) -> None:
    assert words.ago((NOW - before).isoformat(), NOW) == told


def test_a_time_that_is_none_stays_as_it_is() -> None:
    assert words.ago("soon", NOW) == "soon"
    assert words.moment("soon") == "soon"
    assert words.day_and_hour("soon") == ""
    assert words.moment("2026-05-03T14:05:09+02:00") == "2026-05-03 12:05:09 UTC"
    assert words.day_and_hour("2026-05-03T12:05:09") == "12:05:09"


@pytest.mark.parametrize("word", [*TaskStatus, *Outcome, *PhaseStatus, *Waiting])
def test_every_status_has_words_without_underscores(word: str) -> None:
    assert "_" not in words.plain(word)
    assert words.tone(word) in {"", "good", "bad", "warn", "busy"}


@pytest.mark.parametrize(
    ("word", "tone"),
    [
        ("blocked", "bad"),
        ("REJECTED", "bad"),
        ("complete", "good"),
        ("working", "busy"),
        ("plan_approval", "warn"),
        ("x", ""),
    ],
)
def test_the_tone_says_how_good_it_is(word: str, tone: str) -> None:
    assert words.tone(word) == tone


def test_what_a_goal_waits_for_is_told_where_nobody_works_on_it() -> None:
    assert words.state_of("idle", "plan_approval") == "plan_approval"
    assert words.state_of("working", "plan_approval") == "working"


def test_usage_is_short() -> None:
    used = Usage(prompt_tokens=12_345, completion_tokens=55, usd=0.5)
    assert words.short_usage(used) == "12.4k tokens, $0.5000"
    assert words.short_usage(Usage(prompt_tokens=999)) == "999 tokens, $0.0000"


@pytest.mark.parametrize(("actor", "name"), [("user:ada", "ada"), ("user", "the user"), ("swarmgate", "swarmgate")])
def test_people_go_by_their_names(actor: str, name: str) -> None:
    assert words.person_in_words(actor) == name
