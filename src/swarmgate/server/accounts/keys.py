"""API keys: for programs, one each. The key is told once; a hash of it is kept."""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from sqlite3 import Row

from swarmgate.errors import NotFound, Unauthenticated, UsageError
from swarmgate.server.accounts.database import Database
from swarmgate.server.accounts.model import ApiKey, NewApiKey
from swarmgate.server.accounts.secret_texts import KEY, hash_of, new_secret

TABLES = """
CREATE TABLE IF NOT EXISTS api_keys (
    id TEXT PRIMARY KEY, account TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE, name TEXT NOT NULL,
    hash TEXT NOT NULL, created REAL NOT NULL, expires REAL);
"""
MOST = 100
"""Keys of one account."""
_SHAPE = re.compile(rf"{KEY}([0-9a-f]{{12}})_[A-Za-z0-9_-]{{43}}")


class ApiKeys:
    """The keys of one server; they may be used from several threads."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database, self._clock = database, clock

    def create(self, account: str, name: str, *, expires: datetime | None = None) -> NewApiKey:
        """Makes a key.

        Args:
            account: the id of whose it is.
            name: what it is for.
            expires: aware; None: never.

        Raises:
            UsageError: it would be over already, or at no time that there is; or the account has as many as it may
                have.
        """
        now = self._clock()
        until = None if expires is None else _end(expires)
        if until is not None and until <= now:
            raise UsageError("A key that is over already is of no use.", hint="give a time to come, or none")
        if len(self.of(account)) >= MOST:
            raise UsageError(f"An account has {MOST} keys at most.", hint="delete those that nobody uses")
        key = secrets.token_hex(6)
        secret = new_secret(f"{KEY}{key}_")
        with self._database.writing() as database:
            database.execute(
                "INSERT INTO api_keys VALUES (?, ?, ?, ?, ?, ?)", (key, account, name, hash_of(secret), now, until)
            )
        created = datetime.fromtimestamp(now, UTC)
        return NewApiKey(id=key, account=account, name=name, created=created, expires=expires, secret=secret)

    def of(self, account: str) -> tuple[ApiKey, ...]:
        """The keys of an account, oldest first."""
        rows = self._database.rows("SELECT * FROM api_keys WHERE account = ? ORDER BY created, id", account)
        return tuple(map(_key, rows))

    def delete(self, account: str, key: str) -> None:
        """Takes a key of an account away: it proves nobody any more.

        Raises:
            NotFound: the account has no such key.
        """
        with self._database.writing() as database:
            done = database.execute("DELETE FROM api_keys WHERE account = ? AND id = ?", (account, key)).rowcount
        if not done:
            raise NotFound("There is no such key.")

    def verify(self, secret: str) -> ApiKey:
        """The key of that secret.

        Raises:
            Unauthenticated: there is none, or none any more.
        """
        shape = _SHAPE.fullmatch(secret)
        row = self._database.row("SELECT * FROM api_keys WHERE id = ?", shape[1]) if shape else None
        if row is None or not hmac.compare_digest(row["hash"], hash_of(secret)):
            raise Unauthenticated("The key is over, deleted or wrong.")
        if row["expires"] is not None and row["expires"] <= self._clock():
            raise Unauthenticated("The key is over, deleted or wrong.")
        return _key(row)


def _end(expires: datetime) -> float:
    """A time in seconds since 1970, of which the time can be made again: years 10,000 and 0 are none."""
    try:
        return expires.astimezone(UTC).timestamp()
    except (OverflowError, ValueError):
        raise UsageError("A key cannot end at that time.", hint="give one before the year 9999, or none") from None


def _key(row: Row) -> ApiKey:
    until = row["expires"]
    return ApiKey(
        id=row["id"],
        account=row["account"],
        name=row["name"],
        created=datetime.fromtimestamp(row["created"], UTC),
        expires=None if until is None else datetime.fromtimestamp(until, UTC),
    )
