"""Tests the page at the end of a phase, and what is asked there at a terminal."""

from __future__ import annotations

import pytest
from tests.project import Project, call, plain, plan, review, rule, task
from tests.pseudo_terminal import at_terminal

from swarmgate.domain.events import event as ev

pytestmark = [pytest.mark.suite("unittest"), pytest.mark.slow]

ASKED = "Approve, revise or stop? [a/r/s]"
REMARK = {
    "severity": "low",
    "message": "a name could be shorter",
    "file": "src/calc/part_1.1.py",
    "quote": 'VALUE = "1.1"',
}


def test_the_page_has_attempts_cost_decisions_drift_and_what_is_open(project: Project) -> None:
    remarks = [call("submit_verdict", verdict="APPROVED", summary="now it is there", findings=[REMARK])]
    project.planned(
        plan(task("1.1"), task("1.2"), task("2.1", description="Uses MongoDB as the database of parts.")),
        review("REJECTED", "the value is missing", task="1.1", attempt=1),
        rule("reviewer", "review", remarks, task="1.1", attempt=2),
        rule(
            "architect", "close_phase",
            [call("close_phase", summary="Two parts.", decisions=["We use PostgreSQL as the database."], lessons=[])],
        ),
    )  # fmt: skip
    ended = project.swarm("run", exits=3).stdout
    told = plain(ended)
    assert "Phase 1 is done and waits for your approval: .swarm/history/phase-1.md" in told
    assert " Two parts. Tasks: ok Task 1.1: Part 1.1 (commit " in told
    assert "Attempt 1: REJECTED (reviewer) - the value is missing" in told
    assert "Decisions: - We use PostgreSQL as the database." in told
    assert "Open warnings: WARN task 1.1, reviewer: low: src/calc/part_1.1.py a name could be shorter" in told
    assert "Drift from decisions on record (swarm drift): WARN contradiction" in told
    assert "tokens, $" in told.partition("Cost: ")[2]
    assert "Ready to proceed to Phase 2: Phase 2?\nNext:\n  swarm approve" in ended
    found = project.json("run", exits=3)["checkpoint"]
    first = found["tasks"][0]
    assert (first["id"], first["status"], first["files"]) == ("1.1", "complete", ["src/calc/part_1.1.py"])
    assert first["commit"] == project.git("rev-parse", "HEAD~1")
    assert first["usage"]["calls"] > 0
    assert len(found["drift"]) == 1
    assert project.json("status")["checkpoint"]["drift"] is None


def test_approve_revise_and_stop_are_asked_at_a_terminal(project: Project) -> None:
    project.play(plan("1.1", "2.1"), plan("1.1", "2.1", "2.2", step="revise"))
    project.swarm("plan", "Add parts", exits=3)
    answers = [
        (ASKED, "a\n"),  # the plan
        (ASKED, "what?\n"),  # the checkpoint
        (ASKED, "revise\n"),
        ("What should be different?", "one part more\n"),
        (ASKED, "\n"),  # the plan as revised
        (ASKED, "s\n"),
    ]
    shown, exits = at_terminal(project.root, "run", typed=answers)
    assert exits == 3
    assert "- [ ] Task 1.1: Part 1.1" in shown
    assert "Ready to proceed to Phase 2: Phase 2?" in shown
    assert "Task 2.2: Part 2.2" in shown
    assert shown.rpartition(ASKED)[2].count("swarm approve: approve the plan") == 1
    (revised,) = project.events(ev.RevisionRequested)
    assert revised.text == "one part more"
    assert len(project.events(ev.PlanApproved)) == 1
    assert project.events(ev.PhaseApproved) == []

    for end in ("\x03", "\x04"):  # Ctrl-C, and the end of the input, are a stop
        assert at_terminal(project.root, "run", typed=[(ASKED, end)])[1] == 3
    assert len(project.events(ev.PlanApproved)) == 1
    shown, exits = at_terminal(project.root, "run", "--until", "phase")
    assert exits == 3
    assert ASKED not in shown


def test_what_was_decided_elsewhere_meanwhile_is_not_decided_again(project: Project) -> None:
    project.play(plan("1.1"))
    project.swarm("plan", "Add parts", exits=3)

    def elsewhere() -> str:
        project.swarm("approve")
        return "a\n"

    shown, exits = at_terminal(project.root, "run", typed=[(ASKED, elsewhere)])
    assert exits == 2
    assert "Somebody else decided meanwhile." in shown
    assert len(project.events(ev.PlanApproved)) == 1
