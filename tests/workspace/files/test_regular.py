"""Only regular files are read: nothing else can make a reader wait."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from swarmgate.workspace.files import regular

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


def test_what_the_user_names_is_bounded_in_size_and_in_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "a").write_bytes(b"12345")
    assert regular.given(tmp_path / "a", limit=5) == b"12345"
    assert regular.given("/dev/null") == b""
    for place in (tmp_path / "a", "/dev/zero"):
        with pytest.raises(OSError, match="longer than 4 bytes"):
            regular.given(place, limit=4)
    with pytest.raises(TimeoutError, match=r"nobody wrote into it for 0\.1 s"):
        regular.given(tmp_path / "pipe", patience_s=0.1)
    with pytest.raises(IsADirectoryError):
        regular.given(tmp_path)
    read, write = os.pipe()
    os.write(write, b"through a pipe")
    os.close(write)
    assert regular.given(f"/dev/fd/{read}") == b"through a pipe"
    os.close(read)
