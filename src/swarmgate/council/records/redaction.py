"""Secrets out of what goes on record: of free text, and not of what names something."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

NAMES = frozenset(
    {"type", "id", "name", "pattern", "status", "mode", "kind", "step", "done", "author", "participant", "by"}
    | {"to", "between", "cites", "condensed", "source", "prepared", "facilitator", "strategy", "stand", "criterion"}
    | {"model", "facilitator_model", "evaluator_model", "gate", "target", "recommendation", "request_hash", "part_of"}
    | {"who", "field", "files", "code", "created_at"}
    | {"prompt_hash", "promptHash", "started_at", "startedAt", "resolved_by", "resolvedBy", "ended_by"}
    | {"seat", "folder", "about", "order", "cut", "claim", "nearest", "stance", "vote", "verdict"}
    | {"decided_by", "agent", "sender", "moderator"}
)
"""Fields of requests and events that name something: they are kept as they are, whatever they look like."""


def masked(value: Any, redact: Callable[[str], str], *, names: Collection[str] = NAMES) -> Any:
    """The JSON-ready value with secrets masked in its free text; the keys of objects stay, and so does what names.

    Args:
        value: of a record.
        redact: masks the secrets in a text.
        names: the fields that name something, or several.
    """
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [masked(each, redact, names=names) for each in value]
    if isinstance(value, dict):
        return {
            key: each if key in names and _names(each) else masked(each, redact, names=names)
            for key, each in value.items()
        }
    return value


def _names(value: Any) -> bool:
    """Whether that is a name, or several: not whole records."""
    several = value if isinstance(value, list) else [value]
    return all(isinstance(each, str) for each in several)
