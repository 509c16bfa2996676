"""OpenAI's responses API, as Codex speaks it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from swarmgate.testing.dialects.dialect import Body, Dialect, calls, chat, text_of, texts


def _asked(body: Body, path: str) -> dict[str, Any]:
    del path
    given = body.get("input")
    items = given if isinstance(given, list) else [{"role": "user", "content": given}]
    said: list[tuple[str, str]] = []
    for item in items:
        kind, role = str(item.get("type", "message")), str(item.get("role", ""))
        if kind.endswith("_output"):
            said.append(("tool", texts(item.get("output"))))
        elif kind == "message" and role != "assistant":
            said.append((role, texts(item.get("content"))))
        elif said and said[-1][0] == "assistant":  # a text, its reasoning and its calls are one turn of the model
            said[-1] = ("assistant", said[-1][1] + texts(item.get("content")))
        else:
            said.append(("assistant", texts(item.get("content"))))
    system = [("system", texts(body["instructions"]))] if body.get("instructions") else []
    return chat(body.get("model"), [*system, *said], [each.get("name") or each.get("type") for each in _tools(body)])


def _tools(body: Body) -> list[dict[str, Any]]:
    return [each for each in body.get("tools") or () if isinstance(each, dict)]


def _said(completion: Body, body: Body) -> dict[str, Any]:
    number, text, usage = completion["id"], text_of(completion), completion["usage"]
    free = {each.get("name") for each in _tools(body) if each.get("type") == "custom"}
    output: list[dict[str, Any]] = []
    if text:
        content = [{"type": "output_text", "text": text, "annotations": []}]
        output.append({"type": "message", "id": f"msg_{number}", "role": "assistant", "content": content})
    for of, name, given in calls(completion):
        kind = (
            {"type": "custom_tool_call", "input": given}
            if name in free
            else {"type": "function_call", "arguments": given}
        )
        output.append({**kind, "id": f"fc_{of}", "call_id": of, "name": name})
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 0,
        "model": body.get("model", ""),
        "status": "completed",
        "output": [{**each, "status": "completed"} for each in output],
        "usage": {
            "input_tokens": usage["prompt_tokens"],
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": usage["completion_tokens"],
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": usage["total_tokens"],
        },
    }


def _events(whole: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    def event(kind: str, **fields: Any) -> tuple[str, dict[str, Any]]:
        return kind, {"type": kind, **fields}

    yield event("response.created", response={**whole, "status": "in_progress", "output": []})
    for index, item in enumerate(whole["output"]):
        yield event("response.output_item.added", output_index=index, item={**item, "status": "in_progress"})
        for part in item.get("content", ()):
            more = {"output_index": index, "item_id": item["id"], "content_index": 0}
            yield event("response.output_text.delta", **more, delta=part["text"])
        yield event("response.output_item.done", output_index=index, item=item)
    yield event("response.completed", response=whole)


RESPONSES = Dialect(
    "responses", re.compile(r"/responses$"), _asked, _said, _events, lambda body, _: bool(body.get("stream"))
)
"""`POST /v1/responses`."""
