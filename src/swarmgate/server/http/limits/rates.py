"""Rate limits: writes, logins and sockets in a minute, by account and by address.

They are counted in the server's store by the package `limits`, in moving windows: any sixty seconds, not those of the
clock on the wall. Where the store cannot be reached, this process counts in its memory, and says so: what spends money
is then refused (`door`), and what is not goes on within the same limits.
"""

from __future__ import annotations

import ipaddress
import math
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

from limits import RateLimitItemPerMinute
from limits.aio.storage import MemoryStorage, Storage
from limits.aio.strategies import MovingWindowRateLimiter
from limits.errors import StorageError

from swarmgate.config import ServerLimits
from swarmgate.errors import TooMany
from swarmgate.server.http.limits.sqlite import SqliteLimits

Kind = Literal["writes", "logins", "sockets"]

WINDOW_S = 60
SHARED = 10
"""How many times as much one address may as one account: people share an address."""
_CUSTOMER = 64
"""Bits of an IPv6 address that tell customers apart."""
_WORDS = {"writes": "changes", "logins": "attempts to log in", "sockets": "new sockets"}
_PATIENCE_S = 2.0
"""Seconds that a Redis has to answer."""
_AWAY_S = 5.0
"""Seconds for which a store that could not be reached is not tried again: each try may take as long."""


class Caller(NamedTuple):
    """Whom requests are counted for: an account (empty: nobody who is known), and an address."""

    account: str
    address: str


@dataclass(frozen=True, slots=True)
class Allowance:
    """What is left of a limit.

    Attributes:
        limit: how many in a minute.
        remaining: of them.
        reset_s: after how many seconds there are more again.
        away: the store could not be reached, and memory counted.
    """

    limit: int
    remaining: int
    reset_s: int
    away: bool = False

    @property
    def headers(self) -> dict[str, str]:
        """The `RateLimit-*` headers of an answer."""
        return {
            "RateLimit-Limit": str(self.limit),
            "RateLimit-Remaining": str(self.remaining),
            "RateLimit-Reset": str(self.reset_s),
            "RateLimit-Policy": f"{self.limit};w={WINDOW_S}",
        }


class _Window(NamedTuple):
    key: str
    limit: int


class RateLimits:
    """The limits of one server.

    Args:
        settings: how many in a minute.
        store: where they are counted: `sqlite`, or the address of a Redis, as `Server.store_address` gives it.
        home: of the server, for `limits.sqlite3`.
    """

    def __init__(self, settings: ServerLimits, store: str, home: Path) -> None:
        self._settings = settings
        storage, self.aclose = _storage(store, home)
        self._counting = MovingWindowRateLimiter(storage)
        self._in_memory = MovingWindowRateLimiter(MemoryStorage())
        raised = storage.base_exceptions
        self._away: tuple[type[Exception], ...] = (
            StorageError,
            OSError,
            *(raised if isinstance(raised, tuple) else (raised,)),
        )
        self._away_until = 0.0

    async def hit(self, kind: Kind, caller: Caller) -> Allowance:
        """Counts one, of a caller.

        Raises:
            TooMany: it would be one too many; it is not counted.
        """
        limit = {
            "writes": self._settings.writes_per_minute,
            "logins": self._settings.logins_per_minute,
            "sockets": self._settings.sockets_per_minute,
        }[kind]
        network = _network(caller.address)
        if kind == "logins" or not caller.account:  # a login is no account's yet: the address is what there is
            windows = [_Window(f"{kind}/address/{network}", limit)]
            windows += [_Window(f"{kind}/account/{caller.account}", limit)] if caller.account else []
        else:
            windows = [
                _Window(f"{kind}/account/{caller.account}", limit),
                _Window(f"{kind}/address-shared/{network}", limit * SHARED),
            ]
        if time.monotonic() >= self._away_until:
            try:
                return await _hit(self._counting, kind, windows)
            except self._away:
                self._away_until = time.monotonic() + _AWAY_S
        counted = await _hit(self._in_memory, kind, windows)
        return Allowance(counted.limit, counted.remaining, counted.reset_s, away=True)


async def _hit(limiter: MovingWindowRateLimiter, kind: Kind, windows: Sequence[_Window]) -> Allowance:
    for window in windows:
        item = RateLimitItemPerMinute(window.limit)
        if not await limiter.hit(item, window.key):
            left = await limiter.get_window_stats(item, window.key)
            raise TooMany(
                f"More than {window.limit} {_WORDS[kind]} in a minute.",
                retry_after_s=_seconds_to(left.reset_time),
                hint=f"[server.limits] {kind}_per_minute says how many",
            )
    first = windows[0]
    left = await limiter.get_window_stats(RateLimitItemPerMinute(first.limit), first.key)
    return Allowance(first.limit, max(left.remaining, 0), _seconds_to(left.reset_time))


def _network(address: str) -> str:
    """Whom an address stands for: of IPv6 its /64, of which every customer has all."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is None:
        return str(ipaddress.ip_network((found, _CUSTOMER), strict=False))
    return str(getattr(found, "ipv4_mapped", None) or found)


def _seconds_to(moment: float) -> int:
    return min(max(math.ceil(moment - time.time()), 1), WINDOW_S)


def _storage(store: str, home: Path) -> tuple[Storage, Callable[[], Awaitable[None]]]:
    """Where hits are counted, and what closes it."""
    if store == "sqlite":
        counts = SqliteLimits(home / "limits.sqlite3")
        return counts, counts.aclose
    from limits.aio.storage import RedisStorage  # noqa: PLC0415 - not every server has a Redis
    from redis.asyncio import ConnectionPool  # noqa: PLC0415 - the same

    pool = ConnectionPool.from_url(store, socket_connect_timeout=_PATIENCE_S, socket_timeout=_PATIENCE_S)
    address = f"async+redis+{store}" if store.startswith("unix://") else f"async+{store}"
    counted = RedisStorage(
        address, implementation="redispy", key_prefix="swarmgate-limits", connection_pool=cast("Any", pool)
    )
    return counted, pool.disconnect
