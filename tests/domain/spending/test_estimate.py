from __future__ import annotations

from tests.domain.story import delegated, make_plan, make_task, passing, play, started

from swarmgate.domain.events import event as ev
from swarmgate.domain.next_step import Step, next_step
from swarmgate.domain.plan.plan import Complexity, Plan, Task
from swarmgate.domain.spending.budget import accounts
from swarmgate.domain.spending.estimate import estimate_due, expected_of, phase_estimate, shortfalls
from swarmgate.domain.state.state import State
from swarmgate.domain.usage import Usage


def sized(task_id: str, size: Complexity) -> Task:
    return make_task(task_id).model_copy(update={"complexity": size})


SMALL, MEDIUM = Complexity.SMALL, Complexity.MEDIUM
FIRST = [sized("1.1", SMALL), sized("1.2", SMALL), sized("1.3", SMALL), sized("1.4", MEDIUM)]
SECOND = [sized("2.1", SMALL), sized("2.2", MEDIUM), sized("2.3", SMALL)]
WORK: Plan = make_plan(FIRST, SECOND)


def used(task: str, tokens: int, usd: float | None = 1.0) -> ev.Event:
    return ev.UsageRecorded(
        role="coder", task=task, usage=Usage(calls=1, prompt_tokens=tokens, usd=usd, seconds=tokens)
    )


def after_first(*tokens: int, usd: float | None = 1.0, **rules: object) -> State:
    """Phase 1 is approved; its tasks used so many tokens."""
    begun = [event.model_copy(update=rules) if isinstance(event, ev.RunStarted) else event for event in started(WORK)]
    state = play(State(), *begun)
    for task, count in zip(FIRST, tokens, strict=True):
        *before, done = passing(task.id)
        state = play(state, *before, used(task.id, count, usd), done)
    return play(state, ev.PhaseClosed(phase=1, summary="Done."), ev.PhaseApproved(phase=1))


def test_the_median_by_size_times_the_open_tasks() -> None:
    state = after_first(10, 1000, 20, 300)
    told = phase_estimate(state)
    # SMALL: median(10, 1000, 20); MEDIUM: 300.
    assert (told.tokens, told.tasks, told.basis, told.usd) == (20 + 300 + 20, 3, 4, 3.0)
    assert told.seconds == 340.0


def test_a_size_that_was_never_seen_is_judged_by_all() -> None:
    state = after_first(10, 1000, 20, 300)
    assert expected_of(state, sized("9.9", Complexity.LARGE)).tokens == (20 + 300) / 2


def test_it_is_due_once_and_before_the_first_delegation_only() -> None:
    state = after_first(10, 10, 10, 10)
    assert next_step(state) is Step.ESTIMATE
    assert next_step(play(state, phase_estimate(state))) is Step.DELEGATE
    assert not estimate_due(play(state, delegated("2.1")))


def test_without_a_basis_nothing_is_said() -> None:
    state = play(State(), *started(WORK))
    assert next_step(state) is Step.DELEGATE
    assert phase_estimate(state).basis == 0
    assert shortfalls(state, phase_estimate(state), ()) == ()


def test_a_task_that_no_model_worked_on_is_no_basis() -> None:
    assert play(State(), *started(WORK), *passing("1.1")).experience == ()


def test_an_unknown_price_makes_an_unknown_cost() -> None:
    state = after_first(10, 10, 10, 10, usd=None)
    assert phase_estimate(state).usd is None
    assert expected_of(state, SECOND[0]).usd is None


def test_the_next_goal_is_estimated_by_the_tasks_of_the_one_before_from_its_first_phase_on() -> None:
    state = after_first(10, 10, 10, 10)
    for task in SECOND:
        state = play(state, *passing(task.id))
    state = play(state, ev.PhaseClosed(phase=2, summary="Done."), ev.PhaseApproved(phase=2))
    state = play(state, *started(WORK))
    assert next_step(state) is Step.ESTIMATE
    assert phase_estimate(state).tasks == len(FIRST)


def test_too_small_a_budget_is_named_before_the_work() -> None:
    levels = ev.RunStarted.model_validate(
        {"pid": 1, "host": "h", "budgets": {"phase": {"tokens": 29}, "task": {"seconds": 9, "usd": 5}}}
    ).budgets
    state = after_first(10, 10, 10, 10, budgets=levels, budget_tokens=1000)
    told = shortfalls(state, phase_estimate(state), accounts(state, ""))
    assert told[0] == (
        "phase 2 is expected to use 30 tokens, and the budget of phase 2 has 29 left (`tokens` in [budget.phase])"
    )
    assert [text.split(" is ")[0] for text in told[1:]] == ["task 2.1", "task 2.2", "task 2.3"]
    assert "10 s of work, and the budget of task 2.1 has 9 left (`seconds` in [budget.task])" in told[1]
