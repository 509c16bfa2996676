"""`.swarm/runtime/status.json`: replaced in one step, never waited for, worth nothing once its process is gone."""

from __future__ import annotations

from pydantic import ValidationError

from swarmgate.domain.status import StatusFile
from swarmgate.ledger.folder import SwarmFolder
from swarmgate.ledger.ledger import utc_now
from swarmgate.workspace.atomic import replace


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
    """What stands there; None where there is none, or none that this version understands."""
    try:
        return StatusFile.model_validate_json(folder.status.read_bytes())
    except (OSError, ValidationError):
        return None


def stamp() -> str:
    """Now, as the file has times."""
    return utc_now().isoformat(timespec="milliseconds").replace("+00:00", "Z")
