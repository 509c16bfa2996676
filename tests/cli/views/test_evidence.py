"""`swarm evidence` and `swarm evidence prune`: tables, exit codes, and what an auditor does with them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.project import Project, code, part, plan, review

pytestmark = pytest.mark.suite("unittest")

REJECTED = review("REJECTED", "Not yet", "too short", task="1.1", attempt=1)


@pytest.fixture
def done(project: Project, once: Callable[[str, Callable[[], None]], None]) -> Project:
    """Phase 1 is done, with two attempts at its task, and waits for approval; phase 2 is to come."""
    rules = (REJECTED, plan("1.1", "2.1"))

    def made() -> None:
        project.planned(*rules)
        project.swarm("run", exits=3)

    once("evidence", made)
    project.play(*rules)
    return project


@pytest.mark.slow
def test_one_row_an_attempt_with_what_is_due_and_what_is_not(done: Project) -> None:
    lines = [line.split("  ") for line in done.swarm("evidence").stdout.splitlines()]
    head, first, second = ([cell.strip() for cell in line if cell.strip()] for line in lines[:3])
    assert head == ["task", "attempt", "outcome", "diff", "gates", "review", "final gates", "tests"]
    assert first == ["1.1", "1", "rejected", "present", "present", "present", "not due", "not due"]
    assert second == ["1.1", "2", "complete", *["present"] * 5]
    assert "Task 2.1: no attempt yet" in done.swarm("evidence").stdout


@pytest.mark.slow
def test_complete_are_tasks_that_are_done_and_proven_is_what_was_recorded(done: Project) -> None:
    told = done.json("evidence")
    assert (told["complete"], told["proven"]) == (False, True)
    told = done.json("evidence", "1.1")
    assert (told["complete"], told["proven"]) == (True, True)


def test_one_task_has_links_and_show_may_be_said(done: Project) -> None:
    shown = done.swarm("evidence", "1.1").stdout
    assert "  .swarm/evidence/1.1/attempt-2/tests.json" in shown
    assert "Every task is complete" in shown
    assert done.swarm("evidence", "show", "1.1").stdout == shown


def test_the_summary_says_who_reviewed_and_what_ran(done: Project) -> None:
    shown = done.swarm("evidence", "1.1", "--summary").stdout
    assert shown.startswith("## Task 1.1: Part 1.1\n\n- Accepted when: part 1.1 has a value\n")
    for text in ("REJECTED by reviewer: Not yet", "reviewed by local/senior", "tests: 1 passed", "- Cost: "):
        assert text in shown


@pytest.mark.parametrize(("change", "standing"), [("delete", "missing"), ("edit", "changed")])
def test_an_auditor_gets_exit_code_1_and_the_blocker(done: Project, change: str, standing: str) -> None:
    piece = done.folder.evidence / "1.1/attempt-2/review.json"
    piece.unlink() if change == "delete" else piece.write_text("{}")
    shown = done.swarm("evidence", exits=1).stdout
    assert standing in shown
    assert "Task 1.1: attempt 2: .swarm/evidence/1.1/attempt-2/review.json" in shown
    told = done.json("evidence", "1.1", exits=1)
    assert (told["complete"], told["tasks"][0]["proven"]) == (False, False)


@pytest.mark.parametrize(("task", "near"), [("1.2", "1.1, 2.1"), ("2.9", "2.1, 1.1"), ("nonsense", "1.1, 2.1")])
def test_an_unknown_task_is_told_the_nearest(done: Project, task: str, near: str) -> None:
    assert f"The nearest: {near}" in done.swarm("evidence", "show", task, exits=2).stderr


def test_without_a_plan_there_is_nothing_due(project: Project) -> None:
    assert "no plan yet" in project.swarm("evidence").stdout
    assert project.json("evidence") == {
        "goal": 0, "complete": False, "proven": True, "tasks": [], "phases": [], "earlier": [],
    }  # fmt: skip
    assert "swarm plan" in project.swarm("evidence", "1.1", exits=2).stderr


def test_pruning_waits_for_the_approval_and_verify_still_holds(done: Project) -> None:
    assert "Nothing has to go" in done.swarm("evidence", "prune", "--days", "0", "--mb", "0").stdout
    done.swarm("approve")
    told = done.json("evidence", "prune", "--days", "0", "--mb", "0", "--check")
    assert (told["check"], told["archive"], [each["task"] for each in told["tasks"]]) == (True, "", ["1.1"])
    assert "would go" in done.swarm("evidence", "prune", "--mb", "0", "--check").stdout
    archive = done.json("evidence", "prune", "--days", "0")["archive"]
    assert not (done.folder.evidence / "1.1").exists()
    assert f"Archived in: {archive}" in done.swarm("evidence").stdout
    assert "8 files, 8 of them archived" in done.swarm("verify").stdout
    (done.root / archive).write_bytes(b"")
    assert "does not hold" in done.swarm("verify", exits=1).stdout
    assert "changed" in done.swarm("evidence", exits=1).stdout


def test_the_bounds_of_the_settings_hold_where_none_are_given(done: Project) -> None:
    done.swarm("approve")
    assert done.json("evidence", "prune", "--check")["tasks"] == []
    done.configure(evidence={"keep_mb": 0})
    assert done.json("evidence", "prune", "--check")["tasks"] != []


@pytest.mark.slow
def test_work_goes_on_after_pruning_and_a_later_goal_says_where_the_earlier_lies(done: Project) -> None:
    done.swarm("approve")
    done.swarm("evidence", "prune", "--days", "0")
    done.swarm("run", exits=3)
    done.swarm("approve")
    done.play(code({"src/calc/part_1.1.py": part("another")}))
    done.swarm("plan", "More parts", exits=3)
    done.swarm("approve")
    done.swarm("run", exits=3)
    assert done.json("evidence")["earlier"] == [".swarm/history/goal-1/evidence"]
    assert "Evidence of an earlier goal: .swarm/history/goal-1/evidence/" in done.swarm("evidence").stdout
    done.swarm("verify")


@pytest.mark.parametrize("wrong", [("--days", "-1"), ("--mb", "x"), ("--weeks", "1")])
def test_wrong_bounds_are_wrong_usage(project: Project, wrong: tuple[str, str]) -> None:
    project.swarm("evidence", "prune", *wrong, exits=2)
