"""Offers tools to a model without tool support by a JSON schema that the endpoint enforces on its answers.

The whole answer is `{"text": "...", "calls": [{"tool": "NAME", "arguments": {...}}]}`. The schema keeps to what strict
modes take: every key required, optional ones nullable, no further keys, an object at the top.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from swarmgate.domain.text.json_text import loaded
from swarmgate.llm.model import ToolSpec

HOW = """

Your whole answer is one JSON object: {"text": "what you have to say, or nothing", "calls": [...]}, and each call in the
list is {"tool": "NAME", "arguments": {...}}. An argument that you leave out is null."""
"""What follows the description of the tools in the system message."""


def response_format(tools: Iterable[ToolSpec]) -> dict[str, Any]:
    """The `response_format` that allows text and calls of these tools, and nothing else."""
    calls = [
        _object({"tool": {"type": "string", "enum": [tool.name]}, "arguments": _strict(tool.parameters)})
        for tool in tools
    ]
    schema = _object({"text": {"type": "string"}, "calls": {"type": "array", "items": {"anyOf": calls}}})
    return {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}}


def unwrapped(answer: str) -> tuple[str, str] | None:
    """The text of an answer and its calls as JSON; None when it has not the form."""
    try:
        value = loaded(answer)
    except ValueError:  # also one that can be read in two ways
        return None
    if not isinstance(value, dict) or not isinstance(value.get("calls"), list):
        return None
    return str(value.get("text") or ""), json.dumps(value["calls"]) if value["calls"] else ""


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _strict(node: dict[str, Any]) -> dict[str, Any]:
    schema = {key: value for key, value in node.items() if key != "default"}
    if schema.get("type") == "array":
        return {**schema, "items": _strict(schema.get("items", {"type": "string"}))}
    if schema.get("type") != "object":
        return schema
    required = schema.get("required", ())
    return _object({key: _strict(each) if key in required else _nullable(each) for key, each in _keys(schema).items()})


def _keys(node: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = node.get("properties", {})
    return found


def _nullable(node: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [_strict(node), {"type": "null"}]}
