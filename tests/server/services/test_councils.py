"""Councils as services have them: begun, answered, stopped, gone on with, read; those of terminals, too."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.project import Rule, rule
from tests.server.conftest import play
from tests.server.services.conftest import House

from swarmgate.engine import Swarm
from swarmgate.errors import IllegalMove, NotAllowed, NotFound, UsageError
from swarmgate.server.services.views.record import CouncilView

PROPOSES = rule("participant", "facilitate", {"text": json.dumps({"proposal": "We do it.", "openPoints": []})})
SEATS = ["ops", "dev"]


def stands(who: str, level: float) -> Rule:
    body = json.dumps({"agreement": level, "stand": "agree" if level >= 0.5 else "disagree"})
    return rule("participant", "contribute", {"text": f"By {who}. {body}"}, participant=who)


async def held(house: House, pattern: str, **request: Any) -> CouncilView:
    """A council at its end."""
    begun = await house.services.councils.start(house.op, pattern, request)
    return await house.services.councils.ended(house.cy, begun.id, within_s=100)


# --- without anybody at work ---


async def test_it_is_queued_under_an_id_of_the_server_in_the_only_repository(house: House) -> None:
    councils = house.services.councils
    view = await councils.start(house.op, "decision", {"question": "Do we move?", "participants": SEATS})
    assert (view.status, view.title, view.repo, view.by) == ("queued", "Do we move?", "calc", "user:a-0000000000op")
    assert (await councils.list(house.cy)).items == (view_summary := (await councils.list(house.ada)).items)
    assert [each.id for each in view_summary] == [view.id]
    assert (await councils.ended(house.cy, view.id, within_s=0.2)).status == "queued"
    assert (await councils.transcript(house.cy, view.id)).items == ()
    assert (await councils.votes(house.cy, view.id)).votes == ()


async def test_who_may_what(house: House) -> None:
    councils, request = house.services.councils, {"question": "?", "participants": SEATS}
    view = await councils.start(house.op, "decision", request)
    for who, error in ((house.cy, NotAllowed), (house.bo, NotAllowed), (house.di, NotFound)):
        with pytest.raises(error):
            await councils.start(who, "decision", request, repo="calc")
        with pytest.raises(error):
            await councils.stop(who, view.id)
        with pytest.raises(error):
            await councils.resume(who, view.id)
    with pytest.raises(NotAllowed):
        await councils.answer(house.cy, view.id, {"stand": "agree"})
    for look in (councils.get, councils.held, councils.transcript, councils.graph, councils.votes):
        with pytest.raises(NotFound):
            await look(house.di, view.id)
    with pytest.raises(NotFound):
        await councils.ended(house.di, view.id, within_s=1)
    assert (await councils.list(house.di)).items == ()
    assert await councils.jobs(house.di) == ()
    assert await councils.executions(house.di) == ()
    for unknown in ("k-000000000000", "g-000000000000~x", "../../etc/passwd", "~", ""):
        with pytest.raises(NotFound):
            await councils.get(house.ada, unknown)


async def test_what_cannot_be_begun_says_why(house: House) -> None:
    councils = house.services.councils
    for pattern, request, told in (
        ("decision", {"question": "?", "id": "mine"}, "`id` is the server's"),
        ("decision", {"qestion": "?"}, "Did you mean `question`|no `qestion`"),
        ("vote", {}, "no pattern 'vote'"),
    ):
        with pytest.raises(UsageError, match=told):
            await councils.start(house.op, pattern, request)
    house.rooms.repositories.register(house.project.root.parent / "project", id="calc", by="user:ada")
    with pytest.raises(UsageError, match="Nothing says which repository"):
        await councils.start(house.di, "decision", {"question": "?"})
    assert (await councils.list(house.ada)).items == ()
    with pytest.raises(NotFound):
        await councils.start(house.op, "decision", {"question": "?"}, goal="g-000000000000")
    view = await councils.start(house.op, "decision", {"question": "?"})
    with pytest.raises(IllegalMove, match="waits for nobody"):
        await councils.answer(house.op, view.id, {"stand": "agree"})


# --- at work ---


@pytest.mark.slow
async def test_a_decision_is_held_read_and_counted(working: House) -> None:
    councils = working.services.councils
    play(working.project, stands("ops", 0.9), stands("dev", 0.8), PROPOSES)
    view = await held(working, "decision", question="Do we move?", participants=SEATS)
    assert (view.status, view.rounds, view.most, view.who) == ("complete", 1, 3, ("ops", "dev"))
    assert view.data["outcome"]["consensus"] is True
    assert view.usage.calls == 3
    page = await councils.transcript(working.cy, view.id, limit=3)
    rest = await councils.transcript(working.cy, view.id, after=page.next)
    said = [*page.items, *rest.items]
    assert [each.seq for each in said] == list(range(1, len(said) + 1))
    assert {each.who for each in said if each.type == "spoke"} == {"ops", "dev"}
    votes = (await councils.votes(working.cy, view.id)).votes
    assert [(each["participant"], each["stand"], each["round"]) for each in votes] == [
        ("ops", "agree", 1),
        ("dev", "agree", 1),
    ]
    metrics = {each.pattern: each for each in await councils.metrics(working.cy)}
    assert (metrics["decision"].complete, metrics["total"].usage.calls) == (1, 3)
    again, cached = await councils.answered(working.op, "decision", {"question": "Do we?", "participants": SEATS})
    assert not cached
    await councils.ended(working.op, again.id, within_s=100)
    same, cached = await councils.answered(working.op, "decision", {"question": "Do we?", "participants": SEATS})
    assert (same.id, cached) == (again.id, True)
    with pytest.raises(NotFound):
        await councils.answered(working.di, "decision", {"question": "Do we?", "participants": SEATS}, repo="calc")
    working.rooms.accounts.create("ops")
    assert set(await councils.agents(working.cy)) == set()


@pytest.mark.slow
async def test_a_person_answers_and_it_goes_on(working: House) -> None:
    councils = working.services.councils
    play(working.project, stands("dev", 0.9), PROPOSES)
    request = {"question": "?", "participants": ["dev"], "humans": ["bo"], "strategy": "unanimous", "rounds": 1}
    view = await held(working, "decision", **request)
    assert (view.status, view.waits) == ("paused", True)
    for vote, person, error in (
        ({"stand": "agree"}, "nobody", IllegalMove),
        ({"stand": "perhaps"}, "", UsageError),
        ({"level": "much"}, "", UsageError),
    ):
        with pytest.raises(error):
            await councils.answer(working.bo, view.id, vote, person=person)
    await councils.answer(working.bo, view.id, {"stand": "agree", "level": 0.9, "reason": "So be it."})
    done = await councils.ended(working.cy, view.id, within_s=100)
    assert (done.status, done.waits, done.data["outcome"]["consensus"]) == ("complete", False, True)
    with pytest.raises(IllegalMove):
        await councils.answer(working.bo, view.id, {"stand": "agree"})


@pytest.mark.slow
async def test_what_a_terminal_began_is_found_and_left_to_it(working: House) -> None:
    councils = working.services.councils
    working.project.play(stands("ops", 0.9), PROPOSES)
    outcome = await Swarm(working.project.root).council.decide("At the terminal?", participants=["ops"])
    goal = await working.checkout()
    (row,) = (await councils.list(working.cy, goal=goal)).items
    assert (row.id, row.title, row.status) == (f"{goal}~{outcome.id}", "At the terminal?", "complete")
    view = await councils.get(working.cy, row.id)
    assert view.data["outcome"]["id"] == outcome.id
    assert (await councils.transcript(working.cy, row.id)).items
    with pytest.raises(IllegalMove, match="at a terminal"):
        await councils.resume(working.op, row.id)
    with pytest.raises(NotFound):
        await councils.get(working.di, row.id)
    assert (await councils.list(working.cy, pattern="debate")).items == ()


@pytest.mark.slow
async def test_one_that_failed_says_why_and_one_that_was_stopped_goes_on(working: House) -> None:
    councils = working.services.councils
    down = {"match": {"role": "participant"}, "replies": [{"fault": {"kind": "500"}}]}
    play(working.project, down, providers__local={"max_retries": 0})
    view = await held(working, "decision", question="?", participants=["ops"])
    assert (view.status, bool(view.why)) == ("failed", True)
    play(working.project, stands("ops", 0.9), PROPOSES)
    await councils.resume(working.op, view.id)
    assert (await councils.ended(working.cy, view.id, within_s=100)).status == "complete"
    with pytest.raises(IllegalMove):
        await councils.resume(working.op, view.id)
