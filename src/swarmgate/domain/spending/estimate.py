"""Estimates the usage of a phase from the median of completed tasks of the same size."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from swarmgate.domain.events.event import PhaseEstimated
from swarmgate.domain.plan.plan import Task
from swarmgate.domain.spending.budget import Account, amount
from swarmgate.domain.state.state import State
from swarmgate.domain.usage import Allowance, Usage
from swarmgate.errors import Owner


def estimate_due(state: State) -> bool:
    """Whether the current phase is about to begin and there are completed tasks to judge it by."""
    number = state.current_phase
    if state.plan is None or number in state.estimates or not state.experience:
        return False
    return not any(state.task(task.id).attempts for task in state.plan.phase(number).tasks)


def phase_estimate(state: State) -> PhaseEstimated:
    """The estimate for the open tasks of the current phase; `basis` is 0 where no task was completed before."""
    tasks = _open(state)
    expected = [expected_of(state, task) for task in tasks]
    total = sum(expected, Usage())
    basis = len(state.experience)
    return PhaseEstimated(
        phase=state.current_phase,
        tasks=len(tasks),
        basis=basis,
        tokens=total.tokens,
        usd=total.usd,
        seconds=round(total.seconds, 1),
    )


def expected_of(state: State, task: Task) -> Usage:
    """What a task is expected to take: the medians over the completed ones of its size, over all where there is none.

    The cost is unknown where one of them is.
    """
    alike = [usage for size, usage in state.experience if size is task.complexity]
    known = alike or [usage for _, usage in state.experience]
    if not known:
        return Usage()
    costs = [usage.usd for usage in known if usage.usd is not None]
    return Usage(
        prompt_tokens=round(median(usage.tokens for usage in known)),
        usd=median(costs) if len(costs) == len(known) else None,
        seconds=median(usage.seconds for usage in known),
    )


def shortfalls(state: State, expected: PhaseEstimated, budgets: Sequence[Account]) -> tuple[str, ...]:
    """A sentence for each budget that the estimate goes beyond; `[budget.task]` is looked at task by task."""
    if not expected.basis:
        return ()
    whole = Usage(prompt_tokens=expected.tokens, usd=expected.usd, seconds=expected.seconds)
    found = [
        f"phase {expected.phase} is expected to use {amount(key, wanted)}, and {account.name} has {left} left "
        f"(`{key}` in [{account.section}])"
        for account in budgets
        for key, wanted, left in _beyond(account, whole)
    ]
    allowance = state.rules.budgets.get("task", Allowance())
    for task in _open(state):
        own = Account(Owner("task", task.id), allowance, state.task(task.id).spent)
        found += [
            f"task {task.id} is expected to use {amount(key, wanted)}, and {own.name} has {left} left "
            f"(`{key}` in [{own.section}])"
            for key, wanted, left in _beyond(own, expected_of(state, task))
        ]
    return tuple(found)


def _beyond(account: Account, wanted: Usage) -> list[tuple[str, float, str]]:
    """Each measure of which too little is left: its key, what is wanted, and what is left in words."""
    amounts = {"usd": wanted.usd or 0.0, "tokens": wanted.tokens, "seconds": wanted.seconds}
    return [
        (each.key, amounts[each.key], amount(each.key, each.left, bare=True))
        for each in account.measures()
        if amounts[each.key] > each.left
    ]


def _open(state: State) -> list[Task]:
    if state.plan is None or state.finished:
        return []
    return [task for task in state.plan.phase(state.current_phase).tasks if not state.task(task.id).settled]
