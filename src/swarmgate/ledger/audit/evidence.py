"""Checks that every evidence file has its recorded SHA-256, and that every file is recorded."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from swarmgate.domain.events.event import Entry
from swarmgate.domain.evidence.report import FILES, Claim, Recorded, Standing, recorded_by_goal
from swarmgate.domain.state.state import State
from swarmgate.ledger.check import Check
from swarmgate.ledger.evidence.evidence import EvidenceStore
from swarmgate.ledger.evidence.index import goal_number
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.views.describe import counted

_LISTED = 5
_OF_FILE_MANAGERS = frozenset({".DS_Store", "Thumbs.db", "desktop.ini"})
"""What macOS and Windows leave in every folder that somebody looks into."""


@dataclass
class _Findings:
    """What was found so far. `bare` are files that an older version wrote without putting their hashes on record."""

    problems: list[str] = field(default_factory=list)
    bare: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    looked_at: int = 0
    archived: int = 0


def evidence(folder: SwarmFolder, state: State, entries: Sequence[Entry]) -> Check:
    """Each piece is as the newest event about it says, in its place or in the archive; no other file lies beside it.

    Only two kinds of files may lie there without a hash on record: those of attempts that an older version began, and
    those that a run has in its hands, or had when it died. They are told.
    """
    goals, found = recorded_by_goal(entries), _Findings()
    places = homes(folder, goals)
    for goal in goals:
        _compare(folder, places[goal.goal], goal, found, present=goal is goals[-1])
    for home in _folders(folder):
        known = [goal for goal in goals if places[goal.goal] == home]
        _unknown(folder, state, home, known, found)
    message = f"{counted(found.looked_at, 'file')}{f', {found.archived} of them archived' if found.archived else ''}"
    return Check("evidence", message, tuple(found.problems), tuple(_warnings(found)))


def homes(folder: SwarmFolder, goals: Sequence[Recorded]) -> dict[int, Path]:
    """Where the evidence of each goal lies: it goes to the history when work on a later one begins."""
    begun = [goal.goal for goal in goals if goal.started]
    places = {}
    for goal in goals:
        later = next((number for number in begun if number > goal.goal), 0)
        last = goals[-1].goal
        if not later and goal.goal < last and not folder.evidence.exists():
            later = last  # a crash came after the move, and before the event
        places[goal.goal] = folder.history / f"goal-{later - 1}" / "evidence" if later else folder.evidence
    return places


def _folders(folder: SwarmFolder) -> Iterator[Path]:
    """The folders of evidence that are there."""
    places = sorted(folder.history.glob("goal-*"), key=lambda place: goal_number(place.name))
    for place in (folder.evidence, *(place / "evidence" for place in places)):
        if os.path.lexists(place):
            yield place


def _compare(folder: SwarmFolder, home: Path, goal: Recorded, found: _Findings, *, present: bool) -> None:
    store = EvidenceStore(folder, home)
    for claim in goal.claims.values():
        if not claim.sha256:
            continue
        piece = store.inspect(claim.task, claim.attempt, claim.file, claim.sha256)
        gone = piece.standing is Standing.MISSING and not present and (claim.task, claim.attempt) in goal.bare
        found.looked_at += 1
        found.archived += piece.standing is Standing.ARCHIVED
        if piece.problem and not gone:  # an older version never asked for evidence of goals that had ended
            found.problems.append(f"line {claim.seq}: {piece.problem}")


def _unknown(folder: SwarmFolder, state: State, home: Path, goals: Sequence[Recorded], found: _Findings) -> None:
    """Sorts out what lies in a folder and is not on record by a hash."""
    hashed = {_place(home, claim) for goal in goals for claim in goal.claims.values() if claim.sha256}
    bare = {
        home / task / f"attempt-{number}" / name
        for goal in goals
        for task, number in goal.bare
        for name in FILES.values()
    }
    attempt = state.task(state.open).running if state.running and home == folder.evidence else None
    running = home / state.open / f"attempt-{attempt.number}" if attempt else None
    for path in _files(home):
        location = folder.relative(path)
        if path in hashed or path.name in _OF_FILE_MANAGERS:
            continue
        if path in bare:
            found.bare.append(location)
        elif running is not None and running in path.parents:
            found.open.append(location)
        else:
            found.problems.append(f"{location} is on record in no line of the ledger")


def _place(home: Path, claim: Claim) -> Path:
    return home / claim.task / f"attempt-{claim.attempt}" / claim.file


def _files(home: Path) -> Iterator[Path]:
    """What lies there and is no folder; no link is followed."""
    if home.is_symlink() or not home.is_dir():
        yield home
        return
    for base, names, plain in os.walk(home):
        yield from (Path(base, name) for name in sorted(plain))
        yield from (Path(base, name) for name in sorted(names) if Path(base, name).is_symlink())


def _warnings(found: _Findings) -> Iterator[str]:
    if found.bare:
        yield f"{_some(found.bare)}: an older version put no SHA-256 on record, so nothing proves that it is as it was"
    if found.open:
        yield f"{_some(found.open)}: left by a step that is at work, or died; not on record yet"


def _some(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - _LISTED} more" if len(paths) > _LISTED else ""
    return f"{', '.join(paths[:_LISTED])}{more}"
