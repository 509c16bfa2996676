"""The loop end to end: from a goal to approved phases, and every way in which a run can pause."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from tests.misbehaviour.case import case
from tests.project import GOAL, Project, call, part, plan, rule, task, until, verdict

from swarmgate.domain.events import event as ev
from swarmgate.domain.usage import Usage
from swarmgate.journal.lock import live_owner

pytestmark = pytest.mark.suite("unittest")


@pytest.mark.slow
def test_from_a_goal_to_approved_phases(project: Project) -> None:
    project.play(plan("1.1", "1.2", "2.1"))
    project.swarm("plan", GOAL, exits=3)
    project.swarm("approve")
    assert "Phase 1 is done and waits for your approval" in project.swarm("run", exits=3).stdout
    assert not project.events(ev.PhaseApproved)
    project.swarm("run", exits=3)  # nothing moves without the user
    project.swarm("approve")
    project.swarm("run", exits=3)
    project.swarm("approve")
    assert "Every phase is complete and approved" in project.swarm("run").stdout
    done = project.events(ev.TaskCompleted)
    assert [event.task for event in done] == ["1.1", "1.2", "2.1"]
    assert project.git("branch", "--show-current") == "swarm/parts"
    assert project.git("rev-list", "--count", "main..HEAD") == "3"
    passed = {event.task: event.tree for event in project.events(ev.TestsRun)}
    entries = project.lines()
    for event in done:
        assert project.git("rev-parse", f"{event.commit}^{{tree}}") == event.tree == passed[event.task]
        trailers = project.trailers(event.commit)
        assert (trailers["Swarm-Task"], trailers["Swarm-Attempts"]) == (event.task, "1")
        position, digest = trailers["Swarm-Ledger"].split()
        assert entries[int(position) - 1]["hash"] == digest
    assert "- [x] Task 2.1: Part 2.1 [SMALL]" in project.plan_md
    assert "Parts are modules." in project.folder.context.read_text()
    assert "Parts were added." in (project.folder.history / "phase-2.md").read_text()
    assert project.git("status", "--porcelain", "--", ".", ":!.swarm") == ""
    assert project.json("verify")["passed"]


@pytest.mark.slow
def test_only_the_files_of_a_task_are_in_its_commit(project: Project) -> None:
    project.planned(plan("1.1", "1.2"))
    project.swarm("run", exits=3)
    for event in project.events(ev.TaskCompleted):
        assert project.git("show", "--name-only", "--format=", event.commit) == f"src/calc/part_{event.task}.py"


@pytest.mark.slow
def test_ready_tasks_go_in_dependency_order(project: Project) -> None:
    project.planned(plan(task("1.1", depends=["1.2"]), task("1.2")))
    project.swarm("run", exits=3)
    assert [event.task for event in project.events(ev.TaskCompleted)] == ["1.2", "1.1"]


@pytest.mark.slow
def test_usage_in_the_ledger_is_what_the_server_reported(project: Project) -> None:
    used = {"prompt_tokens": 100, "completion_tokens": 10, "cached_tokens": 40}
    told = {"tool_calls": [verdict()], "usage": used}
    project.planned(rule("reviewer", "review", told))
    project.swarm("run", exits=3)
    usage = project.state.usage_by_role["reviewer"]
    assert (usage.calls, usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens) == (1, 100, 10, 40)
    assert usage.usd == pytest.approx((100 * 1 + 10 * 2) / 1e6)
    assert project.state.task("1.1").usage.calls == 4
    total = sum(project.state.usage_by_role.values(), Usage())
    assert project.state.usage.model_dump() == pytest.approx(total.model_dump())


@pytest.mark.slow
def test_an_unknown_price_is_shown_as_unknown(project: Project) -> None:
    project.play(roles__coder={"model": "local/nameless"}, budget={"usd": 1.0, "tokens": 1_000_000})
    project.swarm("plan", GOAL, exits=3)
    project.swarm("approve")
    told = project.swarm("run", exits=3).stderr
    assert "the price of local/nameless is unknown" in told
    assert "the rest unknown" in project.swarm("status").stdout
    assert project.json("status")["usage"]["usd"] is None


@case(
    "loops",
    "a budget in US dollars alone, and a model without a price, which never uses it up",
    "refused before anything is asked; an agent program that says no price ends the work after one call",
)
@pytest.mark.parametrize("level", ["budget", "budget__run", "budget__task"])
def test_a_budget_in_dollars_that_nothing_would_use_up_is_refused(project: Project, level: str) -> None:
    nameless = {"model": "local/senior", "fallback": ["local/nameless"]}
    project.play(roles__coder=nameless, **{level: {"usd": 1.0}})
    told = project.swarm("plan", GOAL, exits=2).stderr
    assert "the price of local/nameless is unknown" in told
    assert '[prices."local/nameless"]' in told
    assert not project.requests
    project.configure(roles__coder=nameless, **{level: {"usd": 1.0}}, prices__nameless={"input": 0, "output": 0})
    project.swarm("plan", GOAL, exits=3)


@pytest.mark.slow
def test_a_used_up_budget_pauses_and_a_raised_one_goes_on(project: Project) -> None:
    project.planned()
    used = project.state.usage.tokens
    project.configure(budget={"tokens": used + 500})
    told = project.swarm("run", exits=4)
    assert f"of {used + 500:,} tokens are used" in told.stderr
    assert project.events(ev.RunPaused)[-1].reason is ev.PauseReason.BUDGET
    assert "paused: budget" in project.swarm("status").stdout
    project.swarm("run", exits=4)
    asked = len(project.requests)
    project.swarm("run", exits=4)
    assert len(project.requests) == asked  # checked before the call
    project.configure()
    project.swarm("run", exits=3)
    assert len(project.events(ev.TaskDelegated)) == len(project.events(ev.TaskCompleted)) == 1
    assert project.json("verify")["passed"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["429", "500", "cut_stream", "invalid_json", "empty", "wrong_tool", "huge"])
def test_a_model_that_fails_for_a_while_costs_nothing_but_time(project: Project, kind: str) -> None:
    fault = {"kind": kind, "times": 1, "retry_after": 0}
    project.planned(rule("reviewer", "review", {"fault": fault, "then": {"tool_calls": [verdict()]}}, [verdict()]))
    project.swarm("run", exits=3)
    assert len(project.events(ev.TaskDelegated)) == 1


@pytest.mark.slow
def test_a_model_that_hangs_is_given_up_at_its_time_limit_and_the_fallback_answers(project: Project) -> None:
    hangs = rule("coder", "code", {"fault": {"kind": "hang"}}, model="junior")
    role = {"model": "local/junior", "fallback": ["local/senior"], "timeout_s": 1}
    project.planned(hangs, roles__coder=role, providers__local={"max_retries": 0})
    told = project.swarm("run", exits=3).stderr
    assert "local/junior failed for good" in told
    assert "asking local/senior" in told
    assert project.state.task("1.1").commit


@pytest.mark.slow
def test_an_endpoint_that_is_down_ends_with_5_and_nothing_is_lost(project: Project) -> None:
    down = rule("reviewer", "review", {"fault": {"kind": "500", "retry_after": 0}})
    project.planned(down)
    told = project.swarm("run", exits=5)
    assert "the endpoint answered 500" in told.stderr
    asked = len(project.briefs("coder", "code"))
    project.play()
    project.swarm("run", exits=3)
    assert len(project.briefs("coder", "code")) == asked == 1  # the coder's work stood
    attempt = project.state.task("1.1").attempts
    assert [each.outcome for each in attempt] == ["COMPLETE"]


@pytest.mark.slow
def test_an_endpoint_that_goes_away_in_the_coders_turn_leaves_the_attempt_open(project: Project) -> None:
    half = [call("write_file", path="src/calc/part_1.1.py", content="half")]
    project.planned(rule("coder", "code", half, {"fault": {"kind": "500", "retry_after": 0}}))
    project.swarm("run", exits=5)
    project.play()
    project.swarm("run", exits=3)
    assert [each.outcome for each in project.state.task("1.1").attempts] == ["COMPLETE"]
    assert (project.root / "src/calc/part_1.1.py").read_text() == part("1.1")
    assert project.json("verify")["passed"]


@pytest.mark.slow
def test_a_stop_request_of_another_process_ends_the_run_between_two_steps(project: Project) -> None:
    project.planned(plan("1.1", "1.2"))
    assert project.server is not None
    project.server.latency_s = 0.2
    process = project.start("run")
    until(lambda: live_owner(project.folder.lock) and project.briefs("coder", "code"))
    assert f"pid {process.pid}" in project.swarm("stop").stdout
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert "Stopped at a safe point" in err
    assert project.events(ev.RunPaused)[-1].between_steps
    project.server.latency_s = 0
    project.swarm("run", exits=3)
    assert not project.events(ev.AttemptInterrupted)
    assert len(project.events(ev.TaskDelegated)) == 2


@pytest.mark.slow
def test_one_writer_at_a_time(project: Project) -> None:
    project.planned(rule("coder", "code", {"fault": {"kind": "hang"}}))
    process = project.start("run")
    until(lambda: project.briefs("coder", "code"))
    assert f"pid {process.pid}" in project.swarm("run", exits=2).stderr
    assert "at work" in project.swarm("status").stdout
    os.killpg(process.pid, 9)
    process.communicate()
    assert "Nothing is running" in project.swarm("stop").stdout


def test_a_missing_key_is_named_before_anything_is_spent(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.play(providers__local={"api_key_env": "MY_KEY"})
    told = project.swarm("plan", GOAL, exits=6)
    assert "MY_KEY" in told.stderr
    assert not project.requests
    monkeypatch.setenv("MY_KEY", "sk-test-1234567890abcdef")
    project.swarm("plan", GOAL, exits=3)
    assert project.requests[0].http_headers["authorization"] == "Bearer sk-test-1234567890abcdef"


@pytest.mark.slow
def test_traces_hold_every_exchange_and_no_secret(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-test-1234567890abcdef")
    leak = [call("read_file", path="sk-test-1234567890abcdef")]
    project.planned(
        rule(
            "coder",
            "code",
            leak,
            [call("write_file", path="src/calc/a.py", content=part("a")), call("finish", summary="x")],
        ),
        providers__local={"api_key_env": "MY_KEY"},
    )
    project.swarm("run", exits=3)
    traces = sorted(project.folder.traces.iterdir())
    assert len(traces) == len(project.requests)
    assert not [path for path in traces if "sk-test-1234567890abcdef" in path.read_text()]
    assert {path.name.split("-", 2)[2] for path in traces} >= {"coder-code.json", "architect-plan.json"}


def test_coder_and_reviewer_of_one_model_are_warned_about(project: Project) -> None:
    project.play(roles__coder={"model": "local/senior"})
    assert "coder and reviewer are the same model" in project.swarm("plan", GOAL, exits=3).stderr


@pytest.mark.slow
def test_the_facade_works_for_programs(project: Project) -> None:
    """`Swarm` in a program of its own, as its docstring shows it."""
    project.play()
    program = (
        "import asyncio, pathlib\n"
        "from swarmgate.engine import Swarm\n"
        f"swarm = Swarm(pathlib.Path({str(project.root)!r}))\n"
        f"asyncio.run(swarm.plan({GOAL!r}))\n"
        "print(swarm.approve())\n"
        "print(asyncio.run(swarm.run()).waiting)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "('the plan',)\nphase_approval\n"
