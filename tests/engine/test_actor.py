"""Who approved, overrode, answered, retried, undid or abandoned stands in the ledger by name, and is told by it."""

from __future__ import annotations

import pytest
from tests.project import GOAL, Project, call, plan, review, rule

from swarmgate.domain.actor import actor_in_words, decider, is_person, name_of, named
from swarmgate.engine import Swarm
from swarmgate.engine.reports.goal import read_goal

ADA, BO = named("ada"), named("bo")

pytestmark = pytest.mark.suite("unittest")


def as_(project: Project, actor: str) -> Swarm:
    return Swarm(project.root, actor=actor)


def said(project: Project) -> list[tuple[str, str]]:
    """Events of people, with who they were."""
    return [(line["event"]["type"], line["actor"]) for line in project.lines() if is_person(line["actor"])]


def test_a_person_is_known_from_roles_and_from_swarmgate() -> None:
    assert [is_person(each) for each in ("user", ADA, "swarmgate", "architect", "users")] == [True, True, *[False] * 3]
    assert (name_of(ADA), name_of("user"), name_of("critic")) == ("ada", "", "")
    assert [actor_in_words(each) for each in ("user", ADA, "architect")] == ["the user", "ada", "the architect"]
    assert decider("user", ADA) == ADA
    assert decider("architect", ADA) == "architect"
    assert decider("user", "swarmgate") == "user"


@pytest.mark.slow
def test_each_decision_is_recorded_and_told_by_who_made_it(project: Project) -> None:
    asks = rule("architect", "plan", [call("ask_user", questions=["Which unit?"])])
    project.play(asks, plan("1.1", "1.2", contains="METRES"), review("REJECTED", "no", task="1.1"))
    project.swarm("plan", GOAL, exits=3)
    as_(project, ADA).answer(1, "METRES")
    project.swarm("plan", exits=3)
    as_(project, BO).approve()
    project.swarm("run", exits=1)
    as_(project, ADA).retry("1.1", note="again")
    project.swarm("run", exits=1)
    as_(project, ADA).override("1.1", reason="it is fine")
    project.swarm("run", exits=3)
    as_(project, BO).undo("1.2")
    as_(project, BO).skip("1.2", reason="later")
    project.swarm("run", exits=3)
    as_(project, ADA).approve()
    by_name = [each for each in said(project) if each[1] != "user"]
    assert by_name == [
        ("question_answered", ADA),
        ("plan_approved", BO),
        ("task_retried", ADA),
        ("rejection_overridden", ADA),
        ("task_undone", BO),
        ("task_skipped", BO),
        ("phase_approved", ADA),
    ]
    status = project.swarm("status").stdout
    assert "plan approved by bo" in status
    assert "approved by ada" in status
    assert "by ada" in project.swarm("show", "1.1").stdout
    assert "override of reviewer by ada: it is fine" in project.swarm("show", "1.1").stdout
    history = (project.folder.history / "phase-1.md").read_text()
    assert "- By ada" in history
    assert "by ada: it is fine" in history
    record = read_goal(Swarm(project.root).project)
    assert (record.plan_approver, record.phases[0].approver) == ("bo", "ada")
    assert [each.who for each in record.overruled] == ["ada"]
    assert record.unseen == ()
    assert any(each.endswith("METRES (ada)") for each in record.asked)
    told = Swarm(project.root).describe().description
    assert "The plan, approved by bo" in told
    assert "approved by ada on" in told
    assert "by ada: it is fine" in told
    assert ADA in project.swarm("history").stdout


@pytest.mark.slow
def test_time_in_which_a_named_person_thought_is_no_work(project: Project) -> None:
    project.play()
    project.swarm("plan", GOAL, exits=3)
    as_(project, ADA).approve()
    project.swarm("run", exits=3)
    named_ones = read_goal(Swarm(project.root).project).times
    assert named_ones
    assert named_ones[0].spans[0].start >= 0


@pytest.mark.slow
def test_a_goal_is_abandoned_by_name_and_what_was_open_ends_by_it(project: Project) -> None:
    project.play(review("REJECTED", "no"))
    project.swarm("plan", GOAL, exits=3)
    project.swarm("approve")
    project.swarm("run", exits=1)
    as_(project, BO).abandon(reason="no time")
    assert said(project)[-1] == ("goal_abandoned", BO)


@pytest.mark.slow
def test_the_user_at_the_terminal_is_told_as_before(project: Project) -> None:
    project.play()
    project.swarm("plan", GOAL, exits=3)
    project.swarm("approve")
    project.swarm("run", exits=3)
    project.swarm("approve")
    status = project.json("status")
    assert (status["plan_approver"], status["phases"][0]["approver"]) == ("", "")
    assert "approved by" not in project.swarm("status").stdout
    assert read_goal(Swarm(project.root).project).phases[0].approver == "the user"
