"""Preflight put together: what its checks need from several rooms, for a person, for the loop and for a watcher."""

# ruff: noqa: PLC0415 - late, for start-up time: a worker is made cheaply, and a verb brings git, gates or models when it is at work

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from immutables import Map

from swarmgate.automation.preflight.ground import Ground
from swarmgate.automation.preflight.running import FIRST, GROUPS, longest, run_checks
from swarmgate.config import SPEAKING, is_program
from swarmgate.domain.automation import AutomationEvent, PreflightRan
from swarmgate.domain.budget import PROJECT, Account, accounts
from swarmgate.domain.preflight import PreflightReport, Reach
from swarmgate.domain.state import State, replace
from swarmgate.domain.triggers import phase_boundary, phase_of, phase_to_begin
from swarmgate.errors import LedgerError, PreflightFailed, UsageError
from swarmgate.journal.lock import live_owner
from swarmgate.ledger import preflights
from swarmgate.ledger.automation_log import AutomationLog
from swarmgate.ledger.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger

if TYPE_CHECKING:
    from swarmgate.automation.worker import Seen, Worker
    from swarmgate.config import Config
    from swarmgate.engine.context import Context
    from swarmgate.project import Project
    from swarmgate.workspace.repository import Repository
    from swarmgate.workspace.sandbox.running import CommandRunner

NAME = "phase_preflight"
"""The capability, and the actor on the journal."""

_LOOKS, _BETWEEN_S = 10, 0.2
"""How often, and how many seconds apart, a watcher looks whether somebody still writes the ledger: `swarm approve`
holds it for an instant, a run for long."""


def preflight(project: Project, *, phase: int | None = None) -> PreflightReport:
    """Looks whether a phase can begin; unless told, the one that is next. Keeps it in `.swarm/runtime/preflight/`.

    Raises:
        UsageError: there is no plan, or no such phase in it, or none is left to begin.
    """
    ledger = Ledger.read(project.folder)
    number = _phase(ledger.state, phase)
    report = asyncio.run(run_checks(_ground(project, ledger, number)))
    report = report.model_copy(update={"note": _note(ledger.state, number)})
    _tell(project.folder, report)
    return report


async def require(ctx: Context, phase: int, *, whole: bool = True) -> PreflightReport:
    """Makes sure, before a phase spends anything, that it can begin. The caller holds the ledger.

    The branch of the work has to be made (after START_WORK); with `--stash`, uncommitted changes are stashed here as
    before any first attempt.

    Args:
        ctx: the surroundings of the run.
        phase: the phase that begins.
        whole: make every check; else look at the test command alone.

    Raises:
        PreflightFailed: naming each check that stops it.
    """
    from swarmgate.engine.experts import has_expert
    from swarmgate.engine.steps.uncommitted import refuse_dirty_tree

    state = ctx.ledger.state
    if ctx.stash and not state.tree:
        refuse_dirty_tree(ctx)
    ground = Ground(
        folder=ctx.folder,
        repository=ctx.repository,
        ledger=ctx.ledger,
        state=state,
        phase=phase,
        config=ctx.config,
        roles=_roles(SPEAKING, expert=has_expert(ctx.config)),
        commands=lambda: ctx.commands,
        budgets=ctx.budgets,
        reach=_reach(ctx.config, ctx.environ),
        demands=_demands(ctx.config, ctx.environ, ctx.repository),
        ours=True,
    )
    report = await run_checks(ground, GROUPS if whole else FIRST)
    _tell(ctx.folder, report)
    if not report.passed:
        stopping = [check for check in report.checks if check.stops]
        own = f"{stopping[0].hint} " if len(stopping) == 1 and stopping[0].hint else ""
        raise PreflightFailed(
            f"Preflight stops phase {phase} before anything was spent on it.",
            problems=report.problems,
            hint=f"{own}Mend that, look again with: swarm preflight --phase {phase}; then: swarm run. To go on without "
            "such looks: swarm automation off phase_preflight",
        )
    return report


def worker(project: Project) -> Worker:
    """Preflight at every phase boundary that is seen while no run is at work: a run has its own (`require`)."""
    return _AtBoundaries(project)


class _AtBoundaries:
    """The worker of a watcher."""

    def __init__(self, project: Project) -> None:
        self.name = NAME
        self.limit_s: float | None = longest(project.config.tests.timeout_s)
        self._project = project

    def subject(self, seen: Seen) -> str:
        """`phase N` at its boundary."""
        return phase_boundary(seen.happening, seen.before, seen.after)

    def work(self, subject: str, seen: Seen) -> AutomationEvent | None:
        """Looks; nothing where a run is at work, or the phase is not the one to begin any more."""
        del seen
        if self._somebody_writes():
            return None
        project, number = self._project, phase_of(subject)
        ledger = Ledger.read(project.folder)
        if phase_to_begin(ledger.state) != number:
            return None
        report = asyncio.run(run_checks(_ground(project, ledger, number)))
        with contextlib.suppress(LedgerError):  # what cannot be kept is told all the same
            preflights.keep(project.folder, report)
        return _event(project.folder, report)

    def _somebody_writes(self) -> bool:
        for _ in range(_LOOKS):
            if not live_owner(self._project.folder.lock):
                return False
            time.sleep(_BETWEEN_S)
        return True


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
        told = f"Phase {current}, the last one, is complete and waits for your approval: none is left to begin."
        raise UsageError(told, hint=f"swarm approve. {_NAME_ONE}")
    if not 1 <= number <= last:
        raise UsageError(f"The plan has no phase {number}.", hint=f"Phases: 1 to {last}. See: swarm status")
    return number


def _ground(project: Project, ledger: Ledger, phase: int) -> Ground:
    """The project as it lies there; the limits are those of the settings now, not those of the last run."""
    from swarmgate.engine.experts import has_expert
    from swarmgate.workspace.agent_programs.files import survey

    folder, config = project.folder, project.config
    environ = dict(project.environ)
    repository = project.repository()
    state = _with_limits(ledger.state, config)

    @cache
    def commands() -> CommandRunner:
        files = survey(config, repository.root, SPEAKING, lambda: repository.list_tree(repository.snapshot()))
        return project.command_runner(guarded=files.guarded)

    return Ground(
        folder=folder,
        repository=repository,
        ledger=ledger,
        state=state,
        phase=phase,
        config=config,
        roles=_roles(SPEAKING, expert=has_expert(config)),
        commands=commands,
        budgets=lambda: _budgets(state, folder),
        reach=_reach(config, environ),
        demands=_demands(config, environ, repository),
    )


def _roles(speaking: Sequence[str], *, expert: bool) -> tuple[str, ...]:
    return tuple(role for role in speaking if expert or role != "sme")


def _with_limits(state: State, config: Config) -> State:
    from swarmgate.engine.spending import allowances

    budget = config.budget
    rules = replace(
        state.rules,
        budget_usd=budget.usd,
        budget_tokens=budget.tokens,
        budget_seconds=budget.seconds,
        budgets=Map(allowances(budget)),
    )
    return replace(state, rules=rules)


def _budgets(state: State, folder: SwarmFolder) -> tuple[Account, ...]:
    """Those that hold for the next run: its own is new, and councils have used of the project's."""
    from dataclasses import replace as with_changes

    from swarmgate.ledger.sessions import Beside

    due = Beside(folder).due
    found = (each for each in accounts(state, "") if each.owner.kind != "run")
    return tuple(with_changes(each, spent=each.spent + due) if each.owner == PROJECT else each for each in found)


def _reach(config: Config, environ: Mapping[str, str]) -> Callable[[Sequence[str]], Awaitable[Sequence[Reach]]]:
    async def reach(models: Sequence[str]) -> Sequence[Reach]:
        if all(is_program(model) for model in models):
            return ()
        from swarmgate.llm.capabilities.reach import reach as look

        return await look(models, config, environ)

    return reach


def _demands(config: Config, environ: Mapping[str, str], repository: Repository) -> Callable[[], Sequence[str]]:
    from swarmgate.engine.requirements import require_models, require_tools

    def demands() -> Sequence[str]:
        require_tools(config)
        return require_models(config, environ, repository)

    return demands


def _event(folder: SwarmFolder, report: PreflightReport) -> PreflightRan:
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
    """Keeps the report and tells the journal; a disk that refuses takes nothing from what was found."""
    with contextlib.suppress(LedgerError):
        preflights.keep(folder, report)
    AutomationLog(folder).append(_event(folder, report), actor=NAME)
