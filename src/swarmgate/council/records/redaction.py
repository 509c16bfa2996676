"""Lists the record fields that hold names; secrets are redacted in all other fields."""

from __future__ import annotations

NAMES = frozenset(
    {"type", "id", "name", "pattern", "status", "mode", "kind", "step", "done", "author", "participant", "by"}
    | {"to", "between", "cites", "condensed", "source", "prepared", "facilitator", "strategy", "stand", "criterion"}
    | {
        "model",
        "model_tier",
        "facilitator_model",
        "evaluator_model",
        "evaluator_folder",
        "gate",
        "target",
        "recommendation",
        "request_hash",
        "part_of",
    }
    | {"who", "field", "files", "code", "created_at"}
    | {"prompt_hash", "promptHash", "started_at", "startedAt", "resolved_by", "resolvedBy", "ended_by"}
    | {"seat", "folder", "about", "order", "cut", "claim", "nearest", "stance", "vote", "verdict"}
    | {"decided_by", "agent", "sender", "moderator"}
)
"""Fields of requests and events that name something: they are kept as they are, whatever they look like."""
