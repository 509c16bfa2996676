"""What git is told not to look at does not hide from a snapshot; what really is not there stays away."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from swarmgate.errors import WorkspaceError
from swarmgate.workspace.git import revisions
from swarmgate.workspace.git.repository import Repository

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Git = Callable[..., str]

EVIL = "import os\nos.system(input())\n"


def changed(root: Path) -> tuple[str, ...]:
    repository = Repository.discover(root, lenient=True)
    return repository.changes(repository.head_tree(), repository.snapshot()).paths


@pytest.mark.slow
@pytest.mark.parametrize("flag", ["assume-unchanged", "skip-worktree"])
@pytest.mark.parametrize("version", ["2", "4"])
def test_a_flag_of_the_index_hides_no_edit(repo: Path, git: Git, flag: str, version: str) -> None:
    git(repo, "update-index", "--index-version", version)
    repository = Repository.discover(repo)
    assert repository.snapshot() == repository.head_tree()
    git(repo, "update-index", f"--{flag}", "src/app.py")
    index = (repo / ".git/index").read_bytes()
    (repo / "src/app.py").write_text(EVIL)
    assert git(repo, "status", "--porcelain") == ""
    assert repository.changes(repository.head_tree(), repository.snapshot()).paths == ("src/app.py",)
    assert repository.dirty() == ("src/app.py",)
    assert (repo / ".git/index").read_bytes() == index
    with pytest.raises(WorkspaceError, match=r"git stash leaves `src/app.py`"):
        repository.stash("aside")


def test_both_flags_together_hide_nothing(repo: Path, git: Git) -> None:
    git(repo, "update-index", "--skip-worktree", "src/app.py")
    git(repo, "update-index", "--assume-unchanged", "src/app.py")
    (repo / "src/app.py").write_text(EVIL)
    assert changed(repo) == ("src/app.py",)


def test_a_deletion_that_is_assumed_unchanged_is_seen(repo: Path, git: Git) -> None:
    git(repo, "update-index", "--assume-unchanged", "src/app.py")
    (repo / "src/app.py").unlink()
    assert changed(repo) == ("src/app.py",)


@pytest.mark.slow
@pytest.mark.parametrize("form", [(), ("--sparse-index",), ("--no-cone",)])
def test_a_sparse_checkout_keeps_what_is_not_on_disk(repo: Path, git: Git, form: tuple[str, ...]) -> None:
    (repo / "lib").mkdir()
    (repo / "lib/far.py").write_text("x = 1\n")
    git(repo, "add", "--all")
    git(repo, "commit", "--quiet", "--message=Lib")
    git(repo, "sparse-checkout", "set", *form, "src")
    assert not (repo / "lib").exists()
    assert changed(repo) == ()
    (repo / "other").mkdir()
    (repo / "other/new.py").write_text(EVIL)
    (repo / "src/app.py").write_text(EVIL)
    assert changed(repo) == ("other/new.py", "src/app.py")
    (repo / "lib").mkdir()
    (repo / "lib/far.py").write_text(EVIL)
    assert changed(repo) == ("lib/far.py", "other/new.py", "src/app.py")


@pytest.mark.slow
def test_an_edit_of_the_same_size_and_time_is_seen_whatever_git_compares(repo: Path, git: Git) -> None:
    git(repo, "config", "core.trustctime", "false")
    git(repo, "config", "core.checkStat", "minimal")
    place = repo / "src/app.py"
    os.utime(place, (1_600_000_000, 1_600_000_000))
    git(repo, "update-index", "--refresh")
    time.sleep(1 - time.time() % 1 + 0.05)  # git compares whole seconds
    place.write_text("def one():\n    return 2\n")
    os.utime(place, (1_600_000_000, 1_600_000_000))
    assert git(repo, "status", "--porcelain") == ""
    assert changed(repo) == ("src/app.py",)


@pytest.mark.parametrize("core", ["ignoreStat", "fsmonitor", "untrackedCache"])
def test_no_setting_of_the_index_hides_an_edit(repo: Path, git: Git, core: str) -> None:
    git(repo, "config", f"core.{core}", "true")
    (repo / "seen.py").write_text("x = 1\n")
    git(repo, "add", "--all")
    git(repo, "commit", "--quiet", "--message=More")
    (repo / "seen.py").write_text(EVIL)
    (repo / "new.py").write_text(EVIL)
    assert changed(repo) == ("new.py", "seen.py")
    git(repo, "config", f"core.{core}", "false")  # ends the monitor's daemon with the test's folder


def test_a_work_tree_elsewhere_is_refused(repo: Path, tmp_path: Path, git: Git) -> None:
    clean = tmp_path / "clean"
    clean.mkdir()
    git(repo, "config", "core.worktree", str(clean))
    for start in (repo, repo / "src"):
        with pytest.raises(WorkspaceError, match=r"core\.worktree"):
            Repository.discover(start)
    git(repo, "config", "core.worktree", str(repo))
    assert Repository.discover(repo / "src").root == repo


def test_a_submodule_and_a_separate_git_folder_have_their_own_work_tree(repo: Path, tmp_path: Path, git: Git) -> None:
    git(repo, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(repo), "inner")
    assert git(repo / "inner", "config", "core.worktree")
    assert Repository.discover(repo / "inner" / "src").root == repo / "inner"
    git(tmp_path, "clone", "--quiet", f"--separate-git-dir={tmp_path}/store", str(repo), "apart")
    assert Repository.discover(tmp_path / "apart" / "src").root == tmp_path / "apart"


def test_replaced_and_grafted_commits_are_what_they_were(repo: Path, git: Git) -> None:
    before = git(repo, "rev-parse", "HEAD^{tree}")
    git(repo, "switch", "--quiet", "--create", "feat")
    (repo / "src/app.py").write_text(EVIL)
    git(repo, "commit", "--quiet", "--all", "--message=Evil")
    git(repo, "replace", "main", "feat")
    assert git(repo, "rev-parse", "main^{tree}") != before
    assert revisions.merge_base(Repository.discover(repo), "main") == before
    git(repo, "replace", "--delete", git(repo, "rev-parse", "main"))
    (repo / ".git/info").mkdir(exist_ok=True)
    (repo / ".git/info/grafts").write_text(f"{git(repo, 'rev-parse', 'main')} {git(repo, 'rev-parse', 'feat')}\n")
    assert revisions.merge_base(Repository.discover(repo), "main") == before


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [
        ".hypothesis/e.py", ".hypothesis/examples/ab/e.py", "__pycache__/e.py", ".mypy_cache/e.js", "evilmod.pyc",
        ".ruff_cache/0.1/e.py", ".pytest_cache/v/cache/e.py", "src/__pycache__/e.sh", ".hypothesis/run",
    ],
)  # fmt: skip
def test_what_no_tool_leaves_behind_is_judged_wherever_it_lies(repo: Path, path: str) -> None:
    (repo / path).parent.mkdir(parents=True, exist_ok=True)
    (repo / path).write_text(EVIL)
    assert changed(repo) == (path,)


def test_what_tools_leave_behind_is_no_change(repo: Path) -> None:
    for path in (
        "src/__pycache__/app.cpython-311.pyc", "src/__pycache__/app.cpython-311.pyc.140512", ".ruff_cache/CACHEDIR.TAG",
        ".ruff_cache/0.17.6/17483547009007087838", ".mypy_cache/3.11/a/b.data.json", ".mypy_cache/missing_stubs",
        ".pytest_cache/v/cache/nodeids", ".pytest_cache/README.md", ".hypothesis/unicode_data/15.0.0/charmap.json.gz",
        ".hypothesis/examples/0123456789abcdef/fedcba9876543210", ".hypothesis/constants/0123456789abcdef",
    ):  # fmt: skip
        (repo / path).parent.mkdir(parents=True, exist_ok=True)
        (repo / path).write_text("x")
    assert changed(repo) == ()


def test_the_index_is_compared_with_what_was_judged(repo: Path, git: Git) -> None:
    repository = Repository.discover(repo)
    head = repository.head_tree()
    (repo / "src/app.py").write_text("x = 1\n")
    assert repository.staged_apart(head, repository.snapshot()) == ()  # nothing is staged
    git(repo, "add", "--all")
    assert repository.staged_apart(head, repository.snapshot()) == ()  # what is staged is what is there
    (repo / "src/app.py").write_text("x = 2\n")
    assert repository.staged_apart(head, repository.snapshot()) == ("src/app.py",)
    (repo / "src/app.py").write_text("def one():\n    return 1\n")
    assert repository.snapshot() == head
    assert repository.staged_apart(head, head) == ("src/app.py",)
