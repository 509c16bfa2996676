"""Evidence: files under `evidence/<task>/attempt-<n>/` that prove what an event claims; the event has their SHA-256."""

from __future__ import annotations

import hashlib
from pathlib import Path

from swarmgate.ledger.folder import SwarmFolder, writing
from swarmgate.workspace.atomic import replace

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
TESTS = "tests.json"
BEFORE = "tests-before.json"
"""The run of the new tests over the tree before the change."""
BASE = "tests-base.json"
"""The run of the whole suite over the tree before the change."""
MUTATION = "mutation.json"
SBOM = "sbom.cdx.json"
"""The components of the final tree, where the attempt touched what they come from."""


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
            path.parent.mkdir(parents=True, exist_ok=True)
            replace(path, data)
        return hashlib.sha256(data).hexdigest()

    def problem(self, task: str, attempt: int, name: str, digest: str) -> str:
        """Why the piece does not prove what was recorded; empty when it does."""
        path = self.place(task, attempt, name)
        shown = self._folder.relative(path)
        try:
            data = path.read_bytes()
        except OSError as error:
            return f"{shown} cannot be read: {error.strerror}"
        return "" if hashlib.sha256(data).hexdigest() == digest else f"{shown} was changed after it was recorded"

    def archive(self, goal: int) -> None:
        """Moves evidence and phase summaries of an ended goal (its number, from 1) to `history/goal-<n>/`."""
        history = self._folder.history
        target = history / f"goal-{goal}"
        for path in (self._folder.evidence, *sorted(history.glob("phase-*.md"))):
            if path.exists():
                target.mkdir(parents=True, exist_ok=True)
                path.rename(target / path.name)
