"""Stores evidence under `evidence/<task>/attempt-<n>/`; the events record each file's SHA-256."""

from __future__ import annotations

import errno
import hashlib
import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from swarmgate.domain.events.event import Event, EvidenceKept, EvidenceSetAside
from swarmgate.domain.evidence.report import FILES, Kind, Standing, unnamed_evidence
from swarmgate.journal.disk_errors import writing
from swarmgate.ledger.evidence.archive import ArchivedPiece, Archives, read_plain
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.workspace.files.atomic import replace
from swarmgate.workspace.files.folders import make

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence


PATCH = FILES[Kind.DIFF]
GATES = FILES[Kind.GATES]
FINAL_GATES = FILES[Kind.FINAL_GATES]
"""The gates over the final tree, the test engineer's tests included."""
REVIEW = FILES[Kind.REVIEW]
DEBATE = FILES[Kind.DEBATE]
"""The debate that a review was, every word of it."""
SECURITY_REVIEW = FILES[Kind.SECURITY]
ADVERSARIAL = FILES[Kind.ADVERSARIAL]
"""What came of each adversarial test: its run, and what the reviewer said of those that failed."""
TESTS_REVIEW = FILES[Kind.TESTS_REVIEW]
"""The reviewer's verdict on what the test engineer wrote."""
TESTS = FILES[Kind.TESTS]
BEFORE = FILES[Kind.BEFORE]
"""The run of the new tests over the tree before the change."""
BASE = FILES[Kind.BASE]
"""The run of the whole suite over the tree before the change."""
MUTATION = FILES[Kind.MUTATION]
SBOM = FILES[Kind.SBOM]
"""The components of the final tree, where the attempt touched what they come from."""


class Found(NamedTuple):
    """The result of inspecting a piece: its standing, its path from the repository, and its problem."""

    standing: Standing
    path: str
    problem: str = ""


class EvidenceStore:
    """Writes and reads evidence of one project.

    Nothing that was written is forgotten: whoever records the events of a step takes with them what `taken` gives, or
    has it put aside where the step gave none.

    Args:
        folder: the project's.
        home: the folder of the evidence of an earlier goal; None: that of the present one.
    """

    def __init__(self, folder: SwarmFolder, home: Path | None = None) -> None:
        self._folder = folder
        self._home = home or folder.evidence
        self._written: dict[tuple[str, int, str], str] = {}

    def place(self, task: str, attempt: int, name: str) -> Path:
        """Where a piece of evidence lies."""
        return self._home / task / f"attempt-{attempt}" / name

    def write(self, task: str, attempt: int, name: str, data: bytes) -> str:
        """Stores a piece durably and returns its SHA-256 in hex."""
        path = self.place(task, attempt, name)
        with writing(path):
            make(path.parent)
            replace(path, data)
        digest = hashlib.sha256(data).hexdigest()
        self._written[task, attempt, name] = digest
        return digest

    def unrecorded(self, events: Sequence[Event]) -> list[EvidenceKept] | list[EvidenceSetAside]:
        """Returns the events for the pieces that were written since `recorded` was called.

        Args:
            events: those of the step that wrote them, which name some of them. None: the step was cut short and is
                done again, so what it left is put aside.

        Raises:
            LedgerWriteFailed: the disk refused to move it.
        """
        if events:
            return unnamed_evidence(self._written, events)
        attempts: dict[tuple[str, int], list[str]] = {}
        for task, attempt, name in self._written:
            attempts.setdefault((task, attempt), []).append(name)
        found = (self._put_aside(task, attempt, names) for (task, attempt), names in attempts.items())
        return [each for each in found if each is not None]

    def recorded(self) -> None:
        """Marks the pieces that `unrecorded` returned as recorded."""
        self._written.clear()

    def left(self, task: str, attempt: int, known: Collection[str]) -> EvidenceSetAside | None:
        """Puts aside what a process that died left of an attempt: all that is not `known` by its name.

        Raises:
            LedgerWriteFailed: the disk refused to move it.
        """
        folder = self.place(task, attempt, "")
        inside = folder.is_dir() and not self._leads_away(folder)
        names = sorted(place.name for place in folder.iterdir()) if inside else []
        return self._put_aside(task, attempt, [name for name in names if name not in known])

    def _put_aside(self, task: str, attempt: int, names: Iterable[str]) -> EvidenceSetAside | None:
        """Moves files of an attempt into the quarantine; to be recorded, None where there was nothing to move."""
        target = self._folder.quarantine_folder(f"evidence-{task}-attempt-{attempt}")
        moved = {}
        with writing(target):
            for name in names:
                path = self.place(task, attempt, name)
                if not os.path.lexists(path):
                    continue
                make(target)
                try:
                    moved[name] = hashlib.sha256(read_plain(path)).hexdigest()
                except OSError:  # no regular file
                    moved[name] = ""
                path.rename(target / name)
        location = self._folder.relative(target)
        return EvidenceSetAside(task=task, attempt=attempt, files=moved, kept=location) if moved else None

    def problem(self, task: str, attempt: int, name: str, digest: str) -> str:
        """Why the piece does not prove what was recorded; empty when it does, archived or not."""
        return self.inspect(task, attempt, name, digest).problem

    def inspect(self, task: str, attempt: int, name: str, digest: str, *, goal: int = 0) -> Found:
        """Inspects a piece of evidence and returns its standing.

        Args:
            task: the id of its task.
            attempt: the number of the attempt.
            name: the name of its file.
            digest: the SHA-256 that was recorded; empty: none was.
            goal: the goal that an archived piece must be of; 0: any.
        """
        path = self.place(task, attempt, name)
        location = self._folder.relative(path)
        if self._leads_away(path):
            return Found(Standing.CHANGED, location, f"{location} is a link, or lies behind one")
        try:
            data = read_plain(path)
        except OSError as error:
            if error.errno in (errno.EINVAL, errno.EFBIG):
                return Found(Standing.CHANGED, location, f"{location} is {error.strerror}")
            pruned = self._pruned(path, digest, goal)
            if pruned is None:
                return Found(Standing.MISSING, location, f"{location} cannot be read: {error.strerror}")
            standing = Standing.CHANGED if pruned.problem else Standing.ARCHIVED
            return Found(standing, pruned.archive, pruned.problem)
        if digest and hashlib.sha256(data).hexdigest() != digest:
            return Found(Standing.CHANGED, location, f"{location} was changed after it was recorded")
        return Found(Standing.PRESENT, location)

    def _pruned(self, path: Path, digest: str, goal: int) -> ArchivedPiece | None:
        """Where the archive has a piece; one of an earlier goal may have been pruned while that was the present one."""
        earlier = self._folder.evidence / path.relative_to(self._home)
        places = dict.fromkeys(self._folder.relative(each) for each in ((path, earlier) if digest else (path,)))
        found = [stored for each in places if (stored := self._archives.find(each, digest=digest, goal=goal))]
        return next((stored for stored in found if not stored.problem), found[0] if found else None)

    def _leads_away(self, path: Path) -> bool:
        """Whether a link stands on the way from `.swarm/` to the file."""
        inside = path.relative_to(self._folder.path)
        return os.path.realpath(path) != str(Path(os.path.realpath(self._folder.path)) / inside)

    @cached_property
    def _archives(self) -> Archives:
        return Archives(self._folder)

    def archive(self, goal: int) -> None:
        """Moves evidence and phase summaries of an ended goal (its number, from 1) to `history/goal-<n>/`."""
        self._archive(goal, self._folder.evidence, *sorted(self._folder.history.glob("phase-*.md")))

    def archive_plan(self, goal: int) -> None:
        """Moves the plan files of an abandoned goal there: they would tell of work that goes on."""
        self._archive(goal, self._folder.plan_md, self._folder.plan_json)

    def _archive(self, goal: int, *places: Path) -> None:
        target = self._folder.history / f"goal-{goal}"
        for path in places:
            if path.exists():
                make(target)
                path.rename(target / path.name)
