"""Endpoint quirks: streams with unusual framing, delays and endings."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from swarmgate.testing.answers import chunks, events
from swarmgate.testing.exchange import EVENTS, JSON, Exchange, Pause, Response
from swarmgate.testing.habits.habit import Chunks, Habit

_SILENCE_S = 70.0
"""How long arguments of 8,000 tokens are held back: 78 s at 9.8 ms a token (github/copilot-cli#4286)."""
_PROMPT_S = 540.0
"""How long a prompt is read before the first token: DeepSeek gives up after ten minutes."""
_PING_S = 15.0

Part = bytes | Pause


def _bytes(change: Callable[[bytes], bytes]) -> Callable[[Response, Exchange], Response]:
    """Every event of a stream changed."""

    def changed(response: Response, _exchange: Exchange) -> Response:
        if not response.streamed:
            return response
        return replace(
            response, parts=tuple(change(part) if isinstance(part, bytes) else part for part in response.parts)
        )

    return changed


def _without_done(response: Response, _exchange: Exchange) -> Response:
    return replace(response, parts=response.parts[:-1]) if response.streamed else response


def _held_open(response: Response, _exchange: Exchange) -> Response:
    """`[DONE]` has come, the connection stays."""
    return replace(response, parts=(*response.parts, Pause(_PROMPT_S))) if response.streamed else response


def _with_comments(response: Response, _exchange: Exchange) -> Response:
    if not response.streamed:
        return response
    comment = b": OPENROUTER PROCESSING\n\n"
    return replace(response, parts=(comment, *(piece for part in response.parts for piece in (comment, part))))


def _comments_as_data(response: Response, _exchange: Exchange) -> Response:
    if not response.streamed:
        return response
    return replace(response, parts=(b"data: : OPENROUTER PROCESSING\n\n", *response.parts))


def _named(part: bytes) -> bytes:
    return b"id: 1\nevent: message\nretry: 3000\n" + part + b": ping\n\n"


def _azure_frame(found: Chunks, _exchange: Exchange) -> Chunks:
    """A chunk of filter results without choices first, one without a delta last."""
    empty = {"id": "", "object": "", "created": 0, "model": ""}
    first = {**empty, "choices": [], "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": {}}]}
    last = {**empty, "choices": [{"index": 0, "finish_reason": None, "content_filter_results": {}}], "usage": None}
    return [first, *found[:-1], last, *found[-1:]]


def _as_json(response: Response, _exchange: Exchange) -> Response:
    """The chunks of a stream put together again."""
    if not response.streamed:
        return response
    return Response(headers=JSON, parts=(json.dumps(_joined(response.data)).encode(),))


def _joined(data: bytes) -> dict[str, Any]:
    found = [json.loads(line[6:]) for line in data.split(b"\n") if line.startswith(b"data: {")]
    message: dict[str, Any] = {"role": "assistant", "content": None}
    reason, usage = None, None
    for chunk in found:
        usage = chunk.get("usage") or usage
        for choice in chunk["choices"]:
            reason = choice.get("finish_reason") or reason
            _join(message, choice.get("delta") or {})
    choice = {"index": 0, "message": message, "finish_reason": reason}
    return {**found[0], "object": "chat.completion", "choices": [choice], "usage": usage}


def _join(message: dict[str, Any], delta: dict[str, Any]) -> None:
    for key, value in delta.items():
        if key == "tool_calls":
            calls = message.setdefault("tool_calls", [])
            for call in value:
                if call["index"] == len(calls):
                    calls.append({**call, "function": {**call["function"]}})
                else:
                    calls[call["index"]]["function"]["arguments"] += call["function"]["arguments"]
        elif key != "role" and value:
            message[key] = (message.get(key) or "") + value if isinstance(value, str) else value


def _as_events(response: Response, _exchange: Exchange) -> Response:
    if response.streamed or response.status != 200:  # noqa: PLR2004 - OK
        return response
    parts = events(chunks(json.loads(response.data), include_usage=True))
    return Response(headers=EVENTS, parts=tuple(parts), streamed=True)


def _buffered(response: Response, _exchange: Exchange) -> Response:
    """All of the arguments at the end, after a silence in the middle of the stream."""
    if not response.streamed:
        return response
    return replace(response, parts=tuple(_silent_before(response.parts)))


def _silent_before(parts: tuple[Part, ...]) -> Iterator[Part]:
    waited = False
    for part in parts:
        if isinstance(part, bytes) and b'"tool_calls"' in part and not waited:
            waited = True
            yield Pause(_SILENCE_S)
        yield part


def _late(response: Response, _exchange: Exchange) -> Response:
    """Status and headers at once, then the prompt is read."""
    return replace(response, parts=(Pause(_PROMPT_S), *response.parts)) if response.streamed else response


def _late_whole(response: Response, _exchange: Exchange) -> Response:
    """Nothing at all, no status, until the prompt is read."""
    return replace(response, held_s=_PROMPT_S)


def _late_with_comments(response: Response, _exchange: Exchange) -> Response:
    if not response.streamed:
        return response
    waits = [piece for _ in range(int(_PROMPT_S / _PING_S)) for piece in (Pause(_PING_S), b": keep-alive\n\n")]
    return replace(response, parts=(*waits, *response.parts))


def _cut_once(response: Response, exchange: Exchange) -> Response:
    if exchange.number > 1 or not response.streamed:
        return response
    return replace(response, parts=response.parts[: len(response.parts) // 2], cut=True)


def _ended_once(response: Response, exchange: Exchange) -> Response:
    """A clean end of the body, in the middle of the answer."""
    return replace(_cut_once(response, exchange), cut=False)


def _error_once(error: bytes) -> Callable[[Response, Exchange], Response]:
    def changed(response: Response, exchange: Exchange) -> Response:
        if exchange.number > 1 or not response.streamed:
            return response
        return replace(response, parts=(response.parts[0], error, b"data: [DONE]\n\n"))

    return changed


def _habit(name: str, about: str, source: str, **stages: Any) -> Habit:
    return Habit(name=name, about=about, source=source, group="streaming", **stages)


HABITS = (
    _habit(
        "stream-without-done",
        "A stream ends without `[DONE]`.",
        "ik_llama.cpp: https://github.com/ikawrakow/ik_llama.cpp/issues/467",
        send=_without_done,
    ),
    _habit(
        "stream-held-open",
        "After `[DONE]` the connection stays open.",
        "mistral.rs 0.7.0: https://github.com/EricLBuehler/mistral.rs/issues/1874",
        send=_held_open,
    ),
    _habit(
        "stream-data-without-space",
        "Lines begin with `data:` and no space.",
        "Proxies in Spring: https://github.com/openai/openai-python/issues/498",
        send=_bytes(lambda part: part.replace(b"data: ", b"data:", 1)),
    ),
    _habit(
        "stream-crlf",
        "Lines end with CR LF.",
        "Gemini: https://github.com/Routstr/routstr-core/pull/543",
        send=_bytes(lambda part: part.replace(b"\n", b"\r\n")),
    ),
    _habit(
        "stream-comments",
        "Comments stand between the events: `: OPENROUTER PROCESSING`.",
        "OpenRouter: https://github.com/mnfst/llm-gateway/issues/2053",
        send=_with_comments,
    ),
    _habit(
        "stream-comments-as-data",
        "A gateway passes a comment on as data: `data: : OPENROUTER PROCESSING`.",
        "Manifest: https://github.com/mnfst/llm-gateway/issues/2053",
        send=_comments_as_data,
    ),
    _habit(
        "stream-event-fields",
        "Events have `id:`, `event:` and `retry:` lines, with pings between them.",
        "LLM Gateway: https://github.com/theopenco/llmgateway/pull/2334",
        send=_bytes(_named),
    ),
    _habit(
        "stream-filter-chunks",
        "The first chunk has no choices, a later one a choice without a delta.",
        "Azure OpenAI: https://github.com/microsoft/autogen/issues/6465",
        chunk=_azure_frame,
    ),
    _habit(
        "stream-byte-order-mark",
        "A stream begins with a byte order mark.",
        "WHATWG, interpretation of an event stream: https://html.spec.whatwg.org/multipage/server-sent-events.html",
        send=lambda response, _exchange: (
            replace(response, parts=(b"\xef\xbb\xbf", *response.parts)) if response.streamed else response
        ),
    ),
    _habit(
        "stream-asked-json-given",
        "A stream was asked for, one JSON object comes.",
        "Gateways that ignore `stream`: https://github.com/sankalp-happy/switchboard/pull/30",
        send=_as_json,
    ),
    _habit(
        "json-asked-stream-given",
        "No stream was asked for, events come.",
        "KAITO: https://github.com/kaito-project/kaito/issues/1880; "
        "Unsloth: https://github.com/unslothai/unsloth/issues/6570",
        send=_as_events,
    ),
    _habit(
        "stream-arguments-buffered",
        "Arguments of a call are held back until they are whole: 70 s without a byte.",
        "Copilot API: https://github.com/github/copilot-cli/issues/4286",
        send=_buffered,
    ),
    _habit(
        "stream-first-token-late",
        "Headers come at once, the first token after nine minutes.",
        "DeepSeek under load, and slow local servers: https://api-docs.deepseek.com/quick_start/rate_limit",
        send=_late,
    ),
    _habit(
        "answer-late",
        "Nothing comes for nine minutes, no status either, then all.",
        "Local servers that read the prompt first; llama.cpp: "
        "https://github.com/ggml-org/llama.cpp/tree/master/tools/server",
        send=_late_whole,
    ),
    _habit(
        "stream-late-with-comments",
        "A comment each 15 s for nine minutes, then the answer.",
        "DeepSeek: https://api-docs.deepseek.com/quick_start/rate_limit",
        send=_late_with_comments,
    ),
    _habit(
        "stream-cut-off",
        "The first stream breaks off: the connection ends in the middle.",
        "Gateways under load: https://github.com/anomalyco/opencode/issues/39968",
        send=_cut_once,
    ),
    _habit(
        "stream-ends-early",
        "The first stream ends in good order in the middle of a call: no finish_reason, no `[DONE]`.",
        "Command Code: https://github.com/CommandCodeAI/command-code/issues/785",
        send=_ended_once,
    ),
    _habit(
        "stream-error-inside",
        "The first stream has status 200 and an error in a chunk without choices.",
        "OpenRouter: https://github.com/diegosouzapw/OmniRoute/pull/8210",
        send=_error_once(
            b'data: {"id": "gen-1", "object": "chat.completion.chunk", "choices": [], "error": {"code": 502, '
            b'"message": "Worker local total request limit reached (33/32)"}}\n\n'
        ),
    ),
    _habit(
        "stream-error-event",
        "The first stream has status 200 and an `event: error`.",
        "Groq: https://github.com/anomalyco/opencode/issues/1018",
        send=_error_once(
            b'event: error\ndata: {"error": {"message": "Failed to call a function. Please adjust your prompt.", '
            b'"type": "invalid_request_error", "code": "tool_use_failed", "status_code": 400}}\n\n'
        ),
    ),
)
