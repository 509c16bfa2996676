"""Ends an interrupted attempt: restores its files to the last recorded tree, or leaves them as they are."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from swarmgate.domain.events.event import AttemptInterrupted, Event, TreeRestored
from swarmgate.domain.state.lifecycle import TaskState
from swarmgate.domain.state.state import Attempt, State, current
from swarmgate.errors import IllegalMove
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.workspace.files import irregular
from swarmgate.workspace.git import history
from swarmgate.workspace.git.commits import Commit
from swarmgate.workspace.git.repository import Repository


def ended(state: State, folder: SwarmFolder, repository: Repository, reason: str) -> list[Event]:
    """The end of the running attempt, with the files as they were before its last step, and where its work is kept.

    Where the user has committed meanwhile, or moved the branch, the files stay as they are: they may be the user's.
    """
    if moved := head_moved(state, folder, repository):
        return moved
    back = restored(state, folder, repository)
    return [back, interruption(state, reason, kept=back.kept)]


def restored(state: State, folder: SwarmFolder, repository: Repository) -> TreeRestored:
    """Brings the work tree back to the state's tree; what differs is kept in the quarantine."""
    swept(folder, state.step_time)
    quarantine = folder.quarantine_folder("interrupted")
    paths = repository.restore(state.tree, quarantine=quarantine)
    return restoration(folder, state.tree, paths, quarantine)


def head_moved(state: State, folder: SwarmFolder, repository: Repository, *, left: str = "") -> list[Event]:
    """The end of an attempt on whose base the user has committed meanwhile: its files stay, on the new base.

    Files that still stand as before the user's commits, though those changed them, follow: else the next attempt would
    take back what the user did. `left` is what became of a commit of the attempt itself.
    """
    attempt = state.task(state.open).running
    if attempt is None or not attempt.base or repository.stands(attempt.base, head := repository.head()):
        return []
    if own_commit(state, attempt, repository):
        return []
    own = {*attempt.files, *attempt.scope}
    message = history.meanwhile(repository, attempt.base, head, own=own)
    interrupted = interruption(state, f"{message}; {left}" if left else message)
    behind = _left_behind(repository, attempt.base, head)
    if not behind:
        return [interrupted]
    quarantine = folder.quarantine_folder("behind")
    paths = repository.restore(repository.head_tree(), quarantine=quarantine, only=behind)
    return [restoration(folder, repository.snapshot(), paths, quarantine), interrupted]


def _left_behind(repository: Repository, base: str, head: str) -> tuple[str, ...]:
    """What has to follow the branch; nothing where it was moved elsewhere: then the files are meant to stay."""
    return history.left_behind(repository, base, head) if history.contains(repository, head, base) else ()


def redefined(state: State, folder: SwarmFolder, repository: Repository) -> list[Event]:
    """The end of the running attempt because its task's definition was changed by hand; no rejection.

    Empty where the attempt cannot end so: a crash left its commit without the event, and the next step takes that up.
    """
    if own_commit(state, current(state)[2], repository):
        return []
    return ended(state, folder, repository, "the definition of its task was changed by hand")


def own_commit(state: State, attempt: Attempt, repository: Repository) -> Commit | None:
    """The commit of the running attempt, where a crash left it without its event: found by its trailers."""
    if attempt.state is not TaskState.TESTS_RUN:
        return None
    found = repository.find_commit(trailers(state, attempt), since=state.base)
    if found is None or (attempt.base and not repository.stands(attempt.base, found.parent)):
        return None
    return found


def require_recorded(state: State, repository: Repository) -> None:
    """Requires that a running attempt can end: no commit of it was made that a crash left without its event.

    Raises:
        IllegalMove: it was.
    """
    attempt = state.task(state.open).running
    if attempt is not None and own_commit(state, attempt, repository):
        raise IllegalMove(
            f"The commit of task {state.open} was made, and a crash left it off the record.",
            hint="swarm run puts it on record",
        )


def trailers(state: State, attempt: Attempt) -> dict[str, str]:
    """What tells the commit of the running attempt from any other."""
    return {"Swarm-Task": state.open, "Swarm-Attempts": str(attempt.number)}


def restoration(folder: SwarmFolder, tree: str, paths: tuple[str, ...], quarantine: Path) -> TreeRestored:
    """That files were brought back, and where what stood there is kept."""
    return TreeRestored(tree=tree, paths=paths, kept=folder.relative(quarantine) if quarantine.exists() else "")


def interruption(state: State, reason: str, *, kept: str = "") -> Event:
    """The end of the running attempt; its unfinished work is `kept` there."""
    task, _, attempt = current(state)
    return AttemptInterrupted(task=task.id, attempt=attempt.number, reason=reason, kept=kept)


def swept(folder: SwarmFolder, since: str) -> tuple[tuple[str, ...], str]:
    """What was taken away, of all that was made since a time of the ledger, since nobody can read it; where it lies."""
    quarantine = folder.quarantine_folder("not-readable")
    began = datetime.fromisoformat(since).timestamp() if since else 0.0
    return irregular.put_away(folder.root, quarantine, since=began), folder.relative(quarantine)
