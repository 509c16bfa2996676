"""Locks that a dead run of ours left: removed once nobody can hold them, and known until then."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.project import until

from swarmgate.errors import GitKilled, GitLocked
from swarmgate.workspace.git import locks
from swarmgate.workspace.git.repository import Repository
from swarmgate.workspace.process import identity


@pytest.fixture
def project(repo: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    (repo / ".swarm/runtime").mkdir(parents=True)
    monkeypatch.setattr(locks, "WAIT_S", 0.2)
    return Repository.discover(repo)


def died(project: Repository) -> Path:
    """A record of a process that is gone, and the lock of HEAD, which it left."""
    script = "from swarmgate.workspace.process import identity; print(identity.own())"
    gone = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout.strip()
    (project.root / locks.RECORD).write_text(f'{{"process":"{gone}","since":0,"command":"commit"}}')
    lock = project.git_dir / "HEAD.lock"
    lock.touch()
    return lock


@contextmanager
def at_work(project: Repository, *command: str) -> Iterator[None]:
    """A git command that waits for its input."""
    process = subprocess.Popen(["git", *command], cwd=project.root, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    try:
        until(lambda: b"git" in Path(f"/proc/{process.pid}/cmdline").read_bytes())
        yield
    finally:
        process.communicate()


def test_what_somebody_may_hold_stays_and_is_known_until_it_can_go(project: Repository) -> None:
    lock = died(project)
    with at_work(project, "update-index", "--stdin"), pytest.raises(GitLocked, match=r"\.lock stands") as told:
        project.locks.recover()
    assert "git update-index --stdin" in (told.value.hint or "")
    assert lock.exists()
    assert (project.root / locks.RECORD).exists()
    project.locks.recover()
    assert not lock.exists()
    assert not (project.root / locks.RECORD).exists()
    assert [each.locks for each in project.locks.drain()] == [(str(lock),)]


@pytest.mark.parametrize("command", [("rev-list", "--stdin"), ("check-ignore", "--stdin"), ("cat-file", "--batch")])
def test_what_only_reads_holds_no_lock(project: Repository, command: tuple[str, ...]) -> None:
    lock = died(project)
    with at_work(project, *command):
        project.locks.recover()
        assert not lock.exists()


def test_a_lock_of_a_killed_git_that_could_not_be_removed_is_the_next_run_s_to_remove(project: Repository) -> None:
    lock, record = project.git_dir / "HEAD.lock", project.root / locks.RECORD

    def killed() -> None:
        lock.touch()
        raise GitKilled("killed")

    with at_work(project, "update-index", "--stdin"), pytest.raises(GitKilled):
        project.locks.take("commit", killed)
    first = record.read_text()
    assert lock.exists()
    with pytest.raises(GitLocked):
        project.locks.take("update-ref", lambda: None, free=("HEAD.lock",))
    assert record.read_text() == first
    assert identity.own() in first
