"""Computes statements about commits from the ledgers that are here, and writes those that are missing again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pydantic import Field

from swarmgate.domain.base import Frozen
from swarmgate.domain.events.event import EVENTS, CommitMoved, Entry, TaskCompleted
from swarmgate.domain.evidence.attestation import (
    ATTESTATION_TRAILER,
    LEDGER_TRAILER,
    NOTES_REF,
    LedgerLine,
    Predicate,
    first_line,
    predicate_of,
    statement_of,
)
from swarmgate.domain.state.state import State
from swarmgate.domain.transitions.fold import fold
from swarmgate.journal.journal import entries_in
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.witness.anchors import Anchors, known
from swarmgate.workspace.git.commits import TaskCommit
from swarmgate.workspace.git.repository import Repository


class RestoredRange(Frozen):
    """The commits of a range whose statements were written again, oldest first; `left` says why others were not."""

    restored: tuple[str, ...] = ()
    left: dict[str, str] = Field(default_factory=dict)


def restore(repository: Repository, revisions: str) -> RestoredRange:
    """Writes the statements that are missing, or are not as they were written, from the ledger.

    Only what a commit's own trailer announces is written: no statement can be put on a commit afterwards.

    Args:
        repository: with the commits.
        revisions: `A..B`, or a revision.

    Raises:
        WorkspaceError: git knows no such revision, or cannot write notes.
        LedgerCorrupt: the ledger cannot be read.
    """
    here, held = repository.notes(NOTES_REF), records(SwarmFolder(repository.root))
    restored, left = [], {}
    for commit in repository.commits_named(revisions):
        if not (announced := commit.trailers.get(ATTESTATION_TRAILER, "")):
            continue
        said = next((each for each in (record.at(commit) for record in held) if each is not None), None)
        if said is None or said.sha256 != announced:
            if commit.id not in here:
                left[commit.id] = "no ledger here gives what its trailer announces" if held else "no ledger is here"
            continue
        text = statement_of(said, commit.id).text()
        if here.get(commit.id) != text:
            repository.write_note(NOTES_REF, commit.id, text)
            restored.append(commit.id)
    return RestoredRange(restored=tuple(restored), left=left)


@dataclass
class Record:
    """The lines of a ledger that is here; `own`: it is the project's, and not only what its anchors hold."""

    own: bool
    entries: Sequence[tuple[Entry, str]]
    _state: State = field(default_factory=State)

    def predicate(self, line: LedgerLine) -> Predicate | None:
        """What it says at a line; None where it has no such line, or nothing runs there."""
        if not 0 < line.seq <= len(self.entries) or self.entries[line.seq - 1][1] != line.sha256:
            return None
        begun = self._state if self._state.seq <= line.seq else State()  # commits come in the order of their lines
        self._state = state = fold(begun, (entry for entry, _ in self.entries[begun.seq : line.seq]))
        if state.task(state.open).running is None:
            return None
        return predicate_of(state, line.sha256, (entry for entry, _ in self.entries[first_line(state) - 1 : line.seq]))

    def at(self, commit: TaskCommit) -> Predicate | None:
        """What it says at the line that a commit's trailer names; None as of `predicate`, or it names none."""
        seq, _, head = commit.trailers.get(LEDGER_TRAILER, "").partition(" ")
        return self.predicate(LedgerLine(seq=int(seq), sha256=head)) if seq.isdecimal() else None

    def completions(self) -> Iterator[TaskCompleted]:
        """Every completion on record."""
        return (entry.event for entry, _ in self.entries if isinstance(entry.event, TaskCompleted))

    def elsewhere(self, predicate: Predicate, commit: str) -> Iterator[str]:
        """That the attempt was completed by another commit, and not by one that the user rewrote as this one."""
        after = [entry.event for entry, _ in self.entries[predicate.ledger.seq :]]
        moved = {event.was: event.commit for event in after if isinstance(event, CommitMoved)}
        attempt = predicate.task.id, predicate.attempt
        found = (e for e in after if isinstance(e, TaskCompleted) and (e.task, e.attempt) == attempt)
        made = next(found, None)
        if made is not None and commit not in (made.commit, moved.get(made.commit)):
            yield f"ledger: the task was completed by commit {made.commit[:12]}, not by this one"


def records(folder: SwarmFolder) -> tuple[Record, ...]:
    """The project's own ledger, else those that the anchors hold.

    Raises:
        LedgerCorrupt: one of them does not fit its own chain.
    """
    if folder.ledger.is_file():
        data = folder.ledger.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        return (Record(own=True, entries=tuple(entries_in(whole, EVENTS, name=folder.ledger.name))),)
    held = ((name, Anchors(folder, name).chain().lines) for name in known(folder))
    return tuple(
        Record(own=False, entries=tuple(entries_in(data, EVENTS, name=f"the anchors of {name}"))) for name, data in held
    )
