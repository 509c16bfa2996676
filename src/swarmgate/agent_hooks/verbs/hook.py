"""`swarm hook`: answers the hooks of other coding agents, and puts them into their settings."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from swarmgate.terminal.options import Json, Repo
from swarmgate.terminal.terminal import Terminal, boundary
from swarmgate.terminal.verb_group import VerbGroup

if TYPE_CHECKING:
    from swarmgate.agent_hooks.programs.installing import Change

app = typer.Typer(
    cls=VerbGroup,
    help="Hold sessions of Claude Code, Codex and others to the gates.",
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
)

_Name = Annotated[
    Literal["claude", "codex", "gemini", "opencode"],
    typer.Argument(metavar="PROGRAM", help="claude, codex, gemini or opencode."),
]
_User = Annotated[
    bool, typer.Option("--user/--project", help="Your own settings, for all repositories; or those of this repository.")
]
_Yes = Annotated[bool, typer.Option("--yes", "-y", help="Write without asking.")]


@app.command("install")
def install(name: _Name, user: _User = False, yes: _Yes = False, repo: Repo = None, json: Json = False) -> None:
    """Put the hooks into a program's settings; shows the difference, and asks first.

    Everything else in the file stays as it is, comments too, and a copy of it is kept. Done twice, it changes nothing.

    Example: swarm hook install claude --project
    """
    with boundary(json) as terminal:
        from swarmgate.agent_hooks.programs import installing
        from swarmgate.agent_hooks.programs.listing import PROGRAMS

        root = None if user else _root(repo)
        change = installing.installing(name, root, installing.command(root))
        _carry_out(terminal, change, yes=yes, keep=True, after=PROGRAMS[name].after)


@app.command("uninstall")
def uninstall(name: _Name, user: _User = False, yes: _Yes = False, repo: Repo = None, json: Json = False) -> None:
    """Take the hooks out of a program's settings; shows the difference, and asks first.

    A file that nobody edited since is as it was before, byte for byte.

    Example: swarm hook uninstall claude --project
    """
    with boundary(json) as terminal:
        from swarmgate.agent_hooks.programs import installing

        change = installing.uninstalling(name, None if user else _root(repo))
        _carry_out(terminal, change, yes=yes, keep=False)


@app.command("status")
def status(repo: Repo = None, json: Json = False) -> None:
    """Show where the hooks are installed, and which sessions were held or let go.

    Example: swarm hook status
    """
    with boundary(json) as terminal:
        from swarmgate.agent_hooks.programs import installing
        from swarmgate.agent_hooks.programs.listing import PROGRAMS
        from swarmgate.agent_hooks.sessions import Sessions
        from swarmgate.workspace.git.repository import Repository

        root = _root(repo)
        scopes = {"project": root, "user": None}
        places = [
            {
                "program": name,
                "scope": scope,
                "path": str(program.place(place)),
                "installed": installing.installed(name, place),
            }
            for name, program in PROGRAMS.items()
            for scope, place in scopes.items()
        ]
        sessions = Sessions(Repository.discover(root, lenient=True)).all()
        there = [f"  {each['program']:<9} {each['path']}" for each in places if each["installed"]]
        lines = ["Installed:", *there] if there else ["Nothing is installed for this repository."]
        lines += ["Sessions:"] if sessions else ["No session was seen yet."]
        for session in sessions:
            lines.append(f"  {session.began}  {session.id or '(unknown)'}  held {session.held}")
            lines += [f"    let go {each.time} without passing: {each.why}" for each in session.let_go]
        data = {"places": places, "sessions": [each.model_dump(mode="json") for each in sessions]}
        terminal.result(data, lines)


@app.command("session-start")
def session_start() -> None:
    """Answer a session's start: remember what it starts from. JSON on standard input.

    Example: swarm hook session-start < session.json
    """
    _answer("session-start")


@app.command("pre-tool-use")
def pre_tool_use() -> None:
    """Answer a tool's use: exit code 2 where the command policy refuses it. JSON on standard input.

    Example: swarm hook pre-tool-use < call.json
    """
    _answer("pre-tool-use")


@app.command("post-tool-use")
def post_tool_use() -> None:
    """Answer an edit: exit code 2 with what the gates find in the file. JSON on standard input.

    Example: swarm hook post-tool-use < call.json
    """
    _answer("post-tool-use")


@app.command("stop")
def stop() -> None:
    """Answer a session's end: exit code 2 while what it changed does not pass. JSON on standard input.

    It is held [agent_hooks] tries times in a row at most; then the person is told, and it ends.

    Example: swarm hook stop < session.json
    """
    _answer("stop")


def _answer(event: str) -> None:
    from swarmgate.agent_hooks.entry import answered

    raise typer.Exit(answered(event))


def _root(repo: Path | None) -> Path:
    from swarmgate.workspace.git.repository import Repository

    return Repository.discover((repo or Path.cwd()).resolve(), lenient=True).root


def _carry_out(terminal: Terminal, change: Change, *, yes: bool, keep: bool, after: str = "") -> None:
    """Shows a change, asks unless it was said, and writes it."""
    from swarmgate.agent_hooks.programs import installing

    if not change.changes:
        terminal.result(_told(change, written=False), [f"{change.path}: nothing to change."])
        return
    if not terminal.as_json:
        terminal.result(None, change.lines)
    if not yes and not _confirmed(terminal):
        terminal.result(_told(change, written=False), ["Nothing was written."])
        raise typer.Exit(3)
    copy = installing.apply(change, keep=keep)
    kept = [f"What stood there lies in {copy}."] if copy else []
    terminal.result(
        _told(change, written=True),
        [f"{'Written' if change.path.exists() else 'Removed'}: {change.path}", *kept, *([after] if after else [])],
    )


def _told(change: Change, *, written: bool) -> dict[str, object]:
    return {"program": change.program, "path": str(change.path), "difference": change.lines, "written": written}


def _confirmed(terminal: Terminal) -> bool:
    if terminal.as_json or not sys.stdin.isatty():
        return False
    return typer.confirm("Write this?", err=True)
