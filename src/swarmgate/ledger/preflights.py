"""Reports of preflight, `.swarm/runtime/preflight/phase-N.json`: the newest of each phase."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from swarmgate.domain.preflight import PreflightReport
from swarmgate.ledger.folder import SwarmFolder, writing
from swarmgate.workspace.atomic import replace


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
        target.parent.mkdir(parents=True, exist_ok=True)
        replace(target, report.model_dump_json(indent=1), durable=False)
    return target


def read(folder: SwarmFolder, phase: int) -> PreflightReport | None:
    """The newest report on a phase; None where there is none that can be read."""
    try:
        return PreflightReport.model_validate_json(place(folder, phase).read_bytes())
    except (OSError, ValidationError):
        return None
