"""Anthropic's messages API, as Claude Code speaks it. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from swarmgate.testing.dialects.dialect import Body, Dialect, calls, chat, parsed, text_of, texts


def _asked(body: Body, path: str) -> dict[str, Any]:
    del path
    said = [(str(each.get("role", "")), texts(each.get("content"))) for each in body.get("messages") or ()]
    system = [("system", texts(body["system"]))] if body.get("system") else []
    return chat(body.get("model"), [*system, *said], [each.get("name") for each in body.get("tools") or ()])


def _said(completion: Body, body: Body) -> dict[str, Any]:
    text, made = text_of(completion), calls(completion)
    content: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    # Claude Code wants an id that is like no other in the conversation, and that of a script counts turns.
    content += [
        {"type": "tool_use", "id": f"toolu_{of}", "name": name, "input": parsed(given)} for of, name, given in made
    ]
    usage = completion["usage"]
    return {
        "id": f"msg_{completion['id']}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", ""),
        "content": content,
        "stop_reason": "tool_use" if made else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": usage["prompt_tokens"], "output_tokens": usage["completion_tokens"]},
    }


def _events(whole: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    def event(kind: str, **fields: Any) -> tuple[str, dict[str, Any]]:
        return kind, {"type": kind, **fields}

    yield event("message_start", message={**whole, "content": [], "stop_reason": None})
    for index, block in enumerate(whole["content"]):
        calling = block["type"] == "tool_use"
        start = {**block, "input": {}} if calling else {"type": "text", "text": ""}
        delta = (
            {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            if calling
            else {"type": "text_delta", "text": block["text"]}
        )
        yield event("content_block_start", index=index, content_block=start)
        yield event("content_block_delta", index=index, delta=delta)
        yield event("content_block_stop", index=index)
    delta = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield event("message_delta", delta=delta, usage=whole["usage"])
    yield event("message_stop")


MESSAGES = Dialect(
    "messages", re.compile(r"/v1/messages$"), _asked, _said, _events, lambda body, _: bool(body.get("stream"))
)
"""`POST /v1/messages`."""
