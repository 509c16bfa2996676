"""A ledger that git took back, or away: nobody writes it, it is brought back whole, and the work goes on."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.misbehaviour.case import case
from tests.project import GOAL, Project, plan

from swarmgate.domain.events import event as ev
from swarmgate.engine import Swarm
from swarmgate.ledger.ledger import Ledger

pytestmark = pytest.mark.suite("unittest")

WRITERS = (
    ["run"],
    ["plan", "Another goal"],
    ["approve"],
    ["revise", "other"],
    ["skip", "2.1", "--reason", "x"],
    ["init"],
)


def _committed(project: Project, message: str) -> None:
    project.git("add", "--all", ".swarm")
    project.git("commit", "--quiet", f"--message={message}")


@pytest.fixture
def tracked(project: Project, once: Callable[[str, Callable[[], None]], None]) -> Project:
    """`.swarm/` is tracked, as it was before there was a plan, and a phase is done since."""

    def make() -> None:
        project.play()
        _committed(project, "Begin")
        project.planned(plan("1.1", "2.1"))
        project.swarm("run", exits=3)

    once("tracked", make)
    project.play(plan("1.1", "2.1"))
    return project


def _stashed(project: Project) -> None:
    project.git("stash", "--quiet")


def _checked_out(project: Project) -> None:
    project.git("checkout", "--quiet", "main", "--", ".swarm")


def _reset(project: Project) -> None:
    project.git("reset", "--quiet", "--hard")


def _forked(project: Project) -> None:
    """An older ledger, and somebody else's lines behind it."""
    known = project.root / ".git/swarm"
    refs = dict(
        line.split()
        for line in project.git("for-each-ref", "--format=%(refname) %(objectname)", "refs/swarm").splitlines()
    )
    shutil.copytree(known, project.root / "aside")
    _reset(project)
    shutil.rmtree(known)
    for ref in refs:
        project.git("update-ref", "-d", ref)
    with Ledger.write(project.folder) as ledger:
        for _ in range(60):
            ledger.append([ev.EditRefused(source="x", problems=("x",), kept="x")], expect=ledger.state.seq)
    shutil.rmtree(known)
    shutil.move(project.root / "aside", known)
    for ref in project.git("for-each-ref", "--format=%(refname)", "refs/swarm").split():
        project.git("update-ref", "-d", ref)
    for ref, commit in refs.items():
        project.git("update-ref", ref, commit)


@pytest.mark.slow
@case(
    "lies",
    "the ledger taken back by `git stash`, `checkout` or `reset`, where `.swarm/` is tracked",
    "no command writes it (exit code 1); `swarm verify --restore` brings every line back, and the work goes on",
)
@pytest.mark.parametrize("took_back", [_stashed, _checked_out, _reset, _forked])
def test_a_ledger_that_was_taken_back_is_refused_and_restored(
    tracked: Project, took_back: Callable[[Project], None]
) -> None:
    whole = tracked.folder.ledger.read_bytes()
    took_back(tracked)
    left = tracked.folder.ledger.read_bytes()
    assert left != whole
    for args in WRITERS:
        told = tracked.json(*args, exits=1)
        assert told["error"] == "LEDGER_ROLLED_BACK", told
        assert "swarm verify --restore" in told["hint"]
        assert "swarm init" in told["hint"]
    assert tracked.folder.ledger.read_bytes() == left
    assert "swarm verify --restore" in tracked.swarm("status").stdout
    assert tracked.json("status")["ledger_problem"].startswith("ledger.jsonl ")
    assert "FAIL  anchors: " in tracked.swarm("verify", exits=1).stdout
    told = tracked.json("verify", "--restore")
    assert told["passed"]
    assert tracked.folder.ledger.read_bytes().startswith(whole)
    (event,) = tracked.events(ev.LedgerRestored)
    assert (tracked.root / event.kept).read_bytes() == left
    assert event.seq == whole.count(b"\n")
    tracked.configure()  # the settings went back too, and stay so
    tracked.swarm("approve")
    tracked.swarm("run", exits=3)
    tracked.swarm("approve")
    assert [each.task for each in tracked.events(ev.TaskCompleted)] == ["1.1", "2.1"]
    assert tracked.json("verify")["passed"]


@pytest.mark.slow
@case(
    "lies",
    "`.swarm/` taken away as a whole: `git clean -fdx`, `git stash --include-untracked`",
    "no command begins anew by itself; `swarm verify --restore` brings it back and names the evidence that is gone",
)
@pytest.mark.parametrize("tool", ["clean", "stash", "rm"])
def test_a_folder_that_was_taken_away_comes_back(project: Project, tool: str) -> None:
    project.planned()
    project.swarm("run", exits=3)
    whole, config = project.folder.ledger.read_bytes(), project.folder.config.read_bytes()
    if tool == "clean":
        project.git("clean", "--quiet", "-fdx")
    elif tool == "stash":
        project.git("stash", "--quiet", "--include-untracked")
    else:
        shutil.rmtree(project.folder.path)
    told = project.json("run", exits=1 if tool == "stash" else 2)  # that leaves what is ignored
    if tool != "stash":
        assert told["error"] == "NOT_A_PROJECT"
        assert f"its ledger had {whole.count(chr(10).encode())} lines" in told["message"]
    assert "swarm verify --restore" in told["hint"]
    told = project.json("verify", "--restore", exits=1)
    assert told["restored"]["lost"] == 0
    assert {check["name"] for check in told["checks"] if check["problems"]} == {"evidence"}
    assert project.folder.ledger.read_bytes().startswith(whole)
    project.folder.config.write_bytes(config)
    project.swarm("approve")


@pytest.mark.slow
def test_lines_behind_the_newest_anchor_come_back_too(tracked: Project) -> None:
    tracked.swarm("approve")
    with Swarm(tracked.root).project.writing() as ledger:
        ledger._witness.anchor = lambda *_: None  # type: ignore[method-assign]  # as when it is killed before
        ledger.append([ev.EditRefused(source="x", problems=("x",), kept="x")], expect=ledger.state.seq)
    whole = tracked.folder.ledger.read_bytes()
    _reset(tracked)
    tracked.swarm("verify", "--restore")
    assert tracked.folder.ledger.read_bytes().startswith(whole)


def test_a_corrupt_ledger_comes_back_too(tracked: Project) -> None:
    whole = tracked.folder.ledger.read_bytes()
    tracked.folder.ledger.write_bytes(whole.replace(b"Add parts", b"Add ports", 1))
    tracked.swarm("run", exits=1)
    tracked.swarm("verify", "--restore")
    assert tracked.folder.ledger.read_bytes().startswith(whole)


@pytest.mark.slow
def test_where_nothing_is_lost_nothing_is_restored(tracked: Project) -> None:
    before = tracked.folder.ledger.read_bytes()
    assert tracked.json("verify", "--restore")["restored"] is None
    assert "has lost nothing" in tracked.swarm("verify", "--restore").stdout
    assert tracked.folder.ledger.read_bytes() == before


@pytest.mark.slow
@case(
    "lies",
    "another branch's or a teammate's ledger in the place of the one that was written here",
    "refused as one that was rolled back; `swarm verify --adopt` goes on with it, on record, and keeps the other",
)
@pytest.mark.parametrize("took_back", [_checked_out, _forked])
def test_who_wants_the_other_ledger_goes_on_with_it(tracked: Project, took_back: Callable[[Project], None]) -> None:
    lines = tracked.folder.ledger.read_bytes().count(b"\n")
    took_back(tracked)
    there = tracked.folder.ledger.read_bytes()
    told = tracked.json("verify", "--adopt", exits=1)
    assert {check["name"] for check in told["checks"] if check["problems"]} <= {"commits", "evidence", "projections"}
    (event,) = tracked.events(ev.LedgerAdopted)
    assert (event.seq, Path(event.kept).is_file()) == (lines, True)
    assert tracked.folder.ledger.read_bytes().startswith(there)
    assert tracked.git("for-each-ref", event.refs)
    tracked.configure()
    tracked.swarm("plan", "Another goal", exits=3)
    assert {check["name"] for check in tracked.json("verify", exits=1)["checks"] if check["problems"]} <= {"evidence"}
    assert tracked.json("verify", "--adopt", exits=1)["adopted"] is None
    assert "either" in tracked.json("verify", "--adopt", "--restore", exits=2)["message"]


# --- ordinary work, which none of it may hinder ---


def test_who_moves_the_folder_away_begins_anew_and_can_go_back(project: Project, tmp_path: Path) -> None:
    project.planned()
    whole = project.folder.ledger.read_bytes()
    shutil.move(project.folder.path, tmp_path / "old")
    told = project.json("init")
    assert told["created"]
    kept = Path(told["earlier"])
    assert kept.is_file()
    assert project.json("verify")["passed"]
    project.planned()
    assert project.json("verify")["passed"]
    shutil.rmtree(project.folder.path)
    kept.replace(project.root / ".git/swarm/ledger.tail")
    project.swarm("verify", "--restore")
    assert project.folder.ledger.read_bytes().startswith(whole)


def _git(folder: Path, *args: str) -> str:
    return subprocess.run(["git", *args], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def _goes_on(project: Project, root: Path) -> None:
    """In a copy of the project: everything fits, and the next commands work."""
    copy = Project(root, project.suite)
    checks = {check["name"]: check for check in copy.json("verify")["checks"]}
    assert all(not check["problems"] for check in checks.values())
    copy.swarm("approve")
    copy.swarm("run", exits=3)
    copy.swarm("approve")
    assert copy.json("verify")["passed"]


def _cloned(project: Project, root: Path) -> None:
    _git(project.root, "clone", "--quiet", str(project.root), str(root))
    _git(root, "config", "user.name", "Ada Tester")
    _git(root, "config", "user.email", "ada@example.test")


def _cloned_with_refs(project: Project, root: Path) -> None:
    _cloned(project, root)
    _git(root, "fetch", "--quiet", "origin", "refs/swarm/*:refs/swarm/*")


def _copied(project: Project, root: Path) -> None:
    shutil.copytree(project.root, root, symlinks=True)


def _moved(project: Project, root: Path) -> None:
    os.rename(project.root, root)  # noqa: PTH104 - as `mv` does
    shutil.copytree(root, project.root, symlinks=True)


def _worktree(project: Project, root: Path) -> None:
    branch = project.git("branch", "--show-current")
    project.git("checkout", "--quiet", "--detach")
    project.git("worktree", "add", "--quiet", str(root), branch)


def _packed(project: Project, root: Path) -> None:
    project.git("gc", "--quiet", "--prune=now")
    project.git("pack-refs", "--all")
    _copied(project, root)


@pytest.mark.slow
@pytest.mark.parametrize("copied", [_cloned, _cloned_with_refs, _copied, _moved, _worktree, _packed])
def test_clones_copies_and_work_trees_go_on(
    tracked: Project, tmp_path: Path, copied: Callable[[Project, Path], None]
) -> None:
    _committed(tracked, "The record so far")
    elsewhere = tmp_path / "elsewhere"
    copied(tracked, elsewhere)
    _goes_on(tracked, elsewhere)
    if copied is _worktree:  # the ledgers of both go their ways now, and neither hinders the other
        tracked.swarm("approve")
        assert not [problem for check in tracked.json("verify")["checks"] for problem in check["problems"]]


@pytest.mark.slow
def test_a_clone_that_fetched_the_anchors_has_the_ledger(project: Project, tmp_path: Path) -> None:
    """Where `.swarm/` is not tracked."""
    project.planned()
    project.swarm("run", exits=3)
    _cloned_with_refs(project, tmp_path / "clone")
    clone = Project(tmp_path / "clone", project.suite)
    told = clone.json("verify", "--restore", exits=1)
    assert {check["name"] for check in told["checks"] if check["problems"]} == {"evidence"}
    assert clone.folder.ledger.read_bytes().startswith(project.folder.ledger.read_bytes())


@pytest.mark.slow
def test_another_branch_without_tracked_records_is_nothing_to_notice(project: Project) -> None:
    project.planned()
    project.git("switch", "--quiet", "--create", "other")
    project.git("switch", "--quiet", "main")
    project.git("stash", "--quiet", "--include-untracked", "--", "src")
    project.swarm("run", exits=3)
    assert project.json("verify")["passed"]


@pytest.mark.slow
def test_a_goal_after_another_keeps_its_anchors_in_one_chain(project: Project) -> None:
    for goal in (GOAL, "Add more"):
        project.play(plan("1.1"))
        project.swarm("plan", goal, exits=3)
        project.swarm("approve")
        project.swarm("run", exits=3)
        project.swarm("approve")
        shutil.rmtree(project.root / "src/calc/__pycache__", ignore_errors=True)
        project.git("rm", "--quiet", "--cached", "src/calc/part_1.1.py")
        (project.root / "src/calc/part_1.1.py").unlink()
        (project.root / "notes.md").write_text(f"{goal}: moved elsewhere.\n", "utf-8")  # else it would be a revert
        project.git("add", "notes.md")
        project.git("commit", "--quiet", "--message=Mine")
    assert project.json("verify")["passed"]
    refs = project.git("for-each-ref", "--format=%(refname)", "refs/swarm").split()
    assert [ref.rpartition("/")[2] for ref in refs] == ["0", "1", "2"]
    first = project.folder.history / "goal-1/evidence/1.1/attempt-1/gates.json"
    first.write_bytes(first.read_bytes() + b" ")
    (told,) = [problem for check in project.json("verify", exits=1)["checks"] for problem in check["problems"]]
    assert "history/goal-1/evidence/1.1/attempt-1/gates.json was changed" in told
