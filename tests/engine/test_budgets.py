"""Budgets of run, phase and task, end to end: the pause, what the user is told, and every way on."""

from __future__ import annotations

import pytest
from tests.project import Project, plain, plan, review

from swarmgate.domain.events.event import PauseReason, PhaseEstimated, RunPaused, TaskCompleted, UsageRecorded
from swarmgate.domain.state.state import Outcome
from swarmgate.engine.run_limits import WorkClock

pytestmark = pytest.mark.suite("unittest")


@pytest.mark.slow
def test_a_tasks_budget_pauses_the_run_and_a_retry_grants_it_again(project: Project) -> None:
    project.planned(budget__task={"tokens": 1})
    told = plain(project.swarm("run", exits=4).stderr)
    assert "the budget of task 1.1 is used up" in told
    assert "of 1 tokens are used" in told
    assert "swarm skip 1.1" in told
    assert project.events(RunPaused)[-1].reason is PauseReason.BUDGET
    status = plain(project.swarm("status").stdout)
    assert "budget of task 1.1:" in status
    assert "raise `tokens` in [budget.task]" in status
    assert "swarm retry 1.1: grant the task its budget again and start it over" in status
    assert "which grants the task its budget again and starts the task over" in told
    calls = len(project.requests)
    project.swarm("run", exits=4)
    assert len(project.requests) == calls
    project.swarm("retry", "1.1")
    project.swarm("run", exits=4)
    assert len(project.requests) == calls + 1


@pytest.mark.slow
def test_a_budget_smaller_than_an_attempt_is_raised_and_the_open_attempt_goes_on(project: Project) -> None:
    project.planned(budget__task={"tokens": 1_000})
    project.swarm("run", exits=4)
    project.swarm("retry", "1.1")
    assert "goes on where it paused" in plain(project.swarm("run", exits=4).stderr)
    assert [attempt.outcome for attempt in project.state.task("1.1").attempts] == [Outcome.INTERRUPTED, Outcome.RUNNING]
    delegated = len(project.briefs("architect", "delegate"))
    project.configure(budget__task={"tokens": 10_000_000})
    project.swarm("run", exits=3)
    assert [attempt.outcome for attempt in project.state.task("1.1").attempts] == [
        Outcome.INTERRUPTED,
        Outcome.COMPLETE,
    ]
    assert len(project.briefs("architect", "delegate")) == delegated


@pytest.mark.slow
def test_a_skip_leads_past_the_tasks_budget(project: Project) -> None:
    project.planned(plan("1.1", "1.2"), budget__task={"tokens": 1})
    project.swarm("run", exits=4)
    project.swarm("skip", "1.1", "--reason", "too dear")
    assert "the budget of task 1.2 is used up" in plain(project.swarm("run", exits=4).stderr)


@pytest.mark.slow
def test_a_raised_limit_goes_on_where_it_paused(project: Project) -> None:
    project.planned(budget__phase={"tokens": 1})
    assert "the budget of phase 1 is used up" in plain(project.swarm("run", exits=4).stderr)
    project.configure(budget__phase={"tokens": 10_000_000})
    project.swarm("run", exits=3)
    assert len(project.events(TaskCompleted)) == 1


@pytest.mark.slow
def test_every_run_has_its_own_budget_and_each_gets_a_step_further(project: Project) -> None:
    project.planned()
    project.configure(budget__run={"tokens": 1})
    assert "`swarm run` goes on with a new budget of a run" in plain(project.swarm("run", exits=4).stderr)
    calls = len(project.requests)
    project.swarm("run", exits=4)
    assert len(project.requests) == calls + 1


@pytest.mark.slow
def test_the_time_between_the_calls_is_on_record(project: Project) -> None:
    project.planned()
    project.swarm("run", exits=3)
    own = [event for event in project.events(UsageRecorded) if event.role == "swarmgate"]
    assert any(event.task == "1.1" for event in own)
    assert all(event.usage.tokens == 0 and event.usage.seconds > 0 for event in own)
    state = project.state
    assert state.task("1.1").usage.seconds <= state.usage.seconds
    assert state.usage_in_run.seconds <= state.usage.seconds


@pytest.mark.slow
def test_work_time_holds_too(project: Project) -> None:
    project.planned(budget__task={"seconds": 0})
    assert "of 0 s of work have passed" in plain(project.swarm("run", exits=4).stderr)


@pytest.mark.slow
def test_an_estimate_beyond_a_budget_warns_before_the_work(project: Project) -> None:
    project.planned(plan("1.1", "2.1"), review(), budget__task={"usd": 9.0})
    project.swarm("run", exits=3)
    project.swarm("approve")
    project.configure(budget__phase={"tokens": 10})
    told = project.swarm("run", exits=4).stderr
    warned, stopped = told.index("the budget of phase 2 has 10 left"), told.index("the budget of phase 2 is used up")
    assert warned < stopped
    (estimate,) = project.events(PhaseEstimated)
    assert (estimate.phase, estimate.tasks, estimate.basis) == (2, 1, 1)
    assert estimate.tokens == project.state.experience[0][1].tokens


@pytest.mark.parametrize(("told", "due"), [(0.0, 5.0), (2.0, 3.0), (9.0, 0.0), (4.95, 0.0)])
def test_the_clock_tells_each_second_once(told: float, due: float) -> None:
    now = [100.0]
    clock = WorkClock(lambda: now[0])
    now[0] += 5
    assert clock.lap(told, least=0.1) == pytest.approx(due)
    kept = 0.05 if told == 4.95 else 0.0
    assert clock.seconds == pytest.approx(kept)
    now[0] += 1
    assert clock.lap(0, least=0.1) == pytest.approx(1 + kept)
