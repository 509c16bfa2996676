"""Renders a scripted reply as a chat completion: one JSON object, or server-sent events of a stream. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
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
    answer_size = len(text) + sum(len(name) + len(arguments) for _, name, arguments in calls)
    if calls and not request.get("tools"):
        text, calls = f"{text}\n{_spoken(calls)}".strip(), ()
    return Answer(
        model=str(request.get("model", "")),
        text=text,
        calls=calls,
        usage=_usage(reply, request, answer_size),
        id=f"chatcmpl-{turn}",
    )


def completion(given: Answer) -> dict[str, Any]:
    """The whole answer as one `chat.completion`."""
    message: dict[str, Any] = {"role": "assistant", "content": given.text or None}
    if given.calls:
        message["tool_calls"] = [_call(*call) for call in given.calls]
    choice = {"index": 0, "message": message, "finish_reason": given.finish_reason}
    return {
        "id": given.id,
        "object": "chat.completion",
        "created": 0,
        "model": given.model,
        "choices": [choice],
        "usage": given.usage,
    }


def chunks(whole: Mapping[str, Any], *, include_usage: bool) -> list[dict[str, Any]]:
    """The same answer as the chunks of a stream: texts in pieces, whatever fields the message has."""
    frame = {**{key: whole[key] for key in ("id", "created", "model")}, "object": "chat.completion.chunk"}
    choice = whole["choices"][0]
    found: list[dict[str, Any]] = [
        {**frame, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        for delta in _deltas(choice["message"])
    ]
    found.append({**frame, "choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]})
    if include_usage:
        found.append({**frame, "choices": [], "usage": whole["usage"]})
    return found


def events(of: Iterable[Mapping[str, Any]]) -> list[bytes]:
    """Chunks as server-sent events, `[DONE]` last."""
    return [*(b"data: " + json.dumps(each).encode() + b"\n\n" for each in of), b"data: [DONE]\n\n"]


def _deltas(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": ""}
    for key, value in message.items():
        if key in {"role", "tool_calls"} or value is None:
            continue
        if isinstance(value, str):
            yield from ({key: piece} for piece in _pieces(value))
        else:
            yield {key: value}
    for index, call in enumerate(message.get("tool_calls") or ()):
        yield from _call_deltas(index, call)


def _call_deltas(index: int, call: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The head of a call with its name, then its arguments in pieces; arguments that are no text come with the head."""
    arguments = call["function"]["arguments"]
    if not isinstance(arguments, str):
        yield {"tool_calls": [{"index": index, **call}]}
        return
    yield {"tool_calls": [{"index": index, **call, "function": {**call["function"], "arguments": ""}}]}
    for piece in _pieces(arguments):
        yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _pieces(text: str) -> Iterator[str]:
    step = min(_PIECE, max(1, -(-len(text) // 2)))
    return (text[at : at + step] for at in range(0, len(text), step))


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


def _usage(reply: Reply, request: Mapping[str, Any], answer_size: int) -> dict[str, Any]:
    if reply.usage:
        prompt, completion, cached = (
            reply.usage.prompt_tokens,
            reply.usage.completion_tokens,
            reply.usage.cached_tokens,
        )
    else:
        request_size = len(json.dumps([request.get("messages"), request.get("tools")]))
        prompt, completion, cached = -(-request_size // 4), -(-answer_size // 4), 0
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": cached},
    }
