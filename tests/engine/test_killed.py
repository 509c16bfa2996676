"""What is killed - a tool, the runner of the tests, swarm itself - rejects no work, and nothing outlives it."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest
from tests.confined import SANDBOX
from tests.misbehaviour.case import case
from tests.project import Project, call, part, rule, until

from swarmgate.domain.events import event as ev
from swarmgate.domain.state.state import Outcome
from swarmgate.errors import MissingRequirement
from swarmgate.workspace.sandbox.choice import Kind, choose

pytestmark = pytest.mark.suite("unittest")

PART = "src/calc/part_1.1.py"
GOOD = [call("write_file", path=PART, content=part("1.1")), call("finish", summary="x")]


@pytest.fixture
def marks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where what is killed remembers how often."""
    place = tmp_path / "marks"
    place.mkdir()
    monkeypatch.setenv("MARKS", str(place))
    return place


def prepared(project: Project, marks: Path, what: str, times: int) -> None:
    """An approved plan; a gate, or the runner of the tests, is killed the first times that it is run."""
    names = " ".join(f"$MARKS/{number}" for number in range(times))
    dying = f"for mark in {names}; do test -e $mark || {{ touch $mark; kill -9 $$; }}; done"
    if what == "gate":
        project.write(".swarm/gates/mine.toml", f'title = "Mine"\ncommand = ["/bin/sh", "-c", "{dying}"]\n')
    tests = {"command": f"{dying}; {project.test_command}"} if what == "tests" else {}
    others = ["lint_fix", "lint_check", "quality_budget", "sast_scan", "placeholder_scan", "imports"]
    project.planned(commands={"writable": [str(marks)], "env": ["MARKS"]}, gates={"skip": others}, tests=tests)


@pytest.mark.slow
@pytest.mark.parametrize("what", ["gate", "tests"])
def test_a_tool_that_was_killed_is_run_again(project: Project, marks: Path, what: str) -> None:
    prepared(project, marks, what, times=1)
    project.swarm("run", exits=3)
    (attempt,) = project.state.task("1.1").attempts
    assert attempt.outcome is Outcome.COMPLETE
    assert (marks / "0").exists()


@pytest.mark.slow
@case(
    "commands",
    "an honest twin: a gate's tool, or the tests, killed by the kernel for want of memory",
    "it is run again; killed again, the run pauses with exit code 6, and nothing is rejected",
)
@pytest.mark.parametrize("what", ["gate", "tests"])
def test_a_tool_that_is_killed_each_time_rejects_nothing(project: Project, marks: Path, what: str) -> None:
    prepared(project, marks, what, times=2)
    assert "twice" in project.swarm("run", exits=6).stderr
    assert project.events(ev.AttemptRejected) == []
    project.swarm("run", exits=3)  # the machine has found its memory again
    (attempt,) = project.state.task("1.1").attempts
    assert attempt.outcome is Outcome.COMPLETE


# --- kill -9 of swarm ---


def weakest() -> Kind:
    """The sandbox in which a command shares most with the machine. All: tests/workspace/process/test_supervision.py."""
    try:
        choose("landlock")
    except MissingRequirement:
        return SANDBOX
    return "landlock"


@pytest.mark.slow
@case(
    "commands",
    "a daemon that outlives `kill -9` of swarm, and writes into the tree of the next run",
    "supervisors outlive swarm by an instant and end all of it; the next run waits for that",
)
def test_what_a_killed_run_started_writes_nothing_into_the_next_and_no_temporary_file_is_left(
    project: Project, tmp_path: Path
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    shared = tmp_path / "shared"
    shared.mkdir()
    daemon = (
        "import pathlib, subprocess, sys\n"
        f"again = pathlib.Path({str(shared / 'begun')!r})\n"
        "if again.exists():\n    sys.exit()\n"
        "again.touch()\n"
        "late = ['/bin/sh', '-c', 'sleep 1; echo late > src/calc/late.py']\n"
        "subprocess.Popen(late, start_new_session=True)\n"
        "subprocess.Popen(late, start_new_session=True, env={})\n"
        "open('src/calc/begun', 'w').close()\n"
        "subprocess.run(late)\n"
    )
    program = call("write_file", path="src/calc/daemon.py", content=daemon)
    start = call("run_command", command=f"{sys.executable} src/calc/daemon.py")
    project.planned(
        rule("coder", "code", [program, start], [call("delete_file", path="src/calc/daemon.py"), *GOOD]),
        commands={"sandbox": weakest(), "writable": [str(shared)]},
    )
    process = project.start("run", TMPDIR=str(temporary))
    until((project.root / "src/calc/begun").exists)
    (run,) = temporary.glob("swarmgate-*/run-*")
    half = project.folder.path / f"runtime/.swarmgate-{run.name.removeprefix('run-')}-1.tmp"
    half.write_text("half")
    process.kill()
    process.communicate()
    assert run.exists()
    process = project.start("run", TMPDIR=str(temporary))
    _, told = process.communicate()
    assert process.returncode == 3, told
    assert project.git("diff", "--name-only", "main", "HEAD") == PART
    (attempt,) = project.state.task("1.1").attempts
    assert attempt.outcome is Outcome.COMPLETE
    assert project.git("status", "--porcelain", "--", ".", ":!.swarm") == ""
    assert list(temporary.glob("swarmgate-*/*")) == []
    assert not half.exists()
    time.sleep(1)
    assert not (project.root / "src/calc/late.py").exists()
