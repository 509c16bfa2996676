"""`swarm chat`: agents that write to each other until they are done; and what was said in earlier chats."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from swarmgate.cli.default_verb import DefaultVerb
from swarmgate.cli.options import Json, Repo, filled
from swarmgate.cli.terminal import Terminal, boundary

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from swarmgate.domain.chat import ChatRecord, ChatResult, ChatSummary, ChatTurn, Delivered
    from swarmgate.engine.council import Council
    from swarmgate.engine.swarm import Swarm

app = typer.Typer(
    cls=DefaultVerb,
    help="Hold a swarm chat: swarm chat FILE.toml (see: swarm chat hold --help). Or show, list and resume those held. "
    "All take --json and --repo.\n\nExample: swarm chat examples/chat.toml",
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_Id = Annotated[str, typer.Argument(metavar="ID", callback=filled, help="The id of a chat, as `list` shows it.")]


@app.command("hold")
def hold(
    file: Annotated[Path, typer.Argument(metavar="FILE.toml", callback=filled, help="Who talks, and how it begins.")],
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Have agents write to each other until one of them ends it, all are silent, or a bound is reached.

    The file is TOML: an `[[agents]]` table for each (`id`, `model`, `system`), `[initial]` (`from`, `to`, `content`),
    and perhaps `moderator`, `ttl_s`, `messages`, `tokens` and `id`. The word `hold` may go.
    Exit code 5 when every agent failed, or none can be reached (that can be resumed), 4 when the project's budget was
    used up, 0 for every other end.

    Example: swarm chat examples/chat.toml
    """
    with boundary(json) as terminal:
        from swarmgate.engine import chat_file
        from swarmgate.engine.in_project import new_id

        values = {"id": new_id(), **chat_file.read(file)}
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
        record = _council(repo).chat_record(chat)
        terminal.result(record, _lines(record))


@app.command("list")
def listing(repo: Repo = None, json: Json = False) -> None:
    """List the chats of the project, the newest first: the id, how it ended, how much was said, and by whom.

    Example: swarm chat list
    """
    with boundary(json) as terminal:
        found = _council(repo).chats()
        terminal.result(list(found), [_row(each) for each in found] or ["There is no chat here yet."])


def _council(repo: Path | None) -> Council:
    from swarmgate.engine.swarm import Swarm

    return Swarm(repo).council


def _hold(
    repo: Path | None, terminal: Terminal, chat: str, work: Callable[[Swarm], Coroutine[Any, Any, ChatResult]]
) -> None:
    """Holds the chat with live progress, and prints how it ended."""
    from swarmgate.cli.holding import held

    result = held(repo, terminal, work, goes_on=f"swarm chat resume {chat}")
    terminal.result(result, [*_end(_council(repo).chat_record(result.id)), f"All of it: swarm chat show {result.id}"])


def _lines(record: ChatRecord) -> list[str]:
    chat = record.chat
    lines = [
        f"Chat {chat.id}: {', '.join(chat.names)}" + (f"; moderated by {chat.moderator}" if chat.moderator else ""),
        f"At most {chat.messages:,} messages, {chat.tokens:,} tokens, {chat.ttl_s:g} s from {_at(chat.created_at)}",
    ]
    for each in record.messages:
        lines += ["", *_message(each)]
    troubled = [line for turn in record.turns if turn.failed or turn.stopped for line in _trouble(turn)]
    lines += ["", *troubled] if troubled else []
    return [*lines, "", *_end(record)]


def _message(delivered: Delivered) -> list[str]:
    message = delivered.message
    read = ", ".join(f"{who} {f'at {_at(at)}' if at else 'not yet'}" for who, at in delivered.read.items())
    head = f"{message.id}  {_at(message.at)}  {message.sender} -> {', '.join(message.to)}"
    return [head, *(f"  {line}" for line in message.content.splitlines()), f"  (read by {read})"]


def _trouble(turn: ChatTurn) -> list[str]:
    """What cut a turn short, or why it failed; and what it had said that nobody was sent."""
    told = f"{_at(turn.began_at)}  {turn.agent}"
    if not turn.stopped:
        return [f"{told} failed{', and its inbox counts as read' if turn.gave_up else ''}: {turn.failed}"]
    lines = [f"{told} was {'cut off' if turn.cut else 'stopped'}: {turn.stopped}"]
    for draft in turn.unsent:
        lines += [f"  unsent, to {', '.join(draft.to)}:", *(f"    {line}" for line in draft.content.splitlines())]
    return lines


def _end(record: ChatRecord) -> list[str]:
    from swarmgate.domain.chat import ChatEnd

    result = record.result
    if result is None:
        return [f"It is not over. Go on with: swarm chat resume {record.chat.id}"]
    chat = record.chat
    said = {
        ChatEnd.SYNTHESIS: f"{result.by} ended it with a synthesis:",
        ChatEnd.QUIET: "It fell quiet: all was read, and nobody had more to say.",
        ChatEnd.MESSAGES: f"It ended with its {chat.messages:,} messages used up, without a synthesis.",
        ChatEnd.TOKENS: f"It ended with its {chat.tokens:,} tokens used up, without a synthesis.{_nothing(result)}",
        ChatEnd.TTL: f"It ended after its {chat.ttl_s:g} s, without a synthesis.{_nothing(result)}",
        ChatEnd.FAILED: f"It failed: {result.why}.",
    }[result.end]
    cost = "cost unknown" if result.usage.usd is None else f"${result.usage.usd:.4f}"
    failed = f", {result.failed_turns} failed" if result.failed_turns else ""
    spent = f"{result.usage.tokens:,} tokens, {cost}, {result.seconds:.1f} s"
    summary = [f"  {line}" for line in result.summary.splitlines()]
    return [said, *summary, f"{result.messages} messages in {result.turns} turns{failed}; {spent}"]


def _nothing(result: ChatResult) -> str:
    return "" if result.messages else " Nobody had sent anything by then."


def _row(chat: ChatSummary) -> str:
    if chat.damaged:
        return f"{chat.id}  damaged    {chat.damaged}"
    end = chat.end or "open"
    return f"{chat.id}  {end:<9}  {chat.messages:>5} messages  {', '.join(chat.agents)}"


def _at(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
