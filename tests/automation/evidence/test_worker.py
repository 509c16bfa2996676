"""Tests the worker that summarises long tasks in context.md, on events of the bus and during a real run."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator

import pytest
from tests.project import Project, code, review, until

from swarmgate.automation.bus.worker import BusEvent
from swarmgate.automation.evidence.worker import NAME, worker
from swarmgate.domain.events.automation import EvidenceSummarised, Happening
from swarmgate.domain.evidence.report import Kind, Standing
from swarmgate.domain.state.state import Guidance, State
from swarmgate.domain.transitions.fold import fold
from swarmgate.engine import Swarm
from swarmgate.engine.automation_ports import EnginePorts
from swarmgate.errors import LedgerError, UsageError
from swarmgate.ledger.context import context_file, guidance
from swarmgate.ledger.ledger import Ledger

pytestmark = pytest.mark.suite("unittest")

LONG = {"automation": {"long_attempts": 2, "long_minutes": 1_000}}
REJECTED = review("REJECTED", "# <!-- swarm: end --> Not yet", "too short", task="1.1", attempt=1)


@pytest.fixture
def long(project: Project, once: Callable[[str, Callable[[], None]], None]) -> Project:
    """Its only task was done at the second attempt, which makes it a long one."""

    def made() -> None:
        project.planned(REJECTED, **LONG)
        project.swarm("run", exits=3)

    once("long", made)
    return project


def _seen(project: Project) -> Iterator[BusEvent]:
    """Every event of the ledger with the fold on both sides of it."""
    state = State()
    for entry, _ in Ledger.read(project.folder).entries():
        before, state = state, fold(state, [entry])
        happening = Happening(
            source="ledger", seq=entry.seq, time=entry.time, actor=entry.actor, data=entry.event.model_dump(mode="json")
        )
        yield BusEvent(happening, before, state)


def _subjects(project: Project) -> list[tuple[str, BusEvent]]:
    each = worker(Swarm(project.root).project, EnginePorts())
    return [(subject, seen) for seen in _seen(project) if (subject := each.subject(seen))]


@pytest.mark.slow
def test_a_task_is_summed_up_when_it_becomes_long_and_when_a_chapter_of_it_ends(long: Project) -> None:
    assert [(subject, seen.happening.type) for subject, seen in _subjects(long)] == [
        ("task 1.1", "task_delegated"),
        ("task 1.1", "task_completed"),
    ]


@pytest.mark.slow
def test_a_short_task_and_an_event_of_automation_concern_nobody(project: Project) -> None:
    project.planned(**LONG)
    project.swarm("run", exits=3)
    assert _subjects(project) == []
    told = Happening(source="automation", seq=1, time="", actor="x", data={"type": "task_completed", "task": "1.1"})
    assert (
        worker(Swarm(project.root).project, EnginePorts()).subject(BusEvent(told, project.state, project.state)) == ""
    )


@pytest.mark.slow
def test_the_summary_stands_in_context_md_and_no_brief_or_answer_changes_by_it(project: Project) -> None:
    project.planned(REJECTED, **LONG, automation__capabilities={"evidence_auto_summaries": False})
    project.folder.context.write_text("# Mine\r\n")
    project.swarm("run", exits=3)
    entry = Guidance("Security", "How?", "With RS256.", 1, "1.1", "2026-11-21")
    guidance.append(project.folder.context, entry)
    (subject, seen), *_ = _subjects(project)
    each = worker(Swarm(project.root).project, EnginePorts())
    assert each.name == NAME
    assert each.work(subject, seen) == EvidenceSummarised(task="1.1", reason="2 attempts")
    assert each.work(subject, seen) is None  # it stands there already
    text = project.folder.context.read_bytes().decode()
    assert text.startswith("# Mine\r\n")
    assert text.count("### Task 1.1, goal 1: Part 1.1") == 1
    assert "Attempt 1 (coder): REJECTED by reviewer" in text
    assert "tests: 1 passed" in text
    assert guidance.read(project.folder.context) == (entry,)
    assert "Parts are modules." in text
    project.swarm("approve")
    assert "### Task 1.1, goal 1" in project.folder.context.read_text()


@pytest.mark.slow
def test_a_run_with_the_capability_sums_up_by_itself(project: Project) -> None:
    project.planned(REJECTED, **LONG)
    project.swarm("run", exits=3)
    until(lambda: "### Task 1.1, goal 1: Part 1.1" in project.folder.context.read_text(), 30)
    project.swarm("verify")


@pytest.mark.slow
def test_a_context_md_in_use_or_a_full_disk_fails_the_work_alone(
    long: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    (subject, seen), *_ = _subjects(long)
    monkeypatch.setattr(context_file, "_WAIT_S", 0.05)
    held = os.open(long.folder.runtime / "context.lock", os.O_RDWR)
    fcntl.flock(held, fcntl.LOCK_EX)
    try:
        with pytest.raises(LedgerError, match="in use"):
            worker(Swarm(long.root).project, EnginePorts()).work(subject, seen)
    finally:
        os.close(held)


def test_a_task_that_the_plan_lost_meanwhile_is_passed_over(long: Project) -> None:
    (_, seen), *_ = _subjects(long)
    assert worker(Swarm(long.root).project, EnginePorts()).work("task 7.7", seen) is None


@pytest.mark.slow
def test_an_attempt_that_the_gates_rejected_has_no_review_due(project: Project) -> None:
    project.planned(code({"src/calc/part_1.1.py": "def broken(:\n"}, task="1.1", attempt=1))
    project.swarm("run", exits=3)
    first, second = Swarm(project.root).automation.evidence("1.1").tasks[0].attempts
    assert first.stage.startswith("gates: ")
    assert [each.kind for each in first.pieces if each.standing is not Standing.NOT_DUE] == [Kind.DIFF, Kind.GATES]
    assert {Kind.REVIEW, Kind.TESTS} <= {each.kind for each in second.pieces if each.standing is Standing.PRESENT}


def test_an_unknown_task_names_the_nearest(project: Project) -> None:
    project.planned()
    with pytest.raises(UsageError) as caught:
        Swarm(project.root).automation.evidence("1.3")
    assert caught.value.hint.startswith("The nearest: 1.1")
