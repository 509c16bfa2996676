"""Signals and kill -9: whatever ends a run, the next one goes on with the user's files as the last step left them."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.project import Project, Rule, call, part, plain, plan, rule, until, verdict

from swarmgate.domain.events import event as ev
from swarmgate.domain.state.state import Outcome
from swarmgate.journal.lock import live_owner

pytestmark = pytest.mark.suite("unittest")

PART = "src/calc/part_1.1.py"
_FINISH = [call("write_file", path=PART, content=part("1.1")), call("finish", summary="x")]


def killing(mark: Path, lock: str = ".swarm/runtime/lock") -> str:
    """A shell line that kills the swarm at work with SIGKILL, the first time that it is run."""
    pid = f"""sed 's/.*"pid": \\([0-9]*\\).*/\\1/' {lock}"""
    return f"test -e '{mark}' || {{ touch '{mark}'; kill -9 $({pid}); }}"


UNCONFINED = {"sandbox": "none", "allow": ["test -e*"]}
"""What an agent's command needs to kill the run: neither the policy nor the sandbox lets it."""


def hanging(role: str, step: str, *replies: object, attempt: str = "1") -> Rule:
    """A role that hangs once, at its last turn in an attempt at task 1.1."""
    *before, last = replies
    hangs = {"fault": {"kind": "hang", "times": 1}, "then": {"tool_calls": last}}
    return rule(role, step, *before, hangs, task="1.1", attempt=attempt)


def run_until(project: Project, role: str, turns: int = 1) -> subprocess.Popen[str]:
    process = project.start("run")
    until(lambda: sum(request.headers["ROLE"] == role for request in project.requests) >= turns)
    return process


def finished_well(project: Project) -> None:
    """Both tasks once, the tree as without any crash, and everything fits."""
    project.swarm("run", exits=3)
    assert [event.task for event in project.events(ev.TaskCompleted)] == ["1.1", "1.2"]
    assert project.git("rev-list", "--count", "main..HEAD") == "2"
    new = project.git("diff", "--name-only", "main", "HEAD").split()
    assert {path: (project.root / path).read_text() for path in new} == {
        f"src/calc/part_{number}.py": part(number) for number in ("1.1", "1.2")
    }
    assert project.git("status", "--porcelain", "--", ".", ":!.swarm") == ""
    assert project.json("verify")["passed"]


def killed(project: Project) -> None:
    process = project.start("run")
    _, err = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL, err


@pytest.mark.slow
def test_killed_in_the_coders_turn_with_half_written_files(project: Project, tmp_path: Path) -> None:
    half = [
        call("write_file", path=PART, content="half"),
        call("write_file", path="stray.txt", content="stray"),
        call("run_command", command=killing(tmp_path / "mark")),
    ]
    whole = [call("delete_file", path="stray.txt"), *_FINISH]
    crash = rule("coder", "code", half, whole, task="1.1", attempt="1")
    project.planned(plan("1.1", "1.2"), crash, commands=UNCONFINED)
    killed(project)
    assert (project.root / PART).read_text() == "half"
    finished_well(project)
    assert [attempt.outcome for attempt in project.state.task("1.1").attempts] == [Outcome.COMPLETE]
    assert [path.read_text() for path in project.quarantined("stray.txt")] == ["stray"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("role", "step", "reply"),
    [
        ("architect", "delegate", [call("delegate", instructions="Write the part.")]),
        ("reviewer", "review", [verdict()]),
        ("test_engineer", "test", [verdict(criteria=[{"criterion": "1", "tests": ["test_start"]}])]),
    ],
)
def test_killed_while_a_role_is_asked(project: Project, role: str, step: str, reply: list[object]) -> None:
    project.planned(plan("1.1", "1.2"), hanging(role, step, reply))
    asked = len(project.requests)
    process = project.start("run")
    until(lambda: any((r.headers["ROLE"], r.headers["STEP"]) == (role, step) for r in project.requests[asked:]))
    process.kill()
    process.wait()
    finished_well(project)
    assert not project.events(ev.AttemptInterrupted)


@pytest.mark.slow
@pytest.mark.suite("pytest")
def test_killed_while_the_tests_run(project: Project, tmp_path: Path) -> None:
    lock = tmp_path / "lock"  # tests run in a checkout, and a command that names the project is led there
    lock.symlink_to(project.folder.lock)
    command = f"{killing(tmp_path / 'mark', str(lock))}; {project.test_command}"
    project.planned(plan("1.1", "1.2"), tests={"command": command}, commands=UNCONFINED)
    killed(project)
    finished_well(project)
    assert not project.events(ev.AttemptInterrupted)


@pytest.mark.slow
def test_killed_between_the_commit_and_its_event(project: Project, tmp_path: Path) -> None:
    project.hook("post-commit", killing(tmp_path / "mark"))
    project.planned(plan("1.1", "1.2"))
    killed(project)
    assert not project.events(ev.TaskCompleted)
    assert project.git("rev-list", "--count", "main..HEAD") == "1"
    finished_well(project)
    assert not project.events(ev.AttemptInterrupted)
    assert len(project.events(ev.TaskDelegated)) == 2


@pytest.mark.slow
def test_killed_before_the_commit(project: Project, tmp_path: Path) -> None:
    project.hook("pre-commit", killing(tmp_path / "mark"))
    project.planned(plan("1.1", "1.2"))
    killed(project)
    until(lambda: not (project.root / ".git/index.lock").exists())
    finished_well(project)
    assert not project.events(ev.AttemptInterrupted)  # what had passed is committed, not done again
    assert project.git("rev-list", "--count", "main..HEAD") == "2"


@pytest.mark.slow
def test_killed_while_the_architect_plans(project: Project) -> None:
    hangs = {
        "fault": {"kind": "hang", "times": 1},
        "then": {"tool_calls": plan("1.1", "1.2")["replies"][0]["tool_calls"]},
    }
    project.play(rule("architect", "plan", hangs))
    process = project.start("plan", "Add parts")
    until(lambda: project.requests)
    process.kill()
    process.wait()
    project.swarm("plan", exits=3)  # the goal is on record
    project.swarm("approve")
    finished_well(project)
    assert len(project.events(ev.GoalSet)) == 1


@pytest.mark.slow
def test_the_cost_of_calls_that_a_crash_cut_off_is_counted(project: Project, tmp_path: Path) -> None:
    work = [call("run_command", command=killing(tmp_path / "mark"))]
    crash = rule("coder", "code", work, _FINISH, task="1.1", attempt="1")
    project.planned(plan("1.1", "1.2"), crash, commands=UNCONFINED)
    killed(project)
    before = project.state.usage.calls
    finished_well(project)
    assert project.state.usage_by_role["interrupted"].calls == 1
    assert project.state.usage.calls == len(project.requests) > before


@pytest.mark.slow
def test_a_torn_last_line_is_cut_off_and_reported(project: Project) -> None:
    project.planned(plan("1.1", "1.2"))
    with project.folder.ledger.open("ab") as file:
        file.write(b'{"seq":9,"time"')
    assert not project.json("verify", exits=1)["passed"]
    told = project.swarm("retry", "9.9", exits=2).stderr
    assert "a torn last line of the ledger was cut off; it is kept in .swarm/quarantine/" in told
    finished_well(project)
    assert project.events(ev.LedgerRepaired)
    assert [path.read_bytes() for path in project.quarantined("*ledger-torn-line")] == [b'{"seq":9,"time"']


# --- signals ---


@pytest.mark.slow
def test_ctrl_c_stops_between_steps_and_the_same_attempt_goes_on(project: Project) -> None:
    project.planned(plan("1.1", "1.2"))
    assert project.server is not None
    project.server.latency_s = 0.5
    process = run_until(project, "coder")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    told = re.search(r"([\d.]+) s +stopping at the next safe point", plain(err))
    assert told
    assert float(told[1]) >= 0.5  # the clock of the run: the delegation alone took that long
    assert "swarm run" in err
    (attempt,) = project.state.task("1.1").attempts
    assert attempt.captured
    assert project.events(ev.RunPaused)[-1].between_steps
    project.server.latency_s = 0
    finished_well(project)
    assert len(project.state.task("1.1").attempts) == 1


@pytest.mark.slow
@pytest.mark.parametrize("signals", [(signal.SIGINT, signal.SIGINT), (signal.SIGTERM,)])
def test_a_second_ctrl_c_stops_at_once_and_the_files_are_put_back(project: Project, signals: tuple[int, ...]) -> None:
    half = [call("write_file", path=PART, content="half"), call("write_file", path="stray.txt", content="s")]
    project.planned(plan("1.1", "1.2"), hanging("coder", "code", half, _FINISH))
    process = run_until(project, "coder", turns=2)
    for number in signals:
        process.send_signal(number)
        until_told(process, number)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert project.state.task("1.1").attempts[0].outcome is Outcome.INTERRUPTED
    assert not (project.root / PART).exists()
    assert not (project.root / "stray.txt").exists()
    assert project.quarantined("stray.txt")
    assert project.json("status")["paused"].endswith(": at once, by the user")
    assert not live_owner(project.folder.lock)
    finished_well(project)


def until_told(process: subprocess.Popen[str], number: int) -> None:
    """Waits for the answer to a first Ctrl-C, so that a second one is a second one."""
    if number == signal.SIGINT and process.stderr is not None:
        for line in process.stderr:
            if "safe point" in line:
                return


@pytest.mark.slow
@pytest.mark.suite("pytest")
def test_ctrl_c_in_the_tests_ends_them_too(project: Project, tmp_path: Path) -> None:
    mark = tmp_path / "marks/mark"
    mark.parent.mkdir()
    first = f"test -e '{mark}' || {{ touch '{mark}'; sleep 613; }}"
    command = f"{first}; {project.test_command}"
    project.planned(plan("1.1", "1.2"), tests={"command": command}, commands={"writable": [str(mark.parent)]})
    process = project.start("run")
    until(mark.exists)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=30)
    assert process.returncode == 130
    assert "sleep 613" not in subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    finished_well(project)


def test_a_read_only_disk_loses_nothing(project: Project) -> None:
    if os.geteuid() == 0:
        pytest.skip("root writes everywhere")
    project.planned(plan("1.1", "1.2"))
    project.folder.ledger.chmod(0o400)
    assert "could not be written" in project.swarm("run", exits=2).stderr
    project.folder.ledger.chmod(0o644)
    finished_well(project)


@pytest.mark.slow
def test_an_interrupted_override_is_still_an_override(project: Project) -> None:
    project.planned(
        plan("1.1", "1.2"),
        rule("reviewer", "review", [verdict("REJECTED", "no")], task="1.1"),
        hanging(
            "test_engineer", "test", [verdict(criteria=[{"criterion": "1", "tests": ["test_start"]}])], attempt="4"
        ),
    )
    project.swarm("run", exits=1)
    project.swarm("override", "1.1", "--reason", "fine")
    process = run_until(project, "test_engineer")
    process.kill()
    process.wait()
    finished_well(project)
    kinds: list[Callable[..., object] | str] = [each.kind for each in project.state.task("1.1").attempts]
    assert kinds == ["coder", "coder", "escalated", "override"]


@pytest.mark.slow
def test_git_is_left_alone_when_the_run_never_began(project: Project) -> None:
    project.planned()
    copied = project.root.with_name("copy")
    shutil.copytree(project.root / ".git", copied)
    project.silence()
    project.swarm("run", exits=5)
    assert project.git("rev-parse", "main") == (copied / "refs/heads/main").read_text().strip()
