"""Tests the facade of critiques: both stores, manual edits, and the cache."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import pytest
from tests.project import Project, rule

from swarmgate.council.critique import file
from swarmgate.council.critique.steps import CRITIQUE
from swarmgate.council.critique.view import score_lines
from swarmgate.council.shared import Shared
from swarmgate.domain.events.event import UsageRecorded
from swarmgate.engine import Swarm
from swarmgate.errors import BudgetExhausted, CouncilRefused, LedgerError

CRITERIA = ["truth=It is so."]


def play(project: Project, score: float = 0.9) -> None:
    told = {"text": json.dumps({"scores": {"truth": score}})}
    project.play(
        rule("participant", "generate", {"text": "It is so, with sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD."}),
        rule("participant", "evaluate", told),
        rule("participant", "improve", {"text": "It is so {{round}}."}),
    )


@pytest.mark.slow
async def test_the_same_over_an_unchanged_project_is_answered_from_its_record(project: Project) -> None:
    play(project)
    council = Swarm(project.root).council
    first = await council.critique("Say it.", criteria=CRITERIA)
    again = await Swarm(project.root).council.critique("Say it.", criteria=CRITERIA)
    assert (again.id, len(project.requests)) == (first.id, 2)
    assert (await council.critique("Say it.", criteria=CRITERIA, evaluator="local/junior")).id != first.id
    assert (await council.critique("Say it.", criteria=CRITERIA, stop=0.2)).id != first.id
    project.write("new.txt", "what voices can read changed\n")
    assert (await Swarm(project.root).council.critique("Say it.", criteria=CRITERIA)).id != first.id
    assert sum(each.usage.calls for each in project.events(UsageRecorded)) == len(project.requests) == 8
    assert [each.status for each in council.critiques()] == ["passed"] * 4


@pytest.mark.slow
@pytest.mark.parametrize("store", ["files", "sqlite", "redis"])
async def test_each_store_keeps_it_without_secrets(
    project: Project, store: str, request: pytest.FixtureRequest
) -> None:
    play(project, 0.1)
    where = request.getfixturevalue("redis_server").address if store == "redis" else store
    project.configure(council={"store": where})
    outcome = await Swarm(project.root).council.critique("Say it.", criteria=CRITERIA, iterations=2, id="mine")
    record = Swarm(project.root).council.critique_record("mine")
    assert [each.number for each in record.iterations] == [1, 2]
    assert (record.status, record.outcome and record.outcome.best) == ("complete", outcome.best)
    assert "sk-proj-abcdefghij" in outcome.version
    assert "sk-proj-abcdefghij" not in record.model_dump_json()
    with pytest.raises(CouncilRefused, match="another critique"):
        await Swarm(project.root).council.critique("Say that.", criteria=CRITERIA, id="mine")


async def test_an_iteration_that_was_edited_by_hand_is_refused_with_its_name(project: Project) -> None:
    play(project)
    council = Swarm(project.root).council
    await council.critique("Say it.", criteria=CRITERIA, id="mine")
    path = project.folder.discussions / "mine/journal.jsonl"
    path.write_text(path.read_text().replace('"score": 0.9', '"score": 1.0').replace('"score":0.9', '"score":1.0'))
    with pytest.raises(LedgerError, match=r"mine/journal\.jsonl"):
        Swarm(project.root).council.critique_record("mine")
    assert [each.status for each in Swarm(project.root).council.critiques()] == ["damaged"]
    path.write_bytes(b"\xff\xfe\n")
    assert [each.status for each in Swarm(project.root).council.critiques()] == ["damaged"]
    assert [each.status for each in council.executions()] == ["damaged"]
    (path.parents[1] / "old").mkdir()
    (path.parents[1] / "old/manifest.json").write_text('{"id": "old", "pattern": "critique"}')
    with pytest.raises(CouncilRefused, match=r"old is a record of an earlier swarmgate"):
        council.critique_record("old")
    with pytest.raises(CouncilRefused, match=r"other"):
        await council.resume_critique("other")


async def test_an_explicit_id_is_never_answered_from_another_record(project: Project) -> None:
    play(project)
    council = Swarm(project.root).council
    first = await council.critique("Say it.", criteria=CRITERIA)
    mine = await council.critique("Say it.", criteria=CRITERIA, id="mine")
    assert (mine.id, len(project.requests)) == ("mine", 4)
    fresh = await council.critique("Say it.", criteria=CRITERIA, default_id="fresh")
    assert (fresh.id in {first.id, "mine"}, len(project.requests)) == (True, 4)
    project.write("k.toml", 'task = "Say it."\ncache = false\n')
    described = file.read(project.root / "k.toml")
    (project.root / "k.toml").unlink()
    assert (await council.critique(**described, criteria=CRITERIA, default_id="fresh")).id == "fresh"
    for wrong in ("../x", "a b", "x" * 81):
        with pytest.raises(CouncilRefused, match="is no id of a critique"):
            await council.critique("Say it.", criteria=CRITERIA, id=wrong)
    assert len(project.requests) == 6


async def test_what_was_taken_up_again_over_a_changed_project_answers_no_other_request(project: Project) -> None:
    play(project, 0.1)
    council = Swarm(project.root).council
    with pytest.raises(BudgetExhausted):
        await council.critique("Say it.", criteria=CRITERIA, iterations=2, id="mine", tokens=900)
    project.write("new.txt", "x\n")
    await council.resume_critique("mine", tokens=1_000_000)
    standing = Shared(Swarm(project.root).project).record(CRITIQUE, "mine").standing
    assert (standing.status, standing.request_hash, standing.allowance.tokens) == ("complete", "", 1_000_000)


@pytest.mark.slow
async def test_learnt_weights_that_are_the_same_are_answered_from_the_record(project: Project) -> None:
    """Every run is one more to learn from: that alone must not make the cache miss; other weights must."""
    told = [{"text": json.dumps({"scores": {"truth": 0.9, "style": style}})} for style in (0.1, 0.9)]
    project.play(
        rule("participant", "generate", {"text": "It is so."}),
        rule("participant", "evaluate", told[0]),
        rule("participant", "evaluate", told[1], contains="Say that."),
    )
    council, criteria = Swarm(project.root).council, ["truth=x", "style=y"]

    async def held(task: str = "Say it.", **given: Any) -> tuple[str, int]:
        asked = {"criteria": criteria, "name": "n", "iterations": 1, "adaptive": True, **given}
        outcome = await council.critique(task, **asked)
        return outcome.id, council.critique_record(outcome.id).critique.learnt_from

    first, second, third = await held(), await held(), await held()
    assert (first[1], second[1]) == (0, 1)
    assert (second[0] != first[0], third[0]) == (True, second[0])  # the weights moved once, and not again
    assert (await held(criteria=["truth:0.5=x", "style:0.5=y"]))[0] not in {first[0], second[0]}
    await held("Say that.", adaptive=False)
    assert (await held())[0] not in {first[0], second[0]}  # that run met the criterion: other weights


@pytest.mark.slow
async def test_a_critique_whose_time_was_over_is_paused_and_answers_nobody_until_it_went_on(project: Project) -> None:
    short = rule("participant", "evaluate", {"text": json.dumps({"scores": {"truth": 0.1}})})
    made = rule("participant", "generate", {"text": "It is so."})
    hang = rule("participant", "improve", {"fault": {"kind": "hang"}})
    project.play(made, short, hang, council={"whole_s": 1})
    council = Swarm(project.root).council
    first = await council.critique("Say it.", criteria=CRITERIA, id="mine")
    record = council.critique_record("mine")
    assert (first.ended_by, first.version, record.outcome, record.status) == ("timeout", "It is so.", first, "paused")
    assert [each.status for each in council.critiques()] == ["paused"]
    assert datetime.fromisoformat(council.critiques()[0].began).tzinfo is not None
    assert score_lines(record)[-1].endswith("its time was over. It can go on: swarm critique resume mine")
    project.play(made, short, rule("participant", "improve", {"text": "It is so {{round}}."}))
    council = Swarm(project.root).council
    again = await council.resume_critique("mine")
    assert (again.ended_by, again.iterations, council.critique_record("mine").status) == ("iterations", 3, "complete")
