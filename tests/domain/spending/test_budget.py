from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.domain.story import PLAN, delegated, passing, planned, play, started

from swarmgate.domain.events import event as ev
from swarmgate.domain.spending.budget import PROJECT, Account, Measure, accounts
from swarmgate.domain.state.state import State
from swarmgate.domain.usage import Allowance, Usage

ONE = Allowance(tokens=1000)


def used(tokens: int = 0, task: str = "", *, usd: float | None = 0.0, seconds: float = 0.0) -> ev.Event:
    usage = Usage(calls=1, prompt_tokens=tokens, usd=usd, seconds=seconds)
    return ev.UsageRecorded(role="coder", task=task, usage=usage)


def run(**more: object) -> ev.Event:
    levels = {"run": ONE, "phase": ONE, "task": ONE}
    return ev.RunStarted.model_validate({"pid": 1, "host": "h", "budget_tokens": 1000, "budgets": levels, **more})


def spent(state: State, task: str = "", pending: Usage | None = None) -> dict[str, int]:
    return {each.owner_text or "project": each.spent.tokens for each in accounts(state, task, pending)}


def test_every_level_counts_its_own_and_what_is_not_on_record_yet() -> None:
    state = play(State(), *planned(), used(5), ev.PlanApproved(), run())
    state = play(state, ev.WorkStarted(branch="b", base="c"), *passing("1.1"), used(10, "1.1"), delegated("1.2"))
    state = play(state, used(100, "1.2"))
    told = spent(state, "1.2", Usage(prompt_tokens=1000))
    assert told == {"project": 1115, "this run": 1110, "phase 1": 1110, "task 1.2": 1100}


def test_planning_is_no_phases_and_outside_of_tasks_there_is_no_tasks() -> None:
    state = play(State(), run(), ev.GoalSet(goal="Add parts"), used(7))
    assert spent(state) == {"project": 7, "this run": 7}
    state = play(state, ev.PlanSaved(plan=PLAN), used(1))
    assert spent(state) == {"project": 8, "this run": 8}


def test_a_new_run_begins_with_nothing_spent_and_with_its_own_limits() -> None:
    state = play(State(), *started(), used(9, "1.1"), run(budgets={"run": ONE}))
    assert spent(state, "1.1") == {"project": 9, "this run": 0}


def test_a_retry_grants_the_task_its_budget_again_and_the_record_keeps_the_whole() -> None:
    state = play(State(), *started(), run(), used(900, "1.1"), ev.TaskRetried(task="1.1"), used(50, "1.1"))
    assert spent(state, "1.1")["task 1.1"] == 50
    assert state.task("1.1").usage.tokens == 950


def test_a_new_goal_keeps_what_the_project_spent_and_no_phase() -> None:
    state = play(State(), *planned(), run(), used(3), ev.GoalSet(goal="Other"))
    assert state.usage.tokens == 3
    assert not state.usage_by_phase


def test_levels_without_a_limit_are_no_accounts() -> None:
    assert accounts(play(State(), *started()), "1.1") == ()


def test_a_measure_says_what_was_spent_of_which_limit() -> None:
    limits = Allowance(usd=3, tokens=5000, seconds=60)
    account = Account(PROJECT, limits, Usage(prompt_tokens=1200, usd=None, known_usd=1.5, seconds=61))
    assert [each.text for each in account.measures()] == [
        "at least $1.50 of $3.00",
        "1,200 of 5,000 tokens",
        "61 of 60 s of work",
    ]
    assert [each.used_up for each in account.measures()] == [False, False, True]


@given(st.floats(0, 1e6), st.floats(0, 1e6))
def test_what_is_used_up_has_nothing_left(spent_: float, limit: float) -> None:
    measure = Measure("usd", spent_, limit)
    assert measure.used_up == (measure.left == 0)


@given(st.lists(st.one_of(st.none(), st.floats(0, 100)), max_size=8))
def test_known_costs_are_summed_whatever_is_unknown(costs: list[float | None]) -> None:
    total = sum((Usage(usd=cost) for cost in costs), Usage())
    assert total.least_usd == pytest.approx(sum(cost or 0.0 for cost in costs))
    assert (total.usd is None) == (None in costs)


def test_ways_on_name_the_key_the_file_and_what_else_there_is() -> None:
    (task,) = accounts(play(State(), *started(), run(budget_tokens=None, budgets={"task": ONE})), "1.1")
    assert "raise `tokens` in [budget.task]" in task.next_action.format(key="tokens")
    assert "swarm retry 1.1" in task.next_action
    assert "swarm skip 1.1" in task.next_action
