"""`swarm undo`: takes a task back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from swarmgate.terminal.options import Json, Repo, TaskId
from swarmgate.terminal.terminal import boundary

if TYPE_CHECKING:
    from swarmgate.domain.events.event import TaskUndone


def command(
    task: TaskId,
    with_dependents: Annotated[
        bool, typer.Option("--with-dependents", help="Take back the tasks that build on it, too, the newest first.")
    ] = False,
    stash: Annotated[bool, typer.Option("--stash", help="Put uncommitted changes aside (git stash) first.")] = False,
    reason: Annotated[
        str, typer.Option("--reason", metavar="TEXT", help="Why; it goes on record, and to architect and coder.")
    ] = "",
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Take a task back: revert its commit and have it done again.

    The revert is a commit of its own; the attempts stay on record. Where the same lines were changed again since,
    nothing is touched, and the message says what to do. A task that you reverted by hand (git revert) is put on record
    as undone. The change of a task that is not complete goes to .swarm/quarantine/.

    Example: swarm undo 1.2 --reason "the clock must be injected"
    """
    with boundary(json) as terminal:
        from swarmgate.engine.swarm import Swarm
        from swarmgate.terminal.progress import listener

        with listener(as_json=json) as listen:
            swarm = Swarm(repo, listener=listen)
            undone = swarm.undo(task, with_dependents=with_dependents, stash=stash, reason=reason)
        tasks = dict.fromkeys(each.task for each in undone)
        lines = [line for task in tasks for line in _lines(task, [each for each in undone if each.task == task])]
        result = {"undone": [each.model_dump(mode="json", exclude={"type"}) for each in undone]}
        terminal.result(result, [*lines, "Next: swarm run"])


def _lines(task: str, events: list[TaskUndone]) -> list[str]:
    return [f"Task {task} is undone: it is pending again.", *(f"  {line}" for line in map(_line, events) if line)]


def _line(event: TaskUndone) -> str:
    if event.by_hand:
        return f"your commit {event.revert[:12]} had taken {event.commit[:12]} back"
    if event.revert:
        return f"commit {event.revert[:12]} takes {event.commit[:12]} back"
    if event.commit:
        return f"nothing of {event.commit[:12]} was left that could be taken back"
    return f"its change is kept in {event.kept}" if event.kept else ""
