"""Finds the last line of each finished council record for the ledger, and checks that it is unchanged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress

from pydantic_core import from_json

from swarmgate.domain.events.event import Entry, RecordSealed
from swarmgate.errors import LedgerError, SwarmError
from swarmgate.journal.chain import walk
from swarmgate.journal.lines import Lines
from swarmgate.journal.store import Documents, stores
from swarmgate.ledger.check import Check
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger

_OVER = "completed"
"""The type of the last event of a record that is over."""


def sealed(ledger: Ledger, record: str) -> tuple[RecordSealed, ...]:
    """The last lines of a record and of its parts (`record.part`), as far as they are over and not on the ledger yet.

    What cannot be read is left to `swarm verify`.
    """
    known = {entry.event.record for entry, _ in ledger.entries() if isinstance(entry.event, RecordSealed)}
    found: list[RecordSealed] = []
    with suppress(LedgerError):
        for documents, name in _all(ledger.folder):
            if (name == record or name.startswith(f"{record}.")) and name not in known:
                with suppress(SwarmError, ValueError, KeyError, TypeError):
                    found.append(_seal(documents, name))
    return tuple(found)


def _seal(documents: Documents, name: str) -> RecordSealed:
    """The last line of a record that is over; raises `ValueError` where it is not."""
    lines = list(walk(documents.lines(name).whole_lines(), name=name))
    (first, _), (last, head) = lines[0], lines[-1]
    if from_json(last)["event"]["type"] != _OVER:
        raise ValueError
    pattern = str(from_json(first)["event"]["pattern"])
    return RecordSealed(record=name, pattern=pattern, seq=len(lines), head=head)


def records(folder: SwarmFolder, entries: Iterable[Entry]) -> Check:
    """Whether the journals of all records hold, and those that are over still end as the ledger has it."""
    known = {entry.event.record: entry.event for entry in entries if isinstance(entry.event, RecordSealed)}
    problems: list[str] = []
    seen: set[str] = set()
    try:
        for documents, record in _all(folder):
            seen.add(record)
            if problem := _problem(documents.lines(record), known.get(record)):
                problems.append(problem)
    except LedgerError as error:  # a store cannot be looked into: what is not there may be in it
        return Check.failed("records", error, f"{len(seen)} of councils")
    gone = tuple(f"The record {name} is not there any more." for name in known if name not in seen)
    return Check("records", f"{len(seen)} of councils", tuple(problems), gone)


def _all(folder: SwarmFolder) -> Iterator[tuple[Documents, str]]:
    """Every record that has a journal."""
    for documents in stores(folder.path):
        for record in documents.records():
            if documents.lines(record).first():
                yield documents, record


def _problem(lines: Lines, seal: RecordSealed | None) -> str:
    """What is wrong with a journal; empty: nothing."""
    try:
        hashes = [digest for _, digest in walk(lines.whole_lines(), name=lines.name)]
    except LedgerError as error:
        return error.message
    if seal and (len(hashes) != seal.seq or hashes[-1] != seal.head):
        return f"{lines.name} does not end as the ledger has it on record: it was written anew, or lines are missing."
    return ""
