"""A scripted reply as the bytes of a chat completion, in one JSON body or as server-sent events. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from swarmgate.testing.script import Call, Reply, filled

_PIECE = 64_000
"""Characters of text or arguments in one event at most; shorter ones are sent in two, so that clients must join."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply with everything filled in, ready to be encoded."""

    model: str
    text: str
    calls: tuple[tuple[str, str, str], ...]
    usage: dict[str, Any]
    id: str

    @property
    def finish_reason(self) -> str:
        """`tool_calls` or `stop`."""
        return "tool_calls" if self.calls else "stop"


def answer(reply: Reply, request: Mapping[str, Any], headers: Mapping[str, str | list[str]], turn: int) -> Answer:
    """Fill in a reply for a request; tool calls become JSON in the text where the request offers no tools."""
    text = filled(reply.text, headers)
    calls = tuple(
        (call.id or f"call_{turn}_{number}", call.name, _arguments(call, headers))
        for number, call in enumerate(reply.tool_calls)
    )
    said = len(text) + sum(len(name) + len(arguments) for _, name, arguments in calls)
    if calls and not request.get("tools"):
        text, calls = f"{text}\n{_spoken(calls)}".strip(), ()
    return Answer(
        model=str(request.get("model", "")),
        text=text,
        calls=calls,
        usage=_usage(reply, request, said),
        id=f"chatcmpl-{turn}",
    )


def as_json(given: Answer) -> bytes:
    """The whole answer in one body."""
    message: dict[str, Any] = {"role": "assistant", "content": given.text or None}
    if given.calls:
        message["tool_calls"] = [_call(*call) for call in given.calls]
    choice = {"index": 0, "message": message, "finish_reason": given.finish_reason}
    return json.dumps({**_frame(given, "chat.completion"), "choices": [choice], "usage": given.usage}).encode()


def as_events(given: Answer, *, include_usage: bool) -> list[bytes]:
    """The answer as events, `[DONE]` last."""
    frame = _frame(given, "chat.completion.chunk")
    events = [{**frame, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in _deltas(given)]
    events.append({**frame, "choices": [{"index": 0, "delta": {}, "finish_reason": given.finish_reason}]})
    if include_usage:
        events.append({**frame, "choices": [], "usage": given.usage})
    return [*(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events), b"data: [DONE]\n\n"]


def _deltas(given: Answer) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": ""}
    for piece in _pieces(given.text):
        yield {"content": piece}
    for index, (call_id, name, arguments) in enumerate(given.calls):
        yield {"tool_calls": [{"index": index, **_call(call_id, name, "")}]}
        for piece in _pieces(arguments):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _pieces(text: str) -> Iterator[str]:
    step = min(_PIECE, max(1, -(-len(text) // 2)))
    return (text[at : at + step] for at in range(0, len(text), step))


def _frame(given: Answer, kind: str) -> dict[str, Any]:
    return {"id": given.id, "object": kind, "created": 0, "model": given.model}


def _call(call_id: str, name: str, arguments: str) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _arguments(call: Call, headers: Mapping[str, str | list[str]]) -> str:
    if isinstance(call.arguments, str):
        return filled(call.arguments, headers)
    return filled(json.dumps(call.arguments), headers, inside_json=True)


def _spoken(calls: tuple[tuple[str, str, str], ...]) -> str:
    """Calls as a model without tool support writes them; raw arguments that are no JSON stay as broken as they are."""
    objects = [f'{{"tool": {json.dumps(name)}, "arguments": {arguments}}}' for _, name, arguments in calls]
    return objects[0] if len(objects) == 1 else f"[{', '.join(objects)}]"


def _usage(reply: Reply, request: Mapping[str, Any], said: int) -> dict[str, Any]:
    if reply.usage:
        prompt, completion, cached = (
            reply.usage.prompt_tokens,
            reply.usage.completion_tokens,
            reply.usage.cached_tokens,
        )
    else:
        heard = len(json.dumps([request.get("messages"), request.get("tools")]))
        prompt, completion, cached = -(-heard // 4), -(-said // 4), 0
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": cached},
    }
