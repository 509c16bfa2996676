"""Stores the server's droppable state in Redis: values with lifetimes of its own, streams that number their rows.

    swarmgate:<id of the home>:value:<kind>:<key>    a value
    swarmgate:<id of the home>:rows:<stream>         a stream, whose entry `7-0` is row 7
    swarmgate:<id of the home>:once:<stream>         a hash of the keys of its rows

Several servers may share one database. Redis must not evict (`maxmemory-policy noeviction`): it would take rows out of
the middle.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import secrets
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import AuthenticationError, RedisError
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from swarmgate.errors import StoreAway
from swarmgate.server.store.model import StreamRow
from swarmgate.workspace.files.atomic import replace

T = TypeVar("T")

CONNECT_S = 2.0
"""Seconds that connecting may take."""
ANSWER_S = 5.0
"""Seconds that one answer may take."""
_CONNECTIONS = 16
_ID = re.compile(r"[0-9a-f]{12}")
_GLOB = re.compile(r"([*?\[\]\\^-])")

_APPEND = """
local numbers, last = {}, 0
local newest = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)
if newest[1] then last = tonumber(string.match(newest[1][1], '^%d+')) end
for at = 1, #ARGV, 2 do
  if redis.call('HSETNX', KEYS[2], ARGV[at], last + 1) == 1 then
    last = last + 1
    redis.call('XADD', KEYS[1], last .. '-0', 'value', ARGV[at + 1])
    numbers[#numbers + 1] = last
  else
    numbers[#numbers + 1] = 0
  end
end
return numbers
"""


class RedisStore:
    """Implements `store.model.Store` in Redis.

    Args:
        address: `redis://HOST:PORT/NUMBER`, `rediss://...` or `unix://PATH`.
        home: of the server; `store.id` in it tells its keys from those of others.
        password: of that Redis; empty: none.
    """

    def __init__(self, address: str, home: Path, *, password: str = "") -> None:
        self._home, self._place = home, _without_password(address)
        self._pool = BlockingConnectionPool.from_url(
            address,
            max_connections=_CONNECTIONS,
            timeout=ANSWER_S,
            socket_connect_timeout=CONNECT_S,
            socket_timeout=ANSWER_S,
            retry=Retry(NoBackoff(), 0),
            **({"password": password} if password else {}),
        )
        self._redis: Redis = Redis(connection_pool=self._pool)
        self._name = ""

    async def get(self, kind: str, key: str) -> bytes | None:
        """The value of a key; None: there is none, or its time is over."""
        found: bytes | None = await self._call(lambda: self._redis.get(self._key("value", kind, key)))
        return found

    async def put(
        self, kind: str, key: str, value: bytes, *, ttl_s: float | None = None, only_new: bool = False
    ) -> bool:
        """Stores a value in the place of the one before; whether it was stored. See `Store.put`."""
        lives_ms = None if ttl_s is None else max(1, int(ttl_s * 1000))
        if only_new:
            await self.ping()  # the connection works: what is claimed is not asked for twice, and refused to its owner
        done = await self._call(
            lambda: self._redis.set(self._key("value", kind, key), value, px=lives_ms, nx=only_new), again=not only_new
        )
        return bool(done)

    async def delete(self, kind: str, key: str) -> None:
        """Deletes a value, if it exists."""
        await self._call(lambda: self._redis.delete(self._key("value", kind, key)))

    async def keys(self, kind: str) -> tuple[str, ...]:
        """The keys of a kind, sorted."""
        begin = self._key("value", kind, "")
        return tuple(sorted(name.removeprefix(begin) for name in await self._names(begin)))

    async def append(self, stream: str, rows: Sequence[StreamRow]) -> tuple[int, ...]:
        """Appends rows in order, all or none; their numbers, 0 for a key that is there already."""
        if not rows:
            return ()
        flat = [part for row in rows for part in row]
        numbers: list[int] = await self._call(
            lambda: self._redis.eval(_APPEND, 2, self._key("rows", stream), self._key("once", stream), *flat)
        )
        return tuple(numbers)

    async def read(self, stream: str, after: int, limit: int) -> tuple[tuple[int, bytes], ...]:
        """At most `limit` rows behind number `after`, in order, each with its number."""
        rows: list[tuple[bytes, dict[bytes, bytes]]] = await self._call(
            lambda: self._redis.xrange(self._key("rows", stream), min=f"{after + 1}-0", max="+", count=limit)
        )
        return tuple((_number(name), fields[b"value"]) for name, fields in rows)

    async def last(self, stream: str) -> int:
        """The number of the newest row of a stream; 0: there is none."""
        rows = await self._call(lambda: self._redis.xrevrange(self._key("rows", stream), count=1))
        return _number(rows[0][0]) if rows else 0

    async def forget(self, stream: str) -> None:
        """Deletes a stream; its numbers begin at 1 again."""
        await self._call(lambda: self._redis.unlink(self._key("rows", stream), self._key("once", stream)))

    async def life(self) -> str:
        """The run of this Redis: what it had not yet written to its disk is lost when it ends."""
        return str((await self._call(lambda: self._redis.info("server")))["run_id"])

    async def drop(self) -> None:
        """Deletes everything of this server."""
        names = await self._names(self._key(""))
        if names:
            await self._call(lambda: self._redis.unlink(*names))

    async def ping(self) -> None:
        """Insists that the store can be read and written."""
        await self._call(lambda: self._redis.set(self._key("ping"), b"", px=1000))

    async def close(self) -> None:
        """Ends; what was stored stays."""
        with contextlib.suppress(RedisError, OSError):
            await self._pool.disconnect()

    async def _names(self, begin: str) -> list[str]:
        """Every name in Redis that begins so."""
        pattern = _GLOB.sub(r"\\\1", begin) + "*"

        async def scanned() -> set[str]:
            return {name.decode() async for name in self._redis.scan_iter(pattern, count=1000)}

        return list(await self._call(scanned))

    def _key(self, *parts: str) -> str:
        if not self._name:
            self._name = f"swarmgate:{_id_of(self._home)}"
        return ":".join((self._name, *parts))

    async def _call(self, work: Callable[[], Awaitable[Any]], *, again: bool = True) -> Any:
        """What Redis answers; who is cancelled leaves at once, and the call ends by itself.

        The client sends under `asyncio.wait_for`, which in Python 3.11 may swallow that somebody was cancelled.
        """
        call = asyncio.ensure_future(self._answer(work, again=again))
        call.add_done_callback(_heard)
        return await asyncio.shield(call)

    async def _answer(self, work: Callable[[], Awaitable[Any]], *, again: bool) -> Any:
        """What Redis answers; `again`: on a new connection, where the one that was idle is dead: Redis came back."""
        try:
            try:
                return await work()
            except (RedisConnectionError, RedisTimeoutError):
                if not again:
                    raise
                return await work()
        except (RedisError, OSError, asyncio.IncompleteReadError) as error:
            said = str(error).rstrip(".") or type(error).__name__
            if isinstance(error, AuthenticationError):
                said = "it asks for a password, or for another one"
            raise StoreAway(
                f"The Redis at {self._place} cannot be used: {said}.",
                hint="[server] store and store_password_env name it. The server goes on when it is back.",
            ) from error


def _heard(call: asyncio.Future[Any]) -> None:
    """Hears the error of a call that nobody waits for any more."""
    if not call.cancelled():
        call.exception()


def _id_of(home: Path) -> str:
    """What tells the keys of this server from those of others: made once."""
    path = home / "store.id"
    with contextlib.suppress(OSError, UnicodeDecodeError):
        if _ID.fullmatch(known := path.read_text(encoding="ascii").strip()):
            return known
    home.mkdir(parents=True, exist_ok=True)
    made = secrets.token_hex(6)
    replace(path, f"{made}\n")
    return made


def _without_password(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _number(name: bytes) -> int:
    return int(name.partition(b"-")[0])
