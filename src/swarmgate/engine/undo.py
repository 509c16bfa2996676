"""Takes tasks back: a commit that reverts each one's own, the files with it, and the event that has it pending again.

Whether all of them can be taken back is known before anything is touched. Then each is whole in itself: the files, the
commit, the event. Killed in between, the same command goes on from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from swarmgate.domain.actor import USER
from swarmgate.domain.events.event import AttemptInterrupted, Entry, Event, TaskUndone
from swarmgate.domain.review.change import ChangeSet
from swarmgate.domain.state.completed_commits import landed
from swarmgate.domain.state.state import State
from swarmgate.domain.transitions.fold import fold
from swarmgate.domain.transitions.undo import undo_order
from swarmgate.engine.branch_history import compared, require_on_branch
from swarmgate.engine.steps.delegation.uncommitted import refusal
from swarmgate.engine.steps.recovery import put_away
from swarmgate.errors import CommitLost, WorkspaceError
from swarmgate.ledger.ledger import Ledger
from swarmgate.ledger.recovery.interruption import require_recorded
from swarmgate.project import Project
from swarmgate.workspace.git import history
from swarmgate.workspace.git.changes import reverting
from swarmgate.workspace.git.commits import TASK_TRAILER, UNDO_TRAILER
from swarmgate.workspace.git.history import TreeCommit
from swarmgate.workspace.git.repository import Repository
from swarmgate.workspace.sandbox import unsandboxed_files


def undo(
    project: Project,
    ledger: Ledger,
    repository: Repository,
    task: str,
    *,
    with_dependents: bool,
    stash: bool,
    reason: str,
) -> tuple[TaskUndone, ...]:
    """Takes a task back, with `with_dependents` all that build on it first; the contract is `Swarm.undo`'s."""
    repository.require_quiet()
    require_on_branch(ledger.state, repository, repository.branch() or "", command=f"swarm undo {task}")
    tasks = undo_order(ledger.state, task) if with_dependents else (task,)
    found = compared(ledger.state, repository, repository.head())
    ledger.append(found.moved, expect=ledger.state.seq)
    parts = _parts(ledger.state, repository, tasks)
    _require_legal(ledger.state, repository, parts)
    return _Undo(project, ledger, repository, {each.commit for each in found.lost}, parts, reason).done(stash=stash)


class _Part(NamedTuple):
    """What is taken back at once: a commit of a task, with the one that holds it now, or its change in the work tree.

    `commit` is empty for the change in the work tree, `now` where nothing in the history holds the commit any more.
    """

    task: str
    commit: str = ""
    now: str = ""


def _parts(state: State, repository: Repository, tasks: Sequence[str]) -> tuple[_Part, ...]:
    """All that is there of the tasks, in the order in which it is taken back: of each the newest first."""
    attempts = [a for task in tasks for a in state.task(task).attempts if a.commit in state.task(task).commits]
    head = repository.head()
    gone = history.missing(repository, head, [each.commit for each in attempts])
    moved: dict[str, str] = {}
    if gone:
        trees = [TreeCommit(each.commit, each.tree) for each in attempts if each.commit in gone]
        moved = dict.fromkeys(gone, "") | history.rewritten(repository, trees, since=state.base, tip=head)
    found = list[_Part]()
    for task in tasks:
        record = state.task(task)
        parts = [_Part(task, commit, moved.get(commit, commit)) for commit in reversed(record.commits)]
        found += [*([_Part(task)] if record.unfinished or not parts else []), *parts]
    return tuple(found)


def _require_legal(state: State, repository: Repository, parts: Sequence[_Part]) -> None:
    """Requires that the ledger lets all of it be taken back, one after the other.

    Raises:
        IllegalMove: it does not.
    """
    events: list[Event] = []
    attempt = state.task(state.open).running
    if attempt is not None and state.open in {each.task for each in parts}:
        require_recorded(state, repository)
        events.append(AttemptInterrupted(task=state.open, attempt=attempt.number, reason="undone"))
    events += [TaskUndone(task=each.task, commit=each.commit) for each in parts]
    for number, event in enumerate(events, start=state.seq + 1):
        state = fold(state, [Entry(seq=number, time=state.time, actor=USER, event=event)])


@dataclass
class _Undo:
    """What is taken back, in order; `lost` are the commits of completed tasks that are gone."""

    project: Project
    ledger: Ledger
    repository: Repository
    lost: set[str]
    parts: tuple[_Part, ...]
    reason: str

    def done(self, *, stash: bool) -> tuple[TaskUndone, ...]:
        first = self._require_apart()
        own = {revert for revert in self._reverted.values() if self._is_own(revert)}  # a crash left them without events
        if not self.ledger.state.open:  # what an open attempt left cannot be told from the user's, and is kept below
            self._uncommitted(first, stash=stash)
        kept = put_away(self.ledger, self.repository, "the user took its task back", actor=self.project.actor)
        if dirty := self._uncommitted(first, stash=stash):
            self.repository.stash("swarm: changes that were uncommitted before the undo")
            self.project.notice(f"{len(dirty)} uncommitted files were stashed; get them back with: git stash pop")
        return tuple(self._undone(part, kept, own) for part in self.parts)

    def _undone(self, part: _Part, kept: str, own: set[str]) -> TaskUndone:
        event = TaskUndone(task=part.task, commit=part.commit, reason=self.reason)
        if not part.commit:
            event = event.model_copy(update={"kept": kept})
        elif revert := self._reverted.get(part.now):
            event = event.model_copy(update={"revert": revert, "by_hand": revert not in own})
        elif part.now:
            event = event.model_copy(update={"revert": self._revert(part.task, part.now)})
        self._record(event)
        return event

    @cached_property
    def _reverted(self) -> dict[str, str]:
        """The commits that were taken back before, each with the one that did it."""
        wanted, state = [each.now for each in self.parts if each.now], self.ledger.state
        return reverting.taken_back(self.repository, wanted, since=state.base, tip=self.repository.head())

    def _is_own(self, revert: str) -> bool:
        """Whether a commit is the revert of one of ours; the index follows it where it is the newest."""
        made = next((each for each in self.repository.undo_commits(self.ledger.state.base) if each.id == revert), None)
        if made is not None and made.id == self.repository.head():
            self.repository.take_up(made)
        return made is not None

    def _revert(self, task: str, commit: str) -> str:
        """Commits the revert of a task's commit and returns its id; empty where nothing of the change is left.

        Raises:
            CommitRefused, WorkspaceError: it cannot be committed; the files are as they were.
        """
        state = self.ledger.state
        head, before = self.repository.head(), self.repository.head_tree()
        change = self.repository.changes(before, reverting.without(self.repository, before, commit).tree)
        if not change.paths:
            return ""
        self._restore(change.tree, change)
        title = state.plan.tasks[task].title if state.plan else task
        text = "\n\n".join(filter(None, (f'Revert "{title}"', f"This reverts commit {commit}.", self.reason)))
        trailers = [(UNDO_TRAILER, f"{task} {commit}"), ("Swarm-Ledger", f"{state.seq} {self.ledger.head}")]
        try:
            return self.repository.commit(change, text, trailers, onto=head).id
        except BaseException:
            if self.repository.head() == head:
                self._restore(before, change)
            raise

    def _restore(self, tree: str, change: ChangeSet) -> None:
        quarantine = self.project.folder.quarantine_folder("undone")
        touched = [path for file in change.files for path in file.touched]
        self.repository.restore(tree, quarantine=quarantine, only=touched, committed=True)
        if quarantine.exists():
            where = self.project.folder.relative(quarantine)
            self.project.notice(f"files that git does not follow stood where the task's were: they are kept in {where}")

    def _require_apart(self) -> ChangeSet:
        """Requires that every change can be taken out of what came after it; returns what the first one does.

        Raises:
            CommitLost: one of the commits is gone.
            WorkspaceError: later commits changed the same, or the commit holds more than the task's own work.
        """
        repository, state = self.repository, self.ledger.state
        head = tree = repository.head_tree()
        first = repository.changes(head, head)
        for task, recorded, commit in self.parts:
            if recorded in self.lost:
                raise CommitLost(
                    f"Commit {recorded[:12]} of task {task} is not in branch {state.branch} any more.",
                    tasks=(task,),
                    hint=f"There is nothing to revert: swarm retry {task} has it done again",
                )
            if not commit or commit in self._reverted:
                continue
            self._require_own(task, commit)
            found = reverting.without(repository, tree, commit)
            if found.conflicts:
                raise self._conflict(task, recorded, commit, found.conflicts)
            change = repository.changes(tree, found.tree)
            if named := unsandboxed_files.of_hooks(repository.root, change.paths):
                raise WorkspaceError(
                    f"The revert of task {task} touches {', '.join(named)}, which says what git's hooks run.",
                    hint=_by_hand(task, commit),
                )
            first = first if first.paths else change
            tree = found.tree
        return first

    def _require_own(self, task: str, commit: str) -> None:
        """Requires that a commit is the task's own, and no other one's as well.

        Raises:
            WorkspaceError: it is a squash, or the one that the user vouched for.
        """
        others = [each.task for each in landed(self.ledger.state) if each.commit == commit and each.task != task]
        if others or self._owners.get(commit) != task:
            what = f"that of task {', '.join(others)} too" if others else f"not marked as task {task}'s own"
            raise WorkspaceError(
                f"Task {task} cannot be undone: its work stands in commit {commit[:12]}, which is {what}.",
                hint=_by_hand(task, commit),
            )

    @cached_property
    def _owners(self) -> dict[str, str]:
        return {
            each.id: each.trailers[TASK_TRAILER]
            for each in self.repository.task_commits(self.ledger.state.base or None)
        }

    def _conflict(self, task: str, recorded: str, commit: str, conflicts: tuple[str, ...]) -> WorkspaceError:
        state = self.ledger.state
        made = max(each.seq for each in state.task(task).attempts if each.commit == recorded)
        newer = [
            each.task
            for each in landed(state)
            if (last := state.task(each.task).last) and last.seq > made and {*last.files, *last.tests} & set(conflicts)
        ]
        named = ", ".join(f"`{path}`" for path in conflicts)
        first = f"Undo first what changed them since: swarm undo {newer[-1]}. Or: " if newer else ""
        return WorkspaceError(
            f"Task {task} cannot be undone by itself: what it changed in {named} was changed again since. Nothing was "
            "touched.",
            hint=f"{first}{_by_hand(task, commit)}",
        )

    def _uncommitted(self, first: ChangeSet, *, stash: bool) -> tuple[str, ...]:
        """The user's uncommitted files that a revert could get mixed with; none where nothing is to be reverted.

        What is left of a dead process that wrote `first`, too, is none, nor is the unfinished change of a task.

        Raises:
            DirtyTree: there are some, and they are not to be stashed.
        """
        state, repository = self.ledger.state, self.repository
        dirty = repository.dirty() if first.paths else ()
        if not dirty:
            return ()
        head = repository.head_tree()
        wanted = {(file.path, file.new_id, file.new_mode) for file in first.files}
        there = repository.changes(head, repository.snapshot()).files
        ours = {file.path for file in there if (file.path, file.new_id, file.new_mode) in wanted}
        if state.tree:
            ours |= {*repository.changes(head, state.tree).paths}
        found = tuple(path for path in dirty if path not in ours)
        if found and not stash:
            raise refusal(found, f"swarm undo {self.parts[-1].task}")
        return found

    def _record(self, *events: Event) -> None:
        self.ledger.append(events, expect=self.ledger.state.seq, actor=self.project.actor)


def _by_hand(task: str, commit: str) -> str:
    return f"Revert it by hand: git revert {commit[:12]}, resolve what conflicts, commit, then: swarm undo {task}"
