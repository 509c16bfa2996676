from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from tests.council.debate_script import debating
from tests.council.discussion_script import discussing
from tests.project import Project, rule
from tests.server.runs.conftest import ADA, BO, Served, until
from tests.server.runs.test_goals import made
from tests.server.runs.test_runs import typed

from swarmgate.council.shared import Shared
from swarmgate.errors import IllegalMove, NotFound, UsageError
from swarmgate.server.runs.model import Council
from swarmgate.workspace.git.driver import call as git

AGREES = rule("participant", "contribute", {"text": json.dumps({"agreement": 0.9, "stand": "agree"})})
FACILITATES = rule("participant", "facilitate", {"text": json.dumps({"proposal": "Ship it.", "openPoints": []})})
LOOKS = rule("participant", "dispatch", {"text": "{{participant}} has looked."})
CHATS = rule("participant", "chat", {"text": "Read."})
SCORES = {"scores": [{"criterion": "clear", "score": 0.9, "reason": "it is"}], "suggestions": []}
CRITIQUES = (
    rule("participant", "generate", {"text": "The notes."}),
    rule("participant", "evaluate", {"text": json.dumps(SCORES)}),
)
VOICES = [{"id": "ann"}, {"id": "bob"}]
ONCE = rule("participant", "debate", {"fault": {"kind": "hang", "times": 1}, "then": {"text": "I hold this."}})

PATTERNS: dict[str, tuple[tuple[dict[str, Any], ...], dict[str, Any]]] = {
    "debate": (debating(), {"question": "Well?", "participants": VOICES, "rounds": 2}),
    "discussion": (discussing(), {"topic": "How are keys kept?", "mode": "lightweight"}),
    "decision": ((AGREES, FACILITATES), {"question": "Ship it?", "participants": VOICES}),
    "critique": (CRITIQUES, {"task": "Write the notes.", "criteria": [{"name": "clear"}]}),
    "dispatch": ((LOOKS,), {"mode": "single", "tasks": [{"participant": "ann", "text": "Look."}]}),
    "chat": (
        (CHATS,),
        {"agents": VOICES, "initial": {"from": "ann", "to": "bob", "content": "Hello."}, "messages": 4, "ttl_s": 30},
    ),
    "orchestration": (
        (LOOKS,),
        {"steps": [{"id": "a", "kind": "ask", "participant": "ann", "text": "Look."}]},
    ),
}


def standing(council: Council) -> list[str]:
    """The types of its events, as they are in its journal."""
    journal = Path(council.path) / ".swarm/discussions" / council.id / "journal.jsonl"
    return [json.loads(line)["event"]["type"] for line in journal.read_text().splitlines()] if journal.exists() else []


def actors(council: Council, kind: str) -> list[str]:
    journal = Path(council.path) / ".swarm/discussions" / council.id / "journal.jsonl"
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    return [line["actor"] for line in lines if line["event"]["type"] == kind]


def begun(served: Served, pattern: str, **more: Any) -> Council:
    request = PATTERNS[pattern][1] | more
    return served.jobs.start(pattern, request, repo=served.repo, owner="a-1", by=ADA)


# --- what may be asked for ---


@pytest.mark.parametrize(
    ("pattern", "request_", "told"),
    [
        ("seance", {}, "no pattern"),
        ("debate", {}, "needs `question`"),
        ("debate", {"question": "Well?", "questoin": "x"}, "no `questoin`"),
        ("debate", {"question": "Well?", "id": "mine"}, "no `id`"),
        ("decision", {"question": "Well?", "people": None}, "no `people`"),
        ("discussion", {"topic": "Well?", "personas": "/etc/passwd"}, "no path of a file"),
        ("chat", {"initial": {}}, "needs `agents`"),
    ],
)
def test_a_request_that_the_pattern_does_not_take_is_refused_at_once(
    served: Served, pattern: str, request_: dict[str, Any], told: str
) -> None:
    with pytest.raises(UsageError) as refused:
        served.jobs.start(pattern, request_, repo=served.repo, owner="a-1", by=ADA)
    assert told in refused.value.message
    assert served.jobs.list() == ()


def test_a_council_is_held_in_a_repository_or_in_a_goal_that_is_there(served: Served) -> None:
    asked = PATTERNS["debate"][1]
    with pytest.raises(NotFound):
        served.jobs.start("debate", asked, repo="none", owner="a-1", by=ADA)
    with pytest.raises(NotFound):
        served.jobs.start("debate", asked, goal="g-000000000000", owner="a-1", by=ADA)
    with pytest.raises(UsageError):
        served.jobs.start("debate", asked, owner="a-1", by=ADA)
    goal = served.goals.create(served.repo, "Add parts", owner="a-1", by=ADA)
    with pytest.raises(NotFound):
        served.jobs.start("debate", asked, goal=goal.id, repo="other", owner="a-1", by=ADA)
    council = served.jobs.start("debate", asked, goal=goal.id, owner="a-1", by=ADA)
    assert (council.repo, council.goal, council.path) == (served.repo, goal.id, goal.path)
    assert served.jobs.list(goal=goal.id) == (council,) == served.jobs.list(repo=served.repo)
    assert served.jobs.list(repo="other") == ()
    with pytest.raises(NotFound):
        served.jobs.get("k-000000000000")


# --- held ---


@pytest.mark.slow
@pytest.mark.parametrize("pattern", PATTERNS)
async def test_every_pattern_is_held_in_the_scratch_project_of_a_repository(served: Served, pattern: str) -> None:
    served.project.play(*PATTERNS[pattern][0])
    await served.runs.start()
    council = begun(served, pattern)
    await served.runs.hold(council.id, by=ADA)
    ended = await served.ended(council.id)
    assert (ended.exit_code, ended.message) == (0, "")
    assert standing(council)[0] == "begun"
    assert standing(council)[-1] == "completed"
    assert [each.type for each in served.changes] == ["council_queued", "council_started", "council_ended"]
    assert not served.project.folder.discussions.exists()
    with pytest.raises(IllegalMove, match="over"):
        await served.runs.hold(council.id, by=ADA)


@pytest.mark.slow
async def test_a_council_that_is_killed_goes_on_and_each_voice_is_heard_once(served: Served) -> None:
    served.project.play(*debating(), ONCE)
    goal = made(served)
    await served.runs.start()
    council = served.jobs.start("debate", PATTERNS["debate"][1], goal=goal.id, owner="a-1", by=ADA)
    await served.runs.hold(council.id, by=ADA)
    await until(lambda: len(served.project.requests) == len(VOICES))
    os.kill(served.runs.working()[0].pid, signal.SIGKILL)
    assert (await served.ended(council.id)).exit_code == 0
    record = served.swarm(goal).council.record(council.id)
    assert [len(each.speeches) for each in record.rounds] == [2, 2]
    assert standing(council).count("begun") == 1


@pytest.mark.slow
async def test_a_council_is_stopped_and_goes_on_at_the_command_line(served: Served) -> None:
    served.project.play(*debating(), ONCE)
    goal = made(served)
    await served.runs.start()
    council = served.jobs.start("debate", PATTERNS["debate"][1], goal=goal.id, owner="a-1", by=ADA)
    await served.runs.hold(council.id, by=ADA)
    await until(lambda: len(served.project.requests) == len(VOICES))
    assert await served.runs.stop(council.id, by=ADA)
    assert (await served.ended(council.id)).code == "STOPPED"
    await typed(Project(Path(goal.path)), "debate", "resume", council.id)
    assert standing(council)[-1] == "completed"


@pytest.mark.slow
async def test_the_same_request_is_held_anew_under_its_own_id(served: Served) -> None:
    served.project.play(AGREES, FACILITATES)
    await served.runs.start()
    for _ in range(2):
        council = begun(served, "decision")
        await served.runs.hold(council.id, by=ADA)
        assert (await served.ended(council.id)).exit_code == 0
        assert standing(council)[-1] == "completed"


@pytest.mark.slow
async def test_a_person_votes_by_name(served: Served) -> None:
    served.project.play(AGREES, FACILITATES)
    await served.runs.start()
    council = begun(served, "decision", humans=["pat"])
    await served.runs.hold(council.id, by=ADA)
    ended = await served.ended(council.id)
    assert (ended.exit_code, ended.code) == (3, "WAITING")
    with pytest.raises(UsageError, match="takes no answer"):
        await served.runs.hold(council.id, by=BO, answer={"say": "x"})
    with pytest.raises(UsageError):
        await served.runs.hold(council.id, by=BO, vote={"stnad": "agree"})
    await served.runs.hold(council.id, by=BO, vote={"stand": "agree", "reason": "It is ready."}, person="pat")
    assert (await served.ended(council.id)).exit_code == 0
    assert actors(council, "spoke").count(BO) == 1
    assert set(actors(council, "spoke")) == {"swarmgate", BO}


@pytest.mark.slow
async def test_a_user_takes_the_cast_and_chooses_in_a_discussion(served: Served) -> None:
    served.project.play(*discussing())
    await served.runs.start()
    council = begun(served, "discussion", user=True)
    await served.runs.hold(council.id, by=ADA)
    assert (await served.ended(council.id)).code == "WAITING"
    await served.runs.hold(council.id, by=BO, answer={"cast": True, "say": "Count them."})
    assert (await served.ended(council.id)).code == "WAITING"
    assert BO in actors(council, "heard")
    await served.runs.hold(council.id, by=BO, answer={"choose": "synthesize"})
    assert (await served.ended(council.id)).exit_code == 0
    assert actors(council, "chosen") == [BO]


@pytest.mark.slow
async def test_the_scratch_project_follows_its_repository(served: Served) -> None:
    served.project.play(LOOKS)
    await served.runs.start()
    council = begun(served, "dispatch")
    await served.runs.hold(council.id, by=ADA)
    await served.ended(council.id)
    served.project.write("new.txt", "new\n")
    served.project.git("add", "new.txt")
    served.project.git("commit", "--quiet", "--message=New")
    other = begun(served, "dispatch")
    await served.runs.hold(other.id, by=ADA)
    await served.ended(other.id)
    assert (Path(other.path) / "new.txt").exists()
    assert other.path == council.path
    assert len(Shared(served.swarm(served.goals.list()[0]).project).records.ids()) == 0
    assert git(Path(other.path), "status", "--porcelain", "--", ".", ":!.swarm")[1] == b""


@pytest.mark.slow
async def test_what_cannot_be_held_is_told(served: Served) -> None:
    served.project.play()
    await served.runs.start()
    council = begun(served, "debate", rounds=9)
    await served.runs.hold(council.id, by=ADA)
    ended = await served.ended(council.id)
    assert (ended.exit_code, ended.code) == (2, "COUNCIL")
    assert "rounds" in ended.message
