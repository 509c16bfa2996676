from __future__ import annotations

from pathlib import Path

import pytest

from swarmgate.workspace.files.folders import make


def test_folders_are_made_below_a_swarm_folder_that_is_there(tmp_path: Path) -> None:
    (tmp_path / ".swarm").mkdir()
    make(tmp_path / ".swarm/evidence/1.1")
    make(tmp_path / ".swarm/evidence/1.1")
    assert (tmp_path / ".swarm/evidence/1.1").is_dir()


@pytest.mark.parametrize("below", ["", "runtime", "evidence/1.1"])
def test_the_swarm_folder_itself_is_never_made(tmp_path: Path, below: str) -> None:
    with pytest.raises(FileNotFoundError):
        make(tmp_path / ".swarm" / below)
    assert not (tmp_path / ".swarm").exists()


def test_a_copy_of_another_projects_may_be_kept(tmp_path: Path) -> None:
    (tmp_path / ".swarm").mkdir()
    make(tmp_path / ".swarm/quarantine/web/.swarm/prompts")
    assert (tmp_path / ".swarm/quarantine/web/.swarm/prompts").is_dir()


def test_a_file_in_its_place_is_an_error_of_the_disk(tmp_path: Path) -> None:
    (tmp_path / ".swarm").write_text("x")
    with pytest.raises(OSError, match=r"\.swarm"):
        make(tmp_path / ".swarm/runtime")
