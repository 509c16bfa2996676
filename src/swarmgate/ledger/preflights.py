"""Reports of preflight, `.swarm/runtime/preflight/phase-N.json`: the newest of each phase."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from swarmgate.domain.preflight import PreflightReport
from swarmgate.ledger.folder import SwarmFolder, writing
from swarmgate.workspace import regular
from swarmgate.workspace.atomic import replace
from swarmgate.workspace.folders import make


def place(folder: SwarmFolder, phase: int) -> Path:
    """Where the report on a phase lies."""
    return folder.preflight / f"phase-{phase}.json"


def keep(folder: SwarmFolder, report: PreflightReport) -> Path:
    """Writes a report in the place of the one before it.

    Raises:
        LedgerWriteFailed: the disk refused.
    """
    target = place(folder, report.phase)
    with writing(target):
        make(target.parent)
        replace(target, report.model_dump_json(indent=1), durable=False)
    return target


def read(folder: SwarmFolder, phase: int) -> PreflightReport | None:
    """The newest report on a phase; None where there is none that can be read."""
    try:
        return PreflightReport.model_validate_json(regular.read(place(folder, phase)))
    except (OSError, ValidationError):
        return None
