"""Simplifies JSON schemas for endpoints that support few keywords; swarmgate validates the arguments anyway."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

_PLAIN = frozenset({"type", "properties", "required", "items", "description", "enum"})
"""Keywords that every endpoint takes that takes tools at all: those of OpenAPI 3.0 that Gemini began with."""


def plain(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with the plain keywords alone."""
    simplified = {key: value for key, value in schema.items() if key in _PLAIN}
    if isinstance(simplified.get("properties"), dict):
        simplified["properties"] = {name: plain(each) for name, each in simplified["properties"].items()}
    if isinstance(simplified.get("items"), dict):
        simplified["items"] = plain(simplified["items"])
    return simplified


def beyond(tools: Iterable[dict[str, Any]]) -> bool:
    """Whether the parameters of tools, as they are sent, have other keywords."""
    return any(plain(each["function"]["parameters"]) != each["function"]["parameters"] for each in tools)
