"""Notes of several machines meet on one remote, and none is lost."""

from __future__ import annotations

import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from swarmgate.errors import RemoteAway
from swarmgate.workspace.git.hosting.shared_notes import share
from swarmgate.workspace.git.repository import Repository

pytestmark = pytest.mark.slow

REF = "refs/notes/told"
MACHINES = 4


def git(folder: Path, *args: str) -> str:
    done = subprocess.run(["git", *args], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def remote(repo: Path, tmp_path: Path) -> Path:
    """A bare remote with a commit for each machine, and one more."""
    for number in range(MACHINES):
        git(repo, "commit", "--quiet", "--allow-empty", "-m", f"Commit {number}")
    place = tmp_path / "bare.git"
    git(repo, "clone", "--quiet", "--bare", str(repo), str(place))
    return place


def machine(remote: Path, name: str) -> Repository:
    place = remote.parent / name
    git(remote, "clone", "--quiet", str(remote), str(place))
    return Repository.discover(place)


def test_machines_that_share_at_the_same_moment_lose_no_note(remote: Path) -> None:
    machines = [machine(remote, f"m{number}") for number in range(MACHINES)]
    commits = git(remote, "log", "--format=%H").splitlines()
    for number, each in enumerate(machines):
        each.write_note(REF, commits[number], f"of {number}\n")
        each.write_note(REF, commits[-1], "said by all\n")
    with ThreadPoolExecutor() as threads:
        assert all(threads.map(lambda each: share(each, str(remote), REF), machines))
    told = {commits[number]: f"of {number}\n" for number in range(MACHINES)} | {commits[-1]: "said by all\n"}
    late = machine(remote, "late")
    late.write_note(REF, commits[-1], "said by all\n")
    assert not share(late, str(remote), REF)
    for each in (late, *machines):
        share(each, str(remote), REF)
        assert dict(each.notes(REF)) == told


def test_of_two_notes_of_one_commit_the_own_stays_and_the_other_is_in_the_history(remote: Path) -> None:
    ours, theirs = machine(remote, "ours"), machine(remote, "theirs")
    head = git(remote, "rev-parse", "HEAD")
    for each, text in ((theirs, "theirs\n"), (ours, "ours\n")):
        each.write_note(REF, head, text)
        assert share(each, str(remote), REF)
    assert ours.notes(REF)[head] == "ours\n"
    history = git(remote, "log", "--format=", "-p", REF)
    assert "+theirs" in history
    assert "+ours" in history


def test_where_there_are_none_nothing_is_asked_and_a_remote_out_of_reach_is_told(remote: Path) -> None:
    own = machine(remote, "own")
    assert not share(own, str(remote.parent / "nowhere"), REF)
    own.write_note(REF, git(remote, "rev-parse", "HEAD"), "text")
    with pytest.raises(RemoteAway):
        share(own, str(remote.parent / "nowhere"), REF)
