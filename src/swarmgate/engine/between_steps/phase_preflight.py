"""Runs the preflight before the first task of a phase, where it is enabled.

Where nobody said anything, the test command is looked at before the first phase: without one nothing can be proven.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from swarmgate.domain.next_step import begins_phase
from swarmgate.domain.state.state import State
from swarmgate.engine.automation_ports import EnginePorts
from swarmgate.engine.context import Context
from swarmgate.engine.steps.delegation.uncommitted import refuse_dirty_tree

if TYPE_CHECKING:
    from swarmgate.automation.preflight.context import PreflightContext


class PhasePreflight:
    """The phases that one run begins; each passes preflight once.

    Args:
        ctx: the context of the run.
    """

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._passed: set[int] = set()

    async def passed(self, state: State) -> bool:
        """Whether the next step begins a phase whose preflight was due, and has just passed.

        Raises:
            PreflightFailed: it did not; nothing was spent on the phase.
        """
        automation, phase = self._ctx.config.automation, begins_phase(state)
        whole = automation.on("phase_preflight")
        if not phase or phase in self._passed or not (whole or (automation.looks_at_tests and _is_first(state))):
            return False
        from swarmgate.automation.preflight.preflight import require  # noqa: PLC0415 - late: few steps need it

        message = f"preflight of phase {phase}" if whole else "looking at the test command"
        self._ctx.notify("step", message, step="preflight")
        report = await require(self._context(phase), whole=whole)
        for check in report.checks:
            if check.problem:
                self._ctx.notify("notice", f"preflight: {check.name}: {check.problem}")
        self._passed.add(phase)
        return True

    def _context(self, phase: int) -> PreflightContext:
        """What is looked at; the branch of the work has to be made (after START_WORK).

        With `--stash`, uncommitted changes are stashed here as before any first attempt.
        """
        from swarmgate.automation.preflight.context import PreflightContext  # noqa: PLC0415 - late: few steps need it
        from swarmgate.automation.preflight.preflight import reach  # noqa: PLC0415 - late: few steps need it

        ctx, ports = self._ctx, EnginePorts()
        state = ctx.ledger.state
        if ctx.stash and not state.tree:
            refuse_dirty_tree(ctx)
        return PreflightContext(
            folder=ctx.folder,
            repository=ctx.repository,
            ledger=ctx.ledger,
            state=state,
            phase=phase,
            config=ctx.config,
            roles=ctx.config.speaking,
            commands=lambda: ctx.commands,
            budgets=ctx.budgets,
            reach=reach(ports, ctx.config, ctx.environ),
            demands=lambda: ports.require(ctx.config, ctx.environ, ctx.repository),
            ours=True,
        )


def _is_first(state: State) -> bool:
    """Whether no task was ever attempted."""
    return not any(record.attempts for record in state.tasks.values())
