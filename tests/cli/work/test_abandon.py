"""`swarm abandon`: a goal ends before its work is done, its branch stays, and the next goal can begin."""

from __future__ import annotations

import pytest
from tests.project import Project, call, part, plan, rule, verdict

from swarmgate.domain.events.event import GoalAbandoned

pytestmark = pytest.mark.suite("unittest")


@pytest.mark.slow
def test_the_branch_stays_the_unfinished_change_is_kept_and_the_next_goal_begins(project: Project) -> None:
    broken = rule("reviewer", "review", [verdict("REJECTED", "no")], task="1.2")
    project.planned(plan("1.1", "1.2"), broken)
    project.swarm("run", exits=1)
    branch, tip = project.state.branch, project.git("rev-parse", "HEAD")
    assert "cannot replace it" in project.json("plan", "Something else", exits=2)["message"]
    told = project.json("abandon", "--reason", "something else is wanted")
    assert (told["reason"], told["branch"]) == ("something else is wanted", branch)
    assert project.git("rev-parse", branch) == tip
    assert (project.root / "src/calc/part_1.1.py").exists()
    assert not (project.root / "src/calc/part_1.2.py").exists()
    assert [each.read_text() for each in project.quarantined("part_1.2.py")]
    assert "goal abandoned: something else is wanted" in project.swarm("history").stdout
    assert project.json("status")["waiting"] == "goal"
    project.swarm("verify")
    record = project.json("report")["record"]
    assert (record["abandoned"], record["goal"], record["branch"]) == ("something else is wanted", "Add parts", branch)
    assert [each["status"] for each in record["tasks"]] == ["complete", "blocked"]
    assert all(each["standing"] == "present" for each in record["evidence"])
    assert "**The goal was abandoned** (something else is wanted)" in project.swarm("pr", "--print").stdout
    assert project.json("pr", "--draft", exits=2)["hint"].endswith(f"git push REMOTE {branch}")
    assert not project.folder.plan_md.exists()
    assert "Task 1.2" in (project.folder.history / "goal-1/plan.md").read_text()
    project.git("switch", "-q", "main")
    project.play(plan("1.1"))
    project.swarm("plan", "Something else", exits=3)
    project.swarm("approve")
    project.swarm("run", exits=3)
    assert (project.folder.history / "goal-1/evidence/1.2").is_dir()
    assert project.state.branch != branch
    project.swarm("verify")


@pytest.mark.slow
def test_the_next_goal_gets_a_branch_of_its_own_also_where_nobody_switched(project: Project) -> None:
    project.planned(plan("1.1"))
    project.swarm("run", exits=3)
    branch, tip = project.state.branch, project.git("rev-parse", "HEAD")
    project.swarm("abandon", "--reason", "once more, otherwise")
    project.play(plan("1.2"))
    project.swarm("plan", "Add parts", exits=3)
    project.swarm("approve")
    project.swarm("run", exits=3)
    assert project.state.branch == f"{branch}-2"
    assert project.git("rev-parse", branch) == tip


@pytest.mark.slow
@pytest.mark.parametrize("branch", ["swarm/parts", "main"])
def test_what_an_open_attempt_left_is_kept_and_on_another_branch_left_alone(project: Project, branch: str) -> None:
    half = [call("write_file", path="src/calc/part_1.1.py", content=part("half"))]
    project.planned(plan("1.1"), rule("coder", "code", half, {"fault": {"kind": "500", "retry_after": 0}}))
    project.swarm("run", exits=5)
    project.git("switch", "-q", branch)
    kept = project.json("abandon", "--reason", "no")["kept"]
    place = project.root / kept / "src/calc/part_1.1.py"
    assert place.read_text() == part("half")
    assert bool(kept) == (branch == "swarm/parts")
    assert project.git("status", "--porcelain", "src") == ("" if kept else "?? src/calc/part_1.1.py")
    project.swarm("verify")


def test_without_a_goal_or_a_reason_there_is_nothing_to_abandon(project: Project) -> None:
    assert "No goal can be abandoned" in project.json("abandon", "--reason", "no", exits=2)["message"]
    assert "needs a reason" in project.json("abandon", "--reason", " ", exits=2)["message"]


def test_a_plan_that_waits_for_approval_can_be_abandoned(project: Project) -> None:
    project.play()
    project.swarm("plan", "Add parts", exits=3)
    project.swarm("abandon", "--reason", "not this")
    assert [event.branch for event in project.events(GoalAbandoned)] == [""]
    project.swarm("verify")
