from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.domain.story import delegated, passing, rejected, started
from tests.ledger.conftest import Fill

from swarmgate.domain import events as ev
from swarmgate.domain.plan import Plan
from swarmgate.domain.state import State, TaskStatus
from swarmgate.domain.view import view_of
from swarmgate.errors import LedgerCorrupt, UsageError
from swarmgate.ledger.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger
from swarmgate.ledger.plan_md import render
from swarmgate.ledger.projections import Projector
from swarmgate.ledger.reconcile import Reconciliation, edits, reconcile

WORK = [*started(), *passing("1.1"), *rejected("1.2", 1)]
"""1.1 is complete, 1.2 was rejected once, 1.3 and 2.1 are not started; the ledger is at 16."""

Change = Callable[[str], str]


@pytest.fixture
def project(fill: Fill) -> SwarmFolder:
    return fill(*WORK)


def _swap(old: str, new: str) -> Change:
    def change(text: str) -> str:
        assert text.count(old) == 1, (old, text)
        return text.replace(old, new)

    return change


def _edit(path: Path, change: Change) -> bytes:
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")
    return path.read_bytes()


def _tasks(change: Callable[[list[dict[str, Any]]], object]) -> Change:
    """A change of plan.json's tasks of phase 1."""

    def changed(text: str) -> str:
        data = json.loads(text)
        change(data["phases"][0]["tasks"])
        return json.dumps(data)

    return changed


def _pass(folder: SwarmFolder) -> tuple[Reconciliation, State, list[ev.Event]]:
    """One pass: its outcome, the state after it, and what it recorded."""
    with Ledger.write(folder) as ledger:
        before = ledger.state.seq
        outcome = reconcile(ledger, author="user")
        recorded = [entry.event for entry, _ in ledger.entries() if entry.seq > before]
    return outcome, ledger.state, recorded


def _assert_projected(folder: SwarmFolder, state: State) -> None:
    """Both files are exactly what a fresh projector makes of the state."""
    texts = Projector(folder).plan_texts(state)
    assert (folder.plan_md.read_text(), folder.plan_json.read_text()) == texts


# --- structure ---


THIRD = "- [ ] Task 1.3: Part 1.3 [SMALL] (independent)\n  - File: src/part_1.3.py\n  - Accept: part 1.3 works\n"
NEW = "- [ ] Task 1.4: Part 1.4 [MEDIUM] (depends: 1.1)\n  - File: a.py\n  - Accept: it works\n"


def _title(plan: Plan) -> str:
    return plan.tasks["1.3"].title


MARKDOWN: dict[str, tuple[Change, Callable[[Plan], object], object]] = {
    "plan title": (_swap("# Parts", "# My  parts"), lambda p: p.title, "My parts"),
    "phase name": (_swap("Phase 2: Stage 2", "Phase 2: The end"), lambda p: p.phase(2).name, "The end"),
    "title": (_swap("1.3: Part 1.3", "1.3: Other [SMALL]"), _title, "Other [SMALL]"),
    "description": (
        _swap(THIRD, THIRD.replace("  - File", "  - Description: a\n  - Description:\n  - Description:   b\n  - File")),
        lambda p: p.tasks["1.3"].description,
        "a\n\n  b",
    ),
    "acceptance": (
        _swap("part 1.3 works\n", "part 1.3 works\n  - Accept: fast\n"),
        lambda p: p.tasks["1.3"].acceptance,
        ("part 1.3 works", "fast"),
    ),
    "files": (_swap("src/part_1.3.py", "src/new.py"), lambda p: p.tasks["1.3"].files, ("src/new.py",)),
    "depends": (
        _swap("Part 1.3 [SMALL] (independent)", "Part 1.3 [SMALL] (depends: 1.1, 1.2)"),
        lambda p: p.tasks["1.3"].depends,
        ("1.1", "1.2"),
    ),
    "complexity": (_swap("Part 1.3 [SMALL]", "Part 1.3 [MEDIUM]"), lambda p: p.tasks["1.3"].complexity, "MEDIUM"),
    "new task": (_swap(THIRD, THIRD + NEW), lambda p: p.tasks["1.4"].depends, ("1.1",)),
    "order": (
        lambda text: text.replace(THIRD, "").replace("- [x] Task 1.1", THIRD + "- [x] Task 1.1"),
        lambda p: list(p.tasks),
        ["1.3", "1.1", "1.2", "2.1"],
    ),
    "removal": (_swap(THIRD, ""), lambda p: list(p.tasks), ["1.1", "1.2", "2.1"]),
    "new phase": (
        lambda text: text + "\n## Phase 3: More [1 task, SMALL]\n" + NEW.replace("1.4", "3.1"),
        lambda p: [phase.name for phase in p.phases],
        ["Stage 1", "Stage 2", "More"],
    ),
    "removed phase": (lambda text: text[: text.index("\n## Phase 2")], lambda p: len(p.phases), 1),
    "a rejected task": (_swap("1.2: Part 1.2", "1.2: Simpler"), lambda p: p.tasks["1.2"].title, "Simpler"),
}


@pytest.mark.parametrize("name", list(MARKDOWN))
def test_a_structure_edit_of_plan_md_becomes_one_amendment_and_plan_json_follows(
    project: SwarmFolder, name: str
) -> None:
    change, look, expected = MARKDOWN[name]
    _edit(project.plan_md, change)
    outcome, state, recorded = _pass(project)
    assert (outcome.amended, outcome.refused) == (("plan.md",), ())
    (event,) = recorded
    assert isinstance(event, ev.PlanAmended)
    assert event.source == "plan.md"
    assert look(event.plan) == expected
    assert state.plan == event.plan
    assert state.task("1.1").status is TaskStatus.COMPLETE
    _assert_projected(project, state)
    assert _pass(project)[2] == []


JSON: dict[str, tuple[Change, Callable[[Plan], object], object]] = {
    "title": (_tasks(lambda tasks: tasks[2].update(title="Other")), _title, "Other"),
    "description": (
        _tasks(lambda tasks: tasks[2].update(description="a\n\n  b")),
        lambda p: p.tasks["1.3"].description,
        "a\n\n  b",
    ),
    "files": (_tasks(lambda tasks: tasks[2].update(files=["x.py"])), lambda p: p.tasks["1.3"].files, ("x.py",)),
    "depends": (_tasks(lambda tasks: tasks[2].update(depends=["1.2"])), lambda p: p.tasks["1.3"].depends, ("1.2",)),
    "removal": (_tasks(lambda tasks: tasks.pop()), lambda p: list(p.tasks), ["1.1", "1.2", "2.1"]),
    "order": (_tasks(lambda tasks: tasks.reverse()), lambda p: list(p.tasks), ["1.3", "1.2", "1.1", "2.1"]),
    "new task": (
        _tasks(lambda tasks: tasks.append({"id": "1.4", "title": "N", "acceptance": ["a"], "files": ["f"]})),
        lambda p: p.tasks["1.4"].title,
        "N",
    ),
}


@pytest.mark.parametrize("name", list(JSON))
def test_a_structure_edit_of_plan_json_becomes_one_amendment_and_plan_md_follows(
    project: SwarmFolder, name: str
) -> None:
    change, look, expected = JSON[name]
    _edit(project.plan_json, change)
    outcome, state, recorded = _pass(project)
    assert outcome.amended == ("plan.json",)
    (event,) = recorded
    assert isinstance(event, ev.PlanAmended)
    assert look(event.plan) == expected
    _assert_projected(project, state)


def test_the_amendment_is_recorded_as_its_authors(project: SwarmFolder) -> None:
    _edit(project.plan_md, _swap("# Parts", "# Mine"))
    with Ledger.write(project) as ledger:
        reconcile(ledger, author="user")
        assert [entry.actor for entry, _ in ledger.entries()][-1] == "user"


# --- what cannot stand ---


REFUSED: dict[str, tuple[str, Change, str]] = {
    "ticked box": (
        "plan.md",
        _swap("- [ ] Task 1.3", "- [x] Task 1.3"),
        "plan.md: task 1.3 is pending, and the edit says complete",
    ),
    "unticked box": (
        "plan.md",
        _swap("- [x] Task 1.1: Part 1.1 [SMALL]", "- [ ] Task 1.1: Part 1.1 [SMALL]"),
        "task 1.1 is complete",
    ),
    "blocked": (
        "plan.md",
        _swap("1.3 [SMALL] (independent)", "1.3 [SMALL] (independent) BLOCKED"),
        "task 1.3 is pending",
    ),
    "attempt line removed": (
        "plan.md",
        _swap("  - Attempt 1: REJECTED (reviewer) - Missing expiration claim\n", ""),
        "task 1.2 is in_progress",
    ),
    "attempt line changed": (
        "plan.md",
        _swap("REJECTED (reviewer) - Missing", "REJECTED (reviewer) - No"),
        "plan.md: the attempts of task 1.2 were edited",
    ),
    "note": ("plan.md", _swap("part 1.3 works\n", "part 1.3 works\n  - Note: hm\n"), "the note of task 1.3 was edited"),
    "phase status": (
        "plan.md",
        _swap("[1 task, SMALL] PENDING", "[1 task, SMALL] COMPLETE"),
        "plan.md: phase 2 is PENDING",
    ),
    "new task ticked": ("plan.md", _swap(THIRD, THIRD + NEW.replace("[ ]", "[x]")), "task 1.4 is pending"),
    "status in json": (
        "plan.json",
        _tasks(lambda tasks: tasks[2].update(status="complete")),
        "plan.json: task 1.3 is pending",
    ),
    "attempts in json": (
        "plan.json",
        _tasks(lambda tasks: tasks[1].update(attempts=[])),
        "plan.json: the attempts of task 1.2",
    ),
    "rewritten settled task": (
        "plan.md",
        _swap("1.1: Part 1.1", "1.1: Lie"),
        "Task 1.1 is complete, skipped or running",
    ),
    "removed settled task": (
        "plan.json",
        _tasks(lambda tasks: tasks.pop(0)),
        "Task 1.1 is complete, skipped or running",
    ),
    "broken rule": ("plan.md", _swap("src/part_1.3.py", "../x.py"), "Task 1.3: the file '../x.py' must not hold '..'"),
    "cycle": ("plan.json", _tasks(lambda tasks: tasks[2].update(depends=["1.3"])), "Task 1.3 depends on itself"),
    "large": ("plan.md", _swap("Part 1.3 [SMALL]", "Part 1.3 [LARGE]"), "Task 1.3 is LARGE"),
    "no syntax": (
        "plan.md",
        lambda text: text + "what is this\n",
        "plan.md line 20 has no place in a plan: 'what is this'",
    ),
    "empty": ("plan.md", lambda _: "", "plan.md line 1 ends without a '# title' line"),
    "no json": ("plan.json", lambda text: text[:-4], "plan.json Invalid JSON: EOF while parsing"),
    "future": ("plan.md", _swap("seq 16", "seq 99"), "plan.md claims ledger position 99; the ledger is at 16"),
    "before the plan": (
        "plan.md",
        _swap("seq 16", "seq 1"),
        "plan.md claims ledger position 1, where there was no plan",
    ),
    "negative": ("plan.json", _swap('"seq": 16', '"seq": -3'), "plan.json claims ledger position -3"),
}


def test_two_files_that_are_ahead_show_that_lines_were_lost_and_nothing_is_changed(project: SwarmFolder) -> None:
    lines = project.ledger.read_bytes().splitlines(keepends=True)
    project.ledger.write_bytes(b"".join(lines[:-1]))
    files = (project.ledger, project.plan_md, project.plan_json)
    before = [path.read_bytes() for path in files]
    with Ledger.write(project) as ledger, pytest.raises(LedgerCorrupt, match="16, and the ledger ends at 15") as caught:
        reconcile(ledger, author="user")
    assert "backup" in caught.value.hint
    assert [path.read_bytes() for path in files] == before
    assert not project.quarantine.exists()


@pytest.mark.parametrize("name", list(REFUSED))
def test_an_edit_that_cannot_stand_is_refused_by_name_kept_and_the_file_restored(
    project: SwarmFolder, name: str
) -> None:
    file, change, told = REFUSED[name]
    before = Ledger.read(project).state
    data = _edit(project.path / file, change)
    outcome, state, recorded = _pass(project)
    assert outcome.amended == ()
    assert list(outcome.refused) == recorded
    (event,) = outcome.refused
    assert event.source == file
    assert any(told in problem for problem in event.problems), event.problems
    assert (project.root / event.kept).read_bytes() == data
    assert (state.plan, state.tasks) == (before.plan, before.tasks)
    _assert_projected(project, state)
    assert _pass(project)[2] == []


@pytest.mark.parametrize("file", ["plan.md", "plan.json"])
def test_a_file_that_is_not_utf8_is_refused_with_the_place_and_kept(project: SwarmFolder, file: str) -> None:
    data = b"# T\xff\n"
    (project.path / file).write_bytes(data)
    outcome, state, _ = _pass(project)
    assert outcome.refused[0].problems == (f"{file} is not UTF-8 (byte 3).",)
    assert (project.root / outcome.refused[0].kept).read_bytes() == data
    _assert_projected(project, state)


def test_a_folder_in_the_place_of_a_file_is_bad_input(project: SwarmFolder) -> None:
    project.plan_md.unlink()
    project.plan_md.mkdir()
    with pytest.raises(UsageError, match=r"plan.md cannot be read: Is a directory"):
        _pass(project)


# --- two files ---


def test_edits_of_both_files_that_agree_are_one_amendment(project: SwarmFolder) -> None:
    _edit(project.plan_md, _swap("1.3: Part 1.3", "1.3: Other"))
    _edit(project.plan_json, _tasks(lambda tasks: tasks[2].update(title="Other")))
    outcome, state, recorded = _pass(project)
    assert outcome.amended == ("plan.md", "plan.json")
    assert [event.type for event in recorded] == ["plan_amended"]
    _assert_projected(project, state)


def test_edits_of_both_files_that_disagree_are_both_refused_and_both_kept(project: SwarmFolder) -> None:
    kept = [
        _edit(project.plan_md, _swap("1.3: Part 1.3", "1.3: Other")),
        _edit(project.plan_json, _tasks(lambda tasks: tasks[2].update(title="Another"))),
    ]
    outcome, state, recorded = _pass(project)
    assert [event.type for event in recorded] == ["edit_refused", "edit_refused"]
    assert all("do not agree" in event.problems[0] for event in outcome.refused)
    assert [(project.root / event.kept).read_bytes() for event in outcome.refused] == kept
    _assert_projected(project, state)


def test_a_legal_edit_is_taken_when_the_other_files_edit_is_refused(project: SwarmFolder) -> None:
    _edit(project.plan_md, _swap("1.3: Part 1.3", "1.3: Other"))
    lie = _edit(project.plan_json, _tasks(lambda tasks: tasks[2].update(status="complete")))
    outcome, state, recorded = _pass(project)
    assert outcome.amended == ("plan.md",)
    assert [event.type for event in recorded] == ["plan_amended", "edit_refused"]
    assert (project.root / outcome.refused[0].kept).read_bytes() == lie
    assert state.plan is not None
    assert state.plan.tasks["1.3"].title == "Other"
    _assert_projected(project, state)


# --- files that are old, missing, or only look different ---


def test_a_stale_file_that_nobody_edited_is_no_edit(project: SwarmFolder, fill: Fill) -> None:
    old = project.plan_md.read_bytes()
    fill(delegated("1.2", 2))
    project.plan_md.write_bytes(old)
    outcome, state, recorded = _pass(project)
    assert (recorded, outcome.restored) == ([], ("plan.md",))
    _assert_projected(project, state)


def test_an_edit_of_an_old_file_counts_when_the_plan_is_still_the_same(project: SwarmFolder, fill: Fill) -> None:
    old = project.plan_md.read_text()
    fill(delegated("1.2", 2))
    project.plan_md.write_text(_swap("1.3: Part 1.3", "1.3: Other")(old))
    outcome, state, _ = _pass(project)
    assert outcome.amended == ("plan.md",)
    assert state.open == "1.2"
    _assert_projected(project, state)


def test_an_edit_of_an_old_file_is_refused_when_the_plan_has_changed_since(project: SwarmFolder) -> None:
    old = project.plan_md.read_text()
    _edit(project.plan_json, _tasks(lambda tasks: tasks[2].update(title="Newer")))
    _pass(project)
    project.plan_md.write_text(_swap("1.3: Part 1.3", "1.3: Other")(old))
    outcome, _, _ = _pass(project)
    (problem,) = outcome.refused[0].problems
    assert problem == "plan.md was edited at ledger position 16, and the plan has changed since."


def test_an_edit_made_while_a_run_was_going_on_is_taken_in_by_the_next_command(project: SwarmFolder) -> None:
    with Ledger.write(project) as ledger:
        reconcile(ledger, author="user")
        _edit(project.plan_md, _swap("1.3: Part 1.3", "1.3: Other"))
        ledger.append([delegated("1.2", 2)], expect=16)
    outcome, state, _ = _pass(project)
    assert outcome.amended == ("plan.md",)
    assert state.open == "1.2"


def test_an_edit_of_the_running_task_is_refused(project: SwarmFolder, fill: Fill) -> None:
    fill(delegated("1.2", 2))
    _edit(project.plan_md, _swap("1.2: Part 1.2", "1.2: Other"))
    outcome, _, _ = _pass(project)
    assert "Task 1.2 is complete, skipped or running" in outcome.refused[0].problems[0]


@pytest.mark.parametrize("both", [True, False])
def test_a_deleted_file_comes_back_without_an_event(
    project: SwarmFolder,
    both: bool,  # noqa: FBT001 - parametrized
) -> None:
    project.plan_md.unlink()
    if both:
        project.plan_json.unlink()
    outcome, state, recorded = _pass(project)
    assert outcome.restored == (("plan.md", "plan.json") if both else ("plan.md",))
    assert recorded == []
    _assert_projected(project, state)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\ufeff" + text,
        lambda text: text.replace("\n- ", "\n\n\n- "),
        lambda text: text.replace("\n", "   \n"),
    ],
)
def test_line_ends_marks_and_blank_lines_are_no_edit(project: SwarmFolder, change: Change) -> None:
    project.plan_md.write_bytes(change(project.plan_md.read_text()).encode())
    outcome, state, recorded = _pass(project)
    assert (recorded, outcome.restored) == ([], ("plan.md",))
    _assert_projected(project, state)


def test_looking_for_edits_changes_nothing(project: SwarmFolder) -> None:
    data = _edit(project.plan_md, _swap("# Parts", "# Mine"))
    ledger = Ledger.read(project)
    found, missing = edits(ledger)
    assert [edit.source for edit in found] == ["plan.md"]
    assert missing == ()
    assert project.plan_md.read_bytes() == data
    assert not project.quarantine.exists()


def test_without_a_plan_there_is_nothing_to_reconcile(folder: SwarmFolder, fill: Fill) -> None:
    fill(ev.GoalSet(goal="g"))
    assert _pass(folder)[0] == Reconciliation()


def test_a_file_as_it_was_written_is_no_edit(project: SwarmFolder) -> None:
    view = view_of(Ledger.read(project).state)
    assert view is not None
    assert project.plan_md.read_text() == render(view)
    assert _pass(project)[0] == Reconciliation()
