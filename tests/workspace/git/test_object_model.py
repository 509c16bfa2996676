"""Walks over commits by GitPython: the same as git's own in every kind of repository, and nothing planted runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from git.exc import GitCommandError

from swarmgate.errors import MissingRequirement, WorkspaceError
from swarmgate.workspace.git import growing_log, object_model
from swarmgate.workspace.git.driver import Driver
from swarmgate.workspace.git.object_model import Walked, walk

if TYPE_CHECKING:
    from collections.abc import Callable

    Git = Callable[..., str]


def commit(repo: Path, *options: str, message: bytes = b"Message\n\nbody\n") -> None:
    command = ["git", *options, "commit", "--quiet", "--allow-empty", "--cleanup=verbatim", "--allow-empty-message"]
    subprocess.run([*command, "--file=-"], cwd=repo, input=message, check=True)


def ids(repo: Path, git: Git, *options: str) -> list[str]:
    return git(repo, "rev-list", *options, "HEAD").split()


def by_git_itself(repo: Path) -> tuple[Walked, ...]:
    return object_model._by_log(Driver(repo), ["HEAD"], 0, parents_first=False)


def asked(repo: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[tuple[Walked, ...], set[str]]:
    """What a walk gives, and the commands of git that it takes."""
    trace = repo.parent / "trace"
    with monkeypatch.context() as patch:
        patch.setenv("GIT_TRACE", str(trace))
        found = walk(Driver(repo), ["HEAD"])
    lines = trace.read_text().splitlines() if trace.exists() else []
    names = {line.partition("built-in: git ")[2].partition(" ")[0] for line in lines if "built-in: git " in line}
    return found, names - {"version"}  # what GitPython asks when it is imported


def plain(repo: Path, git: Git) -> Path:
    commit(repo, message="Grüße\n\nSwarm-Task: 1.1\n".encode())
    return repo


def merged(repo: Path, git: Git) -> Path:
    git(repo, "switch", "--quiet", "--create", "side", "HEAD")
    commit(repo)
    git(repo, "switch", "--quiet", "main")
    commit(repo)
    git(repo, "merge", "--quiet", "--no-ff", "--message=Both", "side")
    return repo


def packed(repo: Path, git: Git) -> Path:
    commit(repo)
    git(repo, "gc", "--quiet")
    git(repo, "pack-refs", "--all")
    return repo


def linked(repo: Path, git: Git) -> Path:
    place = repo.parent / "linked"
    git(repo, "worktree", "add", "--quiet", "-b", "linked", str(place))
    commit(place)
    return place


def partial(repo: Path, git: Git) -> Path:
    commit(repo)
    git(repo, "config", "uploadpack.allowFilter", "true")
    place = repo.parent / "partial"
    git(repo, "clone", "--quiet", "--filter=tree:0", "--no-checkout", repo.as_uri(), str(place))
    return place


def latin(repo: Path, git: Git) -> Path:
    commit(repo, "-c", "i18n.commitEncoding=ISO-8859-1", message=b"Gr\xfc\xdfe\n")
    return repo


def not_utf_8(repo: Path, git: Git) -> Path:
    commit(repo, message=b"Gr\xfc\xdfe\n")
    return repo


def silent(repo: Path, git: Git) -> Path:
    commit(repo, message=b"")
    commit(repo)
    return repo


def unknown_encoding(repo: Path, git: Git) -> Path:
    commit(repo, "-c", "i18n.commitEncoding=KLINGON-1", message=b"Message\n")
    return repo


def no_time(repo: Path, git: Git) -> Path:
    text = f"tree {git(repo, 'rev-parse', 'HEAD^{tree}')}\nauthor Ada <a@b> once\ncommitter Ada <a@b> once\n\nMessage\n"
    command = ["git", "hash-object", "-t", "commit", "-w", "--stdin", "--literally"]
    made = subprocess.run(command, cwd=repo, input=text, capture_output=True, text=True, check=True)
    git(repo, "update-ref", "HEAD", made.stdout.strip())
    return repo


@pytest.mark.parametrize("made", [no_time, plain, merged, packed, linked, partial, not_utf_8, silent, unknown_encoding])
def test_a_walk_gives_what_git_says_without_asking_its_log(
    repo: Path, git: Git, made: Callable[[Path, Git], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    place = made(repo, git)
    found, commands = asked(place, monkeypatch)
    assert found == by_git_itself(place)
    assert [each.commit for each in found] == ids(place, git)
    assert commands == {"rev-list", "cat-file"}


def test_another_encoding_than_utf_8_spoils_the_message_and_nothing_else(repo: Path, git: Git) -> None:
    """What the table of docs/architecture.md says of GitPython: no message of anybody else's is read by walks."""
    (found, *_), (same, *_) = walk(Driver(latin(repo, git)), ["HEAD"]), by_git_itself(repo)
    assert (found.message, same.message) == ("Gr\ufffd\ufffde", "Grüße")
    assert found._replace(message="") == same._replace(message="")


def sha256(repo: Path, git: Git) -> Path:
    place = repo.parent / "sha256"
    git(repo, "init", "--quiet", "--object-format=sha256", str(place))
    commit(place)
    commit(place, message=b"")
    return place


def test_what_gitpython_cannot_read_git_reads_itself(repo: Path, git: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    place = sha256(repo, git)
    found, commands = asked(place, monkeypatch)
    assert "log" in commands
    assert [each.commit for each in found] == ids(place, git)
    assert [each.tree for each in found] == git(place, "log", "--format=%T").split()
    assert [each.message for each in found] == ["", "Message\n\nbody"]


def test_a_shallow_clone_ends_where_it_ends(repo: Path, git: Git) -> None:
    commit(repo)
    commit(repo)
    place = repo.parent / "shallow"
    git(repo, "clone", "--quiet", "--depth=2", repo.as_uri(), str(place))
    found = walk(Driver(place), ["HEAD"], parents_first=True)
    assert [each.commit for each in found] == ids(place, git, "--reverse")
    assert len(found) == 2


def test_revisions_are_left_out_limited_and_ordered(repo: Path, git: Git) -> None:
    start = git(repo, "rev-parse", "HEAD")
    merged(repo, git)
    driver, wanted = Driver(repo), ids(repo, git, f"^{start}")
    assert [each.commit for each in walk(driver, ["HEAD", f"^{start}"])] == wanted
    assert [each.commit for each in walk(driver, [f"{start}..HEAD"], limit=2)] == wanted[:2]
    topological = ids(repo, git, "--topo-order", "--reverse")
    assert [each.commit for each in walk(driver, ["HEAD"], parents_first=True)] == topological


@pytest.mark.parametrize("revision", ["nonsense", "0" * 40, "--output=planted", "HEAD\nHEAD"])
def test_what_is_no_revision_is_an_error_of_ours(repo: Path, revision: str) -> None:
    with pytest.raises(WorkspaceError, match="git log failed"):
        walk(Driver(repo), [revision])
    assert not (repo / "planted").exists()


def damaged(repo: Path, name: str) -> None:
    place = repo / ".git/objects" / name[:2] / name[2:]
    place.chmod(0o600)
    place.write_bytes(b"no object")


def missing(repo: Path, name: str) -> None:
    (repo / ".git/objects" / name[:2] / name[2:]).unlink()


@pytest.mark.parametrize("harm", [damaged, missing])
def test_a_damaged_commit_is_an_error_that_says_what_to_do(
    repo: Path, git: Git, harm: Callable[[Path, str], None]
) -> None:
    harmed = git(repo, "rev-parse", "HEAD")
    commit(repo)
    harm(repo, harmed)
    with pytest.raises(WorkspaceError) as caught:
        walk(Driver(repo), ["HEAD"])
    assert "git fsck" in caught.value.hint


def test_housekeeping_in_the_middle_of_a_walk_loses_nothing(repo: Path, git: Git) -> None:
    for number in range(20):
        commit(repo, message=str(number).encode())
    with object_model.opened(Driver(repo)) as opened:
        commits = object_model._commits(opened, ["HEAD"], 0, parents_first=False)
        said = [next(commits).message]
        git(repo, "gc", "--quiet", "--prune=now")
        said += [each.message for each in commits]
    assert said == [*map(str, reversed(range(20))), "Start\n"]


def test_no_process_is_left_behind(repo: Path) -> None:
    with object_model.opened(Driver(repo)) as opened:
        assert opened.head.commit.message == "Start\n"
        command = opened.git.cat_file_all
        assert command is not None
        process = command.proc
        assert process.poll() is None
    assert process.poll() is not None


def test_what_the_object_model_starts_runs_no_hook_and_no_program_of_settings_and_reaches_nobody(
    repo: Path, tmp_path: Path, git: Git
) -> None:
    program, ran = tmp_path / "program", tmp_path / "ran"
    program.write_text(f"#!/bin/sh\necho ran >> {ran}\nexit 1\n")
    program.chmod(0o755)
    for key in ("core.fsmonitor", "core.sshCommand", "core.askPass", "credential.helper", "core.pager"):
        git(repo, "config", key, str(program))
    (repo / ".git/hooks").mkdir(exist_ok=True)
    (repo / ".git/hooks/reference-transaction").symlink_to(program)
    git(repo, "remote", "add", "origin", "ssh://git@127.0.0.1:9/x.git")
    git(repo, "remote", "add", "local", repo.as_uri())
    with object_model.opened(Driver(repo)) as opened:
        assert opened.git.status("--porcelain") == ""
        opened.git.update_ref("refs/swarm/here", "HEAD")
        for remote in opened.remotes:
            with pytest.raises(GitCommandError, match="not allowed"):
                remote.fetch()
    assert not ran.exists()
    assert git(repo, "rev-parse", "refs/swarm/here") == git(repo, "rev-parse", "HEAD")
    subprocess.run(["git", "update-ref", "refs/swarm/there", "HEAD"], cwd=repo, capture_output=True, check=False)
    assert ran.exists(), "the plants are alive"


@pytest.mark.parametrize("key", ["protocol.ext.allow", "protocol.allow"])
def test_a_commit_that_is_missing_is_fetched_by_no_program_of_settings(
    repo: Path, tmp_path: Path, git: Git, key: str
) -> None:
    program, ran = tmp_path / "program", tmp_path / "ran"
    program.write_text(f"#!/bin/sh\necho ran >> {ran}\nexit 1\n")
    program.chmod(0o755)
    commit(repo)
    lost = git(repo, "rev-parse", "HEAD~1")
    (repo / ".git/objects" / lost[:2] / lost[2:]).unlink()
    settings = {"extensions.partialClone": "far", "remote.far.url": f"ext::{program}", "remote.far.promisor": "true"}
    for name, value in {**settings, key: "always"}.items():
        git(repo, "config", name, value)
    with pytest.raises(WorkspaceError):
        walk(Driver(repo), ["HEAD"])
    assert not ran.exists()
    subprocess.run(["git", "log"], cwd=repo, capture_output=True, check=False)
    assert ran.exists(), "the plants are alive"


def test_a_pipe_in_the_work_tree_keeps_nobody_waiting(repo: Path) -> None:
    os.mkfifo(repo / ".gitattributes")
    assert [each.message for each in walk(Driver(repo), ["HEAD"])] == ["Start"]


def test_a_machine_without_git_is_told_so_even_where_gitpython_would_raise(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("GIT_PYTHON_REFRESH", "raise")
    with pytest.raises(MissingRequirement, match="git was not found"):
        walk(Driver(repo), ["HEAD"])


def test_the_environment_is_as_it_was_and_a_git_that_it_names_is_not_started(repo: Path, tmp_path: Path) -> None:
    planted = tmp_path / "git"
    planted.write_text(f'#!/bin/sh\necho ran >> {tmp_path}/ran\nexec git "$@"\n')
    planted.chmod(0o755)
    code = (
        "import os, sys; from pathlib import Path; from swarmgate.workspace.git.driver import Driver\n"
        "from swarmgate.workspace.git.object_model import walk\n"
        "before = dict(os.environ); print(len(walk(Driver(Path.cwd()), ['HEAD']))); assert before == dict(os.environ)"
    )
    environ = {**os.environ, "GIT_PYTHON_GIT_EXECUTABLE": str(planted), "GIT_PYTHON_REFRESH": "error"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=repo, env=environ, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("1\n", "")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("form", ["sha1", "sha256"])
def test_a_growing_log_is_read_back_in_both_forms_of_repositories(repo: Path, git: Git, form: str) -> None:
    place = repo if form == "sha1" else sha256(repo, git)
    first = growing_log.add(place, "refs/swarm/ledger/x/1", b"one\n", message="One", parent="")
    second = growing_log.add(place, "refs/swarm/ledger/x/2", b"two\0\xff\n", message="Two\n\nbody", parent=first)
    found = growing_log.pieces(Driver(place), (second, first))
    assert found == (
        growing_log.Piece(first, "One", (), b"one\n"),
        growing_log.Piece(second, "Two\n\nbody", (first,), b"two\0\xff\n"),
    )
