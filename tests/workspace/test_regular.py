"""Only regular files are read: nothing else can make a reader wait."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from swarmgate.workspace import regular

if TYPE_CHECKING:
    from pathlib import Path


def test_a_file_and_a_link_to_one(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x\r\ny\xff")
    (tmp_path / "b").symlink_to("a")
    assert regular.read(tmp_path / "b") == b"x\r\ny\xff"
    assert regular.text(tmp_path / "b", errors="replace") == "x\ny\ufffd"
    with pytest.raises(UnicodeDecodeError):
        regular.text(tmp_path / "a")


def test_a_pipe_a_device_a_folder_and_a_giant_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "giant").write_bytes(b"12345")
    for place in (tmp_path / "pipe", "/dev/zero", tmp_path):
        with pytest.raises(OSError, match="not a regular file"):
            regular.read(place)
    with pytest.raises(OSError, match="longer than 4 bytes"):
        regular.read(tmp_path / "giant", limit=4)
    with pytest.raises(FileNotFoundError):
        regular.read(tmp_path / "missing")
