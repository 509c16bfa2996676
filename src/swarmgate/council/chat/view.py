"""Renders a swarm chat: the full record, its lines for a terminal, and progress messages."""

from __future__ import annotations

from datetime import UTC, datetime

from swarmgate.council.chat.model import (
    ChatEnd,
    ChatMessage,
    ChatRecord,
    ChatResult,
    ChatSummary,
    ChatTurn,
    Delivered,
)
from swarmgate.council.chat.state import State
from swarmgate.council.views.progress import shortened
from swarmgate.domain.usage import cost_in_words


def record(state: State, result: ChatResult | None) -> ChatRecord:
    """All that is kept of a chat."""
    chat, turns = state.chat, state.all_turns()
    read: dict[int, dict[str, float | None]] = {
        number: dict.fromkeys(sorted(chat.readers(message))) for number, message in sorted(state.messages.items())
    }
    for each in turns:
        for number in each.read if each.has_read else ():
            read[number][each.agent] = each.began_at + each.seconds
    messages = tuple(Delivered(message=state.messages[number], read=readers) for number, readers in read.items())
    return ChatRecord(chat=chat, messages=messages, turns=turns, result=result)


def summary(state: State, result: ChatResult | None) -> ChatSummary:
    """A chat in a list."""
    chat, end = state.chat, result.end if result else None
    return ChatSummary(id=chat.id, agents=chat.names, messages=state.sent_count, created_at=chat.created_at, end=end)


# --- progress ---


def message_line(message: ChatMessage) -> str:
    """A message that was sent just now, in a line."""
    return f"{message.id} {message.sender} -> {', '.join(message.to)}: {shortened(message.content)}"


def turn_line(turn: ChatTurn, *, spoke: bool) -> tuple[str, str]:
    """The line of a turn that failed, ended the chat, or sent no message; empty for all other turns."""
    if turn.summary:
        return "event", f"{turn.agent} ends the chat: {shortened(turn.summary)}"
    if turn.cut:
        return "notice", f"{turn.agent} was cut off{', with messages unsent' if turn.unsent else ''}: {turn.stopped}"
    if turn.failed:
        again = "what it was sent counts as read" if turn.gave_up else "it is asked once more"
        return "notice", f"{turn.agent} failed, {again}: {turn.failed}"
    if turn.stopped:
        return "notice", f"{turn.agent} was stopped: {turn.stopped}"
    return "step", "" if spoke else f"{turn.agent} read {len(turn.read)} and has nothing to say"


# --- the terminal ---


def lines(record: ChatRecord) -> list[str]:
    """A chat as `swarm chat show` prints it."""
    chat = record.chat
    lines = [
        f"Chat {chat.id}: {', '.join(chat.names)}" + (f"; moderated by {chat.moderator}" if chat.moderator else ""),
        f"At most {chat.messages:,} messages, {chat.tokens:,} tokens, {chat.ttl_s:g} s from {_at(chat.created_at)}",
    ]
    for each in record.messages:
        lines += ["", *_message(each)]
    troubled = [line for turn in record.turns if turn.failed or turn.stopped for line in _trouble(turn)]
    lines += ["", *troubled] if troubled else []
    return [*lines, "", *ending(record)]


def ending(record: ChatRecord) -> list[str]:
    """Lines that say how a chat ended, or how to resume it."""
    result = record.result
    if result is None:
        return [f"It is not over. Go on with: swarm chat resume {record.chat.id}"]
    chat = record.chat
    status = {
        ChatEnd.SYNTHESIS: f"{result.by} ended it with a synthesis:",
        ChatEnd.QUIET: "It fell quiet: all was read, and nobody had more to say.",
        ChatEnd.MESSAGES: f"It ended with its {chat.messages:,} messages used up, without a synthesis.",
        ChatEnd.TOKENS: f"It ended with its {chat.tokens:,} tokens used up, without a synthesis.{_nothing(result)}",
        ChatEnd.TTL: f"It ended after its {chat.ttl_s:g} s, without a synthesis.{_nothing(result)}",
        ChatEnd.FAILED: f"It failed: {result.why}.",
    }[result.end]
    failed = f", {result.failed_turns} failed" if result.failed_turns else ""
    spent = f"{result.usage.tokens:,} tokens, {cost_in_words(result.usage)}, {result.seconds:.1f} s"
    synthesis = [f"  {line}" for line in result.summary.splitlines()]
    return [status, *synthesis, f"{result.messages} messages in {result.turns} turns{failed}; {spent}"]


def row(chat: ChatSummary) -> str:
    """A chat as `swarm chat list` prints it."""
    if chat.damaged:
        return f"{chat.id}  damaged    {chat.damaged}"
    end = chat.end or "open"
    return f"{chat.id}  {end:<9}  {chat.messages:>5} messages  {', '.join(chat.agents)}"


def _message(delivered: Delivered) -> list[str]:
    message = delivered.message
    read = ", ".join(f"{who} {f'at {_at(at)}' if at else 'not yet'}" for who, at in delivered.read.items())
    head = f"{message.id}  {_at(message.at)}  {message.sender} -> {', '.join(message.to)}"
    return [head, *(f"  {line}" for line in message.content.splitlines()), f"  (read by {read})"]


def _trouble(turn: ChatTurn) -> list[str]:
    """What cut a turn short, or why it failed; and what it had said that nobody was sent."""
    lines = f"{_at(turn.began_at)}  {turn.agent}"
    if not turn.stopped:
        return [f"{lines} failed{', and its inbox counts as read' if turn.gave_up else ''}: {turn.failed}"]
    found = [f"{lines} was {'cut off' if turn.cut else 'stopped'}: {turn.stopped}"]
    for draft in turn.unsent:
        found += [f"  unsent, to {', '.join(draft.to)}:", *(f"    {line}" for line in draft.content.splitlines())]
    return found


def _nothing(result: ChatResult) -> str:
    return "" if result.messages else " Nobody had sent anything by then."


def _at(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
