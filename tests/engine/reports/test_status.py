"""`status` and `show`: what they tell."""

from __future__ import annotations

import re

import pytest
from tests.project import Project, code, part, plain, plan, review

from swarmgate.domain.state.state import State, replace
from swarmgate.engine.reports.status import status_report

pytestmark = pytest.mark.suite("unittest")


@pytest.mark.slow
def test_status_says_where_the_work_stands(project: Project) -> None:
    assert "No plan yet." in project.swarm("status").stdout
    project.planned(plan("1.1", "1.2", "2.1"), review("REJECTED", "no", task="1.2"))
    project.swarm("run", exits=1)
    told = project.swarm("status").stdout
    assert "branch: swarm/parts" in told
    assert "Phase 1: Phase 1 - IN PROGRESS (1 complete, 1 blocked)" in told
    assert "Phase 2: Phase 2 - PENDING (1 pending)" in told
    assert "swarm retry 1.2" in told
    assert "tokens, $0." in told


def test_status_tells_of_an_edit_that_is_not_in_the_plan(project: Project) -> None:
    project.planned()
    assert project.json("status")["edited"] == []
    project.folder.plan_md.write_text(project.plan_md.replace("Part 1.1", "The part"))
    assert project.json("status")["edited"] == ["plan.md"]
    assert "plan.md was edited: that is taken in by the next command" in project.swarm("status").stdout
    project.swarm("sync")
    assert "edited" not in project.swarm("status").stdout


@pytest.mark.slow
def test_show_tells_every_attempt(project: Project) -> None:
    project.planned(review("REJECTED", "no unit", "say which unit", attempt="1"))
    project.swarm("run", exits=3)
    told = project.swarm("show", "1.1").stdout
    assert "Attempt 1 (coder): REJECTED (reviewer) - no unit" in told
    assert "say which unit" in told
    assert "Attempt 2 (coder): COMPLETE" in told
    assert project.git("rev-parse", "HEAD") in told
    assert "(local/senior)" in told
    assert "evidence: .swarm/evidence/1.1/attempt-2/" in told
    assert "outside the scope" not in told
    assert "[SMALL] - complete\n" in told


@pytest.mark.slow
def test_show_marks_what_was_changed_outside_the_scope(project: Project) -> None:
    project.planned(code({"src/calc/part_1.1.py": part("1.1"), "extra.txt": "more\n"}))
    project.swarm("run", exits=3)
    told = project.swarm("show", "1.1").stdout
    assert "changed: extra.txt (outside the scope), src/calc/part_1.1.py\n" in told


@pytest.mark.slow
def test_status_names_what_waits_for_the_user(project: Project) -> None:
    project.planned()
    assert "waiting for you" not in project.swarm("status").stdout
    project.swarm("run", exits=3)
    assert "waiting for you: phase approval" in project.swarm("status").stdout


@pytest.mark.parametrize("task", ["9.9", "", "x"])
def test_an_unknown_task_is_answered_with_the_known_ones(project: Project, task: str) -> None:
    project.planned()
    assert "Tasks: 1.1" in project.swarm("show", task, exits=2).stderr


def test_nothing_was_rejected(project: Project) -> None:
    project.planned()
    assert project.swarm("failures").stdout == "Nothing was rejected.\n"


@pytest.mark.slow
def test_status_shows_each_budget_and_the_estimate(project: Project) -> None:
    project.planned(
        plan("1.1", "2.1", "2.2"),
        budget={"usd": 50.0, "tokens": 10_000_000},
        budget__run={"seconds": 3600},
        budget__phase={"tokens": 9_000_000},
        budget__task={"usd": 40.0},
    )
    project.swarm("run", exits=3)
    project.swarm("approve")
    told = plain(project.swarm("status").stdout)
    assert re.search(r"budget of the project: \$0\.\d\d of \$50\.00", told)
    assert "of 10,000,000 tokens" in told
    assert re.search(r"budget of this run: \d+ of 3,600 s of work", told)
    assert "budget of phase 2: 0 of 9,000,000 tokens" in told
    assert "expected" not in told
    progress = project.swarm("run", exits=3).stderr
    assert "phase 2 is expected to use" in progress
    assert "2 tasks, by 1 task before" in plain(progress)
    assert project.json("status")["estimate"]["basis"] == 1
    assert "expected: phase 2 is expected to use" in plain(project.swarm("status").stdout)


def test_status_says_what_it_means_that_nothing_confines_commands() -> None:
    assert status_report(replace(State(), sandbox="none"), working="").sandbox_warning.startswith("NO SANDBOX")
    assert status_report(replace(State(), sandbox="bubblewrap"), working="").sandbox_warning == ""


@pytest.mark.slow
def test_show_tells_what_gates_rejected_as_they_do_by_hand(project: Project) -> None:
    project.planned(code({"src/calc/part_1.1.py": "import os\n\nx = 1  # TODO: later\n"}, attempt="1"))
    project.swarm("run", exits=3)
    told = project.swarm("show", "1.1").stdout
    assert "\n    src/calc/part_1.1.py\n      1:8 medium F401: `os` imported but unused [lint_check]\n" in told
    assert "\n      3 medium marker: TODO left in a comment [placeholder_scan]\n" in told
    assert "       3 | x = 1  # TODO: later\n         | ^^^^^" in told
    assert "    FAIL   placeholder_scan  " in told
    results = project.json("show", "1.1")["attempts"][0]["gates"]
    assert "placeholder_scan" in [result["gate"] for result in results]
    for kept in project.root.glob(".swarm/evidence/1.1/attempt-1/*gates.json"):
        kept.unlink()
    assert "[marker] TODO left in a comment" in project.swarm("show", "1.1").stdout, "the ledger has it in short"
