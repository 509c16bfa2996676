"""Decides, purely, what of all that is wanted begins now, and how it goes on after its worker ended."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from swarmgate.server.runs.model import Council, Ended, Goal, Wanted

R = TypeVar("R", Goal, Council)

MOST_CRASHES = 5
"""After so many deaths of its worker in a row nothing more is wanted: a person has to look."""
_PAUSE_S = 1.0
_LONGEST_PAUSE_S = 60.0


def due(
    records: Iterable[Goal | Council], *, working: Collection[str], concurrency: int, now: datetime
) -> tuple[str, ...]:
    """The ids of what begins now, in the order in which it was asked for; what a fleet works on always does.

    Args:
        records: all that something is wanted of; others are left out.
        working: the ids of what is worked on.
        concurrency: so many at once.
        now: the time; aware.
    """
    known = tuple(records)
    room = concurrency - len(set(working).difference(each.id for each in known if _elsewhere(each)))
    ready = [each for each in waiting(known) if each.id not in working and _begins(each.wanted, now)]
    here = [each for each in ready if not _elsewhere(each)]
    late = {each.id for each in here[max(0, room) :]}
    return tuple(each.id for each in ready if each.id not in late)


def waiting(records: Iterable[Goal | Council]) -> tuple[Goal | Council, ...]:
    """What something is wanted of, is decided and not paused, in the order in which it was asked for."""
    found = [each for each in records if each.wanted is not None and each.wanted.decided and not each.wanted.paused]
    return tuple(sorted(found, key=lambda each: (each.wanted.asked if each.wanted else "", each.id)))


def after_restart(goal: Goal, seq: int) -> Goal:
    """A goal of a server that was killed while somebody decided what its work goes on from.

    Args:
        goal: as it was left.
        seq: where its ledger is.
    """
    wanted = goal.wanted
    if wanted is None or wanted.decided:
        return goal
    still = wanted.model_copy(update={"decided": True}) if seq > wanted.seq else None
    return goal.model_copy(update={"wanted": still})


def after_end(record: R, before: R, now: datetime, log: str) -> R:
    """A record after its worker ended.

    Where nothing in it has changed since the worker began, that died without a word: the same is wanted a little later,
    ever later, and in the end no more.

    Args:
        record: as it is.
        before: as it was when the worker began.
        now: the time; aware.
        log: where the worker's last words are.
    """
    wanted = record.wanted
    if wanted is None or wanted.paused or record != before:
        return record
    crashes = wanted.crashes + 1
    if crashes <= MOST_CRASHES:
        pause = min(_LONGEST_PAUSE_S, _PAUSE_S * 2 ** (crashes - 1))
        again = wanted.model_copy(update={"crashes": crashes, "not_before": later(now, pause)})
        return record.model_copy(update={"wanted": again})
    ended = Ended(
        time=later(now, 0),
        verb=wanted.verb,
        exit_code=70,
        code="WORKER_DIED",
        message=f"Its worker died {crashes} times in a row without a word.",
        hint=f"Look at {log} on the server's machine, and at its memory; then start it again.",
    )
    return record.model_copy(update={"wanted": None, "ended": ended})


def later(now: datetime, seconds: float) -> str:
    """So many seconds later, as records have times."""
    return (now + timedelta(seconds=seconds)).astimezone(UTC).isoformat(timespec="microseconds")


def _elsewhere(record: Goal | Council) -> bool:
    """Whether workers of a fleet work on it, and the one here follows them: that is no work of this machine."""
    return isinstance(record, Goal) and bool(record.fleet)


def _begins(wanted: Wanted | None, now: datetime) -> bool:
    return wanted is not None and (not wanted.not_before or datetime.fromisoformat(wanted.not_before) <= now)
