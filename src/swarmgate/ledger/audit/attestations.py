"""Verifies the statements about commits: against the commit, and against ledger and evidence as far as they are there.

A repository with the commits and `refs/notes/swarm-attestations` is enough to find every statement that was altered,
put on another commit, or taken away: the commit's own trailer holds the digest of what is stated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from pydantic import ValidationError

from swarmgate.domain.base import Frozen
from swarmgate.domain.evidence.attestation import (
    ATTESTATION_TRAILER,
    LEDGER_TRAILER,
    NOTES_REF,
    Predicate,
    Statement,
    differences,
)
from swarmgate.domain.evidence.report import Standing, recorded_by_goal
from swarmgate.errors import LedgerCorrupt, UsageError
from swarmgate.ledger.audit.evidence import homes
from swarmgate.ledger.audit.statements import Record, records
from swarmgate.ledger.evidence.evidence import EvidenceStore
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.workspace.git.commits import ATTEMPTS_TRAILER, TASK_TRAILER, TaskCommit
from swarmgate.workspace.git.history import signature
from swarmgate.workspace.git.repository import Repository

_FETCH = f"git fetch origin '{NOTES_REF}:{NOTES_REF}'"
_GOOD = "G"
_BAD = {
    "B": "bad",
    "E": "of a key that is not here",
    "N": "missing, or of a kind that git is not told how to check",
    "R": "of a revoked key",
    "U": "of a key that git is not told to trust (gpg: its trust, ssh: gpg.ssh.allowedSignersFile)",
    "X": "one that has expired",
    "Y": "of an expired key",
}
"""What git says of a commit's signature by `%G?` (git-log(1))."""


class VerifiedCommit(Frozen):
    """What became of one commit. `problems` are empty where its statement holds.

    `against` says what it was compared with: `commit`, and `ledger`, `evidence`, `signature` where that was possible.
    `notes` say what was not, and why.
    """

    commit: str
    task: str
    title: str = ""
    problems: tuple[str, ...] = ()
    against: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class VerifiedRange(Frozen):
    """The commits of a range that are attested, or ought to be, oldest first; `others` bear no statement."""

    passed: bool
    commits: tuple[VerifiedCommit, ...]
    others: tuple[str, ...] = ()


def verify(repository: Repository, revisions: str, *, signed: bool = False, every: bool = False) -> VerifiedRange:
    """Verifies the statements about the commits of a range, or about one commit.

    Args:
        repository: with the commits and the notes.
        revisions: `A..B`, or a revision: then that one has to have a statement.
        signed: each attested commit has to bear a good signature, as git is configured to check it.
        every: each commit of the range has to be attested.

    Raises:
        WorkspaceError: git knows no such revision.
    """
    statements, every = repository.notes(NOTES_REF), every or ".." not in revisions
    found, others = [], []
    auditor = Auditor(repository, statements, signed=signed)
    for commit in repository.commits_named(revisions):
        attested = ATTESTATION_TRAILER in commit.trailers or commit.id in statements
        if attested or every:
            found.append(auditor.verified(commit))
        else:
            others.append(commit.id)
    return VerifiedRange(passed=not any(each.problems for each in found), commits=tuple(found), others=tuple(others))


def show(repository: Repository, revision: str) -> Statement:
    """The statement about a commit, as it stands; whether it holds, `verify` says.

    Raises:
        UsageError: it has none, or one that cannot be read.
    """
    if ".." in revision:
        raise UsageError("This shows one commit.", hint="swarm attest verify takes a range.")
    (commit,) = repository.commits_named(revision)
    text = repository.notes(NOTES_REF).get(commit.id)
    if text is None:
        raise UsageError(f"Commit {commit.id[:12]} has no statement here.", hint=f"If others have it: {_FETCH}")
    statement, problem = _read(text)
    if statement is None:
        raise UsageError(f"The statement of commit {commit.id[:12]} cannot be read: {problem}.")
    return statement


def _read(text: str) -> tuple[Statement | None, str]:
    """A note as a statement, or why it is none."""
    try:
        statement = Statement.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        return None, f"{'.'.join(map(str, first['loc'])) or 'the note'}: {first['msg']}"
    return statement, ""


@dataclass
class Auditor:
    """Verifies one commit after the other, oldest first, with what is here.

    Attributes:
        repository: with the commits.
        statements: the notes by the ids of their commits.
        signed: whether commits have to bear a good signature.
        folder: the project's `.swarm/`, which need not be there.
        records: the ledgers that are here.
        damage: why none can be read; empty: they can, or there is none.
    """

    repository: Repository
    statements: Mapping[str, str]
    signed: bool
    folder: SwarmFolder = field(init=False)
    records: tuple[Record, ...] = ()
    damage: str = ""

    def __post_init__(self) -> None:
        self.folder = SwarmFolder(self.repository.root)
        try:
            self.records = records(self.folder)
        except LedgerCorrupt as error:
            self.damage = error.message

    def verified(self, commit: TaskCommit) -> VerifiedCommit:
        """The result for one commit."""
        task = commit.trailers.get(TASK_TRAILER, "")
        if (text := self.statements.get(commit.id)) is None:
            return VerifiedCommit(commit=commit.id, task=task, problems=(_missing(commit),))
        statement, problem = _read(text)
        if statement is None:
            problem = f"the statement cannot be read: {problem}"
            return VerifiedCommit(commit=commit.id, task=task, problems=(problem,))
        problems = [*_of_text(statement, text), *self._of_commit(statement, commit)]
        against, notes = ["commit"], list[str]()
        found, recorded = self._of_ledger(statement.predicate, commit)
        if found is None:
            notes.append("neither ledger nor evidence is here: the statement was compared with its commit alone")
        else:
            problems += found
            against.append("ledger")
        if recorded is not None:
            missing, changed = self._of_evidence(recorded)
            problems += changed
            against.append("evidence")
            notes += [f"{missing} of {len(recorded.evidence)} files of evidence are not here"] if missing else []
        if self.signed:
            problems += self._of_signature(commit)
            against.append("signature")
        return VerifiedCommit(
            commit=commit.id,
            task=task,
            title=statement.predicate.task.title,
            problems=tuple(dict.fromkeys(problems)),
            against=tuple(against),
            notes=tuple(notes),
        )

    def _of_commit(self, statement: Statement, commit: TaskCommit) -> Iterator[str]:
        """Where a statement does not fit the commit that it is the note of."""
        predicate, trailers = statement.predicate, commit.trailers
        if statement.commit != commit.id:
            yield f"subject: the statement is about commit {statement.commit[:12]}, not about this one"
        if ATTESTATION_TRAILER not in trailers:
            yield f"the commit has no {ATTESTATION_TRAILER} trailer: the statement was put on it afterwards"
        elif trailers[ATTESTATION_TRAILER] != predicate.sha256:
            yield f"predicate: its SHA-256 is not that of the commit's {ATTESTATION_TRAILER} trailer: it was altered"
        stated = {
            LEDGER_TRAILER: f"{predicate.ledger.seq} {predicate.ledger.sha256}",
            TASK_TRAILER: predicate.task.id,
            ATTEMPTS_TRAILER: str(predicate.attempt),
        }
        for name, value in stated.items():
            if trailers.get(name) != value:
                yield f"the commit's {name} trailer says {trailers.get(name, '')!r}, the statement {value!r}"
        if not self.repository.stands(predicate.base, commit.parent):
            yield f"predicate.base: the commit stands on {commit.parent[:12]}, the statement says {predicate.base[:12]}"
        if commit.tree != predicate.tree and not self._on_record(commit):
            yield f"predicate.tree: the commit holds the tree {commit.tree[:12]}, and {predicate.tree[:12]} passed"

    def _on_record(self, commit: TaskCommit) -> bool:
        """Whether the ledger has the commit with this very tree: a hook changed it, and it passed anew."""
        made = ((each.commit, each.tree) for record in self.records for each in record.completions())
        return (commit.id, commit.tree) in made

    def _of_ledger(self, predicate: Predicate, commit: TaskCommit) -> tuple[list[str] | None, Predicate | None]:
        """Where it does not say what the ledger says, None without a ledger; and what the project's own ledger says."""
        if self.damage:
            return [f"ledger: {self.damage}"], None
        for record in self.records:
            if (said := record.predicate(predicate.ledger)) is not None:
                altered = [f"predicate.{name} is not what the ledger says" for name in differences(predicate, said)]
                return [*altered, *record.elsewhere(predicate, commit.id)], said if record.own else None
            if record.own:
                line = predicate.ledger.seq
                return [f"ledger: it has no line {line} with the hash that the statement says: it was altered"], None
        return None, None

    def _of_evidence(self, said: Predicate) -> tuple[int, list[str]]:
        """How many files of evidence are not here, and those that are not as the ledger has them on record."""
        (own,) = self.records
        places = homes(self.folder, recorded_by_goal(entry for entry, _ in own.entries))
        store = EvidenceStore(self.folder, places.get(said.goal_number))
        missing, changed = 0, []
        for name, digest in said.evidence.items():
            attempt, _, file = name.removeprefix("attempt-").partition("/")
            found = store.inspect(said.task.id, int(attempt), file, digest)
            missing += found.standing is Standing.MISSING
            if found.standing is Standing.CHANGED:
                changed.append(f"evidence: {found.problem}")
        return missing, changed

    def _of_signature(self, commit: TaskCommit) -> Iterator[str]:
        state = signature(self.repository, commit.id)
        if state != _GOOD:
            yield f"signature: {_BAD.get(state, state)}"


def _missing(commit: TaskCommit) -> str:
    if ATTESTATION_TRAILER in commit.trailers:
        restore = f"swarm attest restore {commit.id[:12]}"
        return f"the commit is attested, and its statement is not here: {_FETCH}; or, if its ledger is here: {restore}"
    return f"the commit is not attested: it has no {ATTESTATION_TRAILER} trailer"


def _of_text(statement: Statement, text: str) -> Iterator[str]:
    if statement.text() != text:
        yield "the note is not written as swarmgate writes it: something was added, repeated or set otherwise"
