"""Going on after a run that died or was stopped at once: the files go back to what the last recorded step left."""

from __future__ import annotations

from pathlib import Path

from swarmgate.domain.events import AttemptInterrupted, Event, TreeRestored
from swarmgate.domain.lifecycle import TaskState
from swarmgate.domain.state import Attempt, State
from swarmgate.engine.context import Context
from swarmgate.engine.history import meanwhile
from swarmgate.engine.steps.attempts import current
from swarmgate.engine.steps.sweeping import swept
from swarmgate.ledger.folder import SwarmFolder
from swarmgate.workspace import history
from swarmgate.workspace.commits import Commit
from swarmgate.workspace.repository import Repository


async def recover(state: State, ctx: Context) -> list[Event]:
    """Restores the files; the step that was cut short is done again, in the same attempt."""
    return [restored(state, ctx.folder, ctx.repository)]


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
    return _restoration(folder, state.tree, paths, quarantine)


def head_moved(state: State, folder: SwarmFolder, repository: Repository, *, left: str = "") -> list[Event]:
    """The end of an attempt on whose base the user has committed meanwhile: its files stay, on the new base.

    Files that still stand as before the user's commits, though those changed them, follow: else the next attempt would
    take back what the user did. `left` is what became of a commit of the attempt itself.
    """
    attempt = state.task(state.open).running
    if attempt is None or attempt.base in ("", head := repository.head()) or own_commit(state, attempt, repository):
        return []
    own = {*attempt.files, *attempt.scope}
    told = meanwhile(repository, attempt.base, head, own=own)
    ended = interruption(state, f"{told}; {left}" if left else told)
    behind = _left_behind(repository, attempt.base, head)
    if not behind:
        return [ended]
    quarantine = folder.quarantine_folder("behind")
    paths = repository.restore(repository.head_tree(), quarantine=quarantine, only=behind)
    return [_restoration(folder, repository.snapshot(), paths, quarantine), ended]


def _left_behind(repository: Repository, base: str, head: str) -> tuple[str, ...]:
    """What has to follow the branch; nothing where it was moved elsewhere: then the files are meant to stay."""
    return history.left_behind(repository, base, head) if history.contains(repository, head, base) else ()


def redefined(state: State, folder: SwarmFolder, repository: Repository) -> list[Event]:
    """The end of the running attempt because its task's definition was changed by hand; no rejection.

    Empty where the attempt cannot end so: a crash left its commit without the event, and the next step takes that up.
    """
    _, _, attempt = current(state)
    if own_commit(state, attempt, repository):
        return []
    return ended(state, folder, repository, "the definition of its task was changed by hand")


def own_commit(state: State, attempt: Attempt, repository: Repository) -> Commit | None:
    """The commit of the running attempt, where a crash left it without its event: found by its trailers."""
    if attempt.state is not TaskState.TESTS_RUN:
        return None
    found = repository.find_commit(trailers(state, attempt), since=state.base)
    return found if found is not None and attempt.base in ("", found.parent) else None


def trailers(state: State, attempt: Attempt) -> dict[str, str]:
    """What tells the commit of the running attempt from any other."""
    return {"Swarm-Task": state.open, "Swarm-Attempts": str(attempt.number)}


def leftovers_put_away(state: State, ctx: Context) -> list[Event]:
    """The change of a task that was given up goes to the quarantine. What else differs is the user's and stays."""
    if not state.tree:
        return []
    head = ctx.repository.head_tree()
    quarantine = ctx.folder.quarantine_folder("leftovers")
    left = ctx.repository.changes(head, state.tree).paths
    paths = ctx.repository.restore(head, quarantine=quarantine, only=left)
    return [_restoration(ctx.folder, head, paths, quarantine)]


def _restoration(folder: SwarmFolder, tree: str, paths: tuple[str, ...], quarantine: Path) -> TreeRestored:
    return TreeRestored(tree=tree, paths=paths, kept=folder.relative(quarantine) if quarantine.exists() else "")


def interruption(state: State, reason: str, *, kept: str = "") -> Event:
    """The end of the running attempt; its unfinished work is `kept` there."""
    task, _, attempt = current(state)
    return AttemptInterrupted(task=task.id, attempt=attempt.number, reason=reason, kept=kept)
