"""Tokens of concurrency, for providers and repositories: as many goals at once as the settings allow, on all machines.

The counting is `limits`' moving window over a table that all workers share. A token is given back when its goal ends,
and else runs out: a dead worker holds none for long.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from limits import RateLimitItem, RateLimitItemPerSecond
from limits.storage import MovingWindowSupport, Storage
from limits.strategies import MovingWindowRateLimiter

if TYPE_CHECKING:
    from collections.abc import Mapping

    import psycopg


class TokenTable(Storage, MovingWindowSupport):
    """The storage of `limits` in PostgreSQL: each entry of a window is the token of one holder.

    Args:
        connection: to the database, in autocommit.
        holder: whose tokens are taken here.
    """

    STORAGE_SCHEME = None

    def __init__(self, connection: psycopg.Connection[Any], holder: str) -> None:
        super().__init__()
        self._connection, self._holder = connection, holder

    @property
    def base_exceptions(self) -> type[Exception]:
        """What the database raises."""
        import psycopg  # noqa: PLC0415 - late: of the extra

        return psycopg.Error

    def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        """Takes the holder's token of a key where fewer than `limit` are taken; it runs out after `expiry` seconds."""
        with self._connection.transaction():
            self._connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (key,))
            self._connection.execute("DELETE FROM swarm_tokens WHERE key = %s AND expires <= now()", (key,))
            row = self._connection.execute(
                "SELECT count(*) AS taken FROM swarm_tokens WHERE key = %s AND holder <> %s", (key, self._holder)
            ).fetchone()
            if row is None or row["taken"] + amount > limit:
                return False
            self._connection.execute(
                "INSERT INTO swarm_tokens (key, holder, expires) VALUES (%s, %s, now() + make_interval(secs => %s))"
                " ON CONFLICT (key, holder) DO UPDATE SET expires = EXCLUDED.expires",
                (key, self._holder, expiry),
            )
            return True

    def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:
        """When the oldest token was taken, in Unix seconds, and how many are taken."""
        del limit
        row = self._connection.execute(
            "SELECT extract(epoch FROM min(taken)) AS oldest, count(*) AS taken FROM swarm_tokens"
            " WHERE key = %s AND expires > now()",
            (key,),
        ).fetchone()
        return (float(row["oldest"] or time.time() - expiry), int(row["taken"])) if row else (time.time(), 0)

    def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        """Counts nothing: tokens are entries of a window.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError

    def get(self, key: str) -> int:
        """How many tokens of a key are taken."""
        return self.get_moving_window(key, 0, 0)[1]

    def get_expiry(self, key: str) -> float:
        """When the next token of a key runs out, in Unix seconds."""
        row = self._connection.execute(
            "SELECT extract(epoch FROM min(expires)) AS next FROM swarm_tokens WHERE key = %s", (key,)
        ).fetchone()
        return float(row["next"] or time.time()) if row else time.time()

    def check(self) -> bool:
        """Whether the database answers."""
        return self._connection.execute("SELECT 1").fetchone() is not None

    def reset(self) -> int | None:
        """Takes all tokens back."""
        return self._connection.execute("DELETE FROM swarm_tokens").rowcount

    def clear(self, key: str) -> None:
        """Gives the holder's token of a key back."""
        self._connection.execute("DELETE FROM swarm_tokens WHERE key = %s AND holder = %s", (key, self._holder))


class Tokens:
    """The tokens that one goal needs while it is worked on.

    Args:
        connection: to the database.
        holder: the goal.
        wanted: by name (`provider local`, `repository calc`), how many goals may have one at once.
        expiry_s: after how long a token that nobody renews runs out.
    """

    def __init__(
        self, connection: psycopg.Connection[Any], holder: str, wanted: Mapping[str, int], expiry_s: float
    ) -> None:
        self._table = TokenTable(connection, holder)
        self._limiter = MovingWindowRateLimiter(self._table)
        self._items = {name: _item(count, expiry_s) for name, count in wanted.items()}

    def take(self) -> str:
        """Takes all of them, or none; returns the name of the one that is not to be had, empty where all are."""
        for name, item in self._items.items():
            if not self._limiter.hit(item, name):
                self.give_back()
                return name
        return ""

    def renew(self) -> None:
        """Has them run out later."""
        for name, item in self._items.items():
            self._limiter.hit(item, name)

    def give_back(self) -> None:
        """Gives all of them back."""
        for name, item in self._items.items():
            self._table.clear(item.key_for(name))


def _item(count: int, expiry_s: float) -> RateLimitItem:
    return RateLimitItemPerSecond(count, max(1, round(expiry_s)), namespace="fleet")
