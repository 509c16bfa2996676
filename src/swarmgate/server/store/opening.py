"""Opens the store that `[server] store` names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from swarmgate.config.server import Server
from swarmgate.errors import MissingRequirement
from swarmgate.server.store.model import Store
from swarmgate.server.store.sqlite import SqliteStore


def open_store(settings: Server, home: Path, environ: Mapping[str, str]) -> Store:
    """Opens the store of a server; nothing is read or made before its first use.

    Args:
        settings: `[server]`.
        home: of the server, which holds `state.sqlite3`.
        environ: where the password of a Redis is looked up.

    Raises:
        MissingRequirement: the variable that should hold the password is not set.
    """
    if settings.store == "sqlite":
        return SqliteStore(home / "state.sqlite3")
    from swarmgate.server.store.redis import RedisStore  # noqa: PLC0415 - takes a tenth of a second

    variable = settings.store_password_env
    if variable and not environ.get(variable):
        raise MissingRequirement(
            f"{variable} is not set, which `[server] store_password_env` names.",
            hint=f"Set it to the password of {settings.store}.",
        )
    return RedisStore(settings.store, home, password=environ.get(variable, "") if variable else "")
