"""What is on record of chats, as executions for metrics: outcomes only, no texts of rounds.

A record that cannot be read is one that is damaged, and says what is; it never ends the count of the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from swarmgate.domain.chat import ChatEnd, ChatSummary
from swarmgate.domain.metrics import Execution
from swarmgate.domain.usage import Usage
from swarmgate.errors import SwarmError
from swarmgate.ledger.chats import ChatDatabase
from swarmgate.ledger.folder import SwarmFolder
from swarmgate.ledger.sessions import Session, used


def at_least(sessions: Mapping[str, Iterable[Session]], record: str, known: Usage) -> Usage:
    """What was used under a record that is not complete: what it says, or more, where the calls themselves say so.

    Args:
        sessions: of every record (`ledger.sessions.by_record`).
        record: its id.
        known: what it says.
    """
    found = used(sessions.get(record, ()))
    return found if found.calls > known.calls else known


def chats(folder: SwarmFolder) -> Iterator[Execution]:
    """Every swarm chat."""
    with ChatDatabase(folder) as database:
        for summary in database.ids():
            try:
                yield _chat(database, summary)
            except SwarmError as error:
                yield _damaged("chat", summary.id, error.message)


def _chat(database: ChatDatabase, summary: ChatSummary) -> Execution:
    if summary.damaged:
        return _damaged("chat", summary.id, summary.damaged)
    if summary.end is None:
        return Execution(pattern="chat", id=summary.id, status="open", usage=database.standing(summary.id).usage)
    result = database.load(summary.id).result
    return Execution(
        pattern="chat",
        id=summary.id,
        status="failed" if summary.end is ChatEnd.FAILED else "complete",
        usage=result.usage if result else Usage(),
        seconds=result.seconds if result else None,
    )


def _damaged(pattern: Any, name: str, why: str) -> Execution:
    return Execution(pattern=pattern, id=name, status="damaged", why=why)
