"""Stores preflight reports as `.swarm/runtime/preflight/phase-N.json`: the newest of each phase.

Beside them lies what the last look at the test command said, `tests.json`, so that it is not made twice.
"""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

from pydantic import ValidationError

from swarmgate.domain.preflight import PreflightReport
from swarmgate.errors import LedgerError
from swarmgate.journal.disk_errors import writing
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.workspace.files import regular
from swarmgate.workspace.files.atomic import replace
from swarmgate.workspace.files.folders import make


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


def remember(folder: SwarmFolder, key: str, message: str) -> None:
    """Keeps what a look at the test command said, and what that hangs on; a disk that refuses costs another look."""
    target = folder.preflight / "tests.json"
    with contextlib.suppress(LedgerError), writing(target):
        make(target.parent)
        replace(target, json.dumps({"key": key, "told": message}), durable=False)


def remembered(folder: SwarmFolder, key: str) -> str:
    """What the last look said, if it hangs on the same; else empty."""
    try:
        stored = json.loads(regular.read(folder.preflight / "tests.json"))
    except (OSError, ValueError, RecursionError):
        return ""
    return str(stored.get("told", "")) if isinstance(stored, dict) and stored.get("key") == key else ""
