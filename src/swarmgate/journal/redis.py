"""Stores council records in Redis: a list of lines and a hash of named texts for each record.

    swarmgate:council:<id>:lines:<record>    the lines of its journal
    swarmgate:council:<id>:texts:<record>    its texts, by name
    swarmgate:council:<id>:records           the names of all records
    swarmgate:council:<id>:changes           counts what was written

`<id>` is that of the project folder; it stands in `.swarm/discussions.redis` with the address, without a password, and
is made with the first record. What Redis keeps through a crash of its own is its setting: `appendonly yes`, and
`appendfsync always` for records that outlive a power cut.
"""

from __future__ import annotations

import os
import secrets
import time
import weakref
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from pydantic import Field, ValidationError

from swarmgate.domain.base import Frozen
from swarmgate.errors import LedgerError, LedgerWriteFailed, MissingRequirement, StaleWriter
from swarmgate.journal.disk_errors import writing
from swarmgate.journal.documents import JOURNAL, check_name
from swarmgate.journal.lines_table import LinesTable
from swarmgate.workspace.files.atomic import replace

if TYPE_CHECKING:
    from redis import Redis

CONNECT_S = 3.0
"""Seconds that connecting may take."""
ANSWER_S = 10.0
"""Seconds that one answer may take."""
_STAMP_S = 0.05
"""Seconds for which `stamp` tells what Redis said last: it is asked by whoever follows many records."""

_PUT = """
redis.call('HSET', KEYS[1], ARGV[2], ARGV[3])
redis.call('SADD', KEYS[3], ARGV[1])
return redis.call('INCR', KEYS[4])
"""
_APPEND = """
redis.call('HSET', KEYS[1], ARGV[2], (redis.call('HGET', KEYS[1], ARGV[2]) or '') .. ARGV[3])
redis.call('SADD', KEYS[3], ARGV[1])
return redis.call('INCR', KEYS[4])
"""
_RENAME = """
local text = redis.call('HGET', KEYS[1], ARGV[2])
if not text then return 0 end
redis.call('HDEL', KEYS[1], ARGV[2])
redis.call('HSET', KEYS[1], ARGV[3], text)
redis.call('INCR', KEYS[4])
return 1
"""
_DROP = """
redis.call('HDEL', KEYS[1], ARGV[2])
if redis.call('EXISTS', KEYS[1], KEYS[2]) == 0 then redis.call('SREM', KEYS[3], ARGV[1]) end
return redis.call('INCR', KEYS[4])
"""
_ADD = """
local expected = tonumber(ARGV[2])
local there = redis.call('LLEN', KEYS[2])
if there == expected + #ARGV - 2 and there > expected then
  local same = true
  for at, line in ipairs(redis.call('LRANGE', KEYS[2], expected, -1)) do same = same and line == ARGV[at + 2] end
  if same then return 1 end
end
if there ~= expected then return 0 end
for at = 3, #ARGV do redis.call('RPUSH', KEYS[2], ARGV[at]) end
redis.call('SADD', KEYS[3], ARGV[1])
redis.call('INCR', KEYS[4])
return 1
"""
"""Lines that are there already were added by a call that was not answered: they are hash-chained, and nobody else's."""


class Note(Frozen):
    """What `.swarm/discussions.redis` says: where the records are, and under which id."""

    address: str
    id: str = Field(pattern=r"^[0-9a-f]{12}$")
    password_env: str = ""


class RedisDocuments:
    """Stores the texts of all records of one project in Redis; like `FileDocuments`.

    It may be used from several threads. Every method raises `LedgerError` where Redis cannot be reached, and
    `LedgerWriteFailed` where it refuses to write.

    Args:
        swarm: the project's `.swarm/`.
        address: `redis://HOST:PORT/NUMBER`, `rediss://...` or `unix://PATH`, without a password.
        password_env: the variable that holds its password; empty: it has none.
        environ: where that is looked up.
    """

    def __init__(
        self, swarm: Path, address: str, *, password_env: str = "", environ: Mapping[str, str] = os.environ
    ) -> None:
        self._swarm, self._address, self._password_env, self._environ = swarm, address, password_env, environ
        self._note = swarm / "discussions.redis"
        self._client: Redis | None = None
        self._known = ""
        self._stamp: tuple[float, tuple[int, ...]] = (0.0, ())

    @classmethod
    def noted(cls, swarm: Path) -> Self | None:
        """The store that a project's note tells of; None: it has none.

        Raises:
            LedgerError: the note cannot be read.
        """
        note = _read(swarm / "discussions.redis")
        return cls(swarm, note.address, password_env=note.password_env) if note else None

    def put(self, record: str, name: str, text: str, *, durable: bool = True) -> None:  # noqa: ARG002 - Redis decides
        """Stores a text under a name, replacing the one before."""
        check_name(name)
        self._run(_PUT, record, name, text)

    def get(self, record: str, name: str) -> str | None:
        """The text of that name; None: there is none."""
        check_name(name)
        found = self._ask(record, lambda redis, keys: redis.hget(keys[0], name))
        return None if found is None else self._text(found)

    def append(self, record: str, name: str, text: str) -> None:
        """Adds to the text of that name, which need not be there yet."""
        check_name(name)
        self._run(_APPEND, record, name, text, again=False)

    def rename(self, record: str, old: str, new: str) -> None:
        """Gives a text another name, in the place of what has that.

        Raises:
            LedgerError: there is no such text.
        """
        check_name(new)
        if not self._run(_RENAME, record, old, new, again=False):
            raise LedgerError(f"{self.place(record, old)} is not there.")

    def drop(self, record: str, name: str) -> None:
        """Deletes a text, if it exists."""
        check_name(record)
        if self._id():
            self._run(_DROP, record, name)

    def names(self, record: str) -> tuple[str, ...]:
        """The names of all texts of a record, sorted; its journal is one."""
        texts = self._ask(record, lambda redis, keys: redis.hkeys(keys[0])) or []
        journal = (JOURNAL,) if self.read_lines(record, most=1) else ()
        return tuple(sorted((*journal, *map(self._text, texts))))

    def records(self) -> tuple[str, ...]:
        """Every record, sorted."""
        return tuple(sorted(map(self._text, self._ask("all", lambda redis, keys: redis.smembers(keys[2])) or ())))

    def lines(self, record: str) -> LinesTable:
        """The journal of a record."""
        check_name(record)
        return LinesTable(self, record)

    def read_lines(self, record: str, *, after: int = 0, most: int = -1) -> tuple[bytes, ...]:
        """The lines of a record's journal behind its first `after`; at most so many, where that is not negative."""
        start = max(after, 0)
        end = start + most - 1 if most >= 0 else -1
        if most == 0:
            return ()
        return tuple(self._ask(record, lambda redis, keys: redis.lrange(keys[1], start, end)) or ())

    def add_lines(self, record: str, lines: Iterable[bytes], *, expect: int, durable: bool) -> None:  # noqa: ARG002 - as `put`
        """Adds lines behind the first `expect` of a record's journal, all or none.

        Raises:
            StaleWriter: there are others.
        """
        if not self._run(_ADD, record, str(expect), *lines):
            hint = "Run the command again: it will read it anew."
            raise StaleWriter(f"{self.place(record, JOURNAL)} grew since it was read.", hint=hint)

    def stamp(self, record: str = "") -> tuple[int, ...]:  # noqa: ARG002 - as `FileDocuments`
        """What changes whenever anything is written; as it was last, while Redis cannot be reached."""
        asked, known = self._stamp
        if time.monotonic() - asked > _STAMP_S:
            with suppress(LedgerError):
                known = (int(self._ask("all", lambda redis, keys: redis.get(keys[3])) or 0),)
            self._stamp = (time.monotonic(), known)
        return known

    def place(self, record: str, name: str) -> str:
        """Where that text is, as messages name it."""
        return f"{self.whole}: {record}/{name}"

    @property
    def kind(self) -> str:
        """What `[council] store` calls it: its address."""
        return self._address

    @property
    def whole(self) -> str:
        """Where all of it is, as messages name it."""
        parts = urlsplit(self._address)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"

    # --- Redis ---

    def _run(self, script: str, record: str, *values: str | bytes, again: bool = True) -> int:
        """Runs a script that writes; `again`: it may be run twice, where its answer was lost."""
        check_name(record)
        keys = self._keys(self._id(make=True), record)
        return int(self._call(lambda redis: redis.eval(script, len(keys), *keys, record, *values), again, write=True))

    def _ask(self, record: str, work: Callable[[Redis, tuple[str, ...]], Any]) -> Any:
        """What Redis has of a record; None where this project has no records in it."""
        check_name(record)
        known = self._id()
        return self._call(lambda redis: work(redis, self._keys(known, record)), again=True) if known else None

    def _keys(self, known: str, record: str) -> tuple[str, ...]:
        start = f"swarmgate:council:{known}"
        return f"{start}:texts:{record}", f"{start}:lines:{record}", f"{start}:records", f"{start}:changes"

    def _call(self, work: Callable[[Redis], Any], again: bool, *, write: bool = False) -> Any:  # noqa: FBT001 - private
        redis = self._connected()
        from redis.exceptions import AuthenticationError as NoPassword  # noqa: PLC0415
        from redis.exceptions import ConnectionError as Away  # noqa: PLC0415 - not every installation has the package
        from redis.exceptions import RedisError  # noqa: PLC0415
        from redis.exceptions import TimeoutError as TooLate  # noqa: PLC0415

        try:
            try:
                return work(redis)
            except (Away, TooLate):
                if not again:
                    raise
                return work(redis)  # on a new connection: Redis may have come back
        except (RedisError, OSError) as error:
            said = "it asks for a password" if isinstance(error, NoPassword) else str(error).rstrip(".")
            why = f"{self.whole} cannot be used: {said}."
            hint = "[council] store and store_password_env name it: start it, or make room for it; then try again."
            if write:
                raise LedgerWriteFailed(f"{why} Whether it was recorded is seen on the next try.", hint=hint) from error
            raise LedgerError(why, hint=hint) from error

    def _connected(self) -> Redis:
        if self._client is None:
            password = self._environ.get(self._password_env, "") if self._password_env else ""
            if self._password_env and not password:
                raise LedgerError(
                    f"{self._password_env} is not set, which `[council] store_password_env` names.",
                    hint=f"Set it to the password of {self._address}.",
                )
            self._client = _client(self._address, password)
            weakref.finalize(self, self._client.close)
        return self._client

    def _text(self, data: bytes) -> str:
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            raise LedgerError(f"{self.whole} holds something that is no text.") from error

    # --- the note ---

    def _id(self, *, make: bool = False) -> str:
        """The id of this project's records; empty: it has none yet. `make`: then one is made.

        Raises:
            LedgerError: the note cannot be read.
            LedgerWriteFailed: it cannot be written.
        """
        if self._known:
            return self._known
        note = _read(self._note)
        if make and (note is None or (note.address, note.password_env) != (self._address, self._password_env)):
            note = self._noted(note.id if note else secrets.token_hex(6))
        self._known = note.id if note and make else ""
        return note.id if note else ""

    def _noted(self, known: str) -> Note:
        note = Note(address=self._address, id=known, password_env=self._password_env)
        with writing(self._note):
            self._note.parent.mkdir(parents=True, exist_ok=True)
            replace(self._note, f"{note.model_dump_json()}\n")
        return note


def _client(address: str, password: str) -> Redis:
    try:
        from redis import Redis  # noqa: PLC0415 - not every installation has the package
        from redis.backoff import NoBackoff  # noqa: PLC0415
        from redis.retry import Retry  # noqa: PLC0415
    except ImportError:
        raise MissingRequirement(
            "Records in Redis need the package redis, which is not installed.",
            hint="pip install 'swarmgate[server]'",
        ) from None
    times = {"socket_connect_timeout": CONNECT_S, "socket_timeout": ANSWER_S, "retry": Retry(NoBackoff(), 0)}
    client: Redis = Redis.from_url(address, **({"password": password} if password else {}), **times)
    return client


def _read(path: Path) -> Note | None:
    try:
        return Note.model_validate_json(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValidationError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no note of swarmgate"
        raise LedgerError(
            f".swarm/{path.name} cannot be read: {why}.", hint="Bring the file back from a backup, or move it away."
        ) from error
