"""Restoring: exactly the tree comes back, nothing else is touched, nothing is lost."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from swarmgate.errors import WorkspaceError
from swarmgate.workspace.git.repository import Repository

if TYPE_CHECKING:
    from collections.abc import Callable

    Git = Callable[..., str]


def test_what_was_edited_deleted_and_added_comes_back_with_copies_kept(repo: Path, tmp_path: Path) -> None:
    repository = Repository.discover(repo)
    tree = repository.snapshot()
    untouched = (repo / "README.md").stat().st_mtime_ns
    (repo / "src/app.py").write_text("broken\n")
    (repo / "src/app.py").chmod(0o755)
    (repo / "new/deep").mkdir(parents=True)
    (repo / "new/deep/file.py").write_text("new\n")
    (repo / "new/link").symlink_to("/etc/passwd")
    kept = tmp_path / "kept"
    assert repository.restore(tree, quarantine=kept) == ("new/deep/file.py", "new/link", "src/app.py")
    assert repository.snapshot() == tree
    assert not (repo / "new").exists()
    assert not os.access(repo / "src/app.py", os.X_OK)
    assert (kept / "src/app.py").read_text() == "broken\n"
    assert (kept / "new/deep/file.py").read_text() == "new\n"
    assert (kept / "new/link").readlink() == Path("/etc/passwd")
    assert (repo / "README.md").stat().st_mtime_ns == untouched


def test_nothing_differs_nothing_happens(repo: Path, tmp_path: Path) -> None:
    repository = Repository.discover(repo)
    assert repository.restore(repository.snapshot(), quarantine=tmp_path / "kept") == ()
    assert not (tmp_path / "kept").exists()


def test_a_deleted_file_needs_no_copy(repo: Path, tmp_path: Path) -> None:
    repository = Repository.discover(repo)
    tree = repository.snapshot()
    shutil.rmtree(repo / "src")
    assert repository.restore(tree, quarantine=tmp_path / "kept") == ("src/app.py",)
    assert not (tmp_path / "kept").exists()
    assert repository.snapshot() == tree


def test_a_second_restore_keeps_the_first_copy(repo: Path, tmp_path: Path) -> None:
    repository = Repository.discover(repo)
    tree = repository.snapshot()
    for text in ("first", "second"):
        (repo / "src/app.py").write_text(text)
        repository.restore(tree, quarantine=tmp_path)
    assert (tmp_path / "src/app.py").read_text() == "first"
    assert (tmp_path / "src/app.py~1").read_text() == "second"


def test_ignored_files_and_swarm_stay(repo: Path, tmp_path: Path) -> None:
    (repo / ".gitignore").write_text("*.log\nbuild/\n")
    repository = Repository.discover(repo)
    tree = repository.snapshot()
    (repo / "build").mkdir()
    for name in ("a.log", "build/out", "src/b.log"):
        (repo / name).write_text("ignored\n")
    (repo / ".swarm").mkdir()
    (repo / ".swarm/ledger.jsonl").write_text("{}\n")
    (repo / "src/app.py").write_text("broken\n")
    assert repository.restore(tree, quarantine=tmp_path / "kept") == ("src/app.py",)
    assert all((repo / name).exists() for name in ("a.log", "build/out", "src/b.log", ".swarm/ledger.jsonl"))


def test_a_file_that_the_old_rules_ignore_is_not_removed_because_the_rules_were(repo: Path, tmp_path: Path) -> None:
    (repo / ".gitignore").write_text(".env\n")
    (repo / ".env").write_text("SECRET=1\n")
    repository = Repository.discover(repo)
    tree = repository.snapshot()
    (repo / ".gitignore").unlink()
    (repo / "src/app.py").write_text("broken\n")
    assert repository.restore(tree, quarantine=tmp_path / "kept") == (".gitignore", "src/app.py")
    assert (repo / ".env").read_text() == "SECRET=1\n"
    assert not (tmp_path / "kept/.env").exists()


def test_a_file_that_new_rules_hide_is_restored_and_kept(repo: Path, tmp_path: Path) -> None:
    (repo / "notes.txt").write_text("mine\n")
    repository = Repository.discover(repo)
    tree = repository.snapshot()
    (repo / ".gitignore").write_text("*.txt\n")
    (repo / "notes.txt").write_text("overwritten\n")
    repository.restore(tree, quarantine=tmp_path / "kept")
    assert repository.snapshot() == tree
    assert (repo / "notes.txt").read_text() == "mine\n"


def test_a_folder_replaced_by_a_link_out_of_the_tree_is_not_written_through(repo: Path, tmp_path: Path) -> None:
    repository = Repository.discover(repo)
    tree = repository.snapshot()
    outside = tmp_path / "outside"
    shutil.move(repo / "src", outside)
    (outside / "app.py").write_text("theirs\n")
    (repo / "src").symlink_to(outside)
    repository.restore(tree, quarantine=tmp_path / "kept")
    assert repository.snapshot() == tree
    assert not (repo / "src").is_symlink()
    assert (outside / "app.py").read_text() == "theirs\n"


def test_ignored_content_in_the_way_is_moved_and_not_lost(repo: Path, tmp_path: Path) -> None:
    (repo / ".gitignore").write_text("*.log\n")
    (repo / "thing").write_text("a file\n")
    repository = Repository.discover(repo)
    tree = repository.snapshot()
    (repo / "thing").unlink()
    (repo / "thing").mkdir()
    (repo / "thing/precious.log").write_text("ignored\n")
    (repo / "thing/x.py").write_text("x\n")
    repository.restore(tree, quarantine=tmp_path / "kept")
    assert repository.snapshot() == tree
    assert (tmp_path / "kept/thing/precious.log").read_text() == "ignored\n"
    assert (tmp_path / "kept/thing/x.py").read_text() == "x\n"


def test_checkout_filters_are_honoured(repo: Path, tmp_path: Path) -> None:
    (repo / ".gitattributes").write_text("*.bat text eol=crlf\n")
    (repo / "run.bat").write_bytes(b"echo 1\r\n")
    repository = Repository.discover(repo)
    tree = repository.snapshot()
    assert repository.read(tree, "run.bat") == b"echo 1\n"
    (repo / "run.bat").unlink()
    (repo / ".gitattributes").unlink()
    repository.restore(tree, quarantine=tmp_path / "kept")
    assert (repo / "run.bat").read_bytes() == b"echo 1\r\n"


def test_a_new_nested_repository_is_moved_away_whole(repo: Path, tmp_path: Path, git: Git) -> None:
    repository = Repository.discover(repo)
    tree = repository.snapshot()
    git(repo, "init", "--quiet", "nested")
    git(repo / "nested", "commit", "--quiet", "--allow-empty", "-m", "Inner")
    assert repository.restore(tree, quarantine=tmp_path / "kept") == ("nested",)
    assert (tmp_path / "kept/nested/.git").is_dir()


def test_a_moved_submodule_is_refused_before_anything_is_written(repo: Path, tmp_path: Path, git: Git) -> None:
    git(repo, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(repo), "inner")
    git(repo, "commit", "--quiet", "-m", "Submodule")
    repository = Repository.discover(repo)
    tree = repository.snapshot()
    git(repo / "inner", "commit", "--quiet", "--allow-empty", "-m", "Moved")
    (repo / "src/app.py").write_text("mine\n")
    with pytest.raises(WorkspaceError, match="submodule `inner`") as caught:
        repository.restore(tree, quarantine=tmp_path / "kept")
    assert caught.value.hint == "git submodule update inner"
    assert (repo / "src/app.py").read_text() == "mine\n"


NAMES = st.sampled_from(
    ["a", "b", "dir", "dir/a", "dir/b", "dir/sub/a", "dir/sub", "a/x", "é *", ".gitignore", "x.log"]
)
EDITS = st.tuples(st.sampled_from(["write", "link", "remove", "mode", "binary"]), NAMES, st.integers(0, 3))


def apply(root: Path, edits: list[tuple[str, str, int]]) -> None:
    for action, name, number in edits:
        place = root / name
        blocked = any((root / parent).is_file() or (root / parent).is_symlink() for parent in Path(name).parents[:-1])
        if blocked:
            continue
        if action in {"write", "link", "remove", "binary"} and os.path.lexists(place):
            if place.is_dir() and not place.is_symlink():
                shutil.rmtree(place)
            else:
                place.unlink()
        place.parent.mkdir(parents=True, exist_ok=True)
        if action == "write":
            place.write_text("*.log\n" * number if name == ".gitignore" else f"{number}\n" * number)
        elif action == "binary":
            place.write_bytes(bytes([0, number, 255]))
        elif action == "link":
            place.symlink_to(("a", "dir", "nowhere", "/etc")[number])
        elif action == "mode" and place.is_file() and not place.is_symlink():
            place.chmod(0o755 if number % 2 else 0o644)


@pytest.mark.slow
@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(before=st.lists(EDITS, max_size=8), after=st.lists(EDITS, max_size=8))
def test_any_snapshot_can_be_brought_back_after_any_edits(
    before: list[tuple[str, str, int]], after: list[tuple[str, str, int]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve() / "repo"
        root.mkdir()
        (root / "start").write_text("start\n")
        for command in ("init -q", "add -A", "commit -q -m Start"):
            subprocess.run(["git", *command.split()], cwd=root, check=True)
        apply(root, before)
        repository = Repository.discover(root)
        tree = repository.snapshot()
        apply(root, after)
        edited = repository.snapshot()
        touched = repository.restore(tree, quarantine=Path(folder) / "kept")
        assert repository.snapshot() == tree
        assert bool(touched) == (edited != tree)
