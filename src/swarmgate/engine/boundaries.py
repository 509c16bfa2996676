"""Phase boundaries in a run: preflight before the first task of a phase, where it is switched on."""

from __future__ import annotations

from swarmgate.domain.decide import begins_phase
from swarmgate.domain.state import State
from swarmgate.engine.context import Context


class Boundaries:
    """The phases that one run begins; each passes preflight once.

    Args:
        ctx: the surroundings.
    """

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._on = ctx.config.automation.on("phase_preflight")
        self._passed: set[int] = set()

    async def crossed(self, state: State) -> bool:
        """Whether the next step begins a phase whose preflight was due, and has just passed.

        Raises:
            PreflightFailed: it did not; nothing was spent on the phase.
        """
        phase = begins_phase(state) if self._on else 0
        if not phase or phase in self._passed:
            return False
        from swarmgate.engine.automating.preflighting import require  # noqa: PLC0415 - late: few runs need it

        self._ctx.tell("step", f"preflight of phase {phase}", step="preflight")
        report = await require(self._ctx, phase)
        for check in report.checks:
            if check.problem:
                self._ctx.tell("notice", f"preflight: {check.name}: {check.problem}")
        self._passed.add(phase)
        return True
