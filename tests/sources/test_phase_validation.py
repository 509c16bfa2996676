"""ADR-011, gate-evaluate and validate-milestone: a phase is judged as a whole, before its tasks and after them."""

from __future__ import annotations

import os
import signal
from typing import Any

import pytest
from tests.misbehaviour.case import case
from tests.project import Project, Rule, call, plain, plan, rule, until, verdict

from swarmgate.domain.events import event as ev
from swarmgate.domain.next_step import Waiting
from swarmgate.engine import Swarm

pytestmark = [pytest.mark.suite("unittest"), pytest.mark.slow]

PART = "src/calc/part_1.1.py"
FLAW = {"severity": "high", "message": "nothing uses the part", "file": PART, "quote": 'VALUE = "1.1"'}


def reads(number: int, word: str = "APPROVED", *findings: dict[str, Any], summary: str = "as promised") -> Rule:
    """The verdict of one reviewer of the whole phase."""
    given = call("submit_verdict", verdict=word, summary=summary, findings=list(findings))
    return rule("reviewer", "validate_phase", [given], participant=f"reviewer-{number}")


def rejects(number: int) -> Rule:
    return reads(number, "REJECTED", FLAW, summary="the part is dead code")


def verdicts(project: Project) -> list[tuple[int, int, str]]:
    return [(each.round, each.number, each.review.verdict) for each in project.events(ev.PhaseReviewed)]


def test_three_reviewers_judge_the_whole_phase_before_its_checkpoint(project: Project) -> None:
    two = plan("1.1", "1.2")
    project.planned(two, reads(1), reads(2), rejects(3), phase={"validate": 3})
    start = project.git("rev-parse", "main")
    told = project.swarm("run", exits=3)

    assert verdicts(project) == [(1, 1, "APPROVED"), (1, 2, "APPROVED"), (1, 3, "REJECTED")]
    given = project.events(ev.PhaseReviewed)[0]
    assert (given.base, given.commit, given.of) == (start, project.git("rev-parse", "HEAD"), 3)
    briefs = project.briefs("reviewer", "validate_phase")
    assert len(briefs) == 3
    for brief in briefs:  # all tasks with their criteria, the change of all of them, and nothing of the other verdicts
        assert "part 1.1 has a value" in brief
        assert "part 1.2 has a value" in brief
        assert '+VALUE = "1.1"' in brief
        assert '+VALUE = "1.2"' in brief
        assert "as promised" not in brief
        assert "I-CLAIM-IT-IS-DONE" not in brief
    (closing,) = project.briefs("architect", "close_phase")
    assert "the part is dead code" in closing
    assert "nothing uses the part" in closing

    assert "validation 1.3 of 3: REJECTED - the part is dead code" in told.stdout
    assert "nothing uses the part" in told.stdout
    page = project.folder.history.joinpath("phase-1.md").read_text()
    assert "## Reviews of the phase" in page
    assert "validation 1.1 of 3: APPROVED" in page
    assert "nothing uses the part" in page
    assert "- Validation 1.3: REJECTED - the part is dead code" in project.plan_md
    assert "validation 1.2 of 3: APPROVED" in project.swarm("status").stdout
    assert project.folder.evidence.joinpath("phase-1/attempt-1/validation-3.json").is_file()
    assert project.json("verify")["passed"]
    assert project.state.usage_by_role["reviewer"].calls == 5  # two reviews of tasks, three of the phase
    project.swarm("approve")
    assert Swarm(project.root).status().waiting == Waiting.NOTHING


def test_a_majority_that_rejects_keeps_the_phase_open_until_its_plan_mends_it(project: Project) -> None:
    mended = plan("1.1", "1.2", step="revise")
    project.planned(reads(1), rejects(2), rejects(3), mended, phase={"validate": 3})
    told = plain(project.swarm("run", exits=1).stdout)
    assert "Phase 1 is rejected as a whole (validation: 1 for, 2 against)" in told
    assert "nothing uses the part" in told
    assert project.events(ev.PhaseClosed) == []
    assert "## Phase 1: Phase 1 [1 task, SMALL] REJECTED" in project.plan_md
    assert "nothing uses the part" in project.swarm("status").stdout
    text = project.plan_md
    project.folder.plan_md.write_text(text.replace("Validation 1.2: REJECTED", "Validation 1.2: APPROVED"))
    assert "the verdicts on phase 1 were edited" in plain(project.swarm("sync", exits=1).stdout)
    assert "Validation 1.2: REJECTED" in project.plan_md
    project.swarm("run", exits=1)  # nobody is asked again
    project.swarm("approve", exits=2)
    assert len(project.events(ev.PhaseReviewed)) == 3

    project.swarm("revise", "mend what they found", exits=3)
    (brief,) = project.briefs("architect", "revise")
    assert "nothing uses the part" in brief
    project.swarm("approve")
    project.play(reads(1), reads(2), rejects(3), phase={"validate": 3})
    project.swarm("run", exits=3)
    assert verdicts(project)[3:] == [(2, 1, "APPROVED"), (2, 2, "APPROVED"), (2, 3, "REJECTED")]
    again = project.briefs("reviewer", "validate_phase")[-1]
    assert "What reviewers objected to before it was mended" in again
    assert '+VALUE = "1.2"' in again
    project.swarm("approve")


def test_a_plan_that_mends_elsewhere_leaves_the_phase_rejected_and_that_is_told(project: Project) -> None:
    project.planned(rejects(1), plan("1.1", "2.1", step="revise"), phase={"validate": 1})
    project.swarm("run", exits=1)
    project.swarm("revise", "mend it in a phase of its own", exits=3)
    assert "Phase 1 is still rejected as a whole: the plan has no new task in it." in project.swarm("approve").stdout
    project.swarm("run", exits=1)
    assert project.events(ev.PhaseClosed) == []
    project.swarm("override", "1", "--reason", "phase 2 mends it")
    assert "Ready to proceed to Phase 2" in project.swarm("run", exits=3).stdout


def test_the_user_overrules_a_rejected_phase_with_a_reason(project: Project) -> None:
    project.planned(rejects(1), phase={"validate": 1})
    project.swarm("run", exits=1)
    project.swarm("override", "2", "--reason", "the wrong one", exits=2)
    told = project.swarm("override", "1", "--reason", "the part is called by a later phase")
    assert "Phase 1: validation is overridden." in told.stdout
    closed = project.swarm("run", exits=3).stdout  # REJECTED stands there, and why it goes on all the same
    reason = "you overruled the validation: the part is called by a later phase"
    assert reason in closed
    assert reason in project.swarm("status").stdout
    assert len(project.events(ev.PhaseReviewed)) == 1
    assert "the part is called by a later phase" in project.folder.context.read_text()
    assert "the part is called by a later phase" in project.folder.history.joinpath("phase-1.md").read_text()


def test_after_a_commit_of_the_user_the_phase_is_judged_anew_with_that_in_it(project: Project) -> None:
    project.planned(rejects(1), phase={"validate": 1})
    project.swarm("run", exits=1)
    project.write("src/calc/__init__.py", '"""Sums."""\n\nMENDED = True\n')
    project.git("commit", "--quiet", "--all", "--message=Mend")
    project.swarm("retry", "phase 1", "--note", "mended in calc")
    project.play(reads(1), phase={"validate": 1})
    project.swarm("run", exits=3)
    brief = project.briefs("reviewer", "validate_phase")[-1]
    assert "+MENDED = True" in brief
    assert "mended in calc" in brief
    assert verdicts(project) == [(1, 1, "REJECTED"), (2, 1, "APPROVED")]


@case(
    "lies",
    "reviewers of a whole phase say in words that all is fine",
    "no text is a verdict: it counts as none, no majority approves, and the phase stays open",
)
def test_a_verdict_that_cannot_be_read_is_no_approval(project: Project) -> None:
    mute = rule("reviewer", "validate_phase", {"text": "fine, all of it"}, participant=["reviewer-2", "reviewer-3"])
    project.planned(reads(1), mute, phase={"validate": 3}, loop={"replies": 1})
    told = project.swarm("run", exits=1).stdout
    assert "1 for, 2 failed" in told
    assert "another model in [roles.reviewer], or `models` in [phase], since one gave no verdict" in told
    assert [each.failed for each in project.events(ev.PhaseReviewed)] == [False, True, True]
    assert "Validation 1.2: NO VERDICT" in project.plan_md


def test_reviewers_speak_with_the_models_that_the_settings_name(project: Project) -> None:
    models = ["local/senior", "local/junior"]
    project.planned(reads(1), reads(2), reads(3), phase={"validate": 3, "models": models})
    project.swarm("run", exits=3)
    asked = [request.model for request in project.requests if request.headers.get("STEP") == "validate_phase"]
    assert asked == ["senior", "junior", "senior"]
    assert [each.review.model for each in project.events(ev.PhaseReviewed)] == [*models, models[0]]


@case(
    "files",
    "a reviewer of a whole phase calls the tool that writes",
    "it is offered none that does; the call is refused, and the file is as it was",
)
def test_a_reviewer_changes_no_file(project: Project) -> None:
    """A reviewer is offered no tool that writes; one that calls it all the same is refused."""
    writes = [call("write_file", path=PART, content="VALUE = 0\n")]
    project.planned(rule("reviewer", "validate_phase", writes, [verdict(summary="as promised")]), phase={"validate": 1})
    project.swarm("run", exits=3)
    assert project.git("status", "--porcelain", "--", "src") == ""
    offered = {
        tool["function"]["name"]
        for request in project.requests
        if request.headers.get("STEP") == "validate_phase"
        for tool in request.body.get("tools", [])
    }
    assert offered == {"read_file", "list_files", "search", "read_change", "submit_verdict"}


def test_a_killed_validation_goes_on_without_asking_twice(project: Project) -> None:
    hangs = rule(
        "reviewer", "validate_phase", {"fault": {"kind": "hang", "times": 1}}, [verdict()], participant="reviewer-2"
    )
    project.planned(reads(1), hangs, reads(3), phase={"validate": 3})
    process = project.start("run")
    until(lambda: any(each.headers.get("PARTICIPANT") == "reviewer-2" for each in project.requests))
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert verdicts(project) == [(1, 1, "APPROVED")]
    project.swarm("run", exits=3)
    assert [number for _, number, _ in verdicts(project)] == [1, 2, 3]
    assert len(project.briefs("reviewer", "validate_phase", participant="reviewer-1")) == 1
    assert project.json("verify")["passed"]


def test_reviewers_of_one_round_judge_one_commit(project: Project) -> None:
    dead = rule("reviewer", "validate_phase", {"fault": {"kind": "500"}}, participant="reviewer-2")
    project.planned(reads(1), dead, phase={"validate": 2})
    project.swarm("run", exits=5)
    assert verdicts(project) == [(1, 1, "APPROVED")]
    project.write("src/calc/__init__.py", '"""Sums."""\n\nMORE = 1\n')
    project.git("commit", "--quiet", "--all", "--message=More")
    project.play(reads(1), reads(2), phase={"validate": 2})
    assert "you committed while phase 1 was judged" in project.swarm("run", exits=3).stderr
    assert verdicts(project)[1:] == [(2, 1, "APPROVED"), (2, 2, "APPROVED")]
    assert {each.commit for each in project.events(ev.PhaseReviewed)[1:]} == {project.git("rev-parse", "HEAD")}


def test_the_budget_of_a_phase_pays_its_reviewers_too(project: Project) -> None:
    dear = {"tool_calls": [verdict()], "usage": {"prompt_tokens": 900_000, "completion_tokens": 1}}
    first = rule("reviewer", "validate_phase", dear, participant="reviewer-1")
    project.planned(first, reads(2), phase={"validate": 2}, budget__phase={"tokens": 500_000})
    project.swarm("run", exits=4)
    assert verdicts(project) == [(1, 1, "APPROVED")]
    project.configure(phase={"validate": 2}, budget__phase={"tokens": 5_000_000})
    project.swarm("run", exits=3)
    assert verdicts(project) == [(1, 1, "APPROVED"), (1, 2, "APPROVED")]
    assert project.state.usage_by_phase[1].tokens > 900_000


def test_a_verdict_that_was_changed_in_its_file_is_noticed(project: Project) -> None:
    project.planned(reads(1), phase={"validate": 1})
    project.swarm("run", exits=3)
    assert "Phase 1, validation 1.1: present" in project.swarm("evidence").stdout
    project.folder.evidence.joinpath("phase-1/attempt-1/validation-1.json").write_text("{}")
    told = project.swarm("evidence", exits=1).stdout
    assert "Phase 1, validation 1.1: changed" in told


# --- gate-evaluate ---


def evaluates(word: str = "APPROVED", *findings: str) -> Rule:
    return rule("critic", "evaluate_phase", [verdict(word, "Q3 and Q4 looked at", *findings)])


def test_two_questions_stand_before_the_first_task_of_a_phase(project: Project) -> None:
    project.planned(evaluates(), plan("1.1", "2.1"), phase={"gate": True})
    project.swarm("run", exits=3)
    (brief,) = project.briefs("critic", "evaluate_phase")
    assert "part 1.1 has a value" in brief
    kinds = [line["event"]["type"] for line in project.lines()]
    assert kinds.index("phase_reviewed") < kinds.index("task_delegated")
    project.swarm("approve")
    project.swarm("run", exits=3)
    assert [(each.phase, each.stage) for each in project.events(ev.PhaseReviewed)] == [(1, "gate"), (2, "gate")]
    assert "1.1: complete" in project.briefs("critic", "evaluate_phase")[1]


def test_a_phase_that_is_not_ready_costs_nothing_and_waits_for_the_user(project: Project) -> None:
    project.planned(evaluates("REJECTED", "Q4, task 1.1: nobody can tell"), phase={"gate": True})
    told = project.swarm("run", exits=1)
    assert "Q4, task 1.1: nobody can tell" in told.stdout
    assert project.events(ev.TaskDelegated) == []
    assert "- Gate 1.1: REJECTED" in project.plan_md
    project.swarm("override", "1", "--reason", "I can tell")
    project.swarm("run", exits=3)
    assert len(project.events(ev.PhaseReviewed)) == 1


def test_another_plan_passes_the_gate_anew(project: Project) -> None:
    other = plan("1.1", "1.2", step="revise")
    project.planned(evaluates("REJECTED", "Q3, task 1.1: builds on nothing"), other, phase={"gate": True})
    project.swarm("run", exits=1)
    project.swarm("revise", "say what it builds on", exits=3)
    assert "builds on nothing" in project.briefs("architect", "revise")[0]
    project.swarm("approve")
    project.play(evaluates(), phase={"gate": True})
    project.swarm("run", exits=3)
    again = project.briefs("critic", "evaluate_phase")[-1]
    assert "builds on nothing" in again.partition("Your objections so far")[2]
    assert "The user says" not in again  # who has said nothing
    assert [(each.round, each.review.verdict) for each in project.events(ev.PhaseReviewed)] == [
        (1, "REJECTED"),
        (2, "APPROVED"),
    ]
