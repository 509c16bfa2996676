"""Commits: exactly the change, with the user's hooks and identity, undone and found again."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from swarmgate.errors import CommitRefused, GitLocked, HeadMoved, WorkspaceError
from swarmgate.workspace.git import locks
from swarmgate.workspace.git.commits import Commit
from swarmgate.workspace.git.repository import Repository

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from swarmgate.domain.review.change import ChangeSet

    Git = Callable[..., str]

TRAILERS = [("Swarm-Task", "1.2"), ("Swarm-Attempts", "2"), ("Swarm-Ledger", "42 abc")]


def changed(repository: Repository) -> ChangeSet:
    return repository.changes(repository.head_tree(), repository.snapshot())


def hook(repo: Path, name: str, body: str) -> None:
    path = repo / ".git/hooks" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def test_only_the_change_is_committed_and_what_else_was_staged_or_edited_stays(repo: Path, git: Git) -> None:
    repository = Repository.discover(repo)
    (repo / "src/app.py").rename(repo / "src/renamed.py")
    (repo / "new.py").write_text("n = 1\n")
    change = changed(repository)
    (repo / "README.md").write_text("edited later\n")
    (repo / "staged.txt").write_text("staged by the user\n")
    git(repo, "add", "staged.txt")
    parent = repository.head()
    made = repository.commit(change, "Add new\n\nWhy it is needed.\n", TRAILERS)
    assert made == Commit(id=repository.head(), tree=change.tree, parent=parent)
    assert git(repo, "status", "--porcelain").splitlines() == [" M README.md", "A  staged.txt"] or (
        git(repo, "status", "--porcelain").splitlines() == ["A  staged.txt", " M README.md"]
    )
    assert git(repo, "show", "-s", "--format=%B").strip() == (
        "Add new\n\nWhy it is needed.\n\nSwarm-Task: 1.2\nSwarm-Attempts: 2\nSwarm-Ledger: 42 abc"
    )
    assert git(repo, "show", "-s", "--format=%an <%ae>") == "Ada Tester <ada@example.test>"


def test_what_is_committed_is_what_passed_even_if_the_file_changed_since(repo: Path, git: Git) -> None:
    repository = Repository.discover(repo)
    (repo / "src/app.py").write_text("passed\n")
    change = changed(repository)
    (repo / "src/app.py").write_text("changed since\n")
    assert repository.commit(change, "Message", TRAILERS).tree == change.tree
    assert git(repo, "show", "HEAD:src/app.py") == "passed"
    assert repository.dirty() == ("src/app.py",)


def test_a_file_that_became_a_folder_and_one_that_is_ignored_now(repo: Path, git: Git) -> None:
    repository = Repository.discover(repo)
    (repo / "README.md").unlink()
    (repo / "README.md").mkdir()
    (repo / "README.md/inner").write_text("x\n")
    (repo / "data.log").write_text("x\n")
    change = changed(repository)
    (repo / ".gitignore").write_text("*.log\n")
    assert repository.commit(change, "Message", TRAILERS).tree == change.tree
    assert git(repo, "status", "--porcelain") == "?? .gitignore"


def test_hooks_run_and_may_change_the_message(repo: Path, git: Git) -> None:
    hook(repo, "pre-commit", "git diff --cached --name-only > .git/seen")
    hook(repo, "commit-msg", 'echo "Reviewed-by: hook" >> "$1"')
    repository = Repository.discover(repo)
    (repo / "new.py").write_text("n = 1\n")
    repository.commit(changed(repository), "Message", TRAILERS)
    assert (repo / ".git/seen").read_text() == "new.py\n"
    assert "Reviewed-by: hook" in git(repo, "show", "-s", "--format=%B")
    assert repository.find_commit({"Reviewed-by": "hook"}, since="HEAD~1") is not None


def test_a_hook_that_changes_a_file_shows_in_the_tree(repo: Path, git: Git) -> None:
    hook(repo, "pre-commit", "echo '# formatted' >> new.py; git add new.py")
    repository = Repository.discover(repo)
    (repo / "new.py").write_text("n = 1\n")
    change = changed(repository)
    made = repository.commit(change, "Message", TRAILERS)
    assert made.tree != change.tree
    assert repository.read(made.tree, "new.py") == b"n = 1\n# formatted\n"
    assert git(repo, "status", "--porcelain") == ""


def test_a_refusing_hook_leaves_nothing_staged_and_its_output_is_kept(repo: Path, git: Git) -> None:
    hook(repo, "pre-commit", "echo checking; echo 'line too long: new.py:1' >&2; exit 1")
    repository = Repository.discover(repo)
    (repo / "new.py").write_text("n = 1\n")
    head = repository.head()
    with pytest.raises(CommitRefused, match=r"line too long: new\.py:1") as caught:
        repository.commit(changed(repository), "Message", TRAILERS)
    assert "checking" in caught.value.output
    assert repository.head() == head
    assert git(repo, "status", "--porcelain") == "?? new.py"
    assert (repo / "new.py").read_text() == "n = 1\n"


def test_no_identity_names_the_two_commands(repo: Path, git: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    for role in ("AUTHOR", "COMMITTER"):
        for key in ("NAME", "EMAIL"):
            monkeypatch.delenv(f"GIT_{role}_{key}")
    git(repo, "config", "--unset", "user.name")
    git(repo, "config", "--unset", "user.email")
    git(repo, "config", "user.useConfigOnly", "true")
    repository = Repository.discover(repo)
    (repo / "new.py").write_text("n = 1\n")
    with pytest.raises(WorkspaceError, match="who commits") as caught:
        repository.commit(changed(repository), "Message", TRAILERS)
    assert "user.name" in caught.value.hint
    assert "user.email" in caught.value.hint


def test_an_empty_change_and_a_locked_index_are_refused(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "WAIT_S", 0.1)
    repository = Repository.discover(repo)
    with pytest.raises(WorkspaceError, match="nothing to commit"):
        repository.commit(changed(repository), "Message", TRAILERS)
    (repo / "new.py").write_text("n = 1\n")
    change = changed(repository)
    (repo / ".git/index.lock").write_text("")
    with pytest.raises(GitLocked, match=r"index\.lock stands") as caught:
        repository.commit(change, "Message", TRAILERS)
    assert f"rm '{repo / '.git/index.lock'}'" in caught.value.hint


def test_a_commit_that_is_set_aside_keeps_a_name_and_its_files_and_any_but_the_newest_is_refused(
    repo: Path, git: Git
) -> None:
    repository = Repository.discover(repo)
    (repo / "new.py").write_text("n = 1\n")
    (repo / "src/app.py").unlink()
    before = repository.head()
    status = git(repo, "status", "--porcelain")
    made = repository.commit(changed(repository), "Message", TRAILERS)
    kept = repository.set_aside(made, made.parent)
    assert repository.head() == before
    assert git(repo, "rev-parse", kept) == made.id
    assert git(repo, "status", "--porcelain") == status
    assert repository.branch() == "main"
    with pytest.raises(HeadMoved, match="not the newest"):
        repository.set_aside(made, made.parent)


def test_commits_are_found_by_their_trailers(repo: Path, git: Git) -> None:
    repository = Repository.discover(repo)
    start = repository.head()
    for task in ("1.1", "1.2"):
        (repo / f"t{task}.py").write_text("x\n")
        repository.commit(
            changed(repository), "Swarm-Task: not a trailer here", [("Swarm-Task", task), ("Swarm-Ledger", f"{task} h")]
        )
    git(repo, "commit", "--quiet", "--allow-empty", "-m", "Swarm-Task: 9.9\n\nonly talks about it")
    found = repository.task_commits(start)
    assert [commit.trailers["Swarm-Task"] for commit in found] == ["1.1", "1.2"]
    assert found[1].parent == found[0].id
    assert repository.task_commits() == found
    newest = repository.find_commit({"Swarm-Task": "1.2", "Swarm-Ledger": "1.2 h"}, since=start)
    assert newest is not None
    assert newest.id == found[1].id
    assert repository.find_commit({"Swarm-Task": "1.1"}, since=found[0].id) is None
    with pytest.raises(WorkspaceError, match="git log failed"):
        repository.task_commits("nonsense")


def test_trailers_are_read_in_sha_256_and_beside_a_message_that_is_no_utf_8(repo: Path, git: Git) -> None:
    place = repo.parent / "sha256"
    git(repo, "init", "--quiet", "--object-format=sha256", "--initial-branch=main", str(place))
    git(place, "commit", "--quiet", "--allow-empty", "--message=Start")
    repository = Repository.discover(place)
    (place / "new.py").write_text("n = 1\n")
    made = repository.commit(changed(repository), "Message", TRAILERS)
    message = b"Gr\xfc\xdfe\n\nSwarm-Task: 1.2\n"
    subprocess.run(["git", "commit", "--quiet", "--allow-empty", "--file=-"], cwd=place, input=message, check=True)
    found = repository.task_commits()
    assert (len(made.id), found[0].id) == (64, made.id)
    assert found[1].trailers == {"Swarm-Task": "1.2"}
