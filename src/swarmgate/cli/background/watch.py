"""`swarm watch`: runs the background workers in the foreground or as a daemon; `stop` and `status` of it."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from swarmgate.terminal.options import Json, Repo
from swarmgate.terminal.terminal import Terminal, boundary
from swarmgate.terminal.verb_group import VerbGroup

if TYPE_CHECKING:
    from swarmgate.automation.facade import Automation
    from swarmgate.domain.progress import Listener
    from swarmgate.domain.status import StatusFile, WatchStatus

app = typer.Typer(
    cls=VerbGroup, rich_markup_mode=None, add_completion=False, context_settings={"help_option_names": ["-h", "--help"]}
)


@app.callback(invoke_without_command=True)
def command(
    ctx: typer.Context,
    daemon: Annotated[bool, typer.Option("--daemon", help="In a process of its own; returns when it watches.")] = False,
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Take hand edits of the plan in as they are made.

    What `[automation]` and `[hooks]` switch on is done, too. Spends no money.

    Ends with Ctrl-C (exit code 130), SIGTERM or `swarm watch stop` (0). One process watches a project.

    Example: swarm watch --daemon
    """
    if ctx.invoked_subcommand:
        if daemon or repo or json:
            raise typer.BadParameter(f"options stand behind the verb: swarm watch {ctx.invoked_subcommand} ...")
        return
    with boundary(json) as terminal:
        automation = _automation(repo, terminal)
        gc.enable()  # it lives long
        if daemon:
            begun = automation.start_daemon()
            terminal.result(begun, _lines(begun))
            return
        automation.watch()
        ended = automation.watch_status()
        terminal.result(ended, [] if ended.watching else ["Watching ended."])


@app.command("stop")
def stop(repo: Repo = None, json: Json = False) -> None:
    """End the process that watches: within 2 s, or it is killed. Exit code 0, also where nobody watches.

    Example: swarm watch stop
    """
    with boundary(json) as terminal:
        now = _automation(repo, terminal).stop_watching()
        whom = now.ended or (now if now.watching else None)
        lines = [f"pid {whom.pid} on {whom.host}: {now.told[-1]}."] if whom else ["Nobody watches this project."]
        terminal.result(now, lines)


@app.command("status")
def status(repo: Repo = None, json: Json = False) -> None:
    """Show who watches, which workers are on and how they are, and the newest events. Exit code 1: nobody watches.

    Example: swarm watch status
    """
    with boundary(json) as terminal:
        found = _automation(repo, terminal).watch_status()
        terminal.result(found, _lines(found))
        raise typer.Exit(0 if found.watching else 1)


def _automation(repo: Path | None, terminal: Terminal) -> Automation:
    from swarmgate.engine.swarm import Swarm

    return Swarm(repo, listener=_listener(terminal)).automation


def _listener(terminal: Terminal) -> Listener:
    """Tells on stderr; as JSON lines with `--json`."""
    from swarmgate.terminal.progress import json_line

    return json_line if terminal.as_json else lambda progress: terminal.note(progress.text)


def _lines(status: WatchStatus) -> list[str]:
    if not status.watching:
        return ["Nobody watches this project.", *(f"  {each}." for each in status.told), "Begin with: swarm watch"]
    lines = [f"pid {status.pid} on {status.host} watches.", *(f"  {each}." for each in status.told)]
    return [*lines, *_of_file(status.file)] if status.file else lines


def _of_file(file: StatusFile) -> list[str]:
    from swarmgate.terminal.columns import columns

    how = f"{file.watching} ({file.reason})" if file.reason else file.watching
    lines = [f"  since {file.started_at}, as {_AS[file.place]}, by {how}; mode {file.mode}"]
    if file.config_problem:
        lines.append(f"  the settings cannot be read, so those of before hold: {file.config_problem}")
    if file.edits_waiting:
        lines.append(f"  edits wait for the run: {', '.join(file.edits_waiting)}")
    rows = [[each.name, *_worker(each.model_dump(mode="json"))] for each in file.workers]
    lines += ["Workers:", *(f"  {row}" for row in columns(rows))]
    lines += [f"  note: {each.name}: {each.problem}" for each in file.workers if each.problem]
    if file.last_events:
        lines += ["Last events:", *(f"  {each.time}  {each.text}" for each in file.last_events)]
    return lines


_AS = {"watch": "swarm watch", "daemon": "a daemon", "run": "part of swarm run"}


def _worker(worker: dict[str, object]) -> list[str]:
    """How a worker is: its breaker, what waits, what is held back, when it last worked."""
    if not worker["on"]:
        return ["off", "", ""]
    if worker["by"]:
        return ["on", f"by {worker['by']}", ""]
    parts = [f"breaker {str(worker['state']).replace('_', ' ')}"]
    if worker["failures"]:
        parts.append(f"{worker['failures']} failures in a row")
    if worker["pending"]:
        parts.append(f"{worker['pending']} waiting")
    if worker["suppressed"]:
        parts.append("held back by loop protection")
    return ["on", ", ".join(parts), f"last: {worker['last']} {worker['last_time']}" if worker["last"] else ""]
