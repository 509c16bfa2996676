"""`swarm events`: lists events of the ledger and of automation."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from swarmgate.errors import Stopped
from swarmgate.terminal.options import Json, Repo, filled
from swarmgate.terminal.terminal import Terminal, boundary

if TYPE_CHECKING:
    from swarmgate.domain.events.automation import Happening
    from swarmgate.domain.progress import Progress


def command(
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on with new ones until you stop it.")] = False,
    kind: Annotated[
        list[str] | None,
        typer.Option("--type", metavar="T", callback=filled, help="Only events of this type; repeatable."),
    ] = None,
    last: Annotated[
        int | None, typer.Option("--last", metavar="N", min=0, help="Only the N newest, and with --follow new ones.")
    ] = None,
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Show the events of ledger and automation in order of time. Each has its file, who did it, and its type.

    With --json it is a list, and with --follow one object a line.

    Example: swarm events --follow --type task_completed --type plan_synced
    """
    with boundary(json) as terminal:
        from swarmgate.engine.swarm import Swarm

        try:
            swarm = Swarm(repo, listener=partial(_notice, terminal))
            found = swarm.automation.events(types=tuple(kind or ()), follow=follow, last=last)
            if follow:
                for each in found:
                    _show(each, terminal)
            listed = list(found)
        except KeyboardInterrupt:
            if not follow:
                raise
            raise typer.Exit(Stopped.exit_code) from None  # the way to end it: there is nothing to tell
        if json:
            terminal.result([each.model_dump(mode="json") for each in listed])
        else:
            terminal.result(None, [_line(each) for each in listed] or _nothing(kind, last))


def _notice(terminal: Terminal, progress: Progress) -> None:
    from swarmgate.terminal.progress import json_line

    if terminal.as_json:
        json_line(progress)
    else:
        terminal.note(f"swarm: {progress.text}")


def _show(event: Happening, terminal: Terminal) -> None:
    from swarmgate.domain.text.printable import escaped

    if terminal.as_json:
        terminal.text(escaped(event.model_dump_json()) + "\n")
    else:
        terminal.result(None, [_line(event)])


def _line(event: Happening) -> str:
    from swarmgate.automation.events.listing import in_full

    at = event.time[:23].replace("T", " ")
    return f"{at}  {event.source:10}  {event.actor:16}  {event.type:24}  {in_full(event)}".rstrip()


def _nothing(kind: list[str] | None, last: int | None) -> list[str]:
    if last == 0:
        return []
    return [f"No event of type {' or '.join(kind)} is on record." if kind else "Nothing has happened yet."]
