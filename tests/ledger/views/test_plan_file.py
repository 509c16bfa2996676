"""A plan file and the editors that write it at the same time."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from swarmgate.automation.watch import file_watch
from swarmgate.ledger.views.plan_file import Found, PlanFile


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


def _during_the_write(monkeypatch: pytest.MonkeyPatch, save: Callable[[], object]) -> None:
    """The user saves while our new content goes to the disk."""

    def slowly(path: Path, data: bytes, *, durable: bool) -> None:
        del durable
        path.write_bytes(data)
        save()

    monkeypatch.setattr("swarmgate.ledger.views.plan_file.replace", slowly)


def test_a_save_while_ours_is_being_written_stays(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.write_bytes(b"one")
    file = PlanFile(path)
    file.read()
    _during_the_write(monkeypatch, lambda: path.write_bytes(b"two"))
    assert not file.replace(b"ours")
    assert path.read_bytes() == b"two"
    assert [each.name for each in path.parent.iterdir()] == ["plan.md"]


def test_a_save_is_seen_before_anything_is_written_beside_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.write_bytes(b"one")
    file = PlanFile(path)
    file.read()
    path.write_bytes(b"two")
    _during_the_write(monkeypatch, lambda: pytest.fail("it was not looked at first"))
    assert not file.replace(b"ours")
    path.write_bytes(b"one")
    path.write_bytes(b"two")
    assert not file.replace(b"one")  # what was seen is what is to be written; yet something else stands there


def test_what_was_too_big_to_read_stays_when_it_is_small_again(path: Path) -> None:
    path.write_bytes(b"x" * 20)
    file = PlanFile(path)
    assert "too big" in file.read(most=10).problem
    path.unlink()
    assert not file.replace(b"ours")  # somebody is at it: it is looked at again first
    assert file.read() == Found()
    assert file.replace(b"ours")


linux = pytest.mark.skipif(sys.platform != "linux", reason="leases are Linux's")


@linux
@pytest.mark.parametrize("mode", ["r+b", "ab"])
def test_who_has_it_open_for_writing_is_not_done(path: Path, mode: str) -> None:
    path.write_bytes(b"one")
    file = PlanFile(path)
    with path.open("rb"):  # who reads disturbs nobody
        assert file.read() == Found(b"one")
    with path.open(mode) as writer:
        os.utime(path, (1, 1))  # however long it rests
        assert file.being_written()
        assert file.read() == Found(busy=True)
        assert not file.replace(b"ours")
        assert not PlanFile(path).replace(b"ours")  # nor by one that never looked
        assert path.stat().st_ino == os.fstat(writer.fileno()).st_ino
    assert file.read() == Found(b"one")
    assert file.replace(b"ours")


@linux
def test_a_writer_that_opens_it_while_ours_is_written_keeps_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.write_bytes(b"one")
    file = PlanFile(path)
    file.read()
    opened = []
    _during_the_write(monkeypatch, lambda: opened.append(path.open("ab")))
    assert not file.replace(b"ours")
    opened[0].close()


@linux
def test_looking_neither_hinders_nor_kills_anybody(path: Path) -> None:
    """A process that looks all the time, with the signal of a broken lease as it is by default, and one that saves."""
    path.write_bytes(b"0")
    code = "import sys; from pathlib import Path; from swarmgate.ledger.views.plan_file import PlanFile\n"
    code += "file = PlanFile(Path(sys.argv[1])); print('ready', flush=True)\nwhile True: file.being_written()\n"
    looking = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE)
    try:
        assert looking.stdout is not None
        looking.stdout.readline()
        began = time.monotonic()
        for number in range(2_000):
            path.write_bytes(b"%d" % number)
        assert time.monotonic() - began < 10.0
        assert looking.poll() is None
    finally:
        looking.kill()
        looking.communicate()


@linux
def test_a_writer_that_pauses_is_waited_for_though_the_file_rests(path: Path) -> None:
    path.write_bytes(b"old")
    file = PlanFile(path)
    file.read()

    def write() -> None:
        with path.open("wb", buffering=0) as writer:
            writer.write(b"half")
            opened.set()
            time.sleep(0.3)
            writer.write(b" and half")

    opened = threading.Event()
    thread = threading.Thread(target=write)
    thread.start()
    opened.wait()
    busy = 0
    while (found := file.read()).busy:
        assert not file.replace(b"ours")
        busy += 1
        time.sleep(0.02)
    thread.join()
    assert busy > 1
    assert found == Found(b"half and half")


def test_a_save_in_place_of_the_same_size_and_time_has_another_stamp(path: Path) -> None:
    path.write_bytes(b"one")
    file, watch = PlanFile(path), [file_watch._stamp(path)]
    file.read()
    times = path.stat()
    time.sleep(0.02)
    with path.open("r+b") as writer:
        writer.write(b"two")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert file.stamp() != file.left
    assert file_watch._stamp(path) not in watch
