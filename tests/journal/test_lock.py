from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from swarmgate.errors import LedgerLocked
from swarmgate.journal import lock as locking
from swarmgate.journal.lock import WriterLock, at_work, describe, forget_renamed, live_owner, read_owner
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger

HERE = os.uname().nodename
BOOT = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
_HOLD = """
import sys, time
from pathlib import Path
from swarmgate.journal.lock import WriterLock

WriterLock(Path(sys.argv[1])).acquire()
print("held", flush=True)
time.sleep(60)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runtime/lock"


@pytest.fixture
def holder(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lock."""
    process = subprocess.Popen([sys.executable, "-c", _HOLD, path], stdout=subprocess.PIPE, text=True)
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_a_second_process_is_refused_with_pid_and_host(path: Path, holder: subprocess.Popen[str]) -> None:
    with pytest.raises(LedgerLocked, match=f"Another swarm process is at work here: pid {holder.pid} on {HERE}"):
        WriterLock(path).acquire()
    assert live_owner(path) == {"pid": holder.pid, "host": HERE, "boot": BOOT}


def test_the_lock_of_a_killed_process_is_taken_over(path: Path, holder: subprocess.Popen[str]) -> None:
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert live_owner(path) == {}
    with WriterLock(path) as lock:
        assert lock.taken_over == f"pid {holder.pid} on {HERE}"
        assert read_owner(path) == {"pid": os.getpid(), "host": HERE, "boot": BOOT}


def test_a_lock_that_was_given_back_names_nobody(path: Path) -> None:
    with WriterLock(path) as first:
        assert first.taken_over == ""
    assert path.read_bytes() == b""
    with WriterLock(path) as second:
        assert second.taken_over == ""


def test_the_name_of_a_dead_owner_leaves_no_rest_behind_a_shorter_one(path: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"pid": 10**9, "host": HERE, "brief": True, "rest": "x" * 100}))
    with WriterLock(path):
        assert json.loads(path.read_text()) == {"pid": os.getpid(), "host": HERE, "boot": BOOT}


def test_a_lock_of_another_host_is_refused_with_the_file_to_remove(path: Path) -> None:
    path.parent.mkdir()
    path.write_text('{"pid": 7, "host": "elsewhere"}')
    with pytest.raises(LedgerLocked, match="pid 7 on elsewhere, on another host") as caught:
        WriterLock(path).acquire()
    assert str(path) in caught.value.hint
    assert json.loads(path.read_text()) == {"pid": 7, "host": "elsewhere"}


def test_a_dead_lock_of_this_host_under_another_name_is_taken_over(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"pid": 7, "host": "container-1", "boot": BOOT}))
    with WriterLock(path) as lock:
        assert lock.taken_over == "pid 7 on container-1"


def test_where_no_other_host_can_be_at_work_its_dead_lock_is_forgotten(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('{"pid": 7, "host": "elsewhere", "boot": "another"}')
    forget_renamed(path)
    with WriterLock(path):
        path.write_text('{"pid": 7, "host": "elsewhere", "boot": "another"}')  # as it would be where it lives
        forget_renamed(path)
        assert path.exists(), "somebody holds it"
    path.unlink()
    WriterLock(path).acquire()


@pytest.mark.parametrize("content", [b"", b"\xff", b"[]", b"{", b"null"])
def test_a_damaged_lock_file_locks_nobody_out(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    assert read_owner(path) == {}
    with WriterLock(path):
        assert read_owner(path)["pid"] == os.getpid()


def test_who_only_looks_for_an_instant_does_not_lock_a_writer_out(path: Path) -> None:
    path.parent.mkdir()
    path.touch()
    looking = os.open(path, os.O_RDONLY)
    fcntl.flock(looking, fcntl.LOCK_SH)
    done = threading.Timer(0.03, os.close, [looking])
    done.start()
    with WriterLock(path):
        done.join()
        assert live_owner(path)["pid"] == os.getpid()


def test_looking_for_the_owner_changes_nothing(path: Path) -> None:
    assert live_owner(path) == {}
    assert not path.exists()
    with WriterLock(path):
        before = path.read_bytes()
        assert live_owner(path)["pid"] == os.getpid()
        assert path.read_bytes() == before
    assert describe({}) == "pid ? on ?"


def test_the_lock_of_a_ledger_that_cannot_be_read_is_given_back(folder: SwarmFolder) -> None:
    folder.ledger.write_bytes(b"junk\n")
    for _ in range(2):
        with pytest.raises(Exception, match="line 1 does not match"):
            Ledger.write(folder)


@pytest.mark.slow
def test_an_owner_that_has_it_briefly_is_waited_for(path: Path) -> None:
    first = WriterLock(path, brief=True)
    first.acquire()
    threading.Timer(0.5, first.release).start()
    with WriterLock(path):
        assert read_owner(path) == {"pid": os.getpid(), "host": HERE, "boot": BOOT}


def test_an_owner_that_keeps_it_is_not(path: Path) -> None:
    with WriterLock(path), pytest.raises(LedgerLocked):
        WriterLock(path).acquire()


@pytest.mark.slow
def test_a_brief_owner_is_waited_for_also_while_the_lock_changes_hands(path: Path) -> None:
    """As a command that begins while a watcher makes passes over 5,000 tasks."""
    first = WriterLock(path, brief=True)
    first.acquire()
    names_nobody = threading.Timer(0.3, lambda: path.write_text(""))  # as between two owners
    free = threading.Timer(0.6, first.release)
    names_nobody.start()
    free.start()
    with WriterLock(path) as lock:
        assert read_owner(path) == {"pid": os.getpid(), "host": HERE, "boot": BOOT}
        assert lock.taken_over == ""
    names_nobody.join()
    free.join()


def test_a_brief_owner_that_stays_is_named_for_what_it_is(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locking, "_BRIEF_S", 0.3)
    with WriterLock(path, brief=True):
        with pytest.raises(LedgerLocked, match="Plan sync") as caught:
            WriterLock(path).acquire()
        assert "swarm stop" not in caught.value.hint
        assert live_owner(path)
        assert at_work(path) == {}


def test_the_file_says_what_its_owner_is(path: Path) -> None:
    with WriterLock(path, place="daemon"):
        assert live_owner(path) == at_work(path) == {"pid": os.getpid(), "host": HERE, "boot": BOOT, "place": "daemon"}
