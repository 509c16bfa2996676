"""Tests a discussion that is taken up again after a round: the moderator opens it, and proposes the next topic."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.council.discussion.conftest import REOPENED, Room, User, assessed, rule

from swarmgate.council.discussion.events import Chosen, Reopened
from swarmgate.council.discussion.findings import Reopening
from swarmgate.council.discussion.model import Choice, ChoiceKind, Step
from swarmgate.council.records.lifecycle import Resumed
from swarmgate.council.views.stream import Contributed

Make = Callable[..., Room]
PAUSE = Choice(after=1, kind=ChoiceKind.PAUSE)


async def left(room: Room, **settings: Any) -> Room:
    """A discussion of at most two rounds that the user paused after the first one."""
    record = await room.hold(User(choices=[PAUSE]), rounds=2, **settings)
    assert (record.status, room.requests("reopen")) == ("paused", [])
    return room


async def test_the_moderator_opens_it_and_its_topic_is_the_next_rounds(room: Make) -> None:
    there = await left(room())
    record = await there.hold(rounds=2)
    assert [each.headers["PARTICIPANT"] for each in there.requests("reopen")] == ["moderator"]
    (found,) = record.reopenings
    answers = (found.tension, found.question, found.settled)
    assert (found.after, *answers) == (1, "cost against growth", "Who pays?", "nothing")
    second = record.rounds[1]
    assert (second.topic, second.direction) == ("What it costs whom", "What it costs whom\nby numbers")
    for step, who in (("position", "economist"), ("frame", "moderator"), ("attack", "contrarian")):
        assert "What it costs whom" in there.brief(step, who, 2)
    assert record.status == "complete"
    assert record.usage.calls == len(there.server.requests)
    told = [each for each in there.events if isinstance(each, Contributed) and each.step == "reopen"]
    assert [(each.who, each.what, each.text) for each in told] == [("moderator", "proposes", "What it costs whom")]


@pytest.mark.slow
async def test_it_is_told_where_the_discussion_was_left(room: Make) -> None:
    there = await left(room())
    context = (there.folder / "context/summary.md").read_text()
    await there.hold(rounds=2)
    brief = str(there.requests("reopen")[0].messages[1]["content"])
    assert "Tension between economist and ecologist, growth" in brief
    assert "economist, confidence 70%: economist stands here" in context
    for line in ("economist, confidence 70%: economist stands here", "Quality over the rounds", "recommends continue"):
        assert line in brief


async def test_it_is_shown_in_progress_page_synthesis_and_replay(room: Make) -> None:
    there = await left(room())
    await there.hold(rounds=2)
    progress = (there.folder / "progress.md").read_text()
    at = [progress.index(each) for each in ("## Round 1: assess", "## Taken up after round 1", "## Round 2")]
    assert at == sorted(at)
    for name in ("progress.md", "artifacts/synthesis.md", "artifacts/discussion.html"):
        text = (there.folder / name).read_text()
        assert "Taken up after round 1" in text, name
        assert "Most important open question: Who pays?" in text, name


async def test_what_is_left_in_the_middle_of_a_round_goes_on_there(room: Make) -> None:
    there = room()
    record = await there.hold(User(pauses={(2, Step.ARGUE)}), rounds=2)
    assert (record.status, record.partial and record.partial.number) == ("paused", 2)
    record = await there.hold(rounds=2)
    assert (record.status, record.reopenings, there.requests("reopen")) == ("complete", (), [])


async def test_who_pauses_again_is_not_asked_for_twice(room: Make) -> None:
    there = await left(room())
    record = await there.hold(User(choices=[PAUSE]), rounds=2)
    assert (record.status, len(record.reopenings)) == ("paused", 1)
    record = await there.hold(rounds=2)
    assert (record.status, len(there.requests("reopen"))) == ("complete", 1)


@pytest.mark.parametrize(
    ("choice", "direction"),
    [
        (Choice(after=1, kind=ChoiceKind.FOLLOW), "What it costs whom\nby numbers"),
        (Choice(after=1, kind=ChoiceKind.INJECT, text="free"), "What it costs whom\nby numbers"),
        (Choice(after=1, kind=ChoiceKind.DEEP_DIVE), "What it costs whom\nby numbers"),
        (Choice(after=1, kind=ChoiceKind.DEEP_DIVE, text="silt"), "Go deeper into: silt"),
        (Choice(after=1, kind=ChoiceKind.DIFFERENT_ANGLE), "Take a different angle: one that nobody has taken yet"),
    ],
    ids=["follow", "inject", "deep-dive", "deep-dive into", "angle"],
)
async def test_the_user_may_go_elsewhere(room: Make, choice: Choice, direction: str) -> None:
    there = await left(room())
    record = await there.hold(User(choices=[choice]), rounds=2)
    assert record.rounds[1].direction == direction


async def test_the_proposal_is_newer_than_that_nothing_is_left(room: Make) -> None:
    """At the end of the round the moderator saw nothing left; taking it up, it does: or it names no topic."""
    synthesize = rule("assess", assessed("synthesize"))
    there = await left(room(synthesize))
    assert len((await there.hold(rounds=2)).rounds) == 2
    silent = rule("reopen", json.dumps({**REOPENED, "settled": [], "topic": "", "framing": ""}))
    there = await left(room(synthesize, silent))
    record = await there.hold(rounds=2)
    assert (len(record.rounds), len(there.requests("reopen"))) == (1, 2)
    assert (record.reopenings[0].settled, record.reopenings[0].noted) == ("nothing", ("it leaves out `topic`",))


async def test_prose_alone_is_a_proposal_too(room: Make) -> None:
    there = await left(room(rule("reopen", "Who pays for the silt? The tension of price and right brought us here.")))
    record = await there.hold(rounds=2)
    assert record.rounds[1].topic == "Who pays for the silt?"
    assert "The tension of price and right" in record.rounds[1].direction
    assert "it leaves out `tension`" in record.reopenings[0].noted[0]


async def test_a_moderator_that_fails_stops_nothing(room: Make) -> None:
    there = await left(room(rule("reopen", {"fault": {"kind": "500"}})))
    record = await there.hold(rounds=2)
    assert (record.status, len(record.rounds), record.rounds[1].topic) == ("complete", 2, "")
    assert record.reopenings[0].failed
    assert "The moderator did not take it up" in (there.folder / "progress.md").read_text()


async def test_a_proposal_for_which_there_is_no_room_is_left_out(room: Make) -> None:
    there = await left(room(rule("reopen", json.dumps({**REOPENED, "topic": "What " * 390, "framing": "word " * 390}))))
    there.windows = {"economist": 4_600}
    record = await there.hold(rounds=2)
    assert (record.status, record.rounds[1].topic) == ("complete", "")
    assert "its proposal was left out" in record.reopenings[0].noted[-1]


async def test_a_record_that_went_on_without_it_still_folds(room: Make) -> None:
    """As one of an earlier swarmgate did: resumed, and chosen at once."""
    there = await left(room())
    journal = there.record()
    journal.append([Resumed(), Chosen(choice=Choice(after=1, kind=ChoiceKind.FOLLOW, by="moderator"))])
    assert there.record().standing.own.held
    record = await there.hold(rounds=2)
    assert (record.status, record.reopenings, record.rounds[1].topic) == ("complete", (), "")


async def test_it_is_taken_up_only_where_that_is_due(room: Make) -> None:
    there = await left(room())
    with pytest.raises(Exception, match="A taking up is not due there"):
        there.record().append([Reopened(reopening=Reopening(after=1, topic="x"))])
