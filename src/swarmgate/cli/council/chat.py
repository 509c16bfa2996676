"""`swarm chat`: agents exchange messages until they are done; shows earlier chats."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from swarmgate.cli.council.verbs import add_list, council_of, group
from swarmgate.terminal.options import Json, Repo, filled
from swarmgate.terminal.terminal import Terminal, boundary

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from swarmgate.council.chat.model import ChatSummary
    from swarmgate.engine.swarm import Swarm

app = group(
    "Have agents write to each other until one of them ends it. "
    "Hold one with: swarm chat FILE.toml (see: swarm chat hold --help). Or show, list and resume those held. "
    "All take --json and --repo.\n\nExample: swarm chat examples/chat.toml"
)

_Id = Annotated[str, typer.Argument(metavar="ID", callback=filled, help="The id of a chat, as `list` shows it.")]


@app.command("hold")
def hold(
    file: Annotated[Path, typer.Argument(metavar="FILE.toml", callback=filled, help="Who talks, and how it begins.")],
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Have agents write to each other until one of them ends it, all are silent, or a bound is reached.

    The file is TOML, YAML or JSON: a table in `agents` for each (`id`, `model` or `model_tier`, `role`, `system`,
    `folder`; or `agent`, of the settings), `initial` (`from`, `to`, `content`), and perhaps `moderator`, `ttl_s` or
    `ttl_ms`, `messages`, `tokens` and `id`. The word `hold` may go.
    Exit code 5 when every agent failed, or none can be reached (that can be resumed), 4 when the project's budget was
    used up, 0 for every other end.

    Example: swarm chat examples/chat.toml
    """
    with boundary(json) as terminal:
        values = council_of(repo).chat_file(file)
        _hold(repo, terminal, str(values["id"]), lambda swarm: swarm.council.swarm(**values))


@app.command("resume")
def resume(chat: _Id, repo: Repo = None, json: Json = False) -> None:
    """Go on with a chat that was interrupted; exit codes as of `hold`. Its time has gone on meanwhile.

    Example: swarm chat resume 20261121-224500-3f2a
    """
    with boundary(json) as terminal:
        _hold(repo, terminal, chat, lambda swarm: swarm.council.resume_swarm(chat))


@app.command("show")
def show(chat: _Id, repo: Repo = None, json: Json = False) -> None:
    """Print a chat: what was said, who read it when, which turns failed, and how it ended.

    Example: swarm chat show 20261121-224500-3f2a
    """
    with boundary(json) as terminal:
        from swarmgate.council.chat import view

        record = council_of(repo).chat_record(chat)
        terminal.result(record, view.lines(record))


def _cells(chat: ChatSummary) -> list[str]:
    from swarmgate.council.chat import view

    return [view.row(chat)]


add_list(
    app,
    "chat",
    "List the chats of the project, the newest first: the id, how it ended, how much was said, and by whom.\n\n"
    "Example: swarm chat list",
    _cells,
)


def _hold(repo: Path | None, terminal: Terminal, chat: str, work: Callable[[Swarm], Coroutine[Any, Any, Any]]) -> None:
    """Holds the chat with live progress, and prints how it ended."""
    from swarmgate.cli.council.run_session import run_session
    from swarmgate.council.chat import view

    result = run_session(repo, terminal, work, resume_command=f"swarm chat resume {chat}")
    ending = view.ending(council_of(repo).chat_record(chat))
    terminal.result(result, [*ending, f"All of it: swarm chat show {chat}"])
