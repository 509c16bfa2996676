"""What was used under records that are not complete, for metrics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from swarmgate.domain.usage import Usage
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
