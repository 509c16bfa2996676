"""Planning: plan, critic, questions, revisions; nothing is delegated before the user's yes."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.project import GOAL, Project, call, critic, plan, rule, save, task

from swarmgate.domain.events import event as ev
from swarmgate.domain.state.state import Planning

pytestmark = pytest.mark.suite("unittest")


def test_nothing_is_delegated_before_approval(project: Project) -> None:
    project.play()
    project.swarm("run", exits=2)  # no goal yet
    project.swarm("plan", GOAL, exits=3)
    assert "waits for your approval" in project.swarm("run", exits=3).stdout
    assert not project.events(ev.TaskDelegated)
    assert not project.briefs("architect", "delegate")
    assert project.git("branch", "--show-current") == "main"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("broken", "told"),
    [
        (task("1.1", complexity="LARGE"), "Task 1.1 is LARGE"),
        (task("1.1", acceptance=[]), "Task 1.1 has no acceptance criterion"),
        (task("1.1", files=[]), "Task 1.1 names no files"),
        (task("1.1", files=["../x"]), "Task 1.1: the file '../x'"),
        (task("1.1", files=["/etc/x"]), "Task 1.1: the file '/etc/x'"),
        (task("1.1", depends=["1.7"]), "Task 1.1 depends on '1.7'"),
    ],
)
def test_an_illegal_plan_is_given_back_with_its_problems(
    project: Project, broken: dict[str, object], told: str
) -> None:
    project.play(rule("architect", "plan", [save(broken)], [save(task("1.1"))]))
    project.swarm("plan", GOAL, exits=3)
    given_back = project.requests[1].messages[-1]["content"]
    assert told in given_back
    assert project.state.planning is Planning.REVIEWED


@pytest.mark.slow
def test_an_architect_that_never_plans_ends_planning_and_the_user_may_say_more(project: Project) -> None:
    project.play(plan(task("1.1", complexity="LARGE")))
    told = project.swarm("plan", GOAL, exits=1)
    assert "Planning failed" in told.stdout
    assert 'swarm plan "GOAL"' in told.stdout
    assert project.events(ev.PlanningFailed)
    project.swarm("run", exits=1)
    project.play()
    project.swarm("plan", "Add parts, small ones", exits=3)


@pytest.mark.slow
def test_an_architect_that_repeats_itself_is_the_models_fault_and_not_the_goals(project: Project) -> None:
    looping = {"text": "The plan is to add the parts, one after the other.\n" * 2_000}
    project.play(rule("architect", "plan", looping))
    done = project.swarm("plan", GOAL, exits=1)
    shown = " ".join(done.stderr.split())
    assert "local/senior: the answer was cut off: it said the same over and over" in shown
    ways_out = " ".join(done.stdout.split())
    assert "another model in [roles.architect] (this one repeats itself)" in ways_out
    assert "says more" not in ways_out
    second = project.requests[1].messages
    assert "Say each thing once" in second[-1]["content"]
    assert len(second[-2]["content"]) < 1_000
    tokens = sum(turn.tokens for turn in (each.turn for each in project.events(ev.TurnEnded)))
    assert tokens < 60_000


@pytest.mark.slow
def test_a_failed_revision_leaves_the_plan_to_be_kept(project: Project) -> None:
    project.planned(plan(task("1.1", complexity="LARGE"), step="revise"))
    told = project.swarm("revise", "more", exits=1)
    assert "swarm approve: keep the plan" in told.stdout
    assert "without the revision" in project.swarm("approve").stdout
    project.swarm("run", exits=3)


def test_a_critic_that_objects_is_heard_once_and_then_the_user_decides(project: Project) -> None:
    project.play(critic("REJECTED", "TOO-VAGUE", "name the unit"))
    told = project.swarm("plan", GOAL, exits=3).stdout
    assert "The critic still objects:" in told
    assert "name the unit" in told
    assert len(project.briefs("critic", "review_plan")) == 2
    (brief,) = project.briefs("architect", "revise")
    assert "name the unit" in brief
    assert [event.review.summary for event in project.events(ev.PlanReviewed)] == ["TOO-VAGUE"] * 2
    project.swarm("approve")


def test_a_critic_without_a_verdict_counts_as_an_objection(project: Project) -> None:
    project.play(rule("critic", "review_plan", {"text": "hm"}), loop={"critic_rounds": 1})
    assert "gave no verdict" in project.swarm("plan", GOAL, exits=3).stdout


@pytest.mark.slow
def test_questions_are_printed_and_answered_later(project: Project) -> None:
    asks = rule("architect", "plan", [call("ask_user", questions=["Which unit?", "Which language?"])])
    project.play(asks, plan("1.1", contains="IN-METRES"))
    told = project.swarm("plan", GOAL, exits=3).stdout
    assert "1. Which unit?" in told
    assert 'swarm plan --answer 1="..."' in told
    assert "2. Which language?" in project.swarm("plan", "--answer", "1=IN-METRES", exits=3).stdout
    project.swarm("plan", "--answer", "2=Python", exits=3)
    assert project.state.planning is Planning.REVIEWED
    assert "Q: Which language? A: Python" in " ".join(project.briefs("architect", "plan")[-1].split())


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "told"), [("7=x", "no question 7"), ("x", "not of the form"), ("1=", "not of the")])
def test_a_wrong_answer_is_refused(project: Project, answer: str, told: str) -> None:
    project.play(rule("architect", "plan", [call("ask_user", questions=["Which unit?"])]))
    project.swarm("plan", GOAL, exits=3)
    assert told in project.swarm("plan", "--answer", answer, exits=2).stderr


def test_plan_without_a_goal_says_what_to_do(project: Project) -> None:
    project.play()
    assert 'swarm plan "' in project.swarm("plan", exits=2).stderr


def test_a_specification_is_read_from_a_file(project: Project, tmp_path: Path) -> None:
    spec = tmp_path / "SPEC.md"
    spec.write_text("# The spec\n\nEVERY-PART-HAS-A-VALUE\n")
    project.play()
    project.swarm("plan", "--from", str(spec), exits=3)
    assert project.state.goal == "The spec"
    (brief,) = project.briefs("architect", "plan")
    assert "EVERY-PART-HAS-A-VALUE" in brief
    assert "EVERY-PART-HAS-A-VALUE" in project.briefs("critic", "review_plan")[0]


@pytest.mark.parametrize(
    ("content", "told"), [(None, "cannot be read"), (b"\xff\xfe\x00", "not UTF-8"), (b" \n", "is empty")]
)
def test_a_specification_that_cannot_be_read_is_named(
    project: Project, tmp_path: Path, content: bytes | None, told: str
) -> None:
    spec = tmp_path / "SPEC.md"
    if content is not None:
        spec.write_bytes(content)
    project.play()
    failed = project.swarm("plan", "--from", str(spec), exits=2).stderr
    assert told in failed
    assert "SPEC.md" in failed
    assert not project.requests


@pytest.mark.slow
def test_a_revision_keeps_what_is_complete(project: Project) -> None:
    project.planned(plan("1.1", "1.2"), plan("1.1", "1.2", "1.3", step="revise"))
    project.swarm("run", exits=3)
    project.swarm("revise", "one part more", exits=3)
    project.swarm("approve")
    project.swarm("run", exits=3)
    assert [event.task for event in project.events(ev.TaskCompleted)] == ["1.1", "1.2", "1.3"]
    assert project.json("verify")["passed"]


@pytest.mark.slow
def test_a_revision_that_drops_what_is_complete_is_given_back(project: Project) -> None:
    dropping = [save(task("1.2"))]
    project.planned(plan("1.1", "1.2"), rule("architect", "revise", dropping, [save(task("1.1"), task("1.2"))]))
    project.swarm("run", exits=3)
    project.swarm("revise", "drop it", exits=3)
    refused = [r.messages[-1]["content"] for r in project.requests if r.headers["STEP"] == "revise"][1]
    assert "Task 1.1 is complete" in refused
    assert "it must stay in the plan" in refused


@pytest.mark.slow
def test_a_revision_that_rewrites_what_is_complete_is_told_what_has_to_stand(project: Project) -> None:
    rewriting = [save(task("1.1", acceptance=["part 1.1 is blue"]))]
    project.planned(rule("architect", "revise", rewriting, [save(task("1.1"), task("1.2"))]))
    project.swarm("run", exits=3)
    project.swarm("revise", "make it blue", exits=3)
    refused = [r.messages[-1]["content"] for r in project.requests if r.headers["STEP"] == "revise"][1]
    assert 'acceptance must be ["part 1.1 has a value"]' in refused


@pytest.mark.slow
def test_a_new_goal_needs_the_old_one_to_be_done(project: Project) -> None:
    project.planned()
    project.swarm("run", exits=3)
    assert "swarm revise" in project.swarm("plan", "Something else", exits=2).stderr
    project.swarm("approve")
    project.swarm("plan", "Something else", exits=3)
    project.swarm("approve")
    project.play(rule("coder", "code", [call("write_file", path="b.txt", content="b\n"), call("finish", summary="b")]))
    project.swarm("run", exits=3)
    assert project.json("verify")["passed"]
    assert len(project.events(ev.TaskCompleted)) == 2
    ended = project.folder.history / "goal-1"
    assert (ended / "evidence/1.1/attempt-1/tests.json").exists()
    assert (ended / "phase-1.md").exists()
    assert (project.folder.history / "phase-1.md").exists()
