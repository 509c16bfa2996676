"""Runs the preflight of one phase: by hand, or in a run before the phase spends anything."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace as with_changes
from functools import cache

from immutables import Map

from swarmgate.automation.ports import Ports
from swarmgate.automation.preflight.checks import FIRST, GROUPS, run_checks
from swarmgate.automation.preflight.context import PreflightContext
from swarmgate.config import SPEAKING, Config, is_program
from swarmgate.domain.events.automation import PreflightRan
from swarmgate.domain.preflight import PreflightReport, Reach
from swarmgate.domain.spending.budget import PROJECT, Account, accounts
from swarmgate.domain.state.state import State, replace
from swarmgate.errors import LedgerError, PreflightFailed, UsageError
from swarmgate.ledger.councils.sessions import UnsettledUsage
from swarmgate.ledger.files import preflights
from swarmgate.ledger.files.automation_log import AutomationLog
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger
from swarmgate.project import Project
from swarmgate.workspace.agent_programs.files import survey
from swarmgate.workspace.sandbox.command_runner import CommandRunner

NAME = "phase_preflight"
"""The capability, and the actor on the journal."""


def preflight(project: Project, ports: Ports, *, phase: int | None = None) -> PreflightReport:
    """Checks whether a phase can begin, by default the next one. Stores the report in `.swarm/runtime/preflight/`.

    Raises:
        UsageError: there is no plan, or no such phase in it, or none is left to begin.
    """
    ledger = Ledger.read(project.folder)
    number = _phase(ledger.state, phase)
    report = asyncio.run(run_checks(context_of(project, ports, ledger, number)))
    report = report.model_copy(update={"note": _note(ledger.state, number)})
    _tell(project.folder, report)
    return report


async def require(context: PreflightContext, *, whole: bool = True) -> PreflightReport:
    """Makes sure, before a phase spends anything, that it can begin. The caller holds the ledger.

    Args:
        context: what is looked at, in a run.
        whole: make every check; else look at the test command alone.

    Raises:
        PreflightFailed: naming each check that stops it.
    """
    report = await run_checks(context, GROUPS if whole else FIRST)
    _tell(context.folder, report)
    if not report.passed:
        stopping = [check for check in report.checks if check.stops]
        own = f"{stopping[0].hint} " if len(stopping) == 1 and stopping[0].hint else ""
        raise PreflightFailed(
            f"Preflight stops phase {context.phase} before anything was spent on it.",
            problems=report.problems,
            hint=f"{own}Mend that, look again with: swarm preflight --phase {context.phase}; then: swarm run. To go on "
            "without such looks: swarm automation off phase_preflight",
        )
    return report


_NAME_ONE = "Name a phase to look at it all the same: swarm preflight --phase N"


def _note(state: State, number: int) -> str:
    """What the user should know of a phase that is not the one worked on."""
    if state.phase_settled(number):
        return f"phase {number} is complete already; this is how it stands now"
    current = state.current_phase
    if number == current + 1 and state.phase_settled(current):
        return f"phase {current} is complete and waits for your approval (swarm approve); this is about phase {number}"
    return ""


def _phase(state: State, asked: int | None) -> int:
    if state.plan is None:
        raise UsageError("There is no plan, so there is no phase to look at.", hint='swarm plan "..."')
    last, current = len(state.plan.phases), state.current_phase
    number = current + state.phase_settled(current) if asked is None else asked
    if asked is None and number > last:
        if current > last:
            raise UsageError("Every phase is approved: none is left to begin.", hint=_NAME_ONE)
        message = f"Phase {current}, the last one, is complete and waits for your approval: none is left to begin."
        raise UsageError(message, hint=f"swarm approve. {_NAME_ONE}")
    if not 1 <= number <= last:
        raise UsageError(f"The plan has no phase {number}.", hint=f"Phases: 1 to {last}. See: swarm status")
    return number


def context_of(project: Project, ports: Ports, ledger: Ledger, phase: int) -> PreflightContext:
    """The project as it lies there; the limits are those of the settings now, not those of the last run."""
    folder, config = project.folder, project.config
    environ = dict(project.environ)
    repository = project.repository()
    state = _with_limits(ledger.state, config, ports)

    @cache
    def commands() -> CommandRunner:
        files = survey(config, repository.root, SPEAKING, lambda: repository.list_tree(repository.snapshot()))
        return project.command_runner(guarded=files.guarded)

    return PreflightContext(
        folder=folder,
        repository=repository,
        ledger=ledger,
        state=state,
        phase=phase,
        config=config,
        roles=config.speaking,
        commands=commands,
        budgets=lambda: _budgets(state, folder),
        reach=reach(ports, config, environ),
        demands=lambda: ports.require(config, environ, repository),
    )


def _with_limits(state: State, config: Config, ports: Ports) -> State:
    budget = config.budget
    rules = replace(
        state.rules,
        budget_usd=budget.usd,
        budget_tokens=budget.tokens,
        budget_seconds=budget.seconds,
        budgets=Map(ports.allowances(budget)),
    )
    return replace(state, rules=rules)


def _budgets(state: State, folder: SwarmFolder) -> tuple[Account, ...]:
    """Those that hold for the next run: its own is new, and councils have used of the project's."""
    due = UnsettledUsage(folder).due
    found = (each for each in accounts(state, "") if each.owner.kind != "run")
    return tuple(with_changes(each, spent=each.spent + due) if each.owner == PROJECT else each for each in found)


def reach(
    ports: Ports, config: Config, environ: Mapping[str, str]
) -> Callable[[Sequence[str]], Awaitable[Sequence[Reach]]]:
    """Asks which models can be reached; agent programs alone need no endpoint."""

    async def ask(models: Sequence[str]) -> Sequence[Reach]:
        return () if all(is_program(model) for model in models) else await ports.reach(models, config, environ)

    return ask


def ran(folder: SwarmFolder, report: PreflightReport) -> PreflightRan:
    """The event of a preflight."""
    return PreflightRan(
        phase=report.phase,
        passed=report.passed,
        failed=report.failed,
        skipped=report.skipped,
        problem=next(iter(report.problems), ""),
        report=folder.relative(preflights.place(folder, report.phase)),
        seconds=report.seconds,
    )


def _tell(folder: SwarmFolder, report: PreflightReport) -> None:
    """Stores the report and its event; a full disk does not change the result."""
    with contextlib.suppress(LedgerError):
        preflights.keep(folder, report)
    AutomationLog(folder).append(ran(folder, report), actor=NAME)
