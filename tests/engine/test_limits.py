"""Limits that name their end, in real runs: what is waited for, what pauses, and that nothing is done twice."""

from __future__ import annotations

import re
import shlex
import signal
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.council.debate_script import ballot, debating
from tests.misbehaviour.case import case
from tests.project import GOAL, Project, call, event_lines, part, plain, rule, save, task, until

from swarmgate.domain.events import event as ev

pytestmark = pytest.mark.suite("unittest")

SLOW = pytest.mark.slow

PART = "src/calc/part_1.1.py"
WORK: list[list[dict[str, Any]]] = [
    [call("write_file", path=PART, content=part("1.1"))],
    [call("run_gates")],
    [call("finish", summary="done")],
]


def limited(*replies: Any, times: int | None = 1, **fault: Any) -> list[Any]:
    """The last of these replies comes only after the fault."""
    turns = [{"tool_calls": each} for each in replies]
    return [*turns[:-1], {"fault": {"kind": "429", "times": times, **fault}, "then": turns[-1]}]


def asked(project: Project) -> int:
    return sum(each.headers["ROLE"] == "coder" for each in project.requests)


def work_with(
    project: Project, *, at: int = 1, times: int | None = 1, loop: dict[str, Any] | None = None, **fault: Any
) -> None:
    turns = limited(*WORK[: at + 1], times=times, **fault) + [{"tool_calls": each} for each in WORK[at + 1 :]]
    project.planned(rule("coder", "code", *turns), loop=loop or {})


def pauses(project: Project) -> list[ev.RunPaused]:
    return project.events(ev.RunPaused)


def wall_time(project: Project) -> int:
    """Seconds of the turn that goes on, as `swarm status` in another process shows them."""
    (count,) = [
        each["count"] for each in project.json("status")["breakers"]["breakers"] if each["breaker"] == "wall_time"
    ]
    return int(count)


def whole(project: Project) -> None:
    """One attempt, nothing rejected, nothing blocked, the work committed."""
    (attempt,) = project.state.task("1.1").attempts
    assert attempt.number == 1
    assert not project.events(ev.AttemptRejected)
    assert not project.events(ev.TaskBlocked)
    assert project.git("show", f"HEAD:{PART}") == part("1.1").rstrip("\n")


@pytest.mark.slow
def test_past_the_limit_a_run_pauses_and_a_later_one_goes_on(project: Project) -> None:
    work_with(project, retry_after=7200)
    before = datetime.now(UTC)
    told = project.swarm("run", exits=4)
    assert "swarm run --wait" in told.stderr
    (pause,) = pauses(project)
    assert (pause.reason, pause.between_steps) == (ev.PauseReason.LIMIT, False)
    assert timedelta(seconds=7199) <= datetime.fromisoformat(pause.until) - before <= timedelta(seconds=7300)
    status = project.json("status")
    assert status["paused_until"] == pause.until
    assert re.search(r"paused \(limit\): the usage limit ends (at|on) ", plain(told.stderr))
    assert any(action.startswith("swarm run --wait: wait until") for action in status["actions"])
    number = asked(project)
    told = project.swarm("run", exits=3)
    assert "trying once: limits get raised" in plain(told.stderr)
    assert asked(project) == number + 2  # the two that were not answered yet
    whole(project)


@SLOW
def test_a_pause_is_told_in_json(project: Project) -> None:
    work_with(project, retry_after=7200)
    told = project.json("run", exits=4)
    assert (told["error"], told["exit_code"]) == ("LIMIT", 4)
    assert told["until"] == pauses(project)[0].until


@SLOW
def test_within_the_limit_a_run_waits_and_no_clock_of_work_runs_on(project: Project) -> None:
    work_with(project, headers={"retry-after-ms": "9000"}, loop={"wait_limit": 60})
    project.configure(providers__local={"max_retries": 0}, breakers={"wall_time_s": 8})
    began, before = time.monotonic(), project.state.usage.seconds
    process = project.start("run", "--json")
    _, err = process.communicate(timeout=60)
    assert process.returncode == 3, err
    assert time.monotonic() - began > 9
    waits = [line for line in event_lines(err) if line["kind"] == "waiting"]
    assert [line["text"].startswith("rate limit of local/junior: waiting until ") for line in waits] == [True]
    assert waits[0]["until"]
    whole(project)
    assert not pauses(project)
    (turn,) = [each.turn for each in project.events(ev.TurnEnded) if each.turn.role == "coder"]
    assert turn.seconds < 8
    assert project.state.usage.seconds - before < time.monotonic() - began - 8.9


@SLOW
def test_run_wait_waits_longer_than_the_limit(project: Project) -> None:
    work_with(project, headers={"retry-after-ms": "1500"}, loop={"wait_limit": 0})
    project.configure(providers__local={"max_retries": 0}, loop={"wait_limit": 0})
    project.swarm("run", "--wait", exits=3)
    whole(project)
    assert not pauses(project)


@SLOW
@pytest.mark.parametrize(("how", "seconds"), [("ctrl-c", 600), ("ctrl-c", 60), ("stop", 600), ("kill", 600)])
def test_a_wait_ends_at_once_when_the_user_wants_it(project: Project, how: str, seconds: int) -> None:
    """Also one that is short enough to be one between two tries of a call."""
    work_with(project, retry_after=seconds)
    process = project.start("run")
    until(lambda: bool((project.json("status")["breakers"] or {}).get("waits")))
    assert "waiting until" in project.swarm("status").stdout
    until(lambda: project.json("status")["breakers"]["stands"])
    shown, looked = wall_time(project), time.monotonic()
    until(lambda: time.monotonic() - looked > 2)
    assert wall_time(project) == shown
    began = time.monotonic()
    if how == "ctrl-c":
        process.send_signal(signal.SIGINT)
    elif how == "stop":
        project.swarm("stop")
    else:
        process.kill()
    _, err = process.communicate(timeout=60)
    assert time.monotonic() - began < 20
    assert process.returncode == (-9 if how == "kill" else 130), err
    assert "is over" not in err
    if how != "kill":
        status = project.json("status")
        end = datetime.fromisoformat(status["paused_until"])
        assert timedelta(seconds=seconds - 60) < end - datetime.now(UTC) < timedelta(seconds=seconds + 10)
        assert status["paused_until"] == pauses(project)[-1].until
        assert "the rate limit of local/junior ends" in status["paused"]
        assert any(action.startswith("swarm run --wait: wait until") for action in status["actions"])
    number = asked(project)
    project.swarm("run", exits=3)
    assert asked(project) == number + 2
    whole(project)


@SLOW
def test_a_free_fallback_is_asked_first(project: Project) -> None:
    project.planned(
        rule("coder", "code", {"fault": {"kind": "429", "retry_after": 7200}}, model="junior"),
        rule("coder", "code", *WORK, model="spare"),
        roles__coder={"model": "local/junior", "fallback": ["local/spare"]},
    )
    told = plain(project.swarm("run", exits=3).stderr)
    assert "local/junior reached its usage limit" in told
    whole(project)
    assert sum(each.model == "junior" for each in project.requests) == 1  # it is not asked again before its end


@SLOW
def test_a_quota_without_an_end_pauses_at_once_with_the_account(project: Project) -> None:
    body = {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}
    work_with(project, times=None, body=body, retry_after=20)
    began = time.monotonic()
    told = project.swarm("run", "--wait", exits=5)
    assert time.monotonic() - began < 15
    assert "check the account at the provider" in told.stderr
    assert pauses(project)[0].reason is ev.PauseReason.ENDPOINT


@SLOW
def test_planning_pauses_and_goes_on_as_well(project: Project) -> None:
    planned = {"fault": {"kind": "429", "times": 1, "retry_after": 7200}, "then": {"tool_calls": [save(task("1.1"))]}}
    project.play(rule("architect", "plan", planned))
    project.swarm("plan", GOAL, exits=4)
    assert "swarm run --wait: wait until the limit ends" in project.swarm("status").stdout
    project.swarm("run", exits=3)
    assert not project.events(ev.PlanningFailed)


# --- agent programs ---

LIMITED = Path(__file__).parents[1] / "programs/limited.py"


def program(end: float | str, text: str, exit_code: int = 1) -> dict[str, object]:
    until = end if isinstance(end, str) else str(int(end))
    words = [sys.executable, "agents/limited.py", until, text, str(exit_code)]
    return {"model": "command:" + shlex.join(words), "fallback": []}


@pytest.fixture
def with_program(project: Project) -> Project:
    project.write("agents/limited.py", LIMITED.read_text())
    project.git("add", "agents")
    project.git("commit", "--quiet", "--message=The program")
    return project


@SLOW
@pytest.mark.parametrize("exit_code", [0, 1])
def test_a_programs_limit_is_waited_for(with_program: Project, tmp_path: Path, exit_code: int) -> None:
    place = tmp_path / "account"
    place.mkdir()
    mark = place / "until"
    settings = program(str(mark), "Claude AI usage limit reached|{end}", exit_code)
    with_program.planned(roles__coder={**settings, "writable": [str(place)]})
    told = with_program.swarm("run", exits=3)
    assert time.time() >= int(mark.read_text())
    assert "usage limit of command:" in plain(told.stderr)
    whole(with_program)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("Claude AI usage limit reached|{end}", 5),
        pytest.param("You've hit your usage limit. Upgrade to Pro or try again in 2 days 3 hours.", 51, marks=SLOW),
    ],
)
def test_a_programs_limit_past_the_bound_pauses(with_program: Project, text: str, hours: int) -> None:
    end = time.time() + hours * 3600
    with_program.planned(roles__coder=program(end, text))
    with_program.swarm("run", exits=4)
    (pause,) = pauses(with_program)
    assert abs(datetime.fromisoformat(pause.until).timestamp() - end) < 60
    with_program.configure(roles__coder=program(0, text))
    with_program.swarm("run", exits=3)
    whole(with_program)


@SLOW
def test_a_programs_limit_without_an_end_pauses_with_the_account(with_program: Project) -> None:
    with_program.planned(roles__coder=program(time.time() + 9999, "Your credit balance is too low"))
    told = with_program.swarm("run", exits=5)
    assert "the limit is that of the program's account" in told.stderr
    assert not with_program.events(ev.AttemptRejected)


@SLOW
@case(
    "programs",
    "a reviewer program that says its limit is reached instead of giving a verdict, with exit code 0",
    "that is no verdict and no rejection: the run pauses until the end that it names",
)
def test_a_limit_is_no_verdict(with_program: Project) -> None:
    with_program.planned(roles__reviewer=program(time.time() + 9999, "Claude AI usage limit reached|{end}", 0))
    with_program.swarm("run", exits=4)
    assert not with_program.events(ev.ReviewGiven)
    assert not with_program.events(ev.AttemptRejected)
    assert not with_program.events(ev.TaskCompleted)


@pytest.mark.slow
def test_a_program_that_writes_about_limits_has_none(with_program: Project) -> None:
    """The twin: `limited.py` ends its work with words about a rate limit, and when to try again."""
    with_program.planned(roles__coder=program(0, ""))
    with_program.swarm("run", exits=3)
    assert not pauses(with_program)
    whole(with_program)


# --- councils ---


def voice_limited(**fault: Any) -> list[Any]:
    """A debate whose challenger meets a limit in the second round."""
    stopped = {"fault": {"kind": "429", "times": 1, **fault}, "then": {"text": ballot("APPROVE", "r1-msg-001")}}
    return [*debating(), rule("participant", "debate", stopped, participant="challenger", round="2")]


def test_a_council_pauses_past_the_bound_and_goes_on_with_what_is_whole(project: Project) -> None:
    project.play(*voice_limited(retry_after=7200))
    told = project.json("debate", "Is it sound?", exits=4)
    assert (told["error"], told["until"][:2]) == ("LIMIT", "20")
    assert "wait for that end" in told["hint"]
    goes_on = told["hint"].rpartition("swarm ")[2].split()
    asked_before = len(project.requests)
    project.swarm(*goes_on)
    again = project.requests[asked_before:]
    rounds = [each.headers.get("ROUND") for each in again if each.headers["STEP"] == "debate"]
    assert rounds in (["2"], ["2", "2"]), "who had answered before the limit is not asked again"


@SLOW
def test_a_council_waits_within_the_bound(project: Project) -> None:
    project.play(*voice_limited(headers={"retry-after-ms": "2500"}), providers__local={"max_retries": 0})
    told = project.swarm("debate", "Is it sound?")
    assert "rate limit of local/senior: waiting until" in plain(told.stderr)
    assert told.stdout.startswith("APPROVE")
