"""Reads and replaces `.swarm/runtime/status.json`, which is ignored once its process has ended."""

# ruff: noqa: PLC0415 - late, for start-up time: `swarm status` imports who writes this file, and does not read it

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from swarmgate.domain.state.state import State
from swarmgate.journal.journal import utc_now
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.workspace.files.atomic import replace

if TYPE_CHECKING:
    from swarmgate.domain.status import StatusFile


def write(folder: SwarmFolder, status: StatusFile) -> str:
    """Writes it; returns why that failed, empty if it did not. Where `.swarm/` is gone, nothing is made anew."""
    try:
        if folder.path.is_dir():
            folder.runtime.mkdir(exist_ok=True)
        replace(folder.status, status.model_dump_json(indent=2) + "\n", durable=False)
    except OSError as error:
        return error.strerror or str(error)
    return ""


def read(folder: SwarmFolder) -> StatusFile | None:
    """The stored status; None where there is none, or none that this version understands."""
    from swarmgate.domain.status import StatusFile

    try:
        found = StatusFile.model_validate_json(folder.status.read_bytes())
        at = datetime.fromisoformat(found.written_at)
    except (OSError, ValueError):
        return None
    return found if at.tzinfo else None


def refresh(folder: SwarmFolder, state: State) -> None:
    """Brings `work` up to date where nobody watches any more who would: after a command that recorded something.

    What the disk refuses stays as it was: `written_at` tells how old it is.
    """
    from swarmgate.domain.status import work_status

    left = read(folder)
    if left is not None and left.watching == "stopped":
        write(folder, left.model_copy(update={"written_at": stamp(), "work": work_status(state, "")}))


def stamp() -> str:
    """Now, as the file has times."""
    return utc_now().isoformat(timespec="milliseconds").replace("+00:00", "Z")
