"""Budgets of project, run, phase and task: limits, what was spent of each, and what remains."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from swarmgate.domain.state.state import Planning, State
from swarmgate.domain.usage import Allowance, Usage
from swarmgate.errors import Owner

PROJECT = Owner("project")
"""Whose the budget is that bounds all work of the project."""


@dataclass(frozen=True)
class Measure:
    """One measure of a budget. `least`: some costs are unknown."""

    key: Literal["usd", "tokens", "seconds"]
    spent: float
    limit: float
    least: bool = False

    @property
    def used_up(self) -> bool:
        """Whether nothing is left."""
        return self.spent >= self.limit

    @property
    def left(self) -> float:
        """The remaining amount, 0 at least."""
        return max(0.0, self.limit - self.spent)

    @property
    def text(self) -> str:
        """`$1.50 of $3.00`, `1,200 of 5,000 tokens`, `61 of 600 s of work`."""
        least = "at least " if self.least else ""
        return f"{least}{amount(self.key, self.spent, bare=True)} of {amount(self.key, self.limit)}"


@dataclass(frozen=True)
class Account:
    """One budget: whose it is, its limits and what was spent."""

    owner: Owner
    limits: Allowance
    spent: Usage

    @property
    def owner_text(self) -> str:
        """The owner in words: `this run`, `phase 2`, `task 2.1`; empty: the project."""
        match self.owner.kind:
            case "project":
                return ""
            case "session":
                return self.owner.name
            case "debate":
                return "this debate by `[council]`"
            case "phase" | "task":
                return f"{self.owner.kind} {self.owner.name}"
            case _:
                return f"this {self.owner.kind}"

    @property
    def name(self) -> str:
        """The name of the budget: `the budget of task 2.1`."""
        return f"the budget of {self.owner_text}" if self.owner_text else "the budget"

    @property
    def section(self) -> str:
        """The table of the settings that limits it."""
        match self.owner.kind:
            case "run" | "phase" | "task":
                return f"budget.{self.owner.kind}"
            case "session" | "debate":
                return "council"
            case _:
                return "budget"

    def measures(self) -> Iterator[Measure]:
        """Each limit that is set, with what was spent of it."""
        limits, spent = self.limits, self.spent
        if limits.usd is not None:
            yield Measure("usd", spent.least_usd, limits.usd, least=spent.usd is None)
        if limits.tokens is not None:
            yield Measure("tokens", spent.tokens, limits.tokens)
        if limits.seconds is not None:
            yield Measure("seconds", spent.seconds, limits.seconds)

    @property
    def next_action(self) -> str:
        """The user's next action when the budget is used up, `{key}` being the measure."""
        raised = f"raise `{{key}}` in [{self.section}] of .swarm/config.toml, then `swarm run`"
        if self.owner.kind == "run":
            return f"`swarm run` goes on with a new budget of a run; or {raised}"
        if self.owner.kind == "task":
            task = self.owner.name
            return (
                f"{raised}: it goes on where it paused; or `swarm retry {task}`, which grants the task its budget "
                f'again and starts the task over; or `swarm skip {task} --reason "..."`'
            )
        return raised


def accounts(state: State, task: str, pending: Usage | None = None) -> tuple[Account, ...]:
    """The budgets that hold now and have a limit, the widest first.

    Args:
        state: what the ledger knows, with the limits that the newest run began with.
        task: the task that is worked on; empty outside of tasks.
        pending: what was used since the ledger's last line.
    """
    used, rules = pending or Usage(), state.rules
    whole = Allowance(usd=rules.budget_usd, tokens=rules.budget_tokens, seconds=rules.budget_seconds)
    found = [Account(PROJECT, whole, state.usage + state.forfeited + used)]

    def add(owner: Owner, spent: Usage) -> None:
        limits = rules.budgets.get(owner.kind)
        if limits is not None:
            found.append(Account(owner, limits, spent + used))

    add(Owner("run"), state.usage_in_run)
    phase = state.current_phase
    if state.plan is not None and state.planning is Planning.APPROVED and phase <= len(state.plan.phases):
        add(Owner("phase", str(phase)), state.usage_by_phase.get(phase, Usage()))
    if task:
        add(Owner("task", task), state.task(task).spent)
    return tuple(account for account in found if account.limits.limited)


def amount(key: str, value: float, *, bare: bool = False) -> str:
    """A quantity of a measure in words; `bare` leaves out what is measured."""
    match key:
        case "usd":
            return f"${value:.2f}"
        case "tokens":
            return f"{value:,.0f}" + ("" if bare else " tokens")
        case _:
            return f"{value:,.0f}" + ("" if bare else " s of work")
