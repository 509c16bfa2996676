"""Keeps a conversation within the model's context window by shortening old results; the brief is never shortened.

What goes, goes oldest first and in big steps, so that between two steps the beginning of the conversation is the same
for many calls and a provider's cache serves it: first results and what the model itself wrote at length, then whole
exchanges, and where the newest alone is too big, the middle of its long messages.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import InitVar, dataclass, field
from typing import Any

from swarmgate.agents.tools.tool_table import Tool
from swarmgate.domain.text.json_text import loaded
from swarmgate.llm.endpoint.wire import estimated_tokens
from swarmgate.llm.model import Message, ToolCall, ToolSpec

_HIGH, _LOW = 0.8, 0.5
"""Shares of the window: from the first on results are dropped, until the second is reached. The rest is the reply's."""

_FULL = 0.9
"""Share of the window that the newest exchange may fill before its messages are cut."""

_PROTECTED = (4, 1)
"""Newest exchanges that stay whole; the second number where the first leaves too much."""

_SMALL = 200
"""Characters of a result that is not worth dropping."""

_LONG_ARGUMENT = 400
"""Characters of one argument of a call; a longer one of a dropped exchange, such as a file's content, goes too."""

_LONG_TEXT = 400
"""Characters of the model's own text in an old exchange; of a longer one the beginning stays."""

_GIST = 200
"""Characters of that beginning."""

_LEAST = 300
"""Characters of a message of the newest exchange that are not cut any further."""

_LONG_CALL = 4 * _LONG_ARGUMENT
"""Characters of all the arguments of a call that was shortened; where more are left, none is kept."""

_STUB = "[The result of"
_DROPPED = "[Earlier calls and their results were dropped to make room.]"

_HEAD_SHARE = 2 / 3


@dataclass
class Talk:
    """The conversation of one turn. `dropped` counts the tool results that made room.

    Args:
        system: the system message.
        brief: the first user message.
        tools: those on offer.
        window: tokens that the model can hold.
    """

    system: InitVar[str]
    brief: InitVar[str]
    tools: InitVar[Sequence[Tool]]
    window: int
    dropped: int = 0
    specs: tuple[ToolSpec, ...] = field(init=False)
    messages: list[Message] = field(init=False)
    brief_tokens: int = field(init=False)

    def __post_init__(self, system: str, brief: str, tools: Sequence[Tool]) -> None:
        self.specs = tuple(tool.spec for tool in tools)
        self.messages = [Message(role="system", content=system), Message(role="user", content=brief)]
        self.brief_tokens = estimated_tokens(len(brief))
        self._overhead = estimated_tokens(sum(len(spec.model_dump_json()) for spec in self.specs))

    def fitted(self) -> tuple[Message, ...]:
        """The messages to send, with room for the reply."""
        self.messages, dropped = fitted(self.messages, self.window, overhead=self._overhead)
        self.dropped += dropped
        return tuple(self.messages)


def size(messages: Iterable[Message]) -> int:
    """Tokens of messages, estimated."""
    return estimated_tokens(sum(map(_size, messages)))


def shortened(result: str, limit: int, advice: str) -> str:
    """A tool's result of at most about `limit` characters: head and tail, and between them how to see the rest."""
    if len(result) <= limit:
        return result
    head = int(limit * _HEAD_SHARE)
    tail = limit - head
    start = result.rfind("\n", 0, head) + 1 or head
    end = result.find("\n", len(result) - tail) + 1 or len(result) - tail
    return f"{result[:start]}\n[... {end - start:,} characters left out; {advice} ...]\n{result[end:]}"


def fitted(messages: Sequence[Message], window: int, *, overhead: int = 0) -> tuple[list[Message], int]:
    """The conversation with room for a reply, and how many tool results were dropped from it for that.

    Args:
        messages: system message and brief, which stay, then the exchanges.
        window: tokens that the model can hold.
        overhead: tokens that go with every call: the tools on offer.
    """
    room, found = window - overhead, list(messages)
    high = int(room * _HIGH)
    if size(found) <= high:
        return found, 0
    dropped = 0
    for protected in _PROTECTED:
        dropped += _drop(found, _protected_from(found, protected), int(room * _LOW))
        if size(found) <= high:
            return found, dropped
    newest = _protected_from(found, 1)
    if size([*found[:2], *found[newest:]]) > high:
        dropped += _drop(found, len(found) - 1, int(room * _LOW))
    dropped += _remove(found, room)
    _cut(found, int(room * _FULL))
    return found, dropped


def _protected_from(messages: Sequence[Message], exchanges: int) -> int:
    """The place at which the newest `exchanges` exchanges begin."""
    starts = [at for at, message in enumerate(messages) if message.role == "assistant"]
    return starts[-exchanges] if len(starts) >= exchanges else 2


def _drop(messages: list[Message], stop: int, goal: int) -> int:
    """Puts stubs in the place of results before `stop`, oldest first, until `goal` tokens are left; how many."""
    calls = {call.id: call for message in messages for call in message.tool_calls}
    left, dropped = size(messages), 0
    for at in range(2, stop):
        if left <= goal:
            break
        before = messages[at]
        after = _lean(before) if before.role == "assistant" else _stub(before, calls)
        if after is before:
            continue
        messages[at] = after
        left -= (before.size - after.size) // 4
        dropped += before.role == "tool"
    return dropped


def _stub(message: Message, calls: dict[str, ToolCall]) -> Message:
    """One line in the place of a result; the message itself where that saves nothing, or it is no result."""
    if message.role != "tool" or len(message.content) <= _SMALL:
        return message
    call = calls.get(message.tool_call_id)
    named = " ".join(f"{call.name} {call.arguments}".split())[:120] if call else "a tool"
    content = f"{_STUB} {named} was dropped to make room. Call it again if you still need it.]"
    return message.model_copy(update={"content": content})


def _remove(messages: list[Message], room: int) -> int:
    """Takes out whole exchanges, oldest first and never the newest, where stubs are too many; how many results."""
    fixed = size([*messages[:2], *messages[_protected_from(messages, 1) :]])
    goal = max(int(room * _LOW), (fixed + int(room * _HIGH)) // 2) - estimated_tokens(len(_DROPPED))
    starts = [at for at, message in enumerate(messages) if message.role == "assistant"]
    left, end = size(messages), 2
    for after in starts[1:]:
        if left <= goal:
            break
        left -= sum(map(_size, messages[end:after])) // 4
        end = after
    gone = messages[2:end]
    del messages[2:end]
    first = next((at for at, message in enumerate(messages) if message.role == "tool"), None)
    if gone and first is not None and not messages[first].content.startswith(_DROPPED):
        messages[first] = messages[first].model_copy(update={"content": f"{_DROPPED}\n{messages[first].content}"})
    return sum(message.role == "tool" and not message.content.startswith(_STUB) for message in gone)


def _cut(messages: list[Message], goal: int) -> None:
    """Shortens what is long behind the brief, the longest first, until `goal` tokens are left or nothing is long."""
    limit = max(map(_size, messages[2:]), default=0)
    while size(messages) > goal and limit > _LEAST:
        limit = max(limit * 3 // 4, _LEAST)
        messages[2:] = [_within(message, limit) for message in messages[2:]]
    if size(messages) > goal:  # what is opaque cannot be shortened: as it came, or not at all
        messages[2:] = [_bare(message) for message in messages[2:]]


def _within(message: Message, limit: int) -> Message:
    """The message with its text, and each of its calls, of at most about so many characters."""
    calls = tuple(call if len(call.arguments) <= limit else _shorter(call) for call in message.tool_calls)
    text = message.content
    if len(text) > limit:
        text = shortened(text, limit - _LEAST // 2, "the message was too long for the window")
    return message.model_copy(update={"tool_calls": calls, "content": text})


def _bare(message: Message) -> Message:
    """The message without what was said beside its words."""
    calls = tuple(call.model_copy(update={"opaque": ""}) for call in message.tool_calls)
    return message.model_copy(update={"tool_calls": calls, "opaque": ""})


def _lean(message: Message) -> Message:
    """What the model itself wrote, without its long texts; the same message where it has none."""
    calls = tuple(_shorter(call) for call in message.tool_calls)
    text = message.content
    if len(text) > _LONG_TEXT:
        text = f"{text[:_GIST]} [... {len(text) - _GIST:,} characters, dropped to make room]"
    same = text == message.content and calls == message.tool_calls
    return message if same else message.model_copy(update={"tool_calls": calls, "content": text})


def _shorter(call: ToolCall) -> ToolCall:
    """The call without its long texts, still a JSON object, of the same keys where that is short."""
    if len(call.arguments) <= _LONG_ARGUMENT:
        return call
    try:
        value: Any = loaded(call.arguments, strict=False)
    except ValueError:
        value = None
    shorter = json.dumps({key: _gist(each) for key, each in value.items()} if isinstance(value, dict) else None)
    if not isinstance(value, dict) or len(shorter) > _LONG_CALL:
        shorter = json.dumps({"dropped": _dropped(call.arguments)})
    return call if len(shorter) >= len(call.arguments) else call.model_copy(update={"arguments": shorter})


def _gist(value: Any) -> Any:
    """A value without what is long in it."""
    text = value if isinstance(value, str) else json.dumps(value)
    return value if len(text) <= _LONG_ARGUMENT else _dropped(text)


def _dropped(text: str) -> str:
    return f"[{len(text):,} characters, dropped to make room]"


def _size(message: Message) -> int:
    return message.size
