"""`swarm drift` as a user types it, and the worker that tells the same."""

from __future__ import annotations

import os

import pytest
from tests.project import Project, delegate, plan, task

from swarmgate.automation.bus.worker import BusEvent
from swarmgate.automation.drift.report import DriftReport, Place, Signal, SignalKind
from swarmgate.automation.drift.worker import _context, _task_lines, worker
from swarmgate.cli.views.drift import _lines
from swarmgate.domain.events.automation import DriftFound, Happening
from swarmgate.engine import Swarm
from swarmgate.engine.automation_ports import EnginePorts

HASHING = task("1.1", title="Hash passwords with bcrypt", acceptance=["a hash is no password"])
CONTEXT = "# Context\n\n## Decisions\n- D1 [open]: Use argon2 for password hashes\n"


def _planned(project: Project, context: str = CONTEXT) -> None:
    project.play(plan(HASHING))
    project.swarm("plan", "Add parts", exits=3)
    project.folder.context.write_text(context)


def test_a_contradiction_is_told_with_both_texts_and_places(project: Project) -> None:
    _planned(project)
    told = project.swarm("drift", exits=1).stdout
    for part in (
        "1. contradiction: two choices for one job (password hashing)",
        "D1: Use argon2 for password hashes\n      at .swarm/context.md:4",
        "plan: Hash passwords with bcrypt\n      at .swarm/plan.md:5, task 1.1, title",
        "`- ... replaces D1`",
        "Compared: 1 open decision with 2 texts of the plan",
    ):
        assert part in told, (part, told)
    report = project.json("drift", exits=1)
    assert report["signals"][0]["other_place"]["what"] == "task 1.1, title"


def test_a_superseded_decision_is_quiet(project: Project) -> None:
    _planned(project, CONTEXT + "- D2: bcrypt replaces argon2 for password hashes\n")
    assert "No drift found.\n" in project.swarm("drift").stdout
    assert project.json("drift")["compared"]["superseded"] == 1


def test_nothing_to_compare_is_no_drift(project: Project) -> None:
    assert "No drift found.\nCompared: 0 open decisions with" in project.swarm("drift").stdout
    project.folder.context.unlink()
    project.swarm("drift")


def test_what_cannot_be_read_is_told_and_passed_over(project: Project) -> None:
    project.folder.context.write_bytes(b"## Decisions\n- a\x00b\n")
    project.write("pyproject.toml", "[project\n")
    told = project.swarm("drift").stdout
    assert "passed over: .swarm/context.md: it is not text" in told
    assert "passed over: pyproject.toml" in told
    project.folder.context.write_text("- x\n" * 1_100_000)
    assert "larger than 4 MB" in project.swarm("drift").stdout


def test_a_pipe_in_the_place_of_a_file_is_passed_over_and_waits_for_nobody(project: Project) -> None:
    for path in (project.folder.context, project.folder.plan_md):
        path.unlink(missing_ok=True)
        os.mkfifo(path)
    assert (
        "passed over: .swarm/context.md: not a regular file"
        in _context(project.folder.context, ".swarm/context.md")[1][0]
    )
    assert _task_lines(project.folder.plan_md) == {}


def test_only_what_does_not_fit_makes_exit_code_1() -> None:
    stale = Signal(
        kind=SignalKind.STALE, decision="D1", text="a", place=Place(), subject="a", why="b", advice="c", confidence=0.3
    )
    assert not DriftReport(signals=(stale,)).drifted
    assert _lines(DriftReport(signals=(stale,)))[-2] == "No drift found; the above is for information."
    for kind in (SignalKind.CONTRADICTION, SignalKind.UNCOVERED):
        assert DriftReport(signals=(stale, stale.model_copy(update={"kind": kind}))).drifted


@pytest.mark.slow
def test_decisions_of_a_closed_phase_against_later_briefs_answers_and_dependencies(project: Project) -> None:
    project.play(plan("1.1", "2.1"), delegate("Fetch the parts with requests.get.", task="2.1"))
    project.swarm("plan", "Add parts", exits=3)
    project.swarm("approve")
    project.swarm("run", exits=3)
    answer = "## SME Guidance Cache\n\n### Web\n- Question: Which client?\n- Answer: Use aiohttp to call the API.\n\n"
    decided = "## Decisions\n- D1 (phase 1): All HTTP calls go through httpx\n"
    project.folder.context.write_text(answer + decided + "\n" + project.folder.context.read_text())
    project.swarm("approve")
    project.swarm("run", exits=3)
    project.write("requirements.txt", "requests\n")
    report = project.json("drift", exits=1)
    kinds = {each["other_kind"]: each for each in report["signals"] if each["decision"] == "D1"}
    assert kinds.keys() == {"brief", "answer", "dependency"}
    assert kinds["brief"]["other_place"]["seq"] > 0
    assert kinds["answer"]["other_place"]["line"] == 5
    assert kinds["dependency"]["other_place"] == {"file": "requirements.txt", "line": 1, "seq": 0, "what": "dependency"}
    recorded = next(each for each in report["decisions"] if each["id"] == "D1.1.1")
    assert recorded["text"] == "Parts are modules."
    assert recorded["place"]["seq"] > 0


def test_the_worker_tells_when_the_signals_change_and_not_again(project: Project) -> None:
    _planned(project)
    swarm = Swarm(project.root)
    state = swarm.state
    saved = Happening(source="ledger", seq=state.seq, time="", actor="architect", data={"type": "plan_saved"})
    seen, made = BusEvent(saved, state, state), worker(swarm.project, EnginePorts())
    other = BusEvent(saved.model_copy(update={"data": {"type": "task_completed"}}), state, state)
    assert made.name == "decision_drift_detection"
    assert made.subject(seen)
    assert not made.subject(other)
    first = made.work("plan", seen)
    assert isinstance(first, DriftFound)
    assert len(first.signals) == 1
    assert made.work("plan", seen) is None
    project.folder.context.write_text("# Context\n")
    assert made.work("plan", seen) == DriftFound()
    assert made.work("plan", seen) is None
