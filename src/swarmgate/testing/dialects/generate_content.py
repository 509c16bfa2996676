"""Gemini's generateContent API, as Gemini CLI speaks it. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from swarmgate.testing.dialects.dialect import Body, Dialect, calls, chat, parsed, text_of, texts

_ROLES = {"model": "assistant"}
_PATH = re.compile(r"/models/([^/:]+):(?:stream)?[gG]enerateContent$")


def _asked(body: Body, path: str) -> dict[str, Any]:
    named = _PATH.search(path.split("?", maxsplit=1)[0])
    said = [
        (_ROLES.get(str(each.get("role")), str(each.get("role", "user"))), _text(each.get("parts") or ()))
        for each in body.get("contents") or ()
    ]
    system = texts((body.get("systemInstruction") or {}).get("parts"))
    tools = [one.get("name") for each in body.get("tools") or () for one in each.get("functionDeclarations") or ()]
    return chat(named[1] if named else "", [*([("system", system)] if system else []), *said], tools)


def _text(parts: Iterable[Body]) -> str:
    results = (each["functionResponse"].get("response") for each in parts if "functionResponse" in each)
    return texts(parts) + "".join(json.dumps(each) for each in results)


def _said(completion: Body, body: Body) -> dict[str, Any]:
    del body
    text, usage = text_of(completion), completion["usage"]
    parts: list[dict[str, Any]] = [{"text": text}] if text else []
    parts += [
        {"functionCall": {"name": name, "args": parsed(given), "id": of}} for of, name, given in calls(completion)
    ]
    return {
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {
            "promptTokenCount": usage["prompt_tokens"],
            "candidatesTokenCount": usage["completion_tokens"],
            "totalTokenCount": usage["total_tokens"],
        },
        "modelVersion": completion["model"],
    }


def _events(whole: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "", whole


GENERATE_CONTENT = Dialect(
    "generateContent", _PATH, _asked, _said, _events, lambda _, path: ":streamGenerateContent" in path
)
"""`POST /v1beta/models/MODEL:generateContent` and `:streamGenerateContent`."""
