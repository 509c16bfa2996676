"""Tests streams that are closed, full or unread, and endless files, with real processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.project import GOAL, Project

pytestmark = pytest.mark.suite("unittest")


def shell(project: Project, line: str, **more: str) -> subprocess.CompletedProcess[str]:
    """A line in which `swarm` is this swarmgate."""
    script = f'swarm() {{ "{sys.executable}" -m swarmgate "$@"; }}; {line}'
    environ = {**os.environ, **more}
    return subprocess.run(
        ["bash", "-c", script], cwd=project.root, env=environ, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("swarm history --json >&-", 0),
        ("swarm status <&- >&- 2>&-", 0),
        ("swarm history --json >/dev/full", 2),
        ("swarm --help >/dev/full", 2),
        ("swarm show 9.9 2>/dev/full", 2),
        ("swarm show 9.9 --json >/dev/full 2>&-", 2),
        ("swarm history | true; exit ${PIPESTATUS[0]}", 0),
        ("swarm nonsense --json >&- 2>&-", 2),
    ],
)
def test_a_stream_that_takes_nothing_is_no_bug(project: Project, line: str, code: int) -> None:
    before = project.folder.ledger.read_bytes()
    done = shell(project, line)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert project.folder.ledger.read_bytes() == before  # no file took the number of a closed stream


@pytest.mark.slow
def test_a_run_whose_progress_goes_nowhere_does_its_work(project: Project) -> None:
    project.play()
    assert shell(project, f"swarm plan '{GOAL}' 2>/dev/full").returncode == 3
    project.swarm("approve")
    assert shell(project, "swarm run >&- 2>&-").returncode == 3
    assert project.state.task("1.1").status.value == "complete"
    assert project.json("verify")["passed"]


@pytest.mark.parametrize(
    ("source", "told"),
    [("/dev/zero", "longer than 10,000,000 bytes"), (".", "a folder"), ("/dev/null", "is empty")],
)
def test_a_specification_that_has_no_end_is_refused(project: Project, source: str, told: str) -> None:
    done = shell(project, f"swarm plan --from {source}")
    assert done.returncode == 2
    assert told in done.stderr


@pytest.mark.slow
def test_a_specification_may_come_through_a_pipe(project: Project) -> None:
    project.play()
    assert shell(project, f"swarm plan --from <(sleep 0.2; echo '# {GOAL}')").returncode == 3
    assert project.state.goal == GOAL
    assert shell(project, "echo '# Other' | swarm plan --from /dev/stdin").returncode == 3
    assert project.state.goal == "Other"


@pytest.mark.parametrize("verb", ["discuss --personas", "debate", "dispatch", "decide"])
def test_no_other_file_that_is_named_is_waited_for(project: Project, tmp_path: Path, verb: str) -> None:
    os.mkfifo(tmp_path / "p.toml")
    (tmp_path / "z.toml").symlink_to("/dev/zero")
    for name in ("p.toml", "z.toml"):
        words = [*verb.split(), str(tmp_path / name), *(["What?"] if "--" in verb else [])]
        result = project.swarm(*words, exits=2)
        assert name in result.stderr or "personas" in result.stderr
