"""`swarm sync`: edits taken in, refused and only looked at; and while somebody else works."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest
from tests.project import Project, plan

from swarmgate.domain.events import event as ev
from swarmgate.ledger.ledger import Ledger

pytestmark = pytest.mark.suite("unittest")


@pytest.fixture
def planned(project: Project) -> Project:
    project.planned(plan("1.1", "1.2"))
    return project


def _edit(path: Path, old: str, new: str) -> str:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    return path.read_text()


def test_files_in_step_are_told_to_be(planned: Project) -> None:
    before = planned.state.seq
    for arguments in (("sync",), ("sync", "--check")):
        assert planned.swarm(*arguments).stdout == "plan.md and plan.json are what the ledger says.\n"
    report = planned.json("sync")
    assert report["in_step"]
    assert (report["amended"], report["refused"], report["restored"], report["waiting"]) == ([], [], [], [])
    assert planned.state.seq == before


def test_an_edit_is_taken_in_at_once_and_the_other_file_follows(planned: Project) -> None:
    edited = _edit(planned.folder.plan_md, "Task 1.2: Part 1.2", "Task 1.2: Mine")
    before = planned.state.seq
    looked = planned.swarm("sync", "--check", exits=1)
    assert "the edit of plan.md would be taken in" in looked.stdout
    assert (planned.state.seq, planned.folder.plan_md.read_text()) == (before, edited)
    assert "the edit of plan.md was taken in" in planned.swarm("sync").stdout
    assert '"title":"Mine"' in planned.folder.plan_json.read_text()
    assert [event.source for event in planned.events(ev.PlanAmended)] == ["plan.md"]
    planned.swarm("sync", "--check")


@pytest.mark.slow
def test_a_task_typed_by_hand_needs_no_more_than_its_title_and_fields(planned: Project) -> None:
    with planned.folder.plan_md.open("a") as file:
        file.write("- [ ] Task 1.3: Something\n  - Accept: it works\n  - File: some.py\n")
    assert planned.json("sync")["amended"] == ["plan.md"]
    assert "- [ ] Task 1.3: Something [SMALL] (independent)\n" in planned.folder.plan_md.read_text()


def test_a_refused_edit_ends_with_1_its_line_and_where_it_is_kept(planned: Project) -> None:
    edited = _edit(planned.folder.plan_md, "- [ ] Task 1.2", "- [x] Task 1.2")
    line = edited[: edited.index("- [x] Task 1.2")].count("\n") + 1
    looked = planned.swarm("sync", "--check", exits=1).stdout
    told = planned.swarm("sync", exits=1).stdout
    for text in (looked, told):
        assert f"plan.md line {line}: task 1.2 is pending, and the edit says complete" in text
    assert "it is kept in" not in looked
    (kept,) = planned.quarantined("*plan.md")
    assert kept.name in told
    assert kept.read_text() == edited
    assert "- [ ] Task 1.2" in planned.folder.plan_md.read_text()
    planned.swarm("sync")


def test_a_missing_file_comes_back(planned: Project) -> None:
    planned.folder.plan_json.unlink()
    assert "plan.json was missing or out of date and would be" in planned.swarm("sync", "--check", exits=1).stdout
    assert not planned.folder.plan_json.exists()
    assert planned.json("sync")["restored"] == ["plan.json"]
    assert planned.folder.plan_json.exists()


@pytest.mark.slow
def test_while_somebody_works_an_edit_waits_and_is_no_error(planned: Project) -> None:
    edited = _edit(planned.folder.plan_md, "Task 1.2: Part 1.2", "Task 1.2: Mine")
    with Ledger.write(planned.folder):
        told = planned.swarm("sync").stdout
        assert "plan.md was edited; the edit waits: pid" in told
        assert planned.json("sync")["waiting"] == ["plan.md"]
        planned.swarm("sync", "--check", exits=1)
        assert planned.folder.plan_md.read_text() == edited
    planned.swarm("sync")
    planned.swarm("sync", "--check")


@pytest.mark.slow
def test_two_edits_that_overlap_lie_side_by_side(planned: Project) -> None:
    _edit(planned.folder.plan_md, "Task 1.2: Part 1.2", "Task 1.2: Mine")
    _edit(planned.folder.plan_json, '"title":"Part 1.2"', '"title":"Other"')
    told = planned.swarm("sync", exits=1).stdout
    assert 'Task 1.2, title: plan.md wants "Mine", plan.json wants "Other".' in told
    assert "choose one: edit plan.md again" in told
    (folder,) = planned.folder.quarantine.glob("*-conflict")
    assert sorted(path.name for path in folder.iterdir()) == ["plan.json", "plan.md"]


def test_without_a_plan_there_is_nothing_to_do(project: Project) -> None:
    assert "are what the ledger says" in project.swarm("sync").stdout


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="leases are Linux's")
def test_a_file_that_somebody_is_writing_is_waited_for_and_then_told(
    planned: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = planned.folder.plan_md.read_text()
    with planned.folder.plan_md.open("w") as file:
        file.write(text[:60])
        file.flush()
        monkeypatch.setattr("swarmgate.ledger.recovery.open_for_writing.PATIENCE_S", 0.1)
        told = planned.swarm("sync").stdout
        assert told == "somebody is writing plan.md: save and close it, then run: swarm sync\n"
        assert "somebody is writing plan.md" in planned.swarm("sync", "--check", exits=1).stdout
        monkeypatch.undo()

        def finish() -> None:
            file.write(text[60:].replace("Part 1.2", "Mine"))
            file.close()

        rest = threading.Timer(0.3, finish)
        rest.start()
        assert "the edit of plan.md was taken in" in planned.swarm("sync").stdout
        rest.join()
