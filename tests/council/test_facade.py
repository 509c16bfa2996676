"""Tests the facade of the councils."""

from __future__ import annotations

import asyncio
import json

import pytest
from tests.council.debate_script import debating, speech, synthesis
from tests.project import Project, rule

from swarmgate.council.debate.model import Outcome
from swarmgate.council.participants.session import open_session
from swarmgate.domain.events.event import UsageRecorded
from swarmgate.domain.progress import Progress
from swarmgate.domain.review.votes import Seat, Vote
from swarmgate.domain.usage import Allowance, Usage
from swarmgate.engine import Swarm
from swarmgate.errors import (
    BudgetExhausted,
    ConfigError,
    CouncilFailed,
    CouncilRefused,
    MissingRequirement,
    SwarmError,
    UnsafePath,
)
from swarmgate.ledger.councils.sessions import Session, unsettled
from swarmgate.ledger.ledger import Ledger

SEATS = ("advocate", "challenger")


def settled(project: Project) -> list[UsageRecorded]:
    return [each for each in project.events(UsageRecorded) if each.source]


async def held(project: Project, **more: object) -> Outcome:
    return await Swarm(project.root).council.debate("Is it sound?", **more)  # type: ignore[arg-type]  # as given


async def test_voices_are_told_the_standing_guidance_of_what_they_are_asked(project: Project) -> None:
    project.play(*debating())
    project.write(
        ".swarm/context.md",
        "# Context\n\n## SME Guidance Cache\n\n### Security (Phase 1)\n- Never log tokens\n\n"
        "### Frontend\n- Buttons are blue\n",
    )
    await held(project, participants=["ann", "bob"], material="The JWT stands in a cookie.")
    told = [json.dumps(request.body["messages"]) for request in project.requests]
    assert len(told) > 4
    assert all("Standing guidance of this project" in each and "Never log tokens" in each for each in told)
    assert not any("Buttons are blue" in each for each in told)


async def test_a_debate_ends_with_an_outcome_a_record_and_its_usage_in_the_ledger(project: Project) -> None:
    project.play(*debating())
    told: list[Progress] = []
    council = Swarm(project.root, listener=told.append).council
    outcome = await council.debate("Is it sound?", participants=["ann=local/one", {"id": "bob"}, Seat(id="cyd")])
    assert (outcome.verdict, outcome.decided_by, outcome.rounds) == (Vote.APPROVE, "synthesis", 2)
    record = council.record(outcome.id)
    assert council.ids() == (outcome.id,)
    assert record.outcome == outcome
    assert [[each.seat for each in one.speeches] for one in record.rounds] == [["ann", "bob", "cyd"]] * 2
    assert {request.body["model"] for request in project.requests} == {"one", "senior"}
    (event,) = settled(project)
    assert (event.role, event.source, event.counted) == ("council", f"debate-{outcome.id}", 7)
    assert event.usage.tokens == outcome.usage.tokens == project.state.usage.tokens
    assert event.usage.calls == len(project.requests) == 7
    assert {each.kind for each in told} == {"step", "event"}
    assert told[-1].usage.tokens == outcome.usage.tokens
    assert unsettled(project.folder) == []


async def test_an_outcome_is_given_again_without_asking_anybody(project: Project) -> None:
    project.play(*debating())
    outcome = await held(project)
    asked = len(project.requests)
    assert await Swarm(project.root).council.resume(outcome.id) == outcome
    assert len(project.requests) == asked
    assert len(settled(project)) == 1


async def test_one_killed_right_after_its_outcome_is_recorded_when_it_is_taken_up(project: Project) -> None:
    project.play(*debating())
    with Ledger.write(project.folder):
        await held(project, id="mine")
    assert settled(project) == []
    await Swarm(project.root).council.resume("mine")
    assert [each.source for each in settled(project)] == ["debate-mine"]


async def test_material_is_text_files_and_the_change(project: Project) -> None:
    project.play(*debating())
    project.write("src/calc/__init__.py", '"""Sums, CHANGED."""\n')
    outcome = await held(project, material="GIVEN", files=["AGENTS.md"], diff="HEAD")
    material = Swarm(project.root).council.record(outcome.id).debate.material
    assert material.startswith("GIVEN\n\n### AGENTS.md\nHOUSE-RULE")
    assert '+"""Sums, CHANGED."""' in material
    assert all("HOUSE-RULE" in brief for brief in project.briefs("participant", "debate"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wrong", "kind", "told"),
    [
        ({"rounds": 0}, CouncilRefused, "`rounds` is 0"),
        ({"rounds": 6}, CouncilRefused, "`rounds` is 6"),
        ({"participants": ["a"]}, CouncilRefused, "1 participant:"),
        ({"participants": ["a", "a"]}, CouncilRefused, "names a twice"),
        ({"participants": [f"v{n}" for n in range(9)]}, CouncilRefused, "9 participants"),
        ({"participants": ["a", "b=nobody/x"]}, ConfigError, "unknown provider `nobody`"),
        ({"participants": ["a", "b=senior"]}, ConfigError, "the model of `b`"),
        ({"participants": ["a", "b c"]}, CouncilRefused, "letters, digits"),
        ({"participants": ["a", {"id": "b", "modle": "x"}]}, CouncilRefused, "modle"),
        ({"moderator": "advocate"}, CouncilRefused, "`moderator`"),
        ({"order": "random"}, CouncilRefused, "`order`"),
        ({"files": ["nowhere.py"]}, SwarmError, "nowhere.py"),
        ({"files": ["../x"]}, UnsafePath, "leaves the repository"),
        ({"files": [".swarm/config.toml"]}, UnsafePath, "belongs to swarmgate"),
        ({"diff": "nowhere"}, SwarmError, "no revision `nowhere`"),
        ({"diff": "HEAD"}, CouncilRefused, "does not differ"),
        ({"material": "x" * 200_001}, CouncilRefused, "200,001 characters"),
        ({"id": "../x"}, CouncilRefused, "no id of a debate"),
    ],
)
async def test_bad_input_is_refused_before_anybody_is_asked(
    project: Project, wrong: dict[str, object], kind: type[SwarmError], told: str
) -> None:
    project.play(*debating())
    with pytest.raises(kind) as refused:
        await held(project, **wrong)
    assert told in refused.value.message
    assert project.requests == []
    assert settled(project) == []
    assert not list((project.folder.discussions).glob("*/journal.jsonl"))


async def test_an_id_is_given_once(project: Project) -> None:
    project.play(*debating())
    assert (await held(project, id="mine")).id == "mine"
    with pytest.raises(CouncilRefused, match="a debate mine already"):
        await held(project, id="mine")


async def test_without_a_key_nobody_is_asked(project: Project) -> None:
    project.play(*debating())
    project.configure(providers__local={"api_key_env": "NOT_SET"})
    with pytest.raises(MissingRequirement, match="NOT_SET"):
        await held(project)


async def test_secrets_are_not_kept(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "opensesame-1")
    project.play(*debating(), rule("participant", "debate", {"text": speech("it is opensesame-1")}, round="1"))
    project.configure(providers__local={"api_key_env": "MY_KEY"})
    await held(project, material="the key is opensesame-1")
    kept = [path.read_text() for path in project.folder.path.rglob("*.json*")]
    assert len(kept) > 7
    assert any("[redacted]" in text for text in kept)
    assert not [text for text in kept if "opensesame-1" in text]


# --- budgets ---


async def test_a_used_up_project_budget_stops_it_and_it_goes_on_when_raised(project: Project) -> None:
    project.play(*debating(), budget={"tokens": 2_500})
    with pytest.raises(BudgetExhausted) as stopped:
        await held(project, id="mine")
    assert "swarm debate resume mine" in stopped.value.hint
    spent = project.state.usage.tokens
    assert spent >= 2_500
    first = len(settled(project))
    project.configure(budget={"tokens": 1_000_000})
    outcome = await Swarm(project.root).council.resume("mine")
    assert outcome.verdict is Vote.APPROVE
    assert len(settled(project)) == first + 1 == 2
    assert settled(project)[-1].counted == len(project.requests)
    assert project.state.usage.calls == len(project.requests)


async def test_its_own_budget_holds_over_a_resume(project: Project) -> None:
    project.play(*debating())
    with pytest.raises(BudgetExhausted, match="debate-mine is used up"):
        await held(project, id="mine", tokens=1_500)
    asked = len(project.requests)
    with pytest.raises(BudgetExhausted):
        await Swarm(project.root).council.resume("mine")
    assert len(project.requests) == asked
    assert (await Swarm(project.root).council.resume("mine", tokens=100_000)).verdict is Vote.APPROVE


async def test_what_waits_to_be_recorded_counts_against_the_budget(project: Project) -> None:
    project.play(*debating())
    with Ledger.write(project.folder):
        await held(project, id="mine")  # a run holds the ledger
        assert settled(project) == []
    spent = Session(project.folder, "debate-mine").used().tokens
    project.configure(budget={"tokens": spent})
    with pytest.raises(BudgetExhausted, match="the budget is used up"):
        await held(project, id="other")
    assert [each.source for each in settled(project)] == ["debate-mine"]


@pytest.mark.slow
async def test_while_a_run_writes_the_ledger_the_next_writer_records_it(project: Project) -> None:
    project.play(*debating())
    told: list[Progress] = []
    with Ledger.write(project.folder):
        await Swarm(project.root, listener=told.append).council.debate("Well?", id="mine")
    assert "goes on record with the next command" in told[-1].text
    assert settled(project) == []
    await Swarm(project.root).plan("Add parts")
    assert [each.source for each in settled(project)] == ["debate-mine"]
    project.swarm("approve")
    assert len(settled(project)) == 1


# --- failures ---


async def test_a_failed_debate_says_why_and_its_usage_counts(project: Project) -> None:
    project.play(*debating(), rule("participant", "debate", {"text": "I cannot say."}, round="2"))
    with pytest.raises(CouncilFailed):
        await held(project, id="mine")
    record = Swarm(project.root).council.record("mine")
    assert record.outcome is None
    assert "failed" in record.failed
    assert settled(project)[0].usage.calls == len(project.requests)


async def test_a_synthesis_that_failed_can_be_tried_again(project: Project) -> None:
    project.play(*debating(), rule("architect", "synthesize", {"text": "it was a good debate"}))
    with pytest.raises(CouncilFailed):
        await held(project, id="mine")
    project.play(*debating(), synthesis("APPROVE", "r2-msg-001"))
    outcome = await Swarm(project.root).council.resume("mine")
    assert outcome.synthesis is not None
    assert Swarm(project.root).council.record("mine").failed == ""


@pytest.mark.slow
async def test_a_cancelled_debate_is_recorded_and_goes_on(project: Project) -> None:
    project.play(*debating(), rule("participant", "debate", {"fault": {"kind": "hang"}}, round="2"))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(2):
            await held(project, id="mine")
    assert len(Swarm(project.root).council.record("mine").rounds) == 1
    assert settled(project)[0].usage.calls == 2
    project.play(*debating())
    before = len(project.requests)
    assert (await Swarm(project.root).council.resume("mine")).rounds == 2
    assert len(project.requests) - before == 3
    assert sum(each.usage.calls for each in settled(project)) == 5


async def test_a_damaged_round_is_named_and_nobody_is_asked(project: Project) -> None:
    project.play(*debating())
    outcome = await held(project)
    place = project.folder.discussions / outcome.id / "journal.jsonl"
    lines = place.read_text().splitlines(keepends=True)
    place.write_text("".join([*lines[:4], lines[4][:50] + "\n", *lines[5:]]))
    asked = len(project.requests)
    with pytest.raises(SwarmError, match=r"journal\.jsonl.* line 5"):
        await Swarm(project.root).council.resume(outcome.id)
    assert len(project.requests) == asked


async def test_two_at_once_on_the_same_debate_are_refused(project: Project) -> None:
    project.play(*debating())
    with Session(project.folder, "debate-mine").held(), pytest.raises(CouncilRefused, match="goes on in another"):
        await held(project, id="mine")


async def test_without_a_synthesis_the_majority_decides_and_a_tie_rejects(project: Project) -> None:
    project.play(*debating(votes={"challenger": "REJECT"}))
    outcome = await held(project, synthesis=False)
    assert (outcome.verdict, outcome.decided_by) == (Vote.REJECT, "majority")
    assert not project.briefs("architect", "synthesize")


async def test_a_budget_below_the_prompts_is_refused_before_anybody_is_asked(project: Project) -> None:
    project.play(*debating())
    with pytest.raises(BudgetExhausted, match=r"too small: the first round .* takes about [\d,]+ tokens") as refused:
        await held(project, id="d", tokens=100, participants=[f"p{number}" for number in range(8)])
    assert "swarm debate resume d --tokens N" in refused.value.hint
    assert not project.requests
    outcome = await Swarm(project.root).council.resume("d", tokens=100_000)
    assert outcome.verdict is Vote.APPROVE


async def test_voices_that_speak_at_once_share_what_is_left(project: Project) -> None:
    project.play(*debating())
    with pytest.raises(BudgetExhausted, match="used up"):
        await held(project, id="d", tokens=6_000, participants=[f"p{number}" for number in range(8)])
    (event,) = settled(project)
    assert event.usage.tokens < 6_000 + event.usage.tokens / event.usage.calls


async def test_a_project_budget_that_another_process_uses_up_is_seen(project: Project) -> None:
    project.play(*debating(), budget={"tokens": 5000})
    around = Swarm(project.root).project
    async with open_session(around, "debate-x", allowance=Allowance(), resume="") as voices:
        voices.budget.check()
        with around.writing() as ledger:
            used = UsageRecorded(role="coder", usage=Usage(calls=1, prompt_tokens=9000))
            ledger.append([used], expect=ledger.state.seq)
        with pytest.raises(BudgetExhausted, match="9,000 of 5,000 tokens"):
            voices.budget.check()


async def test_a_name_that_looks_like_a_key_damages_nothing(project: Project) -> None:
    project.play(*debating())
    outcome = await held(project, participants=["sk-learn-maintainer-one", "bob"])
    record = Swarm(project.root).council.record(outcome.id)
    assert [each.seat for each in record.rounds[0].speeches] == ["sk-learn-maintainer-one", "bob"]
