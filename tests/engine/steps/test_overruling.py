"""What an override leaves behind for the tasks after it, and what is said of it."""

from __future__ import annotations

import pytest
from tests.engine.steps.testing.test_adversarial import BAD, MODULE, ZERO, attacks, confirms
from tests.project import Project, code, engineer, part, plain, plan, review, rule

from swarmgate.domain.events import event as ev
from swarmgate.domain.state.state import TaskStatus

FAILING = {"tests/test_part.py": "def test_part() -> None:\n    assert 1 == 2\n"}
ONCE = {"max_rejections": 1}


def notes(project: Project, rule: str) -> list[str]:
    return [event.note.detail for event in project.events(ev.GuardActed) if event.note.rule == rule]


@pytest.mark.slow
def test_the_files_of_an_overruled_attack_leave_the_tree_and_the_work_goes_on(project: Project) -> None:
    project.planned(
        plan("1.1", "1.2"),
        code({MODULE: BAD}, task="1.1"),
        attacks({"tests/test_attacks.py": ZERO}, task="1.1"),
        confirms("APPROVED"),
        tests={"adversarial": "always"},
        loop=ONCE,
    )
    shown = plain(project.swarm("run", exits=1).stdout)
    assert "is blocked: (tests)" in shown  # the attempt after the attack fails by the same file, which lies in the tree
    assert "tests/test_attacks.py is taken out again, into the quarantine" in shown
    told = plain(project.swarm("override", "1.1", "--reason", "WRONG-TEST").stdout)
    assert "tests/test_attacks.py is taken out again" in told
    project.swarm("run", exits=3)
    assert not (project.root / "tests/test_attacks.py").exists()
    assert project.quarantined("test_attacks.py")[0].read_text() == ZERO
    assert [project.state.task(task).status for task in ("1.1", "1.2")] == [TaskStatus.COMPLETE] * 2
    assert any("the user overruled tests/test_attacks.py: taken out" in each for each in notes(project, "adversarial"))
    assert project.json("verify")["passed"]


@pytest.mark.slow
def test_tests_that_an_override_left_red_reject_no_later_task_but_new_failures_do(project: Project) -> None:
    second = {"tests/test_second.py": "def test_second() -> None:\n    assert 3 == 4\n"}
    project.planned(
        plan("1.1", "1.2", "1.3"),
        engineer(FAILING, task="1.1"),
        engineer(second, task="1.3"),
        loop=ONCE,
    )
    offered = plain(project.swarm("run", exits=1).stdout)
    assert "commits tests/test_part.py::test_part as failing: delete or mend what is wrong first" in offered
    project.swarm("override", "1.1", "--reason", "the clock is wrong")
    project.swarm("run", exits=1)
    assert project.state.task("1.2").status is TaskStatus.COMPLETE
    assert project.state.known_red == ("tests/test_part.py::test_part",)
    assert any("tests/test_part.py::test_part" in each for each in notes(project, "known-red"))
    assert project.state.task("1.3").last is not None
    assert project.state.task("1.3").status is TaskStatus.BLOCKED
    assert "tests/test_second.py::test_second" in project.state.task("1.3").reason


@pytest.mark.slow
def test_an_overruled_verdict_is_told_as_one_and_nobody_is_said_to_read(project: Project) -> None:
    project.planned(review("REJECTED", "NO-UNIT"), loop=ONCE)
    project.swarm("run", exits=1)
    project.swarm("override", "1.1", "--reason", "UNITS-ARE-KNOWN")
    ran = plain(project.swarm("run", exits=3).stderr)
    assert "overruled by the user, not asked again" in ran
    assert "the reviewer reads" not in ran
    assert "reviewer REJECTED" not in ran
    shown = plain(project.swarm("show", "1.1").stdout)
    assert "Attempt 3 (override): COMPLETE overruled: reviewer: UNITS-ARE-KNOWN" in shown
    assert "reviewer: overruled, not asked again" in shown
    assert shown.count("reviewer (local/senior): REJECTED") == 2


@pytest.mark.slow
def test_a_reviewer_that_a_breaker_stopped_cannot_be_overruled(project: Project) -> None:
    project.planned(rule("reviewer", "review", {"text": "APPROVED, fine"}), loop=ONCE)
    told = plain(project.swarm("run", exits=1).stdout)
    assert "another model in [roles.reviewer]" in told
    assert "swarm override" not in told
    refused = plain(project.swarm("override", "1.1", "--reason", "x", exits=2).stderr)
    assert "nobody judged it" in refused
    assert "swarm retry 1.1" in refused


@pytest.mark.slow
def test_what_is_red_may_be_part_of_a_later_tasks_own_tests(project: Project) -> None:
    proves = (
        "from pathlib import Path\n\n\ndef test_part() -> None:\n    assert Path('src/calc/part_1.2.py').is_file()\n"
    )
    mended = {"tests/test_part.py": proves}
    project.planned(plan("1.1", "1.2"), engineer(FAILING, task="1.1"), loop=ONCE)
    project.swarm("run", exits=1)
    project.swarm("override", "1.1", "--reason", "later")
    project.play(
        plan("1.1", "1.2"),
        engineer(FAILING, task="1.1"),
        code({**mended, "src/calc/part_1.2.py": part("2")}, task="1.2"),
    )
    project.swarm("run", exits=3)
    assert project.state.known_red == ()
