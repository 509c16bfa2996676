"""The tables of `.swarm/runtime/chats.sqlite3`, and the triggers that make a chat that is over read-only.

`agent_inbox` has a row for every message and agent that may read it; `read_at` is set, in seconds since 1970, in the
transaction that also holds what the agent said in that turn. `turn`, `chat` and `result` are records of
`swarmgate.domain.chat` as JSON.
"""

from __future__ import annotations

from collections.abc import Iterator

VERSION = 1
"""Of the schema, as `PRAGMA user_version`."""

_TABLES = (
    """CREATE TABLE swarms (
        id TEXT NOT NULL PRIMARY KEY,
        created_at REAL NOT NULL,
        chat TEXT NOT NULL,
        archived INTEGER NOT NULL DEFAULT 0 CHECK (archived IN (0, 1)),
        result TEXT
    ) WITHOUT ROWID""",
    """CREATE TABLE agents (
        swarm_id TEXT NOT NULL REFERENCES swarms (id),
        agent_id TEXT NOT NULL,
        place INTEGER NOT NULL,
        PRIMARY KEY (swarm_id, agent_id)
    ) WITHOUT ROWID""",
    """CREATE TABLE agent_messages (
        swarm_id TEXT NOT NULL REFERENCES swarms (id),
        number INTEGER NOT NULL,
        sender TEXT NOT NULL,
        recipients TEXT NOT NULL,
        content TEXT NOT NULL,
        sent_at REAL NOT NULL,
        PRIMARY KEY (swarm_id, number)
    )""",
    "CREATE INDEX sent ON agent_messages (swarm_id, sender, number)",
    """CREATE TABLE agent_inbox (
        swarm_id TEXT NOT NULL,
        agent_id TEXT NOT NULL,
        number INTEGER NOT NULL,
        read_at REAL,
        PRIMARY KEY (swarm_id, agent_id, number),
        FOREIGN KEY (swarm_id, agent_id) REFERENCES agents (swarm_id, agent_id),
        FOREIGN KEY (swarm_id, number) REFERENCES agent_messages (swarm_id, number)
    ) WITHOUT ROWID""",
    "CREATE INDEX unread ON agent_inbox (swarm_id, agent_id, number) WHERE read_at IS NULL",
    """CREATE TABLE agent_turns (
        swarm_id TEXT NOT NULL,
        number INTEGER NOT NULL,
        agent_id TEXT NOT NULL,
        turn TEXT NOT NULL,
        PRIMARY KEY (swarm_id, number),
        FOREIGN KEY (swarm_id, agent_id) REFERENCES agents (swarm_id, agent_id)
    )""",
)

_OF_A_SWARM = ("agents", "agent_messages", "agent_inbox", "agent_turns")

TABLES = {"swarms", *_OF_A_SWARM}
"""The names of all tables."""


def statements() -> Iterator[str]:
    """What makes the database, in order."""
    yield from _TABLES
    taken = "EXISTS (SELECT 1 FROM swarms WHERE id = NEW.id AND archived)"
    # Inserts are looked at, too: `INSERT OR REPLACE` deletes what stands there without any trigger for that.
    yield _trigger("swarms", "INSERT", taken)
    yield _trigger("swarms", "UPDATE", f"OLD.archived OR {taken}")
    yield _trigger("swarms", "DELETE", "OLD.archived")
    for table in _OF_A_SWARM:
        yield _trigger(table, "INSERT", _over("NEW"))
        yield _trigger(table, "UPDATE", f"{_over('OLD')} OR {_over('NEW')}")
        yield _trigger(table, "DELETE", _over("OLD"))
    yield f"PRAGMA user_version = {VERSION}"


def _over(row: str) -> str:
    return f"EXISTS (SELECT 1 FROM swarms WHERE id = {row}.swarm_id AND archived)"  # noqa: S608 - OLD or NEW


def _trigger(table: str, change: str, condition: str) -> str:
    return (
        f"CREATE TRIGGER {table}_{change.lower()}_archived BEFORE {change} ON {table} WHEN {condition} "
        "BEGIN SELECT RAISE(ABORT, 'archived'); END"
    )
