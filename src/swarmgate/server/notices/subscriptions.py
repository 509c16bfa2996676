"""The browsers that asked to be told: a table in the server's own file, by account."""

from __future__ import annotations

import time
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import Field

from swarmgate.domain.base import Frozen
from swarmgate.errors import UsageError
from swarmgate.server.accounts.database import Database

TABLES = """
CREATE TABLE IF NOT EXISTS push_subscriptions (
    endpoint TEXT PRIMARY KEY, account TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    p256dh TEXT NOT NULL, auth TEXT NOT NULL, created REAL NOT NULL);
CREATE TABLE IF NOT EXISTS notices_told (need TEXT PRIMARY KEY, time REAL NOT NULL);
"""
_MOST = 20
"""Browsers of one account; the oldest make room."""
_LONGEST = 2048
_KEPT_S = 90 * 86_400
"""Seconds that it is remembered who was told what."""


class Subscription(Frozen):
    """A browser of an account: where its push service is, and the keys that only the browser reads with."""

    account: str
    endpoint: str = Field(max_length=_LONGEST)
    p256dh: str = Field(max_length=200, pattern=r"^[A-Za-z0-9_=-]+$")
    auth: str = Field(max_length=100, pattern=r"^[A-Za-z0-9_=-]+$")


class Subscriptions:
    """The subscriptions of one server, and what was told already. Threads may share it.

    Args:
        home: the server's folder.

    Raises:
        StoreAway: the file cannot be used.
    """

    def __init__(self, home: Path) -> None:
        self._database = Database(home, TABLES)

    def close(self) -> None:
        """Closes the file."""
        self._database.close()

    def add(self, new: Subscription) -> None:
        """Has a browser told from now on; the same one again replaces what is known of it.

        Raises:
            UsageError: its address is no address of a push service.
            StoreAway: the file cannot be written.
        """
        parts = urlsplit(new.endpoint)
        if parts.scheme != "https" or not parts.hostname or parts.username or parts.password:
            raise UsageError("The address of a push service is one on https.")
        with self._database.writing() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO push_subscriptions (endpoint, account, p256dh, auth, created)"
                " VALUES (?, ?, ?, ?, ?)",
                (new.endpoint, new.account, new.p256dh, new.auth, time.time()),
            )
            connection.execute(
                "DELETE FROM push_subscriptions WHERE account = ? AND endpoint NOT IN (SELECT endpoint"
                " FROM push_subscriptions WHERE account = ? ORDER BY created DESC, rowid DESC LIMIT ?)",
                (new.account, new.account, _MOST),
            )

    def remove(self, endpoint: str, *, account: str = "") -> None:
        """Forgets a browser; with an account only where it is that one's."""
        with self._database.writing() as connection:
            connection.execute(
                "DELETE FROM push_subscriptions WHERE endpoint = ? AND ? IN ('', account)", (endpoint, account)
            )

    def of(self, account: str) -> tuple[Subscription, ...]:
        """The browsers of an account, the oldest first."""
        rows = self._database.rows(
            "SELECT account, endpoint, p256dh, auth FROM push_subscriptions WHERE account = ? ORDER BY created", account
        )
        return tuple(Subscription(**dict(row)) for row in rows)

    def first_time(self, need: str) -> bool:
        """Notes that somebody is told of a need; False: it was noted before, also by a server before this one."""
        now = time.time()
        with self._database.writing() as connection:
            connection.execute("DELETE FROM notices_told WHERE time < ?", (now - _KEPT_S,))
            return connection.execute("INSERT OR IGNORE INTO notices_told VALUES (?, ?)", (need, now)).rowcount == 1
