from __future__ import annotations

import errno
from pathlib import Path

import pytest

from swarmgate.errors import LedgerWriteFailed, NotAProject, UsageError
from swarmgate.journal.disk_errors import writing
from swarmgate.ledger.files.folder import SwarmFolder


def test_the_folder_is_found_from_any_subfolder(repo: Path) -> None:
    SwarmFolder(repo).create()
    (repo / "src/deep").mkdir()
    assert SwarmFolder.find(repo / "src/deep").root == repo


def test_a_repository_without_a_folder_says_how_to_make_one(repo: Path) -> None:
    with pytest.raises(NotAProject, match=r"no .swarm/ folder") as caught:
        SwarmFolder.find(repo / "src")
    assert "swarm init" in caught.value.hint


def test_the_folder_of_an_outer_repository_is_not_taken_for_an_inner_one(repo: Path) -> None:
    SwarmFolder(repo).create()
    (repo / "inner/.git").mkdir(parents=True)
    with pytest.raises(NotAProject, match="inner"):
        SwarmFolder.find(repo / "inner")


def test_outside_of_any_repository_there_is_no_project(tmp_path: Path) -> None:
    with pytest.raises(NotAProject, match="not inside a git repository") as refused:
        SwarmFolder.find(tmp_path)
    assert refused.value.hint.endswith("make one here: swarm init --commit"), "which runs git init, too"


def test_a_linked_folder_is_refused(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (repo / ".swarm").symlink_to(tmp_path / "elsewhere")
    for use in (SwarmFolder(repo).exists, SwarmFolder(repo).create, lambda: SwarmFolder.find(repo)):
        with pytest.raises(UsageError, match="symbolic link"):
            use()


def test_making_it_again_keeps_what_is_there(repo: Path) -> None:
    folder = SwarmFolder(repo)
    folder.create()
    folder.config.write_text("# mine\n")
    folder.create()
    assert folder.config.read_text() == "# mine\n"
    assert folder.runtime.is_dir()
    assert "traces" in (folder.path / ".gitignore").read_text()


def test_what_is_kept_never_replaces_what_was_kept_before(folder: SwarmFolder) -> None:
    kept = [folder.keep("plan.md", data) for data in (b"1", b"2", b"3")]
    assert [path.read_bytes() for path in kept] == [b"1", b"2", b"3"]
    assert folder.relative(kept[0]).startswith(".swarm/quarantine/")


def test_a_disk_that_refuses_is_an_error_that_names_the_file(folder: SwarmFolder) -> None:
    folder.quarantine.write_text("in the way")
    with pytest.raises(LedgerWriteFailed, match=r"quarantine/.*plan\.md could not be written"):
        folder.keep("plan.md", b"x")
    with pytest.raises(LedgerWriteFailed, match="here could not be written: gone"), writing(Path("here")):
        raise OSError("gone")
    for number, hint in ((errno.EACCES, "permission"), (errno.EROFS, "read-only"), (errno.ENOSPC, "room on the disk")):
        with pytest.raises(LedgerWriteFailed) as refused, writing(Path("here")):
            raise OSError(number, "no")
        assert hint in refused.value.hint


def test_what_a_process_leaves_where_a_project_was_taken_away_is_no_project(repo: Path) -> None:
    folder = SwarmFolder(repo)
    folder.runtime.mkdir(parents=True)
    folder.traces.mkdir()
    with pytest.raises(NotAProject, match="is no project") as caught:
        SwarmFolder.find(repo)
    assert "move it back" in caught.value.hint
