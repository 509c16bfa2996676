"""The facade of critiques: both stores, hand edits, and what the cache goes by."""

from __future__ import annotations

import json

import pytest
from tests.project import Project, rule

from swarmgate.domain.events import UsageRecorded
from swarmgate.engine import Swarm
from swarmgate.errors import CouncilRefused, LedgerError

CRITERIA = ["truth=It is so."]


def play(project: Project, score: float = 0.9) -> None:
    told = {"text": json.dumps({"scores": {"truth": score}})}
    project.play(
        rule("participant", "generate", {"text": "It is so, with sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD."}),
        rule("participant", "evaluate", told),
        rule("participant", "improve", {"text": "It is so {{round}}."}),
    )


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


@pytest.mark.parametrize("store", ["files", "sqlite"])
async def test_either_store_keeps_it_without_secrets(project: Project, store: str) -> None:
    play(project, 0.1)
    project.configure(council={"store": store})
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
    path = project.folder.discussions / "mine/rounds/001.json"
    path.write_text(path.read_text().replace('"score": 0.9', '"score": 1.0').replace('"score":0.9', '"score":1.0'))
    with pytest.raises(LedgerError, match=r"001\.json"):
        Swarm(project.root).council.critique_record("mine")
    assert [each.status for each in Swarm(project.root).council.critiques()] == ["damaged"]
    with pytest.raises(CouncilRefused, match=r"other"):
        await council.resume_critique("other")
