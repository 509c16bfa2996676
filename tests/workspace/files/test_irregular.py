"""Pipes, sockets and devices that a command left are taken away; what was there before is the user's."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from pathlib import Path

from swarmgate.workspace.files import irregular


def test_what_is_new_goes_and_what_was_there_stays(repo: Path, tmp_path: Path, git: Callable[..., str]) -> None:
    with socket.socket(socket.AF_UNIX) as users:
        users.bind(str(repo / "dev.sock"))
        time.sleep(0.05)
        began = time.time()
        time.sleep(0.05)
        os.mkfifo(repo / ".gitattributes")
        (repo / "src/app.py").unlink()
        os.mkfifo(repo / "src/app.py")
        (repo / "a/b").mkdir(parents=True)
        with socket.socket(socket.AF_UNIX) as own:
            own.bind(str(repo / "a/b/s"))
        (repo / "link").symlink_to("/dev/zero")
        os.mkfifo(repo / ".git/pipe")
        found = irregular.put_away(repo, tmp_path / "q", since=began)
    assert found == (".gitattributes", "a/b/s", "src/app.py")
    assert (repo / "dev.sock").is_socket()
    assert (tmp_path / "q/src/app.py").is_fifo()
    git(repo, "add", "--all")
    assert irregular.put_away(repo, tmp_path / "q", since=began) == ()


def test_an_ordinary_tree_is_left_alone(repo: Path, tmp_path: Path) -> None:
    assert irregular.put_away(repo, tmp_path / "q", since=0) == ()
    assert not (tmp_path / "q").exists()
