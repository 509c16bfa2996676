"""`status`, `show` and `failures`: what they tell."""

from __future__ import annotations

import pytest
from tests.project import Project, code, part, plan, review

from swarmgate.engine.reports import normalised


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


def test_show_marks_what_was_changed_outside_the_scope(project: Project) -> None:
    project.planned(code({"src/calc/part_1.1.py": part("1.1"), "extra.txt": "more\n"}))
    project.swarm("run", exits=3)
    told = project.swarm("show", "1.1").stdout
    assert "changed: extra.txt (outside the scope), src/calc/part_1.1.py\n" in told


def test_status_names_what_waits_for_the_user(project: Project) -> None:
    project.planned()
    assert "waiting for you" not in project.swarm("status").stdout
    project.swarm("run", exits=3)
    assert "waiting for you: phase approval" in project.swarm("status").stdout


@pytest.mark.parametrize("task", ["9.9", "", "x"])
def test_an_unknown_task_is_answered_with_the_known_ones(project: Project, task: str) -> None:
    project.planned()
    assert "Tasks: 1.1" in project.swarm("show", task, exits=2).stderr


def test_the_same_failure_in_three_tasks_points_elsewhere(project: Project) -> None:
    project.planned(plan("1.1", "1.2", "1.3"), review("REJECTED", "`part` {{task}} has no unit", attempt="1"))
    project.swarm("run", exits=3)
    (group,) = project.json("failures")
    assert (group["count"], group["tasks"]) == (3, ["1.1", "1.2", "1.3"])
    assert "look at the plan, or a prompt" in group["advice"]
    assert "3 x (reviewer) in 1.1, 1.2, 1.3" in project.swarm("failures").stdout


def test_failures_are_those_of_the_current_goal(project: Project) -> None:
    project.planned(review("REJECTED", "no unit", attempt="1"))
    project.swarm("run", exits=3)
    project.swarm("approve")
    assert project.json("failures")
    project.swarm("plan", "Something else", exits=3)
    assert project.json("failures") == []


def test_nothing_was_rejected(project: Project) -> None:
    project.planned()
    assert project.swarm("failures").stdout == "Nothing was rejected.\n"


def test_names_and_numbers_do_not_tell_failures_apart() -> None:
    assert normalised("src/a.py:3 `encode` only raises") == normalised("src/b.py:17 `decode` only raises")
    assert normalised("no unit") != normalised("no test")
