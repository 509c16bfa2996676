"""A plan file and the editors that write it at the same time."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import pytest

from swarmgate.ledger.plan_file import Found, PlanFile


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "plan.md"


def test_what_was_read_may_be_replaced(path: Path) -> None:
    path.write_bytes(b"one")
    path.chmod(0o640)
    file = PlanFile(path)
    assert file.read() == Found(b"one")
    assert file.replace(b"two")
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"two", 0o640)
    assert file.replace(b"three")
    assert [each.name for each in path.parent.iterdir()] == ["plan.md"]


@pytest.mark.parametrize("rename", [True, False])
def test_a_save_after_the_read_stays_though_its_size_and_times_are_the_same(
    path: Path,
    rename: bool,  # noqa: FBT001 - parametrized
) -> None:
    path.write_bytes(b"one")
    file = PlanFile(path)
    file.read()
    times = path.stat()
    if rename:
        path.with_suffix(".new").write_bytes(b"two")
        path.with_suffix(".new").replace(path)
    else:
        path.write_bytes(b"two")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert not file.replace(b"ours")
    assert path.read_bytes() == b"two"
    assert file.read() == Found(b"two")
    assert file.replace(b"ours")


def test_a_save_after_our_own_write_stays_too(path: Path) -> None:
    file = PlanFile(path)
    assert file.replace(b"ours")
    path.write_bytes(b"them")
    assert not file.replace(b"more")
    assert path.read_bytes() == b"them"


def test_a_file_that_appears_where_none_was_stays(path: Path) -> None:
    file = PlanFile(path)
    assert file.read() == Found()
    path.write_bytes(b"new")
    assert not file.replace(b"ours")
    path.unlink()
    assert file.replace(b"ours")


def test_a_file_that_was_deleted_comes_back(path: Path) -> None:
    file = PlanFile(path)
    file.replace(b"ours")
    path.unlink()
    assert file.replace(b"ours")
    assert path.read_bytes() == b"ours"


def test_what_cannot_be_read_is_never_replaced_before_it_was_moved(path: Path) -> None:
    path.mkdir()
    file = PlanFile(path)
    assert file.read().problem == "is a folder"
    assert not file.replace(b"ours")
    file.move(path.with_name("kept"))
    assert file.replace(b"ours")
    assert path.with_name("kept").is_dir()


def test_a_file_that_is_written_all_the_time_is_left_for_later(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.write_bytes(b"0")
    saves = itertools.count(1)
    monkeypatch.setattr("time.time", lambda: path.stat().st_mtime_ns / 1e9)  # each save was an instant ago
    monkeypatch.setattr("time.sleep", lambda _: path.write_bytes(b"x" * next(saves)))  # and the next one follows
    file = PlanFile(path)
    assert file.read() == Found(busy=True)
    assert not file.replace(b"ours")
    assert next(saves) < 20
    monkeypatch.undo()
    assert file.read().data == path.read_bytes()
    assert file.replace(b"ours")


def test_a_stamp_tells_when_the_file_is_not_as_it_was_left(path: Path) -> None:
    file = PlanFile(path)
    file.replace(b"ours")
    assert file.stamp() == file.left
    path.write_bytes(b"theirs")
    assert file.stamp() != file.left
    file.read()
    assert file.stamp() == file.left
