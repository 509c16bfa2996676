"""The folder of what a server remembers: where it is, what lies in it, and the one server that works in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import platformdirs

from swarmgate.config import Config
from swarmgate.errors import IllegalMove, LedgerLocked, UsageError
from swarmgate.journal.lock import WriterLock, describe, live_owner
from swarmgate.workspace import system

DATABASE = "server.sqlite3"
SIGNING_KEY = "signing.key"
PUSH_KEY = "vapid.pem"
GOALS = "goals"
COUNCILS = "councils"
ARCHIVE = "archive"
SCRATCH = "scratch"
LOCK = "server.lock"

_PRIVATE = 0o700


def place(settings: Config, named: Path | None = None) -> Path:
    """The home: as named, else as `[server] home` says, else in the user's data folder."""
    if named is not None:
        return named.expanduser().absolute()
    if settings.server.home:
        return Path(settings.server.home).expanduser().absolute()
    return platformdirs.user_data_path("swarmgate") / "server"


def prepared(home: Path) -> Path:
    """The home, made where it is not there, for its user alone.

    Raises:
        UsageError: it cannot be made, or is somebody else's.
    """
    try:
        home.mkdir(parents=True, exist_ok=True, mode=_PRIVATE)
        found = home.stat()
        if not system.owns(found):
            raise UsageError(f"{home} belongs to another user.", hint="Name another folder: --home DIR")
        if found.st_mode & 0o077:
            home.chmod(_PRIVATE)
    except OSError as error:
        raise UsageError(
            f"The server cannot keep anything in {home}: {error.strerror or error}",
            hint="Name another folder, which it can make and write to: --home DIR",
        ) from None
    return home


@contextmanager
def taken(home: Path, url: str) -> Iterator[None]:
    """Takes the home for one server, which can be reached at a URL, until the block ends.

    Raises:
        IllegalMove: another server works there.
    """
    lock = WriterLock(home / LOCK, place=url)
    try:
        lock.acquire()
    except LedgerLocked as error:
        owner = serving_at(home)
        if not owner:  # nobody holds it: what it names is what a machine of another name left
            raise IllegalMove(f"{home} is taken. {error.message}", hint=error.hint) from None
        raise IllegalMove(
            f"Another server works in {home}: {describe(owner)}, at {owner.get('place', '?')}.",
            hint="Use that one, end it, or name another folder: --home DIR",
        ) from None
    try:
        yield
    finally:
        lock.release()


def serving_at(home: Path) -> dict[str, Any]:
    """The server that works in the home: its pid, host, and its URL as `place`; empty: none does."""
    return dict(live_owner(home / LOCK))
