"""Opens the database that hands out the work: Procrastinate's tables and four small ones of our own.

Nothing in it is the truth: it can be dropped at any time, and is built again from the goals (`swarm fleet rebuild`).
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterator
from datetime import datetime
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from swarmgate.errors import MissingRequirement, QueueAway, UsageError

if TYPE_CHECKING:
    import procrastinate
    import psycopg
    from psycopg.rows import DictRow

_LOCK = 7_215_001
"""Of PostgreSQL's advisory locks, the one under which tables are made."""
_CONNECT_S = 10
_AWAY_S = 600.0
"""Seconds in which a worker's connection comes back by itself; then it begins anew."""
SILENT_S = 15.0
"""Seconds without a word after which the server ends a transaction: a process that was stopped in the middle of one, as
on a machine that sleeps, would hold up every other worker. Nothing here takes more than milliseconds."""
OWN_TABLES = """
CREATE TABLE IF NOT EXISTS swarm_workers (
    name text PRIMARY KEY, queues text[] NOT NULL, labels text[] NOT NULL, version text NOT NULL, host text NOT NULL,
    pid integer NOT NULL, started timestamptz NOT NULL DEFAULT now(), seen timestamptz NOT NULL DEFAULT now(),
    goal text NOT NULL DEFAULT '', draining boolean NOT NULL DEFAULT false
);
CREATE TABLE IF NOT EXISTS swarm_tokens (
    key text NOT NULL, holder text NOT NULL, taken timestamptz NOT NULL DEFAULT now(), expires timestamptz NOT NULL,
    PRIMARY KEY (key, holder)
);
CREATE TABLE IF NOT EXISTS swarm_outcomes (
    id bigserial PRIMARY KEY, time timestamptz NOT NULL DEFAULT now(), goal text NOT NULL, worker text NOT NULL,
    standing text NOT NULL, why text NOT NULL DEFAULT '', code text NOT NULL DEFAULT '', lost boolean NOT NULL,
    steps integer NOT NULL, pushes integer NOT NULL, seconds real NOT NULL
);
CREATE TABLE IF NOT EXISTS swarm_rebuilt (time timestamptz NOT NULL DEFAULT now());
CREATE INDEX IF NOT EXISTS swarm_outcomes_goal ON swarm_outcomes (goal, id DESC);
-- Whether somebody has a goal already is asked of every job that is looked at: procrastinate's own index begins by id.
CREATE INDEX IF NOT EXISTS swarm_jobs_lock ON procrastinate_jobs (lock) WHERE status IN ('todo', 'doing');
"""


def require_extra() -> None:
    """Requires what the fleet needs beside swarmgate itself.

    Raises:
        MissingRequirement: it is not installed.
    """
    try:
        import limits  # noqa: F401, PLC0415 - whether they are there is the question
        import procrastinate  # noqa: F401, PLC0415
        import psycopg  # noqa: F401, PLC0415
    except ImportError as error:
        raise MissingRequirement(
            f"The fleet needs {error.name}, which is not installed.", hint="pip install 'swarmgate[fleet]'"
        ) from None


@contextlib.contextmanager
def connected(database: str) -> Iterator[psycopg.Connection[DictRow]]:
    """A connection, each statement a transaction of its own, to a database that has all tables.

    Raises:
        UsageError: no database is configured.
        MissingRequirement: the extra `fleet` is not installed.
        QueueAway: it is out of reach, or ends meanwhile.
    """
    require_extra()
    import psycopg  # noqa: PLC0415 - late: of the extra
    from psycopg.rows import dict_row  # noqa: PLC0415 - late: of the extra

    if not database:
        raise UsageError(
            "There is no database of a fleet.", hint='Set [fleet] database, such as "host=db.example dbname=swarm"'
        )
    with _away():
        connection = psycopg.connect(database, autocommit=True, row_factory=dict_row, connect_timeout=_CONNECT_S)
    with contextlib.closing(connection), _away():
        connection.execute(_silent())
        _require_tables(connection)
        yield connection


@contextlib.contextmanager
def _away() -> Iterator[None]:
    import psycopg  # noqa: PLC0415 - late: of the extra

    try:
        yield
    except psycopg.Error as error:
        what = " ".join(str(error).split())[:300]
        raise QueueAway(
            f"The database of the fleet is away: {what}", hint="Nothing is lost: goals are in git"
        ) from None


def prepared(database: str) -> bool:
    """Makes the tables where they are missing; returns whether they were, so that nothing is in line any more.

    Raises:
        UsageError, MissingRequirement, QueueAway: as `connected`.
    """
    with connected(database) as connection:
        return not filled(connection)


def clock(connection: psycopg.Connection[Any]) -> datetime:
    """The time by the database's clock, which says when a job is due: those of the machines may be wrong by hours."""
    (row,) = connection.execute("SELECT now() AS time").fetchall()
    time: datetime = row["time"]
    return time


def filled(connection: psycopg.Connection[Any]) -> bool:
    """Whether all goals were put in line once."""
    found = connection.execute("SELECT count(*) AS many FROM swarm_rebuilt").fetchone()
    return bool(found and found["many"])


def rebuilt(connection: psycopg.Connection[Any]) -> None:
    """Notes that all goals are in line."""
    connection.execute("INSERT INTO swarm_rebuilt DEFAULT VALUES")


def _require_tables(connection: psycopg.Connection[Any]) -> None:
    """Makes the tables where they are missing; processes that come at the same time wait for each other."""
    found = connection.execute("SELECT to_regclass('procrastinate_jobs') j, to_regclass('swarm_outcomes') o").fetchone()
    if found and found["j"] and found["o"]:
        return
    schema = files("procrastinate").joinpath("sql", "schema.sql").read_text(encoding="utf-8")
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        there = connection.execute("SELECT to_regclass('procrastinate_jobs') j").fetchone()
        if not (there and there["j"]):
            connection.execute(schema.encode())
            # A worker of a database that was dropped ends its job by number: that must be nobody else's in this one.
            for table in ("procrastinate_jobs", "procrastinate_workers"):
                connection.execute(
                    "SELECT setval(pg_get_serial_sequence(%s, 'id'), (extract(epoch FROM now()) * 1000)::bigint)",
                    (table,),
                )
        connection.execute(OWN_TABLES.encode())


def _silent() -> bytes:
    return f"SET idle_in_transaction_session_timeout = {SILENT_S * 1000:.0f}".encode()


def _bounded(connection: psycopg.Connection[Any]) -> None:
    connection.execute(_silent())
    connection.commit()


async def _bounded_too(connection: psycopg.AsyncConnection[Any]) -> None:
    await connection.execute(_silent())
    await connection.commit()


@contextlib.contextmanager
def line(database: str) -> Iterator[procrastinate.App]:
    """Procrastinate for who only puts goals in line, and looks.

    Raises:
        QueueAway: the database is out of reach.
    """
    import procrastinate  # noqa: PLC0415 - late: of the extra
    from procrastinate.exceptions import ConnectorException  # noqa: PLC0415

    with connected(database):
        pass  # it is there, and has all tables
    connector = procrastinate.SyncPsycopgConnector(
        conninfo=database, min_size=1, max_size=1, kwargs={"connect_timeout": _CONNECT_S}, configure=_bounded
    )
    try:
        with procrastinate.App(connector=connector).open() as app:
            yield app
    except ConnectorException as error:
        raise QueueAway(f"The database of the fleet is away: {' '.join(str(error).split())[:300]}") from error


@contextlib.asynccontextmanager
async def opened(database: str) -> AsyncIterator[procrastinate.App]:
    """Procrastinate for a worker: its connections come back by themselves after the database was away.

    Raises:
        QueueAway: it is out of reach.
    """
    import procrastinate  # noqa: PLC0415 - late: of the extra
    from procrastinate.exceptions import ConnectorException  # noqa: PLC0415
    from psycopg_pool import PoolTimeout  # noqa: PLC0415

    connector = procrastinate.PsycopgConnector(
        conninfo=database,
        min_size=1,
        max_size=4,
        timeout=_AWAY_S,
        kwargs={"connect_timeout": _CONNECT_S},
        configure=_bounded_too,
    )
    app = procrastinate.App(connector=connector)
    try:
        async with app.open_async():
            yield app
    except (ConnectorException, PoolTimeout) as error:
        raise QueueAway(f"The database of the fleet is away: {' '.join(str(error).split())[:300]}") from error
