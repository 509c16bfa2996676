"""Tests whole discussions: requests on the wire, limits, files, failing participants, pauses and the user."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.council.discussion.conftest import (
    EXPERTS,
    Room,
    User,
    assessed,
    concluded,
    experts,
    linked,
    of,
    response,
    rule,
)

from swarmgate.council.discussion.argument.structure import integrity_problem
from swarmgate.council.discussion.model import (
    CONTRIBUTIONS,
    Cast,
    Choice,
    ChoiceKind,
    Expert,
    Mode,
    ShiftKind,
    Step,
)
from swarmgate.council.views.stream import Completed, Contributed, Erred, Started
from swarmgate.errors import ConfigError, CouncilFailed, CouncilRefused, LedgerError

Make = Callable[..., Room]
DOWN = {"fault": {"kind": "500"}}
HANG = {"fault": {"kind": "hang"}}
ROUND = ["position", "frame", "argue", "attack", "respond", "analogy", "assess", "record"]


def sound(record: Any) -> str:
    """The first law that a record breaks; its bounds are among them."""
    rounds = (*record.rounds, *([record.partial] if record.partial else []))
    return integrity_problem(record.cast, rounds, extent=record.discussion.extent)


# --- the story ---


@pytest.mark.slow
async def test_a_standard_discussion_end_to_end(room: Make) -> None:
    there = room(
        rule(
            "respond",
            response(("r2-msg-005", "supports"), shift="minor", cites=["r2-msg-004"]),
            number=2,
            who="ecologist",
        )
    )
    record = await there.hold(mode="standard", rounds=None, material="x = 1", models={"contrarian": "local/other"})
    assert (there.models["contrarian"], there.models["moderator"]) == ("local/other", "")
    assert there.steps == ["experts", *ROUND, *ROUND, *ROUND, "conclude"]
    assert [each.done for each in record.rounds] == [tuple(map(Step, ROUND))] * 3
    assert (record.status, sound(record), [each.by for each in record.choices]) == (
        "complete",
        "",
        ["moderator", "moderator", "bounds"],
    )
    first = record.rounds[0]
    assert [(each.id, each.author) for each in first.messages[:4]] == [
        ("r1-msg-001", "economist"),
        ("r1-msg-002", "ecologist"),
        ("r1-msg-003", "moderator"),
        ("r1-msg-004", "economist"),
    ]
    assert first.measured
    assert (first.measured.counters, first.measured.steel_mans, first.measured.disagreement) == (
        2,
        2,
        5,
    )
    moved = of(record.rounds[1], Step.RESPOND)[1]
    assert moved.shift
    assert (moved.shift.kind, moved.position and moved.position.confidence) == (ShiftKind.MINOR, 0.5)
    assert record.conclusion
    assert record.conclusion.author == "historian"
    written = {str(each.relative_to(there.folder)) for each in there.folder.rglob("*") if each.is_file()}
    assert {
        "journal.jsonl",
        "progress.md",
        "personas/cast.json",
        "personas/economist.json",
        "artifacts/synthesis.json",
        "artifacts/synthesis.md",
        "artifacts/open-questions.md",
        "artifacts/argument-graph.json",
        "artifacts/position-evolution.md",
        "context/summary.md",
    } <= written
    progress = (there.folder / "progress.md").read_text()
    assert [line for line in progress.splitlines() if line.startswith("## Round 2")] == [
        f"## Round 2: {each}" for each in ROUND
    ]
    assert "what an economist knows" not in there.agents["moderator"]
    assert "what a economist knows" in there.agents["economist"]
    assert isinstance(there.events[0], Started)
    assert isinstance(there.events[-1], Completed)
    assert sum(isinstance(each, Contributed) and each.number > 0 for each in there.events) == sum(
        len(each.messages) for each in record.rounds
    )
    assert there.events[-1].usage == record.usage
    assert record.usage.calls == len(there.server.requests)


@pytest.mark.slow
async def test_positions_are_blind_and_what_is_shown_can_be_cited(room: Make) -> None:
    there = room()
    await there.hold(mode="standard", rounds=2)
    for who in EXPERTS[:2]:
        first, second = there.brief("position", who, 1), there.brief("position", who, 2)
        assert "r1-msg-" not in first
        assert "r1-msg-001" in second
        assert "r2-msg-" not in second
    argue = there.brief("argue", "economist", 1)
    assert "ecologist stands here" in argue
    assert "r1-msg-003" in argue
    assert "r1-msg-004" not in argue
    assert "disagreement budget: 4 of 10" in argue
    assert "Tension between economist and ecologist" in argue
    assert "Measured in round 1: counters 2 (2 with a steel-man)" in there.brief("assess", "moderator", 1)


@pytest.mark.slow
async def test_a_deep_dive_into_nothing_named_goes_into_what_is_contested_most(room: Make) -> None:
    """The moderator's, and the user's."""
    contested = {"focus": "", "activeDisagreements": [{"point": "who pays for it"}, {"point": "when"}]}
    there = room(
        rule("assess", assessed("deep-dive", **contested)),
        rule("assess", assessed("continue", activeDisagreements=[]), number=2),
    )
    user = User(choices=[Choice(after=1, kind=ChoiceKind.FOLLOW), Choice(after=2, kind=ChoiceKind.DEEP_DIVE)])
    record = await there.hold(user, rounds=3)
    told = [each.direction for each in record.rounds]
    assert told == ["", "Go deeper into: who pays for it", "Go deeper into: what divides you most"]
    assert told[1] in there.brief("argue", "economist", 2)


async def test_everybody_knows_what_an_expert_may_lose_and_tends_to_overlook(room: Make) -> None:
    cast = json.loads(experts(*EXPERTS[:2]))
    cast["experts"][0] |= {"stakes": ["her budget", "her name"], "blindSpots": "what has no price, " * 40}
    there = room(rule("experts", json.dumps(cast)))
    await there.hold()
    line = next(each for each in there.brief("argue", "ecologist").splitlines() if each.startswith("economist: "))
    assert "; at stake: her budget, her name; tends to overlook: what has no price, " in line
    assert len(line) < 400
    assert line in there.brief("attack", "contrarian")


@pytest.mark.slow
async def test_a_choice_goes_with_the_moderator_after_the_least_rounds_and_constraints_stay(room: Make) -> None:
    there = room(
        rule("assess", assessed("synthesize"), number=1),
        rule("assess", assessed("different-angle"), number=2),
        rule("assess", assessed("synthesize"), number=4),
    )
    user = User(choices=[Choice(after=1, kind=ChoiceKind.INJECT, text="it must be free")])
    record = await there.hold(user, mode="standard", rounds=5)
    assert [len(record.rounds), record.choices[-1].kind, record.choices[-1].by] == [4, ChoiceKind.FOLLOW, "moderator"]
    assert record.rounds[2].direction == "Take a different angle: cost"
    assert [each.constraints for each in record.rounds] == [(), *[("it must be free",)] * 3]
    assert "it must be free" in there.brief("respond", "economist", 4)
    assert "Take a different angle: cost" in there.brief("argue", "economist", 3)


# --- who, and the user ---


@pytest.mark.slow
async def test_the_user_changes_mode_and_cast(room: Make) -> None:
    there = room(rule("experts", experts(*EXPERTS[:3]), contains="3 to 4 experts"))
    other = Cast(experts=tuple(Expert(id=each, name=each, expertise="all") for each in ("ann", "bob", "cleo")))
    user = User(casts=[Mode.DEEP, other])
    user.choices = [Choice(after=1, kind=ChoiceKind.SYNTHESIZE)]
    record = await there.hold(user, rounds=None)
    assert [len(each.experts) for each in user.asked] == [2, 3]
    assert record.discussion.mode is Mode.DEEP
    assert record.discussion.rounds == 5
    assert record.cast
    assert [each.id for each in record.cast.experts] == ["ann", "bob", "cleo"]
    assert len(of(record.rounds[0], Step.ARGUE)) == 3
    assert record.status == "complete"


@pytest.mark.slow
async def test_a_cast_that_cannot_be_taken(room: Make) -> None:
    many = room(rule("experts", experts("Moderator", "moderator", "x", tensionMap=[])))
    record = await many.hold()
    assert record.cast
    assert [each.id for each in record.cast.experts] == ["moderator-2", "moderator-3"]
    assert any("at most 2 experts" in each for each in record.cast.dropped)
    few = room(rule("experts", experts("alone")))
    with pytest.raises(CouncilFailed, match="no usable experts") as failed:
        await few.hold()
    assert len(few.requests("experts")) == 2
    assert "personas file" in failed.value.hint
    given = room(rule("experts", "No idea."))
    personas = [{"id": each, "name": each, "expertise": "all"} for each in ("ann", "bob")]
    record = await given.hold(personas=personas)
    assert record.cast
    assert not record.cast.tensions
    assert "no tensions" in record.cast.dropped[0]


@pytest.mark.slow
async def test_the_user_speaks_and_is_answered(room: Make) -> None:
    there = room(rule("respond", response(("r1-msg-007", "supports")), number=1, who="economist"))
    record = await there.hold(User(words={(1, Step.ATTACK): "I would pay for it."}), user=True)
    said = record.rounds[0].messages[6]
    assert (said.id, said.author, said.human, said.text) == ("r1-msg-007", "user", True, "I would pay for it.")
    assert of(record.rounds[0], Step.RESPOND)[0].links[0].to == "r1-msg-007"
    assert not sound(record)
    assert "I would pay for it." in there.brief("respond", "ecologist")


@pytest.mark.slow
async def test_a_pause_at_every_step_changes_nothing(room: Make) -> None:
    whole = await room().hold(mode="standard", rounds=2)
    there = room()
    user = User(pauses={(number, Step(step)) for number in (1, 2) for step in ROUND})
    paused = 0
    while (record := await there.hold(user, mode="standard", rounds=2)).status == "paused":
        paused += 1
        assert record.cast
        assert record.why.startswith("by the user")
    assert (paused, record.status) == (16, "complete")
    assert plain(record) == plain(whole)
    assert len(there.server.requests) == 24  # nobody was asked twice
    again = await there.hold(mode="standard", rounds=2)
    assert again.conclusion == record.conclusion
    assert len(there.server.requests) == 24


def plain(record: Any) -> Any:
    """The rounds without what is of the clock or of one conversation."""
    return [
        {
            **held.model_dump(exclude={"started_at", "seconds", "messages"}),
            "messages": [each.model_dump(exclude={"seconds": True, "usage": {"seconds"}}) for each in held.messages],
        }
        for held in record.rounds
    ]


# --- the bounds and the measures ---


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "count", "countered"),
    [("lightweight", 2, False), ("standard", 3, False), ("deep", 3, True), ("deep", 4, False)],
)
async def test_the_calls_of_a_round_keep_to_their_bounds(room: Make, mode: str, count: int, *, countered: bool) -> None:
    """Without a counter the contrarian goes again, then under stress, where the bound leaves room for that."""
    silent = [rule("attack", linked(("r1-msg-001", "questions")), number=1)]
    there = room(*([] if countered else silent), count=count)
    record = await there.hold(mode=mode, rounds=1)
    least, most = record.discussion.extent.calls
    held = record.rounds[0]
    spoken = sum(each.step in CONTRIBUTIONS for each in held.messages)
    assert least <= spoken <= most
    assert not sound(record)
    assert len(of(held, Step.STRESS)) == (0 if countered or mode == "lightweight" else 1)
    assert len(of(held, Step.ASK)) == (0 if countered else 1)
    assert of(held, Step.RESPOND)
    assert len(of(held, Step.ATTACK)) == (1 if countered else 2)


@pytest.mark.slow
async def test_too_little_disagreement_has_the_contrarian_go_again(room: Make) -> None:
    there = room(
        rule("attack", linked(("r1-msg-001", "questions")), number=1),
        rule("attack", linked(("r1-msg-001", "counters")), number=1, contains="Why you speak again"),
    )
    record = await there.hold(mode="standard", rounds=1)
    held = record.rounds[0]
    assert held.done[3:6] == (Step.ATTACK, Step.ASK, Step.ATTACK)
    assert Step.STRESS not in held.done
    assert "0 of 10 is below 2" in held.forced[0]
    assert "Why you ask" in there.brief("ask", "moderator")
    assert "What could go wrong" in there.brief("attack", "contrarian", nth=1)


@pytest.mark.slow
async def test_too_much_disagreement_has_the_moderator_ask_for_common_ground(room: Make) -> None:
    there = room(
        rule("argue", linked(("r1-msg-002", "counters")), number=1, who="economist"),
        rule("argue", linked(("r1-msg-001", "counters")), number=1, who="ecologist"),
    )
    record = await there.hold(mode="standard", rounds=1)
    assert record.rounds[0].done[3:6] == (Step.ATTACK, Step.ASK, Step.RESPOND)
    assert "above 8: common ground" in record.rounds[0].forced[0]
    assert "common ground" in there.brief("ask", "moderator")


# --- what is held to its form ---


async def test_links_and_shifts_that_rest_on_nothing_are_asked_for_once_more(room: Make) -> None:
    there = room(
        rule("argue", linked(("r9-msg-001", "supports"), ("r1-msg-002", "counters")), number=1, who="economist"),
        rule("argue", linked(("r1-msg-001", "likes")), number=1, who="ecologist"),
        rule("respond", response(("r1-msg-001", "supports"), shift="major", cites=["r1-msg-002"]), who="ecologist"),
    )
    record = await there.hold()
    economist, ecologist = of(record.rounds[0], Step.ARGUE)
    assert (economist.unresolved, [each.to for each in economist.links]) == (("r9-msg-001",), ["r1-msg-002"])
    assert not ecologist.links
    assert "kind" in ecologist.noted[0]
    refused = of(record.rounds[0], Step.RESPOND)[1].shift
    assert refused
    assert refused.kind is ShiftKind.NONE
    assert "cites no message that moved it" in refused.refused
    assert len(there.requests("argue")) == 4
    assert len(there.requests("respond")) == 3
    assert "You were shown no message r9-msg-001" in "".join(str(each.messages) for each in there.requests("argue"))
    assert record.rounds[0].measured
    assert record.rounds[0].measured.refused_shifts == 1
    assert not sound(record)


async def test_scores_are_clamped_and_ids_of_the_conclusion_checked(room: Make) -> None:
    agreed = [
        {"text": "one", "resolvedBy": "argument", "cites": ["r1-msg-001"]},
        {"text": "two", "resolvedBy": "argument", "cites": ["r1-msg-004"]},
    ]
    there = room(
        rule("assess", assessed(overall=9, insights=[{"text": "x", "source": ["r1-msg-001", "r4-msg-004"]}])),
        rule("conclude", concluded(agreements=agreed, insights=[{"text": "i", "cites": ["r7-msg-007", "r1-msg-001"]}])),
    )
    record = await there.hold()
    message = of(record.rounds[0], Step.ASSESS)[0]
    assert message.assessment
    assert (message.assessment.overall, message.noted) == (5, ("overall 9 was taken as 5",))
    assert message.assessment.insights[0].source == ("r1-msg-001",)
    assert message.unresolved == ("r4-msg-004",)
    made = record.conclusion
    assert made
    assert made.author == "moderator"
    assert len(there.requests("conclude")) == 2
    assert (made.insights[0].cites, made.insights[0].unresolved) == (("r1-msg-001",), ("r7-msg-007",))
    assert [each.resolved_by for each in made.agreements] == ["majority", "majority"]
    assert any("r7-msg-007" in each for each in made.noted)
    assert any("agreement 1" in each for each in made.noted)


# --- what goes wrong ---


async def test_a_failed_voice_is_named_and_a_failed_moderator_stops_nothing(room: Make) -> None:
    there = room(
        rule("position", "I would rather not.", who="ecologist"),
        rule("frame", DOWN),
        rule("assess", "Fine, 4 of 5."),
    )
    record = await there.hold()
    position = of(record.rounds[0], Step.POSITION)[1]
    assert (position.id, position.position) == ("r1-msg-002", None)
    assert "asked twice" in position.failed
    assert all(of(record.rounds[0], each)[0].failed for each in (Step.FRAME, Step.ASSESS))
    assert record.status == "complete"
    assert not sound(record)
    assert "r1-msg-002 ecologist gave no answer: asked twice" in (there.folder / "progress.md").read_text()
    assert "ecologist, round 1, position gave no answer." in there.brief("argue", "economist")
    failed = [each.who for each in there.events if isinstance(each, Contributed) and each.failed]
    assert failed == ["ecologist", "moderator", "moderator"]


async def test_a_step_in_which_all_experts_fail_is_asked_anew(room: Make) -> None:
    there = room(
        *[
            rule(
                "argue", {"fault": {"kind": "500", "times": 1}}, linked(("r1-msg-003", "questions")), number=1, who=each
            )
            for each in EXPERTS[:2]
        ]
    )
    with pytest.raises(CouncilFailed, match="all 2 experts failed in step argue of round 1") as failed:
        await there.hold()
    assert "look at the models of the experts" in failed.value.hint
    assert isinstance(there.events[-1], Erred)
    assert there.record().standing.status == "failed"
    record = await there.hold()
    assert record.status == "complete"
    assert there.steps.count("position") == 1
    assert [each.id for each in of(record.rounds[0], Step.ARGUE)] == ["r1-msg-004", "r1-msg-005"]


@pytest.mark.slow
async def test_timeouts_hold_inside_of_a_step(room: Make) -> None:
    there = room(rule("frame", HANG))
    record = await there.hold(timeout_s=1)
    assert of(record.rounds[0], Step.FRAME)[0].failed
    assert record.status == "complete"
    late = room(rule("frame", HANG))
    with pytest.raises(CouncilFailed, match=r"the 1 s of one sitting \(`whole_s`\) are over"):
        await late.hold(whole_s=1)
    standing = late.record().standing
    assert (standing.status, standing.late) == ("paused", True)
    assert "whole_s" in standing.why
    assert standing.own.partial.done == (Step.POSITION,)


async def test_an_interrupt_costs_the_step_in_flight_only(room: Make) -> None:
    there = room(rule("attack", {"fault": {"kind": "hang", "times": 1}}, linked(("r1-msg-001", "counters")), number=1))
    task = asyncio.create_task(there.hold())
    while "attack" not in there.steps:  # noqa: ASYNC110 - the server is in a thread
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    record = await there.hold()
    assert record.status == "complete"
    assert there.steps.count("argue") == 1
    assert there.steps.count("attack") >= 1
    assert [each.id for each in record.rounds[0].messages] == [f"r1-msg-{n:03d}" for n in range(1, 10)]


@pytest.mark.slow
async def test_records_changed_by_hand_and_missing_models_are_refused(room: Make) -> None:
    there = room()
    user = User(pauses={(2, Step.FRAME)})
    await there.hold(user, mode="standard", rounds=2)
    asked = len(there.server.requests)
    there.missing = {"economist"}
    with pytest.raises(ConfigError, match="economist: no model is set"):
        await there.hold(mode="standard", rounds=2)
    there.missing = set()
    with pytest.raises(CouncilRefused, match="topic"):
        await there.hold(mode="standard", rounds=2, topic="Another?")
    path = there.folder / "journal.jsonl"
    path.write_text(path.read_text().replace("economist stands here", "economist stands there", 1))
    with pytest.raises(LedgerError, match=r"d1/journal\.jsonl"):
        await there.hold(mode="standard", rounds=2)
    assert len(there.server.requests) == asked


async def test_all_desks_are_made_and_all_windows_checked_before_anybody_is_asked(room: Make) -> None:
    there = room()
    there.missing = {"contrarian"}
    with pytest.raises(ConfigError, match="contrarian: no model is set"):
        await there.hold()
    there.missing, there.windows = set(), {"contrarian": 8_000}
    with pytest.raises(CouncilRefused, match=r"`material` has 90,000 characters .* contrarian can read"):
        await there.hold(id="d2", material="x" * 90_000)
    assert not there.server.requests
    assert not there.records.ids()
