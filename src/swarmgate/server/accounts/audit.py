"""The audit log: who did what to which thing. Lines are added, and never changed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from swarmgate.domain.text.redaction import redact
from swarmgate.server.accounts.database import Database
from swarmgate.server.accounts.model import AuditEntry

TABLES = """
CREATE TABLE IF NOT EXISTS audit (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, time REAL NOT NULL, actor TEXT NOT NULL, action TEXT NOT NULL,
    subject TEXT NOT NULL, detail TEXT NOT NULL, address TEXT NOT NULL, request TEXT NOT NULL);
"""
_LONGEST = 500
"""Characters of one field; a client chooses some of them."""


class AuditLog:
    """The log in the server's own file; it may be used from several threads."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock

    def add(
        self, actor: str, action: str, subject: str = "", *, detail: str = "", address: str = "", request: str = ""
    ) -> None:
        """Adds a line; what looks like a secret is masked.

        Args:
            actor: `user:ada`, or `server`.
            action: such as `login`.
            subject: the id or name of what it was done to.
            detail: more in words.
            address: of the client.
            request: the id of the request.
        """
        fields = [redact(each)[:_LONGEST] for each in (actor, action, subject, detail, address, request)]
        with self._database.writing() as database:
            database.execute(
                "INSERT INTO audit (time, actor, action, subject, detail, address, request)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (self._clock(), *fields),
            )

    def page(self, after: int = 0, limit: int = 100) -> tuple[AuditEntry, ...]:
        """The lines after one, oldest first."""
        found = self._database.rows("SELECT * FROM audit WHERE seq > ? ORDER BY seq LIMIT ?", after, limit)
        return tuple(AuditEntry(**{**dict(row), "time": datetime.fromtimestamp(row["time"], UTC)}) for row in found)
