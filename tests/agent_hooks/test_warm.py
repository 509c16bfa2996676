"""The warm process: starts by itself, tells findings of an edit, and ends."""

from __future__ import annotations

import json
import shutil
import socket
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.agent_hooks.asking import BAD, GOOD, end_warm, hook, request, tool

from swarmgate.agent_hooks import places
from swarmgate.agent_hooks.warm import client

pytestmark = pytest.mark.slow


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A state folder with a short name, as a socket needs it; what listens there ends without it."""
    folder = Path(tempfile.mkdtemp(prefix="sg-"))
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))
    yield folder
    shutil.rmtree(folder)


def test_findings_come_after_the_edit_and_late_ones_with_the_next(repo: Path, state: Path) -> None:
    started = hook("session-start", request("SessionStart", repo), cwd=repo)
    assert "additionalContext" in json.loads(started.stdout)["hookSpecificOutput"]
    assert started.returncode == 0, started.stderr
    assert Path(places.socket_of(str(repo))).is_socket()
    try:
        (repo / "src/two.py").write_text(
            BAD + '\n\ndef shell(a):\n    import subprocess\n    subprocess.run("ls " + a, shell=True)\n'
        )
        edit = tool("PostToolUse", repo, "Write", file_path=str(repo / "src/two.py"), content=BAD)
        told = ""
        for _ in range(60):  # on a busy machine the first answers come late
            done = hook(
                "post-tool-use",
                edit if not told else tool("PostToolUse", repo, "Write", file_path="src/app.py"),
                cwd=repo,
            )
            told += done.stderr.decode()
            assert done.returncode == (2 if done.stderr else 0)
            if "F401" in told and "shell" in told:
                break
            time.sleep(0.5)
        assert "src/two.py:1:8 medium F401" in told
        assert "swarmgate.python.shell-command-built" in told
        (repo / "src/two.py").write_text(GOOD)
        assert b"F401" not in hook("post-tool-use", edit, cwd=repo).stderr
        place = Path(places.socket_of(str(repo)))
        assert place.parent.stat().st_mode & 0o077 == 0
        assert state in place.parents
    finally:
        assert end_warm(state) == 1


def test_an_edit_outside_of_the_repository_is_nobodys(repo: Path, tmp_path: Path) -> None:
    done = hook("post-tool-use", tool("PostToolUse", repo, "Write", file_path=str(tmp_path / "x.py")), cwd=repo)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_where_none_can_be_started_it_says_so_and_refuses_nothing(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    edit = tool("PostToolUse", repo, "Write", file_path="src/app.py")
    done = hook("post-tool-use", edit, cwd=repo, XDG_STATE_HOME=str(tmp_path / "file"))
    assert done.returncode == 1
    assert done.stderr.startswith(b"swarmgate: the warm process")


def test_what_listens_and_says_nothing_is_not_waited_for(
    repo: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "ANSWER_S", 0.2)
    place = places.socket_of(str(repo))
    Path(place).parent.mkdir(parents=True)
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(place)
        silent.listen()
        assert client._asked(place, {}, 0.2) is None
