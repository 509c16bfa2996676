"""Merge bases, the index as a tree, whole trees, and a tree set up elsewhere."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from swarmgate.domain.review.change import ChangeKind
from swarmgate.errors import WorkspaceError
from swarmgate.workspace.git import revisions
from swarmgate.workspace.git.repository import Repository

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Git = Callable[..., str]


def test_a_whole_tree_is_all_new_but_for_our_folder(repo: Path, git: Git) -> None:
    (repo / ".swarm").mkdir()
    (repo / ".swarm/config.toml").write_text("")
    (repo / "link").symlink_to("README.md")
    git(repo, "add", "--all", "--force")
    repository = Repository.discover(repo)
    nothing = revisions.empty_tree(repository)
    change = revisions.everything(nothing, git(repo, "write-tree"), repository)
    assert [(file.path, file.kind, file.new_mode) for file in change.files] == [
        ("README.md", ChangeKind.ADDED, "100644"), ("link", ChangeKind.ADDED, "120000"),
        ("src/app.py", ChangeKind.ADDED, "100644"),
    ]  # fmt: skip
    assert repository.changes(nothing, repository.head_tree()).files


def test_the_tree_of_the_index_and_of_another_index(repo: Path, git: Git, tmp_path: Path) -> None:
    repository = Repository.discover(repo)
    assert revisions.index_tree(repository) == repository.head_tree()
    (repo / "a.txt").write_text("a\n")
    git(repo, "add", "a.txt")
    other = tmp_path / "index"
    other.write_bytes((repo / ".git/index").read_bytes())
    git(repo, "reset", "--quiet")
    assert revisions.index_tree(repository) == repository.head_tree()
    assert "a.txt" in repository.list_tree(revisions.index_tree(repository, other))


def test_a_tree_set_up_elsewhere_is_that_tree(repo: Path, git: Git) -> None:
    (repo / "run.sh").write_text("#!/bin/sh\n")
    (repo / "run.sh").chmod(0o755)
    (repo / "crlf.txt").write_bytes(b"a\r\nb\r\n")
    (repo / ".gitignore").write_text("crlf.txt\n/.venv\n")
    git(repo, "add", "--all", "--force")
    (repo / ".venv").mkdir()
    (repo / ".venv/pyvenv.cfg").write_text("")
    repository = Repository.discover(repo)
    tree = revisions.index_tree(repository)
    objects = sorted(os.walk(repo / ".git" / "objects"))
    with revisions.checkout(repository, tree, head=repository.head_tree()) as there:
        assert there.snapshot() == tree
        assert there.head_tree() == repository.head_tree()
        assert os.access(there.root / "run.sh", os.X_OK)
        assert (there.root / ".venv/pyvenv.cfg").is_file()
        assert there.root.name == repo.name
        place = there.root
    assert not place.exists()
    assert sorted(os.walk(repo / ".git" / "objects")) == objects


def test_a_linked_work_tree_can_be_set_up_elsewhere(repo: Path, git: Git, tmp_path: Path) -> None:
    git(repo, "worktree", "add", "--quiet", str(tmp_path / "linked"), "-b", "linked")
    linked = Repository.discover(tmp_path / "linked")
    with revisions.checkout(linked, revisions.index_tree(linked), head=linked.head_tree()) as there:
        assert there.snapshot() == linked.head_tree()


def test_the_merge_base_of_a_tree_or_tag_is_itself(repo: Path, git: Git) -> None:
    repository = Repository.discover(repo)
    git(repo, "tag", "--annotate", "--message=x", "v1")
    assert revisions.merge_base(repository, "v1") == repository.head_tree()
    assert revisions.merge_base(repository, "HEAD^{tree}") == repository.head_tree()
    with pytest.raises(WorkspaceError, match="no revision `--all`"):
        revisions.merge_base(repository, "--all")
