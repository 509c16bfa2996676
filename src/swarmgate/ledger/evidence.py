"""Evidence: files under `evidence/<task>/attempt-<n>/` that prove what an event claims; the event has their SHA-256."""

from __future__ import annotations

import errno
import hashlib
import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from swarmgate.domain.evidence_report import Kind, Standing
from swarmgate.ledger.folder import SwarmFolder, writing
from swarmgate.workspace import regular
from swarmgate.workspace.atomic import replace
from swarmgate.workspace.folders import make

if TYPE_CHECKING:
    from swarmgate.ledger.evidence_archive import Archives

PATCH = "change.patch"
GATES = "gates.json"
FINAL_GATES = "final-gates.json"
"""The gates over the final tree, the test engineer's tests included."""
REVIEW = "review.json"
DEBATE = "debate.json"
"""The debate that a review was, every word of it."""
SECURITY_REVIEW = "security_review.json"
ADVERSARIAL = "adversarial.json"
"""What came of each adversarial test: its run, and what the reviewer said of those that failed."""
TESTS_REVIEW = "tests_review.json"
"""The reviewer's verdict on what the test engineer wrote."""
TESTS = "tests.json"
BEFORE = "tests-before.json"
"""The run of the new tests over the tree before the change."""
BASE = "tests-base.json"
"""The run of the whole suite over the tree before the change."""
MUTATION = "mutation.json"
SBOM = "sbom.cdx.json"
"""The components of the final tree, where the attempt touched what they come from."""

LARGEST = 1_000_000_000
"""Bytes of a piece that are read: no patch comes near it."""

FILES: dict[Kind, str] = {
    Kind.DIFF: PATCH,
    Kind.GATES: GATES,
    Kind.DEBATE: DEBATE,
    Kind.REVIEW: REVIEW,
    Kind.SECURITY: SECURITY_REVIEW,
    Kind.ADVERSARIAL: ADVERSARIAL,
    Kind.TESTS_REVIEW: TESTS_REVIEW,
    Kind.FINAL_GATES: FINAL_GATES,
    Kind.SBOM: SBOM,
    Kind.TESTS: TESTS,
    Kind.BEFORE: BEFORE,
    Kind.MUTATION: MUTATION,
}
"""The file of each kind."""


class Found(NamedTuple):
    """What was found of a piece: how it stands, where it lies from the repository, and what is wrong with it."""

    standing: Standing
    path: str
    problem: str = ""


class EvidenceStore:
    """Writes and reads evidence of one project."""

    def __init__(self, folder: SwarmFolder) -> None:
        self._folder = folder

    def place(self, task: str, attempt: int, name: str) -> Path:
        """Where a piece of evidence lies."""
        return self._folder.evidence / task / f"attempt-{attempt}" / name

    def write(self, task: str, attempt: int, name: str, data: bytes) -> str:
        """Stores a piece durably and returns its SHA-256 in hex."""
        path = self.place(task, attempt, name)
        with writing(path):
            make(path.parent)
            replace(path, data)
        return hashlib.sha256(data).hexdigest()

    def problem(self, task: str, attempt: int, name: str, digest: str) -> str:
        """Why the piece does not prove what was recorded; empty when it does, archived or not."""
        return self.look(task, attempt, name, digest).problem

    def look(self, task: str, attempt: int, name: str, digest: str, *, goal: int = 0) -> Found:
        """How a piece stands.

        Args:
            task: the id of its task.
            attempt: the number of the attempt.
            name: the name of its file.
            digest: the SHA-256 that was recorded; empty: none was.
            goal: the goal that an archived piece must be of; 0: any.
        """
        path = self.place(task, attempt, name)
        shown = self._folder.relative(path)
        if self._leads_away(path):
            return Found(Standing.CHANGED, shown, f"{shown} is a link, or lies behind one")
        try:
            data = regular.read(path, limit=LARGEST, follow=False)
        except OSError as error:
            if error.errno in (errno.EINVAL, errno.EFBIG):
                return Found(Standing.CHANGED, shown, f"{shown} is {error.strerror}")
            kept = self._archives.find(shown, digest=digest, goal=goal)
            if kept is None:
                return Found(Standing.MISSING, shown, f"{shown} cannot be read: {error.strerror}")
            standing = Standing.CHANGED if kept.problem else Standing.ARCHIVED
            return Found(standing, kept.archive, kept.problem)
        if digest and hashlib.sha256(data).hexdigest() != digest:
            return Found(Standing.CHANGED, shown, f"{shown} was changed after it was recorded")
        return Found(Standing.PRESENT, shown)

    def _leads_away(self, path: Path) -> bool:
        """Whether a link stands on the way from `.swarm/` to the file."""
        inside = path.relative_to(self._folder.path)
        return os.path.realpath(path) != str(Path(os.path.realpath(self._folder.path)) / inside)

    @cached_property
    def _archives(self) -> Archives:
        from swarmgate.ledger.evidence_archive import Archives  # noqa: PLC0415 - late: tarfile, where a piece is gone

        return Archives(self._folder)

    def archive(self, goal: int) -> None:
        """Moves evidence and phase summaries of an ended goal (its number, from 1) to `history/goal-<n>/`."""
        history = self._folder.history
        target = history / f"goal-{goal}"
        for path in (self._folder.evidence, *sorted(history.glob("phase-*.md"))):
            if path.exists():
                make(target)
                path.rename(target / path.name)
