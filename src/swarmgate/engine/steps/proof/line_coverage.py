"""Finds changed lines that no passing test runs, as far as coverage is measured."""

from __future__ import annotations

from collections.abc import Collection

from swarmgate.domain.guard import Effect
from swarmgate.domain.review.evidence import Remark
from swarmgate.domain.review.finding import Severity
from swarmgate.domain.review.stage import Judge
from swarmgate.engine.steps.proof.objections import Objection, listed
from swarmgate.engine.steps.proof.proof_runs import Ran, Runs
from swarmgate.workspace.code.instrumentation import Mode, Unit

Notes = tuple[tuple[Effect, str], ...]

_REMARKS = 10
_RUN_IT = "Write tests that run these lines and check what they do; remove them where nothing needs them."


async def unrun(runs: Runs, hits: Collection[str]) -> tuple[tuple[Unit, ...], Notes]:
    """The changed parts that no test runs, neither one of those that made these hits nor any other; what is not known.

    Args:
        runs: makes the runs: the whole suite is run where the hits leave something.
        hits: probes that ran.
    """
    left, notes = _left(runs, hits), not_measured(runs)
    if not left:
        return (), notes
    whole = await runs.rewritten(Mode.PASS, ())
    return unrun_by(runs, whole, also=hits)


def unrun_by(runs: Runs, ran: Ran, *, also: Collection[str] = ()) -> tuple[tuple[Unit, ...], Notes]:
    """The same of one run alone, and of the hits `also`."""
    left, notes = _left(runs, {*ran.hits, *also}), not_measured(runs)
    if left and ran.doubt and not ran.hits:  # code that said that it ran is what ran
        return (), (*notes, (Effect.NOTED, f"which changed lines the tests run is not known: {ran.doubt}"))
    return left, notes


def not_measured(runs: Runs) -> Notes:
    """The note on changed code whose coverage is not measured."""
    if not runs.code.unread:
        return ()
    return ((Effect.NOTED, f"which changed lines the tests run is not measured in {listed(runs.code.unread)}"),)


def objection(text: str, left: tuple[Unit, ...]) -> Objection:
    """The objection to a change: `text`, and the untested parts by name and place."""
    remarks = tuple(
        Remark(
            severity=Severity.HIGH,
            message=f"No passing test runs what was changed in {unit.name}.",
            file=unit.path,
            line=unit.line,
            suggestion=_RUN_IT,
        )
        for unit in left[:_REMARKS]
    )
    return Objection(stage=Judge.UNPROVEN, reason=f"{text} {listed(tuple(map(str, left)))}", remarks=remarks)


def _left(runs: Runs, hits: Collection[str]) -> tuple[Unit, ...]:
    units = (unit for each in runs.code.python for unit in each.units)
    return tuple(unit for unit in units if unit.left_by(hits))
