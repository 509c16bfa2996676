from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.domain.story import delegated, make_plan, make_task, passing, planned, rejected, started
from tests.ledger.conftest import Fill

from swarmgate.domain.events import event as ev
from swarmgate.domain.plan.plan import Plan
from swarmgate.domain.state.plan_view import view_of
from swarmgate.domain.state.state import State, TaskStatus
from swarmgate.errors import LedgerCorrupt
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger
from swarmgate.ledger.reconcile import Reconciliation, edits, reconcile
from swarmgate.ledger.views.plan_md import render
from swarmgate.ledger.views.projections import Projector

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


@pytest.mark.slow
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
        "plan.md line 12: task 1.3 is pending, and the edit says complete",
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
        "plan.md line 11: the attempts of task 1.2 were edited",
    ),
    "note": ("plan.md", _swap("part 1.3 works\n", "part 1.3 works\n  - Note: hm\n"), "the note of task 1.3 was edited"),
    "phase status": (
        "plan.md",
        _swap("[1 task, SMALL] PENDING", "[1 task, SMALL] COMPLETE"),
        "plan.md line 16: phase 2 is PENDING",
    ),
    "new task ticked": ("plan.md", _swap(THIRD, THIRD + NEW.replace("[ ]", "[x]")), "task 1.4 is pending"),
    "status in json": (
        "plan.json",
        _tasks(lambda tasks: tasks[2].update(status="complete")),
        "plan.json line 1: task 1.3 is pending",
    ),
    "attempts in json": (
        "plan.json",
        _tasks(lambda tasks: tasks[1].update(attempts=[])),
        "plan.json line 1: the attempts of task 1.2",
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
        "plan.md line 20, column 1 has no place in a plan: 'what is this'",
    ),
    "blank": ("plan.md", lambda _: "\n", "plan.md line 2, column 1 ends without a '# title' line"),
    "removed and needed": (
        "plan.md",
        _swap(THIRD, THIRD.replace("(independent)", "(depends: 1.4)")),
        "plan.md line 12: Task 1.3 depends on '1.4', which does not exist",
    ),
    "wrong id": ("plan.md", _swap("Task 1.3", "Task 2.9"), "plan.md line 12: Task 2.9 stands in phase 1"),
    "twice the same id": ("plan.md", _swap(THIRD, THIRD + THIRD), "plan.md line 15: Task 1.3: the id is used twice"),
    "removed begun task": (
        "plan.json",
        _tasks(lambda tasks: tasks.pop(1)),
        "plan.json: Task 1.2 was begun and cannot be removed by hand",
    ),
    "one key twice": (
        "plan.json",
        lambda text: text.replace('"title":"Part 1.3"', '"title":"Mine","title":"Part 1.3"'),
        "plan.json line 5, column 28 says 'title' twice in one object (task 1.3)",
    ),
    "no such key": (
        "plan.json",
        _swap('"id":"1.3",', '"id":"1.3","remark":"x",'),
        "plan.json line 5, column 22: phases.0.tasks.2.remark: Extra inputs are not permitted",
    ),
    "no object": ("plan.json", lambda _: "\n[]", "plan.json line 2, column 1: Input should be an object"),
    "no position": (
        "plan.md",
        _swap("<!-- swarm plan: seq 16 -->\n", ""),
        "ends without a '<!-- swarm plan: seq 16 -->' line. Put it below the title",
    ),
    "too many tasks": (
        "plan.md",
        lambda text: text + "".join(f"- [ ] Task 2.{n}: x\n" for n in range(2, 20_002)),
        "plan.md has 20006 tasks and phases; more than 20000 are not read.",
    ),
    "too many tasks in json": (
        "plan.json",
        lambda text: text + '{"id": ""}' * 20_001,
        "plan.json has 20007 tasks and phases",
    ),
    "a million wrong values": (  # it is read no further than the first one
        "plan.json",
        _swap('"acceptance":["part 1.3 works"]', '"acceptance":[' + "1," * 1_000_000 + "1]"),
        "phases.0.tasks.2.acceptance.0: Input should be a valid string",
    ),
    "a hundred keys": (
        "plan.json",
        _swap('"id":"1.3",', '"id":"1.3",' + "".join(f'"k{n}":1,' for n in range(100))),
        "plan.json has an object of 111 keys",
    ),
    "no json": ("plan.json", lambda text: text[:-4], "plan.json Invalid JSON: EOF while parsing"),
    "future": ("plan.md", _swap("seq 16", "seq 99"), "plan.md line 2: claims ledger position 99; the ledger is at 16"),
    "before the plan": (
        "plan.md",
        _swap("seq 16", "seq 1"),
        "plan.md line 2: claims ledger position 1, where there was no plan",
    ),
    "structure and state in one save": (
        "plan.md",
        _swap("- [ ] Task 1.3: Part", "- [x] Task 1.3: My part"),
        "What else the edit changes was not taken in either",
    ),
    "negative": ("plan.json", _swap('"seq": 16', '"seq": -3'), "plan.json line 1: claims ledger position -3"),
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


@pytest.mark.slow
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
    assert outcome.refused[0].problems == (f"{file} line 1, column 4 is not UTF-8. Save it as UTF-8.",)
    assert (project.root / outcome.refused[0].kept).read_bytes() == data
    _assert_projected(project, state)


def _folder(path: Path) -> None:
    path.mkdir()
    (path / "mine.txt").write_text("mine")


def _link(path: Path) -> None:
    path.with_name("elsewhere.md").write_text("mine")
    path.symlink_to("elsewhere.md")


def _huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(50_000_000)


@pytest.mark.parametrize(
    ("put", "told"),
    [
        (_folder, "is a folder"),
        (_link, "is a symbolic link to 'elsewhere.md'"),
        (os.mkfifo, "is no regular file"),
        (_huge, "is too big for a plan (more than 8 MB)"),
    ],
)
@pytest.mark.parametrize("name", ["plan.md", "plan.json"])
def test_what_cannot_be_read_is_moved_away_as_it_is_and_the_file_comes_back(
    project: SwarmFolder, name: str, put: Callable[[Path], None], told: str
) -> None:
    path = project.path / name
    path.unlink()
    put(path)
    before = path.lstat()
    outcome, state, recorded = _pass(project)
    (event,) = outcome.refused
    assert recorded == [event]
    assert event.problems == (f"{name} {told}; it was moved away as it is.",)
    kept = (project.root / event.kept).lstat()
    assert (kept.st_ino, kept.st_mode) == (before.st_ino, before.st_mode)
    _assert_projected(project, state)
    assert _pass(project)[2] == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_may_not_be_read_is_moved_away(project: SwarmFolder) -> None:
    project.plan_md.chmod(0)
    outcome, state, _ = _pass(project)
    assert "cannot be read: Permission denied" in outcome.refused[0].problems[0]
    _assert_projected(project, state)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_utf_16_is_kept_and_named(project: SwarmFolder, encoding: str) -> None:
    data = project.plan_md.read_text().replace("# Parts", "# Pärts").encode(encoding)
    project.plan_md.write_bytes(data)
    outcome, state, _ = _pass(project)
    assert (project.root / outcome.refused[0].kept).read_bytes() == data
    assert ("UTF-16" in outcome.refused[0].problems[0]) == (encoding == "utf-16")
    _assert_projected(project, state)


def test_an_empty_file_is_as_good_as_none(project: SwarmFolder) -> None:
    project.plan_md.write_bytes(b"")
    outcome, state, recorded = _pass(project)
    assert (outcome.restored, recorded) == (("plan.md",), [])
    _assert_projected(project, state)


def test_a_save_that_truncates_first_is_waited_for(project: SwarmFolder) -> None:
    text = _swap("1.3: Part 1.3", "1.3: Other")(project.plan_md.read_text())
    project.plan_md.write_bytes(b"")
    save = threading.Timer(0.05, project.plan_md.write_text, [text])
    save.start()
    outcome, state, _ = _pass(project)
    save.join()
    assert outcome.amended == ("plan.md",)
    _assert_projected(project, state)


# --- the same mistake again ---


@pytest.mark.slow
def test_the_same_refused_bytes_again_are_kept_once_and_recorded_once(project: SwarmFolder) -> None:
    bad = _edit(project.plan_md, lambda text: text + "nonsense\n")
    first, _, recorded = _pass(project)
    assert len(recorded) == 1
    with Ledger.write(project) as ledger:
        for _ in range(20):
            project.plan_md.write_bytes(bad)
            outcome = reconcile(ledger, author="user")
            assert [event.kept for event in outcome.refused] == [first.refused[0].kept]
            assert ledger.state.seq == 17
    assert [path.read_bytes() for path in project.quarantine.iterdir()] == [bad]
    _assert_projected(project, ledger.state)


def test_a_kept_edit_that_was_changed_there_is_kept_anew(project: SwarmFolder) -> None:
    bad = _edit(project.plan_md, lambda text: text + "nonsense\n")
    kept = _pass(project)[0].refused[0].kept
    (project.root / kept).write_text("mine now")
    project.plan_md.write_bytes(bad)
    again = _pass(project)[0].refused[0].kept
    assert (project.root / kept).read_text() == "mine now"
    assert (project.root / again).read_bytes() == bad


def test_ten_thousand_ticked_boxes_are_told_in_a_few_lines(fill: Fill) -> None:
    plan = make_plan([make_task(f"1.{n}") for n in range(1, 101)])
    project = fill(*started(plan))
    _edit(project.plan_md, lambda text: text.replace("- [ ]", "- [x]"))
    (refused,) = _pass(project)[0].refused
    assert len(refused.problems) == 21
    assert refused.problems[-1] == "There are 80 more of that kind."


# --- two files ---


def test_edits_of_both_files_that_agree_are_one_amendment(project: SwarmFolder) -> None:
    _edit(project.plan_md, _swap("1.3: Part 1.3", "1.3: Other"))
    _edit(project.plan_json, _tasks(lambda tasks: tasks[2].update(title="Other")))
    outcome, state, recorded = _pass(project)
    assert outcome.amended == ("plan.md", "plan.json")
    assert [event.type for event in recorded] == ["plan_amended"]
    _assert_projected(project, state)


def test_edits_of_both_files_that_do_not_overlap_are_one_amendment(project: SwarmFolder) -> None:
    _edit(project.plan_md, _swap("1.3: Part 1.3", "1.3: Other"))
    _edit(project.plan_json, _tasks(lambda tasks: tasks[2].update(files=["x.py"])))
    outcome, state, recorded = _pass(project)
    assert outcome.amended == ("plan.md", "plan.json")
    (event,) = recorded
    assert isinstance(event, ev.PlanAmended)
    assert event.source == "plan.md, plan.json"
    assert (event.plan.tasks["1.3"].title, event.plan.tasks["1.3"].files) == ("Other", ("x.py",))
    _assert_projected(project, state)


def test_edits_of_both_files_at_two_positions_are_merged_by_what_each_shows(project: SwarmFolder, fill: Fill) -> None:
    old = project.plan_md.read_text()
    fill(delegated("1.2", 2))
    project.plan_md.write_text(_swap("1.3: Part 1.3", "1.3: Other")(old))
    _edit(project.plan_json, _tasks(lambda tasks: tasks[2].update(depends=["1.1"])))
    outcome, state, _ = _pass(project)
    assert outcome.amended == ("plan.md", "plan.json")
    assert state.plan is not None
    assert (state.plan.tasks["1.3"].title, state.plan.tasks["1.3"].depends) == ("Other", ("1.1",))


def test_edits_of_both_files_that_overlap_are_kept_side_by_side_and_the_user_is_asked(project: SwarmFolder) -> None:
    kept = [
        _edit(project.plan_md, _swap("1.3: Part 1.3", "1.3: Other")),
        _edit(project.plan_json, _tasks(lambda tasks: tasks[2].update(title="Another"))),
    ]
    outcome, state, recorded = _pass(project)
    assert [event.type for event in recorded] == ["edit_refused", "edit_refused"]
    told = 'Task 1.3, title: plan.md wants "Other", plan.json wants "Another".'
    assert outcome.refused[0].problems[0] == f"plan.md line 12: {told}"
    assert outcome.refused[1].problems[0] == f"plan.json line 1: {told}"
    assert all("choose one: edit plan.md again" in event.problems[-1] for event in outcome.refused)
    places = [project.root / event.kept for event in outcome.refused]
    assert [path.read_bytes() for path in places] == kept
    assert [path.name for path in places] == ["plan.md", "plan.json"]
    assert places[0].parent == places[1].parent
    _assert_projected(project, state)


def test_two_edits_that_only_together_break_a_rule_are_both_kept(project: SwarmFolder) -> None:
    _edit(project.plan_md, _swap(THIRD, ""))
    _edit(project.plan_json, lambda text: text.replace('"id":"2.1"', '"id":"2.1"').replace('["1.1"]', '["1.3"]'))
    data = json.loads(project.plan_json.read_text())
    assert data["phases"][1]["tasks"][0]["depends"] == ["1.3"]
    project.plan_json.write_text(project.plan_json.read_text().replace('"depends":["1.3"]', '"depends":["1.1"]', 1))
    outcome, _, recorded = _pass(project)
    assert [event.type for event in recorded] == ["edit_refused", "edit_refused"]
    assert any("Task 2.1 depends on '1.3', which does not exist" in told for told in outcome.refused[1].problems)


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


def test_an_edit_of_an_old_file_is_merged_with_what_the_plan_has_become(project: SwarmFolder, fill: Fill) -> None:
    old = project.plan_md.read_text()
    _edit(project.plan_json, _tasks(lambda tasks: tasks[2].update(files=["newer.py"])))
    _pass(project)
    fill(*rejected("1.2", 2))
    project.plan_md.write_text(_swap("1.3: Part 1.3", "1.3: Other")(old))
    outcome, state, _ = _pass(project)
    assert outcome.amended == ("plan.md",)
    assert state.plan is not None
    assert (state.plan.tasks["1.3"].title, state.plan.tasks["1.3"].files) == ("Other", ("newer.py",))
    assert len(state.task("1.2").attempts) == 2  # that the old file shows one of them is no edit
    _assert_projected(project, state)


def test_an_edit_of_an_old_file_is_refused_where_the_same_field_was_changed_since(project: SwarmFolder) -> None:
    old = project.plan_md.read_text()
    _edit(project.plan_json, _tasks(lambda tasks: tasks[2].update(title="Newer")))
    _pass(project)
    project.plan_md.write_text(_swap("1.3: Part 1.3", "1.3: Other")(old))
    outcome, _, _ = _pass(project)
    (told,) = outcome.refused[0].problems
    assert told.startswith(
        'plan.md line 12: Task 1.3, title: the edit was made at ledger position 16 and wants "Other"'
    )
    assert told.endswith('since then it was changed, and now is "Newer".')


def test_a_file_of_the_goal_before_is_no_edit_of_this_one(project: SwarmFolder, fill: Fill) -> None:
    del project
    plan = make_plan([make_task("1.1")])
    done = fill(ev.TaskSkipped(task="1.2", reason="r"), ev.TaskSkipped(task="1.3", reason="r"))
    done = fill(ev.PhaseClosed(phase=1, summary="s"), ev.PhaseApproved(phase=1), ev.TaskSkipped(task="2.1", reason="r"))
    done = fill(ev.PhaseClosed(phase=2, summary="s"), ev.PhaseApproved(phase=2))
    old = done.plan_md.read_text()
    fill(*planned(plan))
    assert not done.quarantine.exists()  # what was there is no foreign file
    done.plan_md.write_text(_swap("# Parts", "# Mine")(old))
    outcome, state, _ = _pass(done)
    assert "the plan of a goal that is over" in outcome.refused[0].problems[0]
    _assert_projected(done, state)


def test_a_settled_task_that_is_removed_is_told_once_and_not_to_be_given_up(project: SwarmFolder) -> None:
    _edit(project.plan_json, _tasks(lambda tasks: tasks.pop(0)))
    told = [problem for problem in _pass(project)[0].refused[0].problems if "Task 1.1 " in problem]
    assert len(told) == 1
    assert "must stay in the plan" in told[0]


def test_an_old_file_with_an_id_twice_is_refused_before_it_is_merged(project: SwarmFolder) -> None:
    """The merge would take the second of the two for the one that the plan has meanwhile, and drop the first."""
    old = project.plan_md.read_text()
    project.plan_md.write_text(_swap(THIRD, THIRD + NEW)(old))
    _pass(project)
    (project.runtime / "last-save-plan.md").unlink()
    project.plan_md.write_text(_swap(THIRD, THIRD + NEW.replace("Part 1.4", "MINE") + NEW)(old))
    outcome, _, recorded = _pass(project)
    assert recorded == list(outcome.refused)
    assert "Task 1.4: the id is used twice" in " ".join(outcome.refused[0].problems)


def test_an_old_file_is_compared_with_the_attempts_that_it_showed(project: SwarmFolder, fill: Fill) -> None:
    """1.2 was rejected when the editor opened the file, and is complete by now."""
    old = project.plan_md.read_text()
    fill(*passing("1.2", 2))
    project.plan_md.write_text(_swap("1.3: Part 1.3", "1.3: Mine")(old))
    outcome, state, _ = _pass(project)
    assert (outcome.amended, outcome.refused) == (("plan.md",), ())
    assert state.task("1.2").status is TaskStatus.COMPLETE
    project.plan_md.write_text(_swap("- [ ] Task 1.2", "- [x] Task 1.2")(old))
    assert "task 1.2 is in_progress, and the edit says complete" in " ".join(_pass(project)[0].refused[0].problems)


def test_a_change_of_a_task_that_has_another_number_by_now_is_a_conflict(project: SwarmFolder) -> None:
    old = project.plan_md.read_text()
    new = "## Phase 2: New\n- [ ] Task 2.1: Docs\n  - Accept: docs\n  - File: d.md\n\n## Phase 3: Stage 2\n"
    moved = "- [ ] Task 3.1: Part 2.1 [SMALL] (depends: 1.1)\n  - File: src/part_2.1.py\n  - Accept: part 2.1 works\n"
    project.plan_md.write_text(old[: old.index("## Phase 2")] + new + moved)
    assert _pass(project)[0].amended == ("plan.md",)
    (project.runtime / "last-save-plan.md").unlink()
    project.plan_md.write_text(_swap("2.1: Part 2.1 [SMALL]", "2.1: Part 2.1 [MEDIUM]")(old))
    outcome, state, _ = _pass(project)
    assert "Task 2.1, number: " in " ".join(outcome.refused[0].problems)
    assert "make it task 3.1" in " ".join(outcome.refused[0].problems)
    assert state.plan is not None
    assert state.plan.tasks["2.1"].title == "Docs"


# --- an editor that holds its buffer ---


@pytest.fixture(params=["kept ledger", "another process", "no memory"])
def save(request: pytest.FixtureRequest, project: SwarmFolder) -> Callable[[str], tuple[Reconciliation, State]]:
    """Saves a text of plan.md and lets a pass go over it."""
    kept = Ledger.read(project)

    def saved(text: str) -> tuple[Reconciliation, State]:
        project.plan_md.write_text(text)
        if request.param != "kept ledger":
            return _pass(project)[:2]
        with kept.writing() as ledger:
            return reconcile(ledger, author="user"), ledger.state

    return saved


Save = Callable[[str], tuple[Reconciliation, State]]
with_memory = pytest.mark.parametrize("save", ["kept ledger", "another process"], indirect=True)


@pytest.mark.slow
@with_memory
def test_all_saves_of_one_buffer_are_taken_in(project: SwarmFolder, save: Save) -> None:
    buffer = project.plan_md.read_text()
    for number in range(12):
        outcome, state = save(buffer.replace("1.3: Part 1.3", f"1.3: Text {number}"))
        assert (outcome.amended, outcome.refused) == (("plan.md",), ())
        assert state.plan is not None
        assert state.plan.tasks["1.3"].title == f"Text {number}"
    _assert_projected(project, state)


@pytest.mark.slow
@with_memory
@pytest.mark.parametrize("change", [_swap(THIRD, THIRD + NEW), _swap(THIRD, ""), _swap("Part 1.3", "Mine")])
def test_an_undo_in_the_same_buffer_is_an_edit(project: SwarmFolder, save: Save, change: Change) -> None:
    buffer, before = project.plan_md.read_text(), Ledger.read(project).state.plan
    assert save(change(buffer))[1].plan != before
    project.plan_json.write_text(project.plan_json.read_text().replace('"title": "Parts"', '"title": "Others"'))
    outcome, state = save(buffer)
    assert set(outcome.amended) == {"plan.md", "plan.json"}
    assert state.plan is not None
    assert before is not None
    assert (state.plan.title, state.plan.phases) == ("Others", before.phases)
    assert save(change(buffer))[1].plan != before


@with_memory
def test_an_undo_of_a_refused_save_is_none(project: SwarmFolder, save: Save) -> None:
    buffer = project.plan_md.read_text()
    save(buffer + "nonsense\n")
    outcome, state = save(buffer)
    assert (outcome.amended, outcome.restored) == ((), ("plan.md",))
    assert isinstance(Ledger.read(project).last(1)[0], ev.EditRefused)
    _assert_projected(project, state)


@with_memory
def test_the_same_save_again_is_no_second_event(project: SwarmFolder, save: Save) -> None:
    edited = _swap("1.3: Part 1.3", "1.3: Mine")(project.plan_md.read_text())
    seq = save(edited)[1].seq
    outcome, state = save(edited)
    assert (outcome.amended, outcome.restored, state.seq) == ((), ("plan.md",), seq)
    _assert_projected(project, state)


@pytest.mark.parametrize("lost", [b"", b"\xff", None])
def test_a_lost_memory_of_the_last_save_costs_no_text(project: SwarmFolder, lost: bytes | None) -> None:
    buffer = project.plan_md.read_text()
    project.plan_md.write_text(_swap("1.3: Part 1.3", "1.3: One")(buffer))
    seq = _pass(project)[1].seq
    copy = project.runtime / "last-save-plan.md"
    copy.unlink()
    if lost is not None:
        copy.write_bytes(lost)
    project.plan_md.write_text(_swap("1.3: Part 1.3", "1.3: One")(buffer))
    assert _pass(project)[1].seq == seq
    project.plan_md.write_text(_swap("1.3: Part 1.3", "1.3: Two")(buffer))
    outcome, _, _ = _pass(project)
    assert "1.3: Two" in (project.root / outcome.refused[0].kept).read_text()


# --- somebody is writing ---

linux = pytest.mark.skipif(sys.platform != "linux", reason="leases are Linux's")


@linux
@pytest.mark.parametrize("mode", ["w", "a"])
def test_a_file_that_somebody_has_open_for_writing_is_left_until_it_is_closed(project: SwarmFolder, mode: str) -> None:
    text = project.plan_md.read_text()
    half = 150 if mode == "w" else 0
    typed = text.replace("Part 2.1", "Typed")[half:] if mode == "w" else NEW.replace("1.4", "2.2")
    with project.plan_md.open(mode) as file:
        file.write(text[:half] + typed[:20])
        file.flush()
        os.utime(project.plan_md, (1, 1))  # it rests for years
        outcome, state, recorded = _pass(project)
        assert (outcome.busy, outcome.restored, recorded) == (("plan.md",), (), [])
        with Ledger.write(project) as ledger:
            ledger.append([delegated("1.2", 2)], expect=state.seq)
            assert reconcile(ledger, author="user").busy == ("plan.md",)
            ledger.append([ev.AttemptInterrupted(task="1.2", attempt=2, reason="x")], expect=ledger.state.seq)
        assert project.plan_md.stat().st_ino == os.fstat(file.fileno()).st_ino
        file.write(typed[20:])
    outcome, state, _ = _pass(project)
    assert (outcome.amended, outcome.refused, outcome.busy) == (("plan.md",), (), ())
    assert state.plan is not None
    assert "2.2" in state.plan.tasks if mode == "a" else state.plan.tasks["2.1"].title == "Typed"


# --- what was there before the first plan ---


@pytest.mark.parametrize("pass_first", [True, False])
def test_a_file_from_before_the_first_plan_is_kept(
    folder: SwarmFolder,
    fill: Fill,
    pass_first: bool,  # noqa: FBT001 - parametrized
) -> None:
    fill(*planned()[:1])
    folder.plan_md.write_text("# My draft\n")
    folder.plan_json.mkdir()
    with Ledger.write(folder) as ledger:
        if pass_first:
            reconcile(ledger, author="user")
        state = ledger.append(planned()[1:], expect=ledger.state.seq)
        refused = [event for event in ledger.last(2) if isinstance(event, ev.EditRefused)]
    assert [event.source for event in refused] == ["plan.md", "plan.json"]
    assert (folder.root / refused[0].kept).read_text() == "# My draft\n"
    assert (folder.root / refused[1].kept).is_dir()
    _assert_projected(folder, state)


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


def _interrupt(state: State) -> list[ev.Event]:
    return [ev.AttemptInterrupted(task=state.open, attempt=2, reason="changed by hand")]


def test_an_edit_of_the_running_task_ends_its_attempt_where_that_can_be_done(project: SwarmFolder, fill: Fill) -> None:
    fill(delegated("1.2", 2))
    _edit(project.plan_md, _swap("1.2: Part 1.2", "1.2: Other"))
    with Ledger.write(project) as ledger:
        outcome = reconcile(ledger, author="user", interrupt=_interrupt)
        recorded = [entry.event.type for entry, _ in ledger.entries() if entry.seq > 17]
    assert (outcome.amended, outcome.interrupted) == (("plan.md",), "1.2")
    assert recorded == ["attempt_interrupted", "plan_amended"]
    assert ledger.state.open == ""
    assert ledger.state.plan is not None
    assert ledger.state.plan.tasks["1.2"].title == "Other"
    _assert_projected(project, ledger.state)


def test_the_attempt_goes_on_where_the_edit_is_about_another_task_or_is_illegal(
    project: SwarmFolder, fill: Fill
) -> None:
    fill(delegated("1.2", 2))

    def never(_: State) -> list[ev.Event]:
        raise AssertionError

    for change in (_swap("1.3: Part 1.3", "1.3: Other"), _swap("1.2: Part 1.2 [SMALL]", "1.2: Part 1.2 [LARGE]")):
        _edit(project.plan_md, change)
        with Ledger.write(project) as ledger:
            assert reconcile(ledger, author="user", interrupt=never).interrupted == ""
            assert ledger.state.open == "1.2"


def test_an_edit_of_a_running_task_that_cannot_be_ended_is_refused(project: SwarmFolder, fill: Fill) -> None:
    fill(delegated("1.2", 2))
    _edit(project.plan_md, _swap("1.2: Part 1.2", "1.2: Other"))
    with Ledger.write(project) as ledger:
        outcome = reconcile(ledger, author="user", interrupt=lambda _: [])
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
    found, missing, _ = edits(ledger)
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
