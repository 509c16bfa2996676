"""Tests the facade of decisions."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.council.discussion_script import discussing
from tests.project import Project, Rule, rule

from swarmgate.council.decision.state import State
from swarmgate.council.decision.steps import DECISION
from swarmgate.council.facade import Council
from swarmgate.council.records.lifecycle import Begun, Standing
from swarmgate.council.shared import Shared
from swarmgate.engine import Swarm
from swarmgate.errors import BudgetExhausted, ConfigError, CouncilFailed, CouncilRefused

SEATS = ["ann", "bob=local/junior"]


def stance(stand: str, level: float) -> dict[str, Any]:
    return {"text": json.dumps({"agreement": level, "stand": stand})}


def contributes(reply: dict[str, Any], **match: str) -> Rule:
    return rule("participant", "contribute", reply, **match)


AGREEING = (
    contributes(stance("agree", 0.8)),
    rule("participant", "facilitate", {"text": '{"proposal": "Done in {{round}}.", "openPoints": ["who pays"]}'}),
)


def council(project: Project) -> Council:
    return Swarm(project.root).council


def standing(project: Project) -> Standing[State]:
    return Shared(Swarm(project.root).project).record(DECISION, "d1").standing


def begun(project: Project, part: str) -> Begun:
    return Shared(Swarm(project.root).project).records.begun(part)


@pytest.mark.slow
async def test_a_decision_is_on_record_and_the_same_one_is_not_asked_again(project: Project) -> None:
    project.play(*AGREEING)
    events: list[Any] = []
    outcome = await council(project).decide("Well?", participants=SEATS, files=["AGENTS.md"], on_event=events.append)
    assert (outcome.consensus, outcome.decided, outcome.usage.calls) == (True, "Done in 1.", 3)
    assert [each.event for each in events][-1] == "completed"
    record = council(project).decision_record(outcome.id)
    assert (record.status, record.outcome) == ("complete", outcome)
    assert "HOUSE-RULE" in record.decision.material
    assert [(seat.id, seat.model) for seat in record.decision.participants] == [("ann", ""), ("bob", "local/junior")]
    asked = len(project.requests)
    assert await council(project).decide("Well?", participants=SEATS, files=["AGENTS.md"]) == outcome
    assert await council(project).resume_decision(outcome.id) == outcome
    assert len(project.requests) == asked
    anew = await council(project).decide("Well?", participants=SEATS, files=["AGENTS.md"], cache=False)
    project.write("AGENTS.md", "Another rule.\n")
    other = await council(project).decide("Well?", participants=SEATS, files=["AGENTS.md"])
    assert len({outcome.id, anew.id, other.id}) == 3
    named = await council(project).decide("Well?", participants=SEATS, files=["AGENTS.md"], id="mine")
    assert named.id == "mine"
    with pytest.raises(CouncilRefused, match="is no id of a decision"):
        await council(project).decide("Well?", participants=SEATS, files=["AGENTS.md"], id="../mine")
    listed = council(project).decisions()
    assert {(each.status, each.strategy, each.question) for each in listed} == {("consensus", "majority", "Well?")}


async def test_settings_are_the_defaults_and_the_request_wins(project: Project) -> None:
    project.play(*AGREEING, council__decision={"strategy": "weighted", "rounds": 2}, council={"timeout_s": 20})
    default = await council(project).decide("Well?", participants=SEATS, weights={"bob": 0.25})
    asked = council(project).decision_record(default.id).decision
    assert (asked.strategy, asked.rounds, asked.timeout_s, asked.bar) == ("weighted", 2, 20, 0.7)
    assert [seat.weight for seat in asked.participants] == [1.0, 0.25]
    given = await council(project).decide(
        "Well?", strategy="unanimous", rounds=1, timeout_s=30, facilitator="x=local/junior"
    )
    asked = council(project).decision_record(given.id).decision
    assert (asked.strategy, asked.rounds, asked.timeout_s, asked.facilitator) == ("unanimous", 1, 30, "x")
    assert [seat.id for seat in asked.participants] == ["builder", "operator", "user"]
    assert all(seat.perspective for seat in asked.participants)


async def test_a_database_keeps_it_as_well(project: Project) -> None:
    project.play(*AGREEING, council={"store": "sqlite"})
    outcome = await council(project).decide("Well?", participants=SEATS)
    assert council(project).decision_record(outcome.id).outcome == outcome
    assert not (project.folder.discussions / outcome.id).exists()


async def test_a_decision_that_went_on_in_another_project_answers_no_request(project: Project) -> None:
    project.play(*AGREEING)
    with pytest.raises(BudgetExhausted):
        await council(project).decide("Well?", participants=SEATS, tokens=10)
    (begun,) = council(project).decisions()
    other = project.root / "other.py"
    other.write_text("y = 2\n")
    with (project.folder.discussions / begun.id / "journal.jsonl").open("a") as journal:
        journal.write('{"seq": 4, "ti')  # as a killed process leaves it
    assert (await council(project).resume_decision(begun.id, tokens=100_000)).consensus
    other.unlink()
    assert (await council(project).decide("Well?", participants=SEATS, tokens=100_000)).id != begun.id


async def test_what_is_over_is_given_again_under_its_id_whatever_changed(project: Project) -> None:
    project.play(*AGREEING)
    outcome = await council(project).decide("Well?", participants=SEATS, id="mine")
    (project.root / "other.py").write_text("y = 2\n")
    asked = len(project.requests)
    assert await council(project).decide("Well?", participants=SEATS, id="mine") == outcome
    assert len(project.requests) == asked


def test_a_record_of_an_earlier_swarmgate_is_said_to_be_one(project: Project) -> None:
    place = project.folder.discussions / "old" / "manifest.json"
    place.parent.mkdir(parents=True)
    place.write_text("{}")
    with pytest.raises(CouncilRefused, match="old is a record of an earlier swarmgate") as refused:
        council(project).decision_record("old")
    assert "hold it anew" in refused.value.hint
    assert council(project).decisions() == ()


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"participants": []}, "`participants` is 0: the limit is 1 to 10"),
    ({"participants": ["ann="]}, "names no model behind `=`"),
    ({"weights": {"an": 0.5}}, "`weights` names 'an', who does not take part; did you mean `ann`?"),
    ({"weights": {"ann": 2}}, "`participants.1.weight` is 2: the limit is 0 to 1"),
    ({"facilitator": "bo", "strategy": "facilitator"}, "`facilitator` is 'bo'"),
    ({"files": ["nothing.md"]}, "There is no file 'nothing.md'"),
    ({"id": "../x"}, "is no id of a decision"),
    ({"id": "x" * 79, "participants": [{"id": "ann", "critique": 1}]}, "is no id of a"),
]


async def test_what_cannot_be_held_is_refused_before_anybody_is_asked(project: Project) -> None:
    project.play(*AGREEING)
    for given, told in REFUSED:
        with pytest.raises(CouncilRefused) as refused:
            await council(project).decide("Well?", **{"participants": SEATS, **given})
        assert told in refused.value.message
    assert project.requests == []
    assert council(project).decisions() == ()


async def test_a_voice_without_a_model_is_named(project: Project) -> None:
    project.play(*AGREEING)
    with pytest.raises(ConfigError, match="bob: "):
        await council(project).decide("Well?", participants=["ann", "bob=nowhere/x"])
    assert council(project).decisions() == ()


async def test_a_budget_ends_it_and_a_larger_one_goes_on(project: Project) -> None:
    project.play(*AGREEING, contributes(stance("disagree", 0.2), round="1"))
    with pytest.raises(BudgetExhausted) as error:
        await council(project).decide("Well?", participants=SEATS, id="d1", tokens=1_500)
    assert "swarm decide resume d1 --tokens N" in error.value.hint
    assert standing(project).usage.calls > 0
    outcome = await council(project).resume_decision("d1", tokens=100_000)
    assert (outcome.consensus, outcome.rounds) == (True, 2)
    assert outcome.usage.calls == 6


async def test_a_failed_decision_is_listed_and_can_go_on(project: Project) -> None:
    project.play(*AGREEING, contributes({"text": "1/10"}))
    with pytest.raises(CouncilFailed, match="all 2 participants failed in round 1"):
        await council(project).decide("Well?", participants=SEATS, id="d1")
    assert council(project).decisions()[0].status == "failed"
    project.play(*AGREEING)
    assert (await council(project).resume_decision("d1")).consensus
    with pytest.raises(CouncilRefused):
        await council(project).resume_decision("d2")


async def test_a_participant_improves_its_own_draft_before_it_speaks(project: Project) -> None:
    scores = {name: {"score": 0.9, "reason": "ok"} for name in ("correctness", "completeness", "clarity")}
    project.play(
        *AGREEING,
        rule("participant", "generate", {"text": "MY-DRAFT says no to half of it."}),
        rule("participant", "evaluate", {"text": json.dumps({"scores": scores, "suggestions": []})}),
        council__critique={"stop": 0.6, "threshold": 0.5},
    )
    seats: list[Any] = ["ann", {"id": "bob", "critique": 1}]
    outcome = await council(project).decide("Well?", participants=seats, id="d1")
    (held,) = council(project).decision_record("d1").rounds
    assert held.contributions[1].prepared == "d1.bob"
    assert "MY-DRAFT" in project.briefs("participant", "contribute", participant="bob")[0]
    assert "MY-DRAFT" not in project.briefs("participant", "contribute", participant="ann")[0]
    inner = council(project).critique_record("d1.bob").critique
    assert (inner.stop, {each.threshold for each in inner.criteria}) == (0.6, {0.5})
    assert begun(project, "d1.bob").part_of == "d1"
    spoke = [(each.headers["STEP"], each.headers["PARTICIPANT"]) for each in project.requests if "STEP" in each.headers]
    assert ("generate", "bob") in spoke
    assert council(project).critique_record("d1.bob").outcome is not None
    assert outcome.usage.calls == 5


async def test_a_participant_may_be_a_discussion_and_speaks_from_its_conclusion(project: Project) -> None:
    project.play(*AGREEING, *discussing())
    seats: list[Any] = [
        {"id": "ann", "perspective": "SEEN-BY-ANN", "discussion": "lightweight", "model": "local/junior"},
        "bob",
    ]
    outcome = await council(project).decide("Do the keys rotate?", participants=seats, id="d1")
    (held,) = council(project).decision_record("d1").rounds
    inner = council(project).discussion_record("d1.ann")
    assert begun(project, "d1.ann").part_of == "d1"
    assert (inner.status, inner.discussion.topic) == ("complete", "Do the keys rotate?")
    assert "SEEN-BY-ANN" in inner.discussion.material
    assert held.contributions[0].prepared == "d1.ann"
    assert "Rotate the keys, by a machine." in project.briefs("participant", "contribute", participant="ann")[0]
    assert "by a machine" not in project.briefs("participant", "contribute", participant="bob")[0]
    spoke = {each.body["model"] for each in project.requests if each.headers.get("STEP") in ("argue", "conclude")}
    assert spoke == {"junior"}
    assert outcome.usage.calls == inner.usage.calls + 3
