"""Tests preflight on a whole project: by hand, in the loop and in a watcher."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.project import Project, code, plain, plan, task

from swarmgate.automation.bus.worker import BusEvent
from swarmgate.automation.preflight import worker as watching
from swarmgate.automation.preflight.checks import GROUPS
from swarmgate.automation.preflight.preflight import _budgets
from swarmgate.domain.base import Frozen
from swarmgate.domain.events import event as ev
from swarmgate.domain.events.automation import Happening, PreflightRan
from swarmgate.domain.preflight import PreflightReport, PreflightStatus
from swarmgate.domain.state.state import replace
from swarmgate.domain.usage import Usage
from swarmgate.engine import Swarm
from swarmgate.engine.automation_ports import EnginePorts
from swarmgate.errors import UsageError
from swarmgate.ledger.councils.sessions import Session
from swarmgate.ledger.files import preflights
from swarmgate.ledger.files.automation_log import AutomationLog
from swarmgate.ledger.ledger import Ledger

pytestmark = pytest.mark.suite("unittest")

ON: dict[str, Any] = {"automation__capabilities": {"phase_preflight": True}}
TWO_PHASES = plan("1.1", task("2.1", depends=["1.1"]))


class Reply(Frozen):
    usage: Usage


class Exchange(Frozen):
    purpose: dict[str, str]
    reply: Reply
    error: str = ""
    wasted: Usage = Usage()


def preflight(project: Project, phase: int | None = None) -> PreflightReport:
    return Swarm(project.root).automation.preflight(phase=phase)


def ran(project: Project) -> list[PreflightRan]:
    told = AutomationLog(project.folder).read()
    return [PreflightRan.model_validate(each.data) for each in told if each.type == "preflight_ran"]


def without_time(report: PreflightReport) -> dict[str, tuple[str, str]]:
    return {each.name: (each.status.value, each.problem) for each in report.checks}


# --- by hand ---


@pytest.mark.slow
def test_a_phase_that_can_begin(project: Project) -> None:
    project.planned()
    chats = len(project.requests)
    report = preflight(project)
    assert report.passed
    assert [each.name for each in report.checks] == [name for group in GROUPS for name in group.names]
    statuses = {each.status for each in report.checks}
    assert PreflightStatus.FAIL not in statuses
    assert all(each.detail for each in report.checks)
    assert len(project.requests) == chats  # no token was spent
    assert report.seq == project.state.seq


@pytest.mark.slow
def test_the_report_is_kept_and_told(project: Project) -> None:
    project.planned()
    report = preflight(project)
    assert preflights.read(project.folder, 1) == report
    assert json.loads((project.folder.runtime / "preflight/phase-1.json").read_text())["passed"] is True
    assert [(each.phase, each.passed, each.skipped) for each in ran(project)] == [(1, True, report.skipped)]


@pytest.mark.slow
def test_nothing_is_changed_by_looking(project: Project) -> None:
    project.planned()
    before = (
        project.folder.ledger.read_bytes(),
        project.git("status", "--porcelain"),
        project.git("rev-parse", "HEAD"),
    )
    preflight(project)
    assert before == (
        project.folder.ledger.read_bytes(),
        project.git("status", "--porcelain"),
        project.git("rev-parse", "HEAD"),
    )


@pytest.mark.slow
def test_all_that_stops_a_phase_is_told_at_once(project: Project) -> None:
    project.planned()
    project.configure(budget={"tokens": 1})
    project.silence()
    project.write("notes.txt", "mine\n")
    project.folder.plan_md.write_text(project.plan_md.replace("Part 1.1", "Another"))
    report = preflight(project)
    assert {"repository", "plan", "budget", "models"} == set(report.failed)
    assert any(text.startswith("models: local (http://127.0.0.1:") for text in report.problems)


def test_a_phase_that_is_not_there(project: Project) -> None:
    with pytest.raises(UsageError, match="no plan"):
        preflight(project)
    project.planned()
    for phase in (0, 2, -1):
        with pytest.raises(UsageError, match=rf"no phase {phase}"):
            preflight(project, phase)


@pytest.mark.slow
def test_the_phase_that_is_looked_at_is_the_next_to_begin(project: Project) -> None:
    project.planned(TWO_PHASES)
    assert preflight(project).phase == 1
    project.swarm("run", exits=3)
    report = preflight(project)
    assert (report.phase, report.passed) == (2, True)
    assert report.note == "phase 1 is complete and waits for your approval (swarm approve); this is about phase 2"
    assert preflight(project, 1).note == "phase 1 is complete already; this is how it stands now"
    project.swarm("approve")
    assert (preflight(project).phase, preflight(project).note) == (2, "")
    project.swarm("run", exits=3)
    with pytest.raises(UsageError, match="Phase 2, the last one, is complete and waits for your approval"):
        preflight(project)
    project.swarm("approve")
    with pytest.raises(UsageError, match="Every phase is approved") as refused:
        preflight(project)
    assert "swarm preflight --phase N" in refused.value.hint
    project.configure(budget__task={"tokens": 10_000_000}, budget={"tokens": 10_000_000})
    report = preflight(project, 1)  # as the hint says
    found = {each.name: each for each in report.checks}
    assert found["budget"].status is PreflightStatus.SKIP
    assert report.passed


@pytest.mark.slow
def test_what_stops_a_phase_is_in_the_words_of_its_event(project: Project) -> None:
    project.planned()
    project.write("notes.txt", "mine\n")
    preflight(project)
    (event,) = ran(project)
    assert event.problem.startswith("repository: uncommitted changes")
    assert event.report == ".swarm/runtime/preflight/phase-1.json"
    assert (project.root / event.report).is_file()
    shown = project.swarm("events", "--type", "preflight_ran").stdout
    assert "notes.txt; all of it: .swarm/runtime/preflight/phase-1.json" in plain(shown)


def test_what_sessions_used_beside_the_ledger_counts(project: Project) -> None:
    project.planned()
    state = project.state
    rules = replace(state.rules, budget_tokens=1_000_000)
    alone = _budgets(replace(state, rules=rules), project.folder)
    held = Session(project.folder, "debate-a")
    with held.held():
        held.record(
            Exchange(
                purpose={"role": "participant", "step": "debate"}, reply=Reply(usage=Usage(calls=1, prompt_tokens=700))
            )
        )
    beside = _budgets(replace(state, rules=rules), project.folder)
    assert [each.spent.tokens for each in beside] == [alone[0].spent.tokens + 700]


@pytest.mark.slow
def test_a_later_phase_waits_for_what_it_depends_on(project: Project) -> None:
    project.planned(TWO_PHASES)
    report = preflight(project, 2)
    assert report.failed == ("dependencies",)
    assert "1.1 (pending)" in report.problems[0]


@pytest.mark.slow
def test_the_limits_are_those_of_the_settings_now_not_of_the_last_run(project: Project) -> None:
    project.planned(TWO_PHASES, budget={"tokens": 10_000_000})
    project.swarm("run", exits=3)
    assert preflight(project, 1).passed
    project.configure(budget={"tokens": 1})
    assert "budget" in preflight(project, 1).failed


@pytest.mark.slow
def test_a_read_only_runtime_folder_takes_nothing_from_what_was_found(project: Project) -> None:
    project.planned()
    (project.folder.runtime / "preflight").write_text("a file in the place of the folder")
    assert preflight(project).passed
    assert preflights.read(project.folder, 1) is None


# --- in the loop ---


@pytest.mark.slow
def test_a_run_passes_preflight_before_every_phase(project: Project) -> None:
    project.planned(TWO_PHASES, **ON)
    project.swarm("run", exits=3)
    project.swarm("approve")
    project.swarm("run", exits=3)
    assert [(each.phase, each.passed) for each in ran(project)] == [(1, True), (2, True)]
    second = preflights.read(project.folder, 2)
    assert second is not None
    found = {each.name: each.detail for each in second.checks}
    assert "for task 1.1" in found["tests"]  # which passed over this very tree
    assert "settled by this run" in found["plan"]
    assert "what the work changed" in found["lint"]


@pytest.mark.slow
def test_a_blocker_stops_the_phase_before_coding_and_the_next_run_goes_on(project: Project) -> None:
    project.planned(**ON)
    project.configure(tests={"command": "false"}, **ON)
    asked = len(project.requests)
    result = project.swarm("run", exits=1)
    assert "tests:" in result.stderr
    assert "swarm preflight --phase 1" in result.stderr
    assert len(project.requests) == asked
    assert project.events(ev.TaskDelegated) == []
    assert project.events(ev.RunPaused)[-1].reason is ev.PauseReason.PREFLIGHT
    project.configure(**ON)
    project.swarm("run", exits=3)
    assert len(project.events(ev.TaskCompleted)) == 1


@pytest.mark.slow
def test_stashed_changes_stop_nothing(project: Project) -> None:
    project.planned(**ON)
    project.write("notes.txt", "mine\n")
    project.swarm("run", "--stash", exits=3)
    assert [each.passed for each in ran(project)] == [True]


@pytest.mark.slow
def test_changes_before_a_later_phase_are_stashed_too(project: Project) -> None:
    project.planned(TWO_PHASES, **ON)
    project.swarm("run", exits=3)
    project.swarm("approve")
    project.write("notes.txt", "mine\n")
    project.swarm("run", "--stash", exits=3)
    assert [(each.phase, each.passed) for each in ran(project)] == [(1, True), (2, True)]
    assert "notes.txt" in project.git("stash", "show", "--include-untracked", "--name-only")


@pytest.mark.slow
def test_without_the_capability_a_run_makes_none(project: Project) -> None:
    project.planned(code({"src/calc/part_1.1.py": '"""A part."""\n'}))
    project.swarm("run", exits=3)
    assert ran(project) == []


@pytest.mark.slow
def test_keys_of_a_run_reach_their_endpoint(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THE_KEY", "secret-value-1234")
    server = project.play()
    provider = {"base_url": server.base_url, "api_key_env": "THE_KEY"}
    project.configure(providers__local=provider, **ON)
    project.swarm("plan", "Add parts", exits=3)
    project.swarm("approve")
    project.swarm("run", exits=3)
    assert [each.passed for each in ran(project)] == [True]
    report = project.folder.preflight / "phase-1.json"
    assert "secret-value" not in report.read_text()


# --- beside a watcher ---


def approval(project: Project) -> BusEvent:
    """The newest event as a watcher sees it."""
    ledger = Ledger.read(project.folder)
    entries = [entry for entry, _ in ledger.entries()]
    from swarmgate.domain.state.state import State
    from swarmgate.domain.transitions.fold import fold

    last = entries[-1]
    data = last.event.model_dump(mode="json")
    happening = Happening(source="ledger", seq=last.seq, time=last.time, actor=last.actor, data=data)
    return BusEvent(happening, fold(State(), entries[:-1]), ledger.state)


@pytest.mark.slow
def test_a_watcher_looks_at_a_boundary(project: Project) -> None:
    project.planned()
    worker, seen = watching.worker(Swarm(project.root).project, EnginePorts()), approval(project)
    assert worker.name == "phase_preflight"
    assert worker.limit_s is not None
    assert worker.limit_s >= 60 + 120
    subject = worker.subject(seen)
    assert subject == "phase 1"
    told = worker.work(subject, seen)
    assert isinstance(told, PreflightRan)
    assert told.passed
    assert preflights.read(project.folder, 1) is not None


def test_it_leaves_the_boundary_to_a_run_that_is_at_work(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "_BETWEEN_S", 0.01)
    project.planned()
    worker, seen = watching.worker(Swarm(project.root).project, EnginePorts()), approval(project)
    with Ledger.write(project.folder):
        assert worker.work("phase 1", seen) is None
    assert preflights.read(project.folder, 1) is None


@pytest.mark.slow
def test_it_waits_for_the_command_that_approved(project: Project) -> None:
    project.planned()
    worker, seen = watching.worker(Swarm(project.root).project, EnginePorts()), approval(project)
    ledger = Ledger.write(project.folder)
    closing = threading.Timer(0.3, ledger.close)
    closing.start()
    assert isinstance(worker.work("phase 1", seen), PreflightRan)
    closing.join()


@pytest.mark.slow
def test_a_phase_that_is_over_meanwhile_is_not_looked_at(project: Project) -> None:
    project.planned()
    worker, seen = watching.worker(Swarm(project.root).project, EnginePorts()), approval(project)
    assert worker.work("phase 2", seen) is None
    project.swarm("run", exits=3)
    assert worker.work("phase 1", seen) is None


def test_reports_that_cannot_be_read_are_none(tmp_path: Path, project: Project) -> None:
    assert preflights.read(project.folder, 1) is None
    preflights.place(project.folder, 1).parent.mkdir(parents=True)
    preflights.place(project.folder, 1).write_text("{")
    assert preflights.read(project.folder, 1) is None
