"""Atomic replacement: whole or not at all, mode kept, nothing left behind."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import pytest

from swarmgate.workspace.files.atomic import replace

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("durable", [True, False])
def test_bytes_and_text_are_written_as_they_are(tmp_path: Path, durable: bool) -> None:  # noqa: FBT001 - parametrised
    replace(tmp_path / "a", b"\x00\r\n", durable=durable)
    replace(tmp_path / "b", "é\r\n", durable=durable)
    assert (tmp_path / "a").read_bytes() == b"\x00\r\n"
    assert (tmp_path / "b").read_bytes() == "é\r\n".encode()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_a_new_file_follows_the_umask_and_an_old_one_keeps_its_mode(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        replace(tmp_path / "new", "x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640
    (tmp_path / "new").chmod(0o755)
    replace(tmp_path / "new", "y")
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o755


def test_a_failure_leaves_the_old_content_and_no_temporary_file(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        replace(tmp_path / "folder", "x")
    with pytest.raises(FileNotFoundError):
        replace(tmp_path / "none" / "file", "x")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
