"""Retention: what is old or too much goes into a proven archive first, and nothing of an open phase ever goes."""

from __future__ import annotations

import hashlib
import os
import signal
import sys
import tarfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.domain.story import make_plan, make_task, passing, started
from tests.ledger.conftest import Fill

from swarmgate.domain.events import event as ev
from swarmgate.domain.events.event import Event
from swarmgate.domain.evidence.report import Kind, Standing, recorded
from swarmgate.errors import LedgerLocked, LedgerWriteFailed
from swarmgate.ledger.evidence import archive as evidence_archive
from swarmgate.ledger.evidence.archive import Archives
from swarmgate.ledger.evidence.evidence import PATCH, REVIEW, SBOM, EvidenceStore
from swarmgate.ledger.evidence.index import EvidenceIndex
from swarmgate.ledger.evidence.retention import MB, prune
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger

PLAN = make_plan([make_task("1.1"), make_task("1.2")], [make_task("2.1")])
FUTURE = datetime.now(UTC) + timedelta(days=1_000)
CLOSED: list[Event] = [ev.PhaseClosed(phase=1, summary="Done."), ev.PhaseApproved(phase=1)]


def _done(folder: SwarmFolder, task: str, size: int = 10) -> list[Event]:
    """A whole attempt with a diff and a review on the disk, and components that the ledger has no hash of."""
    store = EvidenceStore(folder)
    _, captured, _, given, *_ = passing(task)
    proof = {
        captured.type: store.write(task, 1, PATCH, f"diff of {task}".encode().ljust(size)),
        given.type: store.write(task, 1, REVIEW, f"review of {task}".encode()),
    }
    store.write(task, 1, SBOM, b"{}")
    return [
        each.model_copy(update={"evidence": proof[each.type]}) if each.type in proof else each for each in passing(task)
    ]


@pytest.fixture
def project(folder: SwarmFolder, fill: Fill) -> SwarmFolder:
    """Phase 1 with two tasks is approved; task 2.1 of phase 2 is done, and its phase is open."""
    fill(*started(PLAN))
    fill(*_done(folder, "1.1"), *_done(folder, "1.2"), *CLOSED, *_done(folder, "2.1"))
    return folder


def _files(folder: SwarmFolder) -> dict[str, str]:
    """The evidence in its place: path and SHA-256."""
    return {
        folder.relative(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.path.rglob("evidence/**/*"))
        if path.is_file()
    }


def _standing(folder: SwarmFolder, task: str) -> dict[Kind, Standing]:
    ledger = Ledger.read(folder)
    index = EvidenceIndex(folder, ledger.state, recorded(entry for entry, _ in ledger.entries()))
    return {piece.kind: piece.standing for piece in index.pieces(task)[1]}


def test_evidence_of_approved_phases_goes_and_is_archived_rather_than_missing(project: SwarmFolder) -> None:
    before = _files(project)
    pruned = prune(project, days=30, mb=500, now=FUTURE)
    assert [(each.goal, each.task, each.files) for each in pruned.tasks] == [(1, "1.1", 3), (1, "1.2", 3)]
    assert {path.split("/")[2] for path in _files(project)} == {"2.1"}
    assert not (project.evidence / "1.1").exists()
    assert pruned.before == pruned.size + pruned.left
    found = _standing(project, "1.1")
    assert [found[kind] for kind in (Kind.DIFF, Kind.REVIEW, Kind.SBOM)] == [Standing.ARCHIVED] * 3
    with tarfile.open(project.root / pruned.archive) as archive:
        assert set(archive.getnames()) == set(before) - set(_files(project))
        if hasattr(tarfile, "data_filter"):
            archive.extraction_filter = tarfile.data_filter  # Python 3.12 asks for one; before 3.11.4 there is none
        archive.extractall(project.root)  # noqa: S202 - our own archive
    assert _files(project) == before


def test_a_check_says_the_same_and_changes_nothing(project: SwarmFolder) -> None:
    before = _files(project)
    told = prune(project, days=0, mb=0, check=True, now=FUTURE)
    assert _files(project) == before
    assert not Archives(project).place.exists()
    done = prune(project, days=0, mb=0, now=FUTURE)
    assert done.model_copy(update={"archive": "", "check": True}) == told


def test_what_is_young_and_little_stays(project: SwarmFolder) -> None:
    assert prune(project, days=1, mb=500).tasks == ()
    assert prune(project, days=0, mb=500, now=datetime.now(UTC) - timedelta(days=9)).tasks == ()  # the clock went back


def test_the_oldest_go_until_the_rest_is_small_enough(folder: SwarmFolder, fill: Fill) -> None:
    fill(*started(PLAN))
    fill(*_done(folder, "1.1", MB), *_done(folder, "1.2", MB), *CLOSED)
    pruned = prune(folder, days=9_999, mb=1, check=True)
    assert [each.task for each in pruned.tasks] == ["1.1", "1.2"]  # 1.2 alone is a little more than 1 MB
    pruned = prune(folder, days=9_999, mb=2)
    assert ([each.task for each in pruned.tasks], pruned.over) == (["1.1"], "")


def test_a_bound_that_only_open_phases_break_is_told(folder: SwarmFolder, fill: Fill) -> None:
    fill(*started(PLAN))
    fill(*_done(folder, "1.1", MB))
    pruned = prune(folder, days=0, mb=0, now=FUTURE)
    assert (pruned.tasks, pruned.archive) == ((), "")
    assert "1.0 MB are left" in pruned.over


def test_evidence_of_earlier_goals_goes_and_that_of_another_goal_proves_nothing(
    project: SwarmFolder, fill: Fill
) -> None:
    prune(project, days=0, mb=0, now=FUTURE)
    fill(ev.PhaseClosed(phase=2, summary="Done."), ev.PhaseApproved(phase=2))
    EvidenceStore(project).archive(1)
    fill(ev.GoalSet(goal="More"), *started(PLAN)[1:3], ev.PlanApproved(), ev.WorkStarted(branch="b", base="b0"))
    fill(*_done(project, "1.1"))
    pruned = prune(project, days=0, mb=0, now=FUTURE)
    assert [(each.goal, each.task) for each in pruned.tasks] == [(1, "2.1")]
    for name in (SBOM, PATCH):
        EvidenceStore(project).place("1.1", 1, name).unlink()
    found = _standing(project, "1.1")
    assert found[Kind.DIFF] is Standing.ARCHIVED  # the same bytes were recorded: that is what they are
    assert found[Kind.SBOM] is Standing.NOT_DUE


def test_links_are_passed_over_and_what_they_lead_to_stays(project: SwarmFolder, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "mine.txt").write_text("mine")
    (project.evidence / "1.1/attempt-1/link").symlink_to(outside)
    (project.evidence / "1.1/attempt-1/file").symlink_to(outside / "mine.txt")
    (project.evidence / "1.9").symlink_to(outside)
    pruned = prune(project, days=0, mb=0, now=FUTURE)
    assert [Path(path).name for path in pruned.skipped] == ["file", "link"]
    assert (outside / "mine.txt").read_text() == "mine"
    assert (project.evidence / "1.1/attempt-1/link").is_symlink()


def test_what_lies_in_history_under_the_number_of_a_later_goal_stays(project: SwarmFolder) -> None:
    for number in (1, 2):
        place = project.history / f"goal-{number}/evidence/1.1/attempt-1/mine.txt"
        place.parent.mkdir(parents=True)
        place.write_text("mine")
    pruned = prune(project, days=0, mb=0, now=FUTURE)
    assert [(each.task, each.files) for each in pruned.tasks] == [("1.1", 3), ("1.2", 3)]


def test_a_piece_that_is_a_link_or_a_pipe_is_not_read(folder: SwarmFolder, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    link, pipe = folder.path / "link", folder.path / "pipe"
    link.symlink_to(tmp_path / "secret")
    os.mkfifo(pipe)
    for path in (link, pipe):
        with pytest.raises(OSError, match=r"symbolic|not a regular"):
            evidence_archive.read_plain(path)


def test_pipes_in_place_of_archives_and_indexes_are_not_waited_for(project: SwarmFolder) -> None:
    prune(project, days=0, mb=0, now=FUTURE)
    (index,) = Archives(project).place.glob("*.json")
    index.unlink()
    os.mkfifo(index)
    os.mkfifo(Archives(project).place / "29990101T000000.tar.gz")
    assert _standing(project, "1.1")[Kind.DIFF] is Standing.ARCHIVED


def test_an_archive_is_on_the_disk_before_it_has_its_name(
    project: SwarmFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: set[int] = set()
    named: list[bool] = []
    fsync, rename = os.fsync, os.rename

    def seen(handle: int) -> None:
        synced.add(os.fstat(handle).st_ino)
        fsync(handle)

    def renamed(source: str, target: Path) -> None:
        named.append(os.stat(source).st_ino in synced)  # noqa: PTH116 - mkstemp's name is a string
        rename(source, target)

    monkeypatch.setattr(os, "fsync", seen)
    monkeypatch.setattr(os, "rename", renamed)
    prune(project, days=0, mb=0, now=FUTURE)
    assert named == [True]


def test_it_is_refused_while_a_run_is_at_work_but_may_be_asked(project: SwarmFolder) -> None:
    with Ledger.write(project):
        assert prune(project, days=0, mb=0, check=True, now=FUTURE).tasks
        with pytest.raises(LedgerLocked):
            prune(project, days=0, mb=0, now=FUTURE)


def test_an_archive_that_was_changed_proves_nothing(project: SwarmFolder) -> None:
    archive = project.root / prune(project, days=0, mb=0, now=FUTURE).archive
    archive.write_bytes(archive.read_bytes()[:-40])
    assert _standing(project, "1.1")[Kind.DIFF] is Standing.CHANGED
    archive.unlink()
    assert _standing(project, "1.1")[Kind.DIFF] is Standing.MISSING


def test_a_lost_index_is_read_from_the_archive_itself(project: SwarmFolder) -> None:
    prune(project, days=0, mb=0, now=FUTURE)
    (index,) = Archives(project).place.glob("*.json")
    index.write_text("{")
    assert _standing(project, "1.1")[Kind.DIFF] is Standing.ARCHIVED


def test_what_cannot_be_read_back_is_not_deleted(project: SwarmFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    before = _files(project)
    monkeypatch.setattr(evidence_archive, "_digests", lambda _: {})
    with pytest.raises(LedgerWriteFailed):
        prune(project, days=0, mb=0, now=FUTURE)
    assert _files(project) == before
    assert list(Archives(project).place.iterdir()) == []


def test_a_disk_that_refuses_loses_nothing(project: SwarmFolder) -> None:
    before = _files(project)
    project.history.mkdir(exist_ok=True)
    Archives(project).place.write_text("no folder")
    with pytest.raises(LedgerWriteFailed):
        prune(project, days=0, mb=0, now=FUTURE)
    assert _files(project) == before


def test_what_was_changed_before_is_archived_as_it_is_and_stays_changed(project: SwarmFolder) -> None:
    EvidenceStore(project).place("1.1", 1, PATCH).write_bytes(b"another diff")
    prune(project, days=0, mb=0, now=FUTURE)
    assert _standing(project, "1.1")[Kind.DIFF] is Standing.CHANGED


def test_what_changes_between_archive_and_deletion_stays(project: SwarmFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    changed = EvidenceStore(project).place("1.1", 1, PATCH)
    keep = Archives.keep

    def and_an_edit(self: Archives, *args: Any) -> Any:
        index = keep(self, *args)
        changed.write_bytes(b"mine")
        return index

    monkeypatch.setattr(Archives, "keep", and_an_edit)
    prune(project, days=0, mb=0, now=FUTURE)
    assert changed.read_bytes() == b"mine"
    assert not EvidenceStore(project).place("1.1", 1, REVIEW).exists()


_TOUCHES = {"open", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.link"}
"""What a program does to files, by the names of Python's audit events."""


def _killed_at(number: int, work: Callable[[], object]) -> bool:
    """Does the work in a child that is killed with -9 before it touches a file for that many times; False: it ended."""
    child = os.fork()
    if child == 0:
        left = [number]

        def count(event: str, _: object) -> None:
            if event in _TOUCHES:
                left[0] -= 1
                if left[0] < 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(count)
        work()
        os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


@pytest.mark.slow
def test_killed_at_any_moment_nothing_is_lost(project: SwarmFolder) -> None:
    before, number = _files(project), 0
    while _killed_at(number, lambda: prune(project, days=0, mb=0, now=FUTURE)):
        number += 1
        here, archives = _files(project), Archives(project)
        for path, digest in before.items():
            kept = archives.find(path, digest=digest)
            assert here.get(path) == digest or (kept and not kept.problem), f"{path} was lost at {number}"
    assert number > 10
    prune(project, days=0, mb=0, now=FUTURE)
    assert {path.split("/")[2] for path in _files(project)} == {"2.1"}
    assert list(Archives(project).place.glob("*.partial")) == []
    assert _standing(project, "1.1")[Kind.DIFF] is Standing.ARCHIVED
