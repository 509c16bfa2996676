"""Reads and writes `.swarm/debate-worth.json`, the result of `swarm eval debate`, used by `[review] mode = "auto"`."""

from __future__ import annotations

from pydantic import ValidationError

from swarmgate.domain.task.debate_rules import DebateWorth
from swarmgate.errors import ConfigError
from swarmgate.journal.disk_errors import writing
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.workspace.files.atomic import replace


def keep(folder: SwarmFolder, worth: DebateWorth) -> None:
    """Keeps a measurement in the place of the one before.

    Raises:
        LedgerWriteFailed: the disk refused.
    """
    with writing(folder.debate_worth):
        folder.path.mkdir(parents=True, exist_ok=True)
        replace(folder.debate_worth, f"{worth.model_dump_json(indent=1)}\n".encode())


def read(folder: SwarmFolder) -> DebateWorth | None:
    """The newest measurement; None where nothing was measured.

    Raises:
        ConfigError: the file cannot be read: nobody can say then whether debates are to be held.
    """
    path = folder.debate_worth
    try:
        return DebateWorth.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        problem = error.strerror or str(error)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        key = ".".join(map(str, first["loc"]))
        problem = f"{f'`{key}`: ' if key else ''}{first['msg']}"
    raise ConfigError(
        f"{folder.relative(path)} cannot be read: {problem}",
        hint="measure again with: swarm eval debate; or delete the file: debates are then held as [review] says",
    )
