"""Locks of git: a run that was killed inside of git is resumed without hands, and no lock rejects good work."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.project import Project, code, part, plan, until

from swarmgate.domain.events import event as ev
from swarmgate.domain.progress import Progress
from swarmgate.engine import Swarm
from swarmgate.workspace.git import locks

pytestmark = pytest.mark.suite("unittest")

PART = "src/calc/part_1.1.py"
INDEX = ("index.lock",)
HEAD = ("HEAD.lock", "refs/heads/swarm/parts.lock")


def git_on_path(project: Project, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """A program `git` that comes before the real one, as wrappers do."""
    folder = project.root.parent / "bin"
    folder.mkdir(exist_ok=True)
    (folder / "git").write_text(f'#!/bin/sh\n{script}\nexec {shutil.which("git")} "$@"\n')
    (folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def dying(project: Project, verb: str, left: tuple[str, ...], *, killed: str) -> str:
    """A script that is killed, once, where real git has its locks and has renamed none of them."""
    mark, folder = project.root.parent / "once", project.root / ".git"
    made = "; ".join(f"mkdir -p $(dirname {folder / name}); : > {folder / name}" for name in left)
    once = f"test -e {mark} || {{ : > {mark}; {made}; kill -9 {killed}; }}"
    return f'case " $* " in *" {verb} "*) test -n "$GIT_INDEX_FILE" && test {verb} != commit || {{ {once}; }};; esac'


def finished(project: Project, *tasks: str) -> None:
    assert [event.task for event in project.events(ev.TaskCompleted)] == list(tasks)
    assert not project.events(ev.AttemptRejected)
    assert not list((project.root / ".git").rglob("*.lock"))
    assert not (project.root / locks.RECORD).exists()
    assert project.git("status", "--porcelain", "--", ".", ":!.swarm") == ""
    assert project.json("verify")["passed"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("verb", "left"),
    [
        ("switch", HEAD),
        ("commit", HEAD),
        ("commit", (*HEAD, "packed-refs.lock")),
        ("update-index", INDEX),
    ],
)
def test_killed_in_the_middle_of_git_the_next_run_goes_on_by_itself(
    project: Project, monkeypatch: pytest.MonkeyPatch, verb: str, left: tuple[str, ...]
) -> None:
    project.planned()
    git_on_path(project, monkeypatch, dying(project, verb, left, killed="$PPID $$"))
    process = project.start("run")
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    assert all((project.root / ".git" / name).exists() for name in left)
    told = project.swarm("run", exits=3).stderr
    assert "was killed in the middle; removed the locks that it left" in told
    (removed,) = project.events(ev.LocksRemoved)
    assert sorted(removed.locks) == sorted(str(project.root / ".git" / name) for name in left)
    assert len(project.state.task("1.1").attempts) == 1
    finished(project, "1.1")


@pytest.mark.slow
@pytest.mark.parametrize(("verb", "left"), [("commit", HEAD), ("update-index", INDEX)])
def test_where_git_alone_is_killed_its_locks_go_and_nothing_is_rejected(
    project: Project, monkeypatch: pytest.MonkeyPatch, verb: str, left: tuple[str, ...]
) -> None:
    project.planned()
    git_on_path(project, monkeypatch, dying(project, verb, left, killed="$$"))
    assert "was ended by signal 9" in project.swarm("run", exits=2).stderr
    assert not [name for name in left if (project.root / ".git" / name).exists()]
    project.swarm("run", exits=3)
    assert len(project.events(ev.LocksRemoved)) == 1
    finished(project, "1.1")


@contextmanager
def blocked_at_its_reference(project: Project) -> Iterator[Path]:
    """Real git stops at its commit, with locks of HEAD and branch: its log of HEAD is a pipe without a reader."""
    log = project.root / ".git/logs/HEAD"
    kept = log.with_name("HEAD.kept")
    project.hook("pre-commit", f"test -e {kept} || {{ mv {log} {kept}; mkfifo {log}; }}")
    yield log
    log.unlink()
    kept.rename(log)


def blocked(project: Project) -> bool:
    """Whether git stands there now; it had the branch's lock for a moment when it made the branch, too."""
    return (project.root / ".git/logs/HEAD").is_fifo() and (project.root / ".git/refs/heads/swarm/parts.lock").exists()


@pytest.mark.slow
def test_real_git_is_killed_with_the_run_while_it_holds_its_locks(project: Project) -> None:
    project.planned()
    with blocked_at_its_reference(project):
        process = project.start("run")
        until(lambda: blocked(project), 60)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    (project.root / ".git/hooks/pre-commit").unlink()
    project.swarm("run", exits=3)
    (removed,) = project.events(ev.LocksRemoved)
    assert removed.command == "commit"
    finished(project, "1.1")


@pytest.mark.slow
def test_git_that_outlives_its_run_commits_nothing_twice(project: Project) -> None:
    """The next run waits for its end, or ends it, before it looks for the commit."""
    project.planned()
    with blocked_at_its_reference(project) as log:
        process = project.start("run")
        until(lambda: blocked(project), 60)
        process.kill()
        process.communicate()
        reader = threading.Timer(0.5, log.read_bytes)
        reader.start()
        project.swarm("run", exits=3)
        reader.join()
    assert project.git("rev-list", "--count", "main..HEAD") == "1"
    finished(project, "1.1")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["index.lock", "HEAD.lock", "refs/heads/swarm/parts.lock"])
def test_a_lock_that_somebody_left_pauses_the_run_and_says_how_to_go_on(
    project: Project, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(locks, "WAIT_S", 0.2)
    project.planned()
    lock = project.root / ".git" / name
    project.hook("pre-commit", f"test -e .git/once || {{ : > .git/once; : > {lock}; }}")
    if name == "index.lock":  # the commit itself needs it for what follows it only
        project.hook("post-commit", f"test -e .git/twice || {{ : > .git/twice; : > {lock}; }}")
    told = project.swarm("run", exits=2).stderr
    assert f"rm '{lock}'; then: swarm run" in " ".join(told.split())
    assert lock.exists()  # nobody else's is touched
    assert not project.events(ev.AttemptRejected)
    project.swarm("run", exits=2)
    lock.unlink()
    project.swarm("run", exits=3)
    assert len(project.state.task("1.1").attempts) == 1
    finished(project, "1.1")


@pytest.mark.slow
def test_a_lock_that_somebody_holds_is_waited_for(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "WAIT_S", 60.0)  # it is given back once the user was told
    project.planned()
    lock = project.root / ".git/index.lock"
    lock.touch()

    def listen(progress: Progress) -> None:
        if "for another git command, which holds" in progress.text:
            lock.unlink()

    asyncio.run(Swarm(project.root, listener=listen).run())
    finished(project, "1.1")


@pytest.mark.slow
def test_a_user_at_the_editor_of_a_commit_is_waited_for_and_named(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locks, "WAIT_S", 0.3)
    project.planned()
    gate = project.root.parent / "gate"
    os.mkfifo(gate)
    project.write("README.md", "mine\n")
    project.git("add", "README.md")
    editor = {**os.environ, "GIT_EDITOR": f"sh -c 'cat {gate} > \"$1\"' -"}
    commit = ["git", "commit", "--quiet", "README.md"]
    process = subprocess.Popen(commit, cwd=project.root, text=True, env=editor, start_new_session=True)
    project.processes.append(process)
    try:
        until((project.root / ".git/index.lock").exists)
        told = project.swarm("run", "--stash", exits=2).stderr
        assert f"(pid {process.pid}) is at work here" in " ".join(told.split())
        gate.write_text("By the user\n")
        assert process.wait(20) == 0
    finally:
        with contextlib.suppress(ProcessLookupError):  # the editor, too
            os.killpg(process.pid, signal.SIGKILL)
    project.swarm("run", exits=3)
    assert project.git("log", "--format=%s").splitlines() == ["Part 1.1", "By the user", "Start"]
    finished(project, "1.1")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "value"), [("gpg.program", "false"), ("core.editor", "true")], ids=["signing fails", "twin"]
)
def test_what_git_itself_cannot_do_is_no_refusal_by_a_hook(project: Project, key: str, value: str) -> None:
    project.planned()
    project.git("config", key, value)
    project.git("config", "commit.gpgsign", str(key == "gpg.program").lower())
    project.swarm("run", exits=2 if key == "gpg.program" else 3)
    project.git("config", "commit.gpgsign", "false")
    project.swarm("run", exits=3)
    assert len(project.state.task("1.1").attempts) == 1
    finished(project, "1.1")


@pytest.mark.slow
def test_a_hook_that_refuses_still_rejects(project: Project) -> None:
    project.hook("pre-commit", f"grep -q safe {PART} || {{ echo 'no safe part'; exit 1; }}")
    project.planned(plan("1.1"), code({PART: part("safe")}, attempt="2"))
    project.swarm("run", exits=3)
    first, second = project.state.task("1.1").attempts
    assert (first.stage, second.outcome) == ("commit", "COMPLETE")
