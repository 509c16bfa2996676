"""Git's folder as the witness of a ledger: kills at any point, damage, locks, and what no writer may be hindered by."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from swarmgate.domain.events import event as ev
from swarmgate.domain.usage import Usage
from swarmgate.errors import LedgerRolledBack
from swarmgate.ledger.audit.anchors import anchors
from swarmgate.ledger.audit.audit import audit
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.files.high_water_mark import HighWater
from swarmgate.ledger.ledger import Ledger
from swarmgate.ledger.witness.anchors import Anchors, positions
from swarmgate.workspace.git.folder import git_folder, place
from swarmgate.workspace.git.repository import Repository

Git = Callable[..., str]
USED = ev.UsageRecorded(role="coder", usage=Usage(calls=1))


@pytest.fixture
def swarm(repo: Path) -> SwarmFolder:
    """A project whose last run was at work here, and three anchors."""
    folder, found = SwarmFolder(repo), git_folder(repo)
    assert found
    folder.create()
    with Ledger.write(folder) as ledger:
        ledger.append([ev.RunStarted(pid=1, host="h", record=2, place=place(found))], expect=0)
    for _ in range(2):
        _write(folder)
    return folder


def _write(folder: SwarmFolder, lines: int = 3) -> None:
    with Ledger.write(folder) as ledger:
        for _ in range(lines):
            ledger.append([USED], expect=ledger.state.seq)


def _tail(folder: SwarmFolder) -> Path:
    return folder.root / ".git/swarm/ledger.tail"


def _fits(folder: SwarmFolder) -> bool:
    return all(check.passed for check in audit(folder, Repository.discover(folder.root)))


def _chain(folder: SwarmFolder) -> list[tuple[int, str]]:
    ledger = Ledger.read(folder)
    first = next(ledger.entries())[1]
    return positions(Anchors(folder, first).chain().anchors)


def test_each_anchor_holds_the_lines_since_the_one_before(swarm: SwarmFolder) -> None:
    assert [seq for seq, _ in _chain(swarm)] == [1, 4, 7]
    hashes = dict(enumerate((digest for _, digest in Ledger.read(swarm).entries()), start=1))
    assert all(hashes[seq] == head for seq, head in _chain(swarm))
    first = hashes[1]
    assert Anchors(swarm, first).chain().lines == swarm.ledger.read_bytes()
    assert _fits(swarm)


def test_a_writer_that_recorded_nothing_makes_no_anchor(swarm: SwarmFolder) -> None:
    _write(swarm, lines=0)
    assert len(_chain(swarm)) == 3


# --- a kill between any two of: the line, the mark, the anchor, the new mark ---


def _died_after_the_line(folder: SwarmFolder) -> None:
    before = _tail(folder).read_bytes()
    _no_anchor(folder)
    _tail(folder).write_bytes(before)


def _died_within_the_mark(folder: SwarmFolder) -> None:
    _no_anchor(folder)
    os.truncate(_tail(folder), _tail(folder).stat().st_size - 20)


def _died_after_the_mark(folder: SwarmFolder) -> None:
    _no_anchor(folder)


def _died_after_the_anchor(folder: SwarmFolder) -> None:
    _no_anchor(folder)
    before = _tail(folder).read_bytes()
    Ledger.write(folder).close()
    _tail(folder).write_bytes(before)


def _no_anchor(folder: SwarmFolder) -> None:
    """A writer that appends and is gone without a word: its lock is free, and still names it."""
    ledger = Ledger.write(folder)
    for _ in range(2):
        ledger.append([USED], expect=ledger.state.seq)
    assert ledger._lock
    os.close(ledger._lock._descriptor)


@pytest.mark.slow
@pytest.mark.parametrize(
    "died", [_died_after_the_line, _died_within_the_mark, _died_after_the_mark, _died_after_the_anchor]
)
def test_wherever_a_writer_dies_nothing_is_called_lost(swarm: SwarmFolder, died: Callable[[SwarmFolder], None]) -> None:
    died(swarm)
    assert Ledger.read(swarm).lost == ""
    assert _fits(swarm)
    _write(swarm)
    mark = HighWater(swarm.root).read()
    assert mark is not None
    assert (mark.seq, mark.header.anchored) == (12, 12)
    assert _chain(swarm)[-1][0] == 12
    assert _fits(swarm)


@pytest.mark.slow
@pytest.mark.parametrize("damage", [b"", b"\0" * 300, b"{}\n", b'{"ledger":"x"}\nnot a line\n'])
def test_a_damaged_mark_is_told_and_hinders_nobody(swarm: SwarmFolder, damage: bytes) -> None:
    _tail(swarm).write_bytes(damage)
    assert not _fits(swarm)
    _write(swarm)
    assert _fits(swarm)


def test_noise_behind_the_last_line_of_the_mark_is_no_line(swarm: SwarmFolder) -> None:
    with _tail(swarm).open("ab") as file:
        file.write(b"\0\0\0\n" * 3)
    assert Ledger.read(swarm).lost == ""
    _write(swarm)
    assert _fits(swarm)


def test_a_mark_that_is_deleted_is_found_again_by_the_anchors(swarm: SwarmFolder) -> None:
    _tail(swarm).unlink()
    lines = swarm.ledger.read_bytes().splitlines(keepends=True)
    swarm.ledger.write_bytes(b"".join(lines[:5]))
    with pytest.raises(LedgerRolledBack, match="ends at line 5, and line 7 was recorded"):
        Ledger.write(swarm)
    swarm.ledger.write_bytes(b"".join(lines))
    _write(swarm)
    assert _fits(swarm)


def test_anchors_that_git_has_forgotten_are_made_anew(swarm: SwarmFolder, git: Git) -> None:
    for ref in git(swarm.root, "for-each-ref", "--format=%(refname)", "refs/swarm").split():
        git(swarm.root, "update-ref", "-d", ref)
    git(swarm.root, "reflog", "expire", "--expire=now", "--all")
    git(swarm.root, "gc", "--quiet", "--prune=now")
    assert not _fits(swarm)
    _write(swarm)
    assert [seq for seq, _ in _chain(swarm)] == [10]
    assert _fits(swarm)
    assert not list((swarm.root / ".git").glob("fast_import_crash*"))


def test_anchors_outlive_a_collection_and_packed_refs(swarm: SwarmFolder, git: Git) -> None:
    git(swarm.root, "pack-refs", "--all")
    git(swarm.root, "gc", "--quiet", "--prune=now", "--aggressive")
    assert _fits(swarm)
    _write(swarm)
    assert [seq for seq, _ in _chain(swarm)] == [1, 4, 7, 10]


@pytest.mark.slow
def test_a_lock_of_a_dead_process_is_taken_away_and_a_fresh_one_is_not(swarm: SwarmFolder, git: Git) -> None:
    ref = git(swarm.root, "for-each-ref", "--format=%(refname)", "refs/swarm")
    lock = swarm.root / ".git" / f"{ref}.lock"
    lock.touch()
    _write(swarm)
    assert lock.exists()
    assert not _fits(swarm)
    os.utime(lock, (time.time() - 60, time.time() - 60))
    _write(swarm)
    assert not lock.exists()
    assert _fits(swarm)


def test_neither_hooks_nor_identity_nor_signing_have_a_say(swarm: SwarmFolder, git: Git) -> None:
    hooks = swarm.root / ".git/hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("reference-transaction", "pre-commit", "post-commit", "update"):
        (hooks / name).write_text("#!/bin/sh\nexit 1\n")
        (hooks / name).chmod(0o755)
    for key, value in (
        ("user.name", ""),
        ("user.email", ""),
        ("commit.gpgsign", "true"),
        ("fastimport.unpackLimit", "1"),
    ):
        git(swarm.root, "config", key, value)
    _write(swarm)
    assert len(_chain(swarm)) == 4
    packs = list((swarm.root / ".git/objects/pack").glob("*.pack"))
    assert packs == []


def test_nothing_is_pushed_with_the_branches(swarm: SwarmFolder, git: Git, tmp_path: Path) -> None:
    remote = tmp_path / "remote.git"
    git(tmp_path, "init", "--quiet", "--bare", str(remote))
    git(swarm.root, "push", "--quiet", "--all", str(remote))
    assert "refs/swarm" not in git(remote, "for-each-ref")


def test_a_folder_without_git_is_hindered_by_nothing(tmp_path: Path) -> None:
    folder = SwarmFolder(tmp_path)
    folder.runtime.mkdir(parents=True)
    _write(folder)
    assert HighWater(folder.root).path is None
    assert Ledger.read(folder).lost == ""


def test_a_folder_of_git_that_nobody_may_write_hinders_no_writer(swarm: SwarmFolder) -> None:
    place = _tail(swarm).parent
    _tail(swarm).unlink()
    place.rmdir()
    place.write_text("in the way")
    _write(swarm)
    assert Ledger.read(swarm).state.seq == 10
    place.unlink()
    _write(swarm)
    assert _fits(swarm)


def test_a_linked_work_tree_and_a_folder_below_have_marks_of_their_own(
    swarm: SwarmFolder, git: Git, tmp_path: Path
) -> None:
    linked = tmp_path / "linked"
    git(swarm.root, "worktree", "add", "--quiet", "--detach", str(linked))
    marks = {HighWater(root).path for root in (swarm.root, swarm.root / "sub", linked)}
    assert len(marks) == 3
    other = SwarmFolder(linked)
    other.create()
    other.ledger.write_bytes(swarm.ledger.read_bytes())
    _write(other, lines=1)
    _write(swarm, lines=5)
    assert _fits(swarm)
    assert _fits(other)
    names = git(swarm.root, "for-each-ref", "--format=%(refname)", "refs/swarm").split()
    assert len({name.split("/")[3] for name in names}) == 2


def test_a_long_lived_writer_notices_too(swarm: SwarmFolder) -> None:
    lines = swarm.ledger.read_bytes().splitlines(keepends=True)
    swarm.ledger.write_bytes(b"".join(lines[:5]))
    reader = Ledger.read(swarm)
    assert reader.lost.startswith("ledger.jsonl ends at line 5, and line 7 was recorded at ")
    with pytest.raises(LedgerRolledBack), reader.writing():
        pytest.fail("nobody may write")
    swarm.ledger.write_bytes(b"".join(lines))
    with reader.writing():
        reader.append([USED], expect=7)
    assert _fits(swarm)


def test_who_looks_while_another_writes_is_told_of_no_loss(swarm: SwarmFolder) -> None:
    reader = Ledger.read(swarm)
    entries = tuple(reader.entries())
    _write(swarm)
    assert reader.lost == ""
    assert anchors(reader, entries).problems == ()


def test_subprocesses_of_git_cost_little(swarm: SwarmFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    """An anchor takes one process of git, whatever the number of those before it."""
    started: list[str] = []
    popen = subprocess.Popen

    def counting(args: list[str], *rest: object, **more: object) -> object:
        started.append(" ".join(args))
        return popen(args, *rest, **more)  # type: ignore[call-overload]  # as it was called

    with Ledger.write(swarm) as ledger:
        ledger.append([USED], expect=ledger.state.seq)
        monkeypatch.setattr(subprocess, "Popen", counting)
    assert [("fast-import" in line) for line in started] == [True]
