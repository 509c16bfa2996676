"""Every file of evidence is on record: those of rejected attempts, those that prove the tests, those of cut steps."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from tests.engine.steps.test_recovery import UNCONFINED, finished_well, killed, killing
from tests.project import Project, code, engineer, part, plan

from swarmgate.domain.events import event as ev

TEST = "from calc.part_11 import VALUE\n\n\ndef test_part() -> None:\n    assert VALUE\n"


def _changed(project: Project, name: str) -> list[str]:
    """What `verify` says when a file of evidence of task 1.1 has one byte more, and when it is gone."""
    path, told = project.folder.evidence / name, []
    data = path.read_bytes()
    for forge in (lambda: path.write_bytes(data + b" "), path.unlink):
        forge()
        told += [problem for check in project.json("verify", exits=1)["checks"] for problem in check["problems"]]
        path.write_bytes(data)
    assert project.json("verify")["passed"]
    return told


@pytest.mark.slow
def test_what_proves_the_tests_is_on_record(project: Project) -> None:
    """The run of the new tests without the change, and that of the old ones before it."""
    coded = code({"src/calc/part_11.py": part("1.1"), "tests/conftest.py": "import sys\nsys.path.insert(0, 'src')\n"})
    project.planned(coded, engineer({"tests/test_part.py": TEST}))
    project.swarm("run", exits=3)
    (kept,) = project.events(ev.EvidenceKept)
    assert {"tests-before.json", "tests-base.json"} <= set(kept.files)
    for name, digest in kept.files.items():
        path = project.folder.evidence / "1.1/attempt-1" / name
        assert hashlib.sha256(path.read_bytes()).hexdigest() == digest
        first, second = _changed(project, f"1.1/attempt-1/{name}")
        assert f"{name} was changed after it was recorded" in first
        assert f"{name} cannot be read" in second
    assert "*" not in project.swarm("evidence").stdout


@pytest.mark.slow
def test_the_gates_of_an_attempt_that_the_final_tree_failed_are_on_record(project: Project) -> None:
    """They leave no `tests_run`, which would name them."""
    project.planned(engineer({"tests/test_more.py": "def test_more(:\n"}, attempt="1"))
    project.swarm("run", exits=1)
    assert project.events(ev.AttemptRejected)[0].stage.startswith("gates")
    (kept,) = project.events(ev.EvidenceKept)
    assert (kept.task, kept.attempt, list(kept.files)) == ("1.1", 1, ["final-gates.json"])
    assert len(_changed(project, "1.1/attempt-1/final-gates.json")) == 2


def _set_aside(project: Project) -> None:
    """What the cut step left is out of the evidence, and the ledger says what it was and where it is."""
    (event,) = project.events(ev.EvidenceSetAside)
    assert (event.task, event.attempt, list(event.files)) == ("1.1", 1, ["final-gates.json"])
    place = project.root / event.kept / "final-gates.json"
    assert hashlib.sha256(place.read_bytes()).hexdigest() == event.files["final-gates.json"]


@pytest.mark.slow
@pytest.mark.suite("pytest")
def test_what_a_killed_step_left_is_put_aside_and_on_record(project: Project, tmp_path: Path) -> None:
    lock = tmp_path / "lock"  # tests run in a checkout, and a command that names the project is led there
    lock.symlink_to(project.folder.lock)
    command = f"{killing(tmp_path / 'mark', str(lock))}; {project.test_command}"
    project.planned(plan("1.1", "1.2"), tests={"command": command}, commands=UNCONFINED)
    killed(project)
    left = project.folder.evidence / "1.1/attempt-1/final-gates.json"
    assert left.is_file()
    (told,) = [note for check in project.json("verify")["checks"] for note in check["warnings"] if "evidence" in note]
    assert told.startswith(".swarm/evidence/1.1/attempt-1/final-gates.json: left by a step that is at work, or died")
    finished_well(project)
    _set_aside(project)


@pytest.mark.slow
@pytest.mark.suite("unittest")
def test_what_a_paused_step_left_is_put_aside_and_the_step_leaves_it_anew(project: Project) -> None:
    project.planned(plan("1.1", "1.2"), tests={"command": "./no-such-program"})
    assert project.swarm("run", exits=6).exit_code
    assert project.json("verify")["passed"]
    _set_aside(project)
    project.configure()
    finished_well(project)
    assert (project.folder.evidence / "1.1/attempt-1/final-gates.json").is_file()


@pytest.mark.slow
@pytest.mark.suite("unittest")
def test_evidence_that_is_altered_while_a_run_is_dead_stays_a_finding(project: Project, tmp_path: Path) -> None:
    """What is on record is never put aside, so nobody can launder it by a kill."""
    project.hook("pre-commit", killing(tmp_path / "mark"))
    project.planned(plan("1.1", "1.2"))
    killed(project)
    path = project.folder.evidence / "1.1/attempt-1/gates.json"
    path.write_bytes(path.read_bytes() + b" ")
    project.swarm("run", exits=3)
    (told,) = [problem for check in project.json("verify", exits=1)["checks"] for problem in check["problems"]]
    assert "gates.json was changed after it was recorded" in told
