"""One-time login links, Jupyter's way: who sees the terminal, or is told the link, logs in once by it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from swarmgate.errors import Unauthenticated
from swarmgate.server.accounts.database import Database
from swarmgate.server.accounts.model import LoginLink
from swarmgate.server.accounts.secret_texts import LINK, hash_of, new_secret

TABLES = """
CREATE TABLE IF NOT EXISTS login_links (
    hash TEXT PRIMARY KEY, account TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE, expires REAL NOT NULL);
"""
LIFETIME_S = 15 * 60
"""Seconds that a link lives which nobody opens."""


class LoginLinks:
    """The links of one server; they may be used from several threads."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database, self._clock = database, clock

    def make(self, account: str) -> LoginLink:
        """A link for an account; one that it had before stays."""
        token, expires = new_secret(LINK), self._clock() + LIFETIME_S
        with self._database.writing() as database:
            database.execute("DELETE FROM login_links WHERE expires <= ?", (self._clock(),))
            database.execute("INSERT INTO login_links VALUES (?, ?, ?)", (hash_of(token), account, expires))
        return LoginLink(account=account, token=token, expires=datetime.fromtimestamp(expires, UTC))

    def redeem(self, token: str) -> str:
        """The id of the account that a link is for, which is used up by that.

        Raises:
            Unauthenticated: it is none, was used, or is over.
        """
        with self._database.writing() as database:
            row = database.execute(
                "DELETE FROM login_links WHERE hash = ? RETURNING account, expires", (hash_of(token),)
            ).fetchone()
        if row is None or row["expires"] <= self._clock():
            raise Unauthenticated(
                "This login link was used, is over or is wrong.", hint="ask for a new one; `swarm serve` prints one"
            )
        return str(row["account"])
