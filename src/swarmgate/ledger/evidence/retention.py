"""Retention of evidence: moves what is too old or too large into an archive.

Only evidence of tasks in approved phases and of earlier goals goes, oldest first, until both bounds of `[evidence]`
hold. Whoever dies on the way loses nothing: a file is deleted after the archive that holds it is proven and indexed.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from swarmgate.domain.events.event import Entry, GoalSet
from swarmgate.domain.evidence.report import Pruned, PrunedTask
from swarmgate.domain.state.state import State
from swarmgate.journal.disk_errors import writing
from swarmgate.ledger.evidence.archive import ArchivedFile, ArchiveIndex, Archives, read_plain
from swarmgate.ledger.evidence.index import goal_number
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger

MB = 1_000_000


@dataclass(frozen=True, slots=True)
class _Unit:
    """The evidence of one task of one goal. `others` are what is no file; `last` is the time of the last event."""

    goal: int
    task: str
    place: Path
    files: tuple[Path, ...]
    size: int
    last: str
    others: tuple[Path, ...] = ()


@dataclass(slots=True)
class _Survey:
    """All evidence there is: what may go, oldest first, and the size of all."""

    units: list[_Unit] = field(default_factory=list)
    size: int = 0


def prune(folder: SwarmFolder, *, days: int, mb: int, check: bool = False, now: datetime | None = None) -> Pruned:
    """Archives and deletes evidence of work that is approved.

    Args:
        folder: the project's.
        days: evidence of tasks that nothing happened to for longer goes.
        mb: more of all evidence than so many MB goes, oldest first.
        check: only say what would go.
        now: the present time; the clock's by default. A clock that goes back makes evidence younger, never older.

    Raises:
        LedgerLocked: a run is at work.
        LedgerWriteFailed: the disk refused; what was not archived is where it was.
    """
    moment = now or datetime.now(UTC)
    with contextlib.ExitStack() as stack:
        ledger = Ledger.read(folder) if check else stack.enter_context(Ledger.write(folder))
        survey = _survey(folder, ledger)
        chosen = _chosen(survey, moment - timedelta(days=days), mb * MB)
        files = [(unit.goal, path) for unit in chosen for path in unit.files]
        index = Archives(folder).keep(files, moment) if files and not check else None
        if index is not None:
            _delete(folder, index, chosen)
        return _report(folder, survey, chosen, check=check, bound=mb * MB, index=index)


def _report(
    folder: SwarmFolder, survey: _Survey, chosen: list[_Unit], *, check: bool, bound: int, index: ArchiveIndex | None
) -> Pruned:
    size = sum(unit.size for unit in chosen)
    left = survey.size - size
    over = f"{left / MB:.1f} MB are left, more than {bound / MB:.0f}: all of it is of phases that are not approved"
    return Pruned(
        check=check,
        tasks=tuple(
            PrunedTask(goal=unit.goal, task=unit.task, files=len(unit.files), size=unit.size, last=unit.last)
            for unit in chosen
        ),
        files=sum(len(unit.files) for unit in chosen),
        size=size,
        before=survey.size,
        left=left,
        archive=folder.relative(Archives(folder).place / index.archive) if index else "",
        over=over if left > bound else "",
        skipped=tuple(folder.relative(path) for unit in chosen for path in unit.others),
    )


def _chosen(survey: _Survey, oldest: datetime, bound: int) -> list[_Unit]:
    """The oldest, as long as one is older than the bound or all that is left is too much."""
    found, left = [], survey.size
    for unit in survey.units:
        if _moment(unit.last) >= oldest and left <= bound:
            break
        found.append(unit)
        left -= unit.size
    return found


def _survey(folder: SwarmFolder, ledger: Ledger) -> _Survey:
    last = _last_events(entry for entry, _ in ledger.entries())
    found = _Survey()
    for goal, place in _places(folder, ledger.state):
        approved = _approved(ledger.state) if goal == ledger.state.goals else None
        for path in sorted(place.iterdir()):
            if path.is_symlink() or not path.is_dir():
                continue
            files, others = _content(path)
            size = sum(each.lstat().st_size for each in files)
            found.size += size
            if files and (approved is None or path.name in approved):
                when = last.get((goal, path.name)) or _modified(files)
                found.units.append(_Unit(goal, path.name, path, tuple(files), size, when, tuple(others)))
    found.units.sort(key=lambda unit: (_moment(unit.last), unit.goal, unit.task))
    return found


def _places(folder: SwarmFolder, state: State) -> Iterator[tuple[int, Path]]:
    """The folders of evidence with their goals; links are passed over, and what lies in history counts as ended."""
    for path in sorted(folder.history.glob("goal-*")):
        number, place = goal_number(path.name), path / "evidence"
        if number and number < state.goals and not path.is_symlink() and place.is_dir() and not place.is_symlink():
            yield number, place
    if folder.evidence.is_dir() and not folder.evidence.is_symlink():
        yield state.goals, folder.evidence


def _approved(state: State) -> frozenset[str]:
    """The phases that the user approved, as their evidence names them, and their tasks."""
    numbered = [each for each in (state.plan.numbered if state.plan else ()) if state.phase(each[0]).approved]
    tasks = {task.id for _, phase in numbered for task in phase.tasks}
    return frozenset({*tasks, *(f"phase-{number}" for number, _ in numbered)})


def _last_events(entries: Iterable[Entry]) -> dict[tuple[int, str], str]:
    """The time of the last event about each task, by goal and id."""
    found, goal = dict[tuple[int, str], str](), 0
    for entry in entries:
        goal += isinstance(entry.event, GoalSet)
        if task := getattr(entry.event, "task", ""):
            found[goal, task] = entry.time
    return found


def _content(folder: Path) -> tuple[list[Path], list[Path]]:
    """The files below a folder, and what is neither file nor folder; no link is followed."""
    files, others = [], []
    for base, names, plain in os.walk(folder):
        for name in (*names, *plain):
            path = Path(base, name)
            if path.is_symlink() or not (path.is_file() or path.is_dir()):
                others.append(path)
            elif path.is_file():
                files.append(path)
    return sorted(files), sorted(others)


def _delete(folder: SwarmFolder, index: ArchiveIndex, units: Iterable[_Unit]) -> None:
    """Deletes what the archive holds, where it is still the same; then the folders that are empty."""
    for entry in index.files:
        path = folder.root / entry.path
        with writing(path):
            if _same(path, entry):
                path.unlink()
    for unit in units:
        for base, _, _ in os.walk(unit.place, topdown=False):
            with contextlib.suppress(OSError):  # not empty: what was skipped, or changed meanwhile, stays
                os.rmdir(base)  # noqa: PTH106 - os.walk gives strings


def _same(path: Path, entry: ArchivedFile) -> bool:
    try:
        return hashlib.sha256(read_plain(path)).hexdigest() == entry.sha256
    except OSError:  # it is gone, or something else stands there now
        return False


def _modified(files: Iterable[Path]) -> str:
    """For evidence that no event of the ledger speaks of: when its newest file was written."""
    newest = max(path.lstat().st_mtime for path in files)
    return datetime.fromtimestamp(newest, UTC).isoformat(timespec="seconds")


def _moment(time: str) -> datetime:
    found = datetime.fromisoformat(time)
    return found if found.tzinfo else found.replace(tzinfo=UTC)
