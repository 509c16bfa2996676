"""What is on record of debates and dispatches, as executions for metrics: outcomes only, no texts of rounds.

A record that cannot be read is one that is damaged, and says what is; it never ends the count of the others.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from swarmgate.domain.debate import Outcome
from swarmgate.domain.dispatch import DispatchResult
from swarmgate.domain.metrics import Execution
from swarmgate.domain.usage import Usage
from swarmgate.errors import SwarmError
from swarmgate.ledger.dispatches import DispatchFiles
from swarmgate.ledger.folder import SwarmFolder
from swarmgate.ledger.sessions import Session, by_record, used


def at_least(sessions: Mapping[str, Iterable[Session]], record: str, known: Usage) -> Usage:
    """What was used under a record that is not complete: what it says, or more, where the calls themselves say so.

    Args:
        sessions: of every record (`ledger.sessions.by_record`).
        record: its id.
        known: what it says.
    """
    found = used(sessions.get(record, ()))
    return found if found.calls > known.calls else known


def debates(folder: SwarmFolder) -> Iterator[Execution]:
    """Every debate, those of runs too; one that a dispatch held is an execution of that."""
    dispatched, sessions = set(DispatchFiles(folder).ids()), by_record(folder)
    for path in sorted(folder.debates.glob("*/debate.json")):
        name = path.parent.name
        if name not in dispatched:
            try:
                found = _debate(name, path.parent)
            except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
                yield _damaged("debate", name, f"{folder.relative(path.parent)}: {error}")
            else:
                usage = found.usage if found.status == "complete" else at_least(sessions, name, found.usage)
                yield found.model_copy(update={"usage": usage})


def dispatches(folder: SwarmFolder) -> Iterator[Execution]:
    """Every dispatch."""
    files, sessions = DispatchFiles(folder), by_record(folder)
    for name in files.ids():
        try:
            found = files.load(name)
        except SwarmError as error:
            yield _damaged("dispatch", name, error.message)
            continue
        ended = found.finished and (found.failed or not found.succeeded)
        yield Execution(
            pattern="dispatch",
            id=name,
            status="failed" if ended else "complete" if found.finished else "open",
            rounds=found.outcome.rounds if found.outcome else None,
            converged=found.outcome.converged if found.outcome else None,
            score=float(found.outcome.tally.unanimous) if found.outcome else None,
            usage=found.usage if found.finished else at_least(sessions, name, _replied(found)),
            seconds=found.seconds if found.finished else None,
        )


def _replied(found: DispatchResult) -> Usage:
    return sum((each.usage for each in found.replies), Usage())


def _debate(name: str, place: Path) -> Execution:
    outcome = place / "outcome.json"
    if outcome.exists():
        data = json.loads(outcome.read_bytes())
        data.pop("before", None)
        found = Outcome.model_validate(data)
        return Execution(
            pattern="debate",
            id=name,
            status="complete",
            converged=found.converged,
            rounds=found.rounds,
            score=float(found.tally.unanimous),
            usage=found.usage,
            seconds=found.seconds,
        )
    rounds = [json.loads(path.read_bytes()) for path in sorted(place.glob("round-*.json"))]
    return Execution(
        pattern="debate",
        id=name,
        status="failed" if (place / "failure.json").exists() else "open",
        usage=sum((each for held in rounds for each in _usages(held)), Usage()),
    )


def _usages(held: dict[str, Any]) -> Iterator[Usage]:
    for speech in held["speeches"]:
        yield Usage.model_validate(speech.get("usage", {}))
    if moderation := held.get("moderation"):
        yield Usage.model_validate(moderation.get("usage", {}))


def _damaged(pattern: Any, name: str, why: str) -> Execution:
    return Execution(pattern=pattern, id=name, status="damaged", why=why)
