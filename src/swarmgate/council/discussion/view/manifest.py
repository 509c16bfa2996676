"""Renders manifest.json and the files of `personas/`: who takes part in what, and how far it is.

They have the keys of the structured-discussion document, for programs that look for these.
"""

from __future__ import annotations

from typing import Any

from swarmgate.council.discussion.model import CONTRARIAN, CROSS_DOMAIN, HISTORIAN, MODERATOR, Cast, DiscussionRecord

ROLES = {
    MODERATOR: ("Moderator", "frames each round, and judges its quality"),
    HISTORIAN: ("Historian", "records each round, and writes the synthesis"),
    CONTRARIAN: ("Contrarian", "attacks what is agreed to most"),
    CROSS_DOMAIN: ("Cross-Domain", "brings cases from other fields"),
}
"""Name and task of each fixed role."""

_PHASES = {"prepared": "initial", "open": "round", "complete": "synthesis"}


def personas(cast: Cast, roles: tuple[str, ...]) -> list[dict[str, Any]]:
    """Everybody who takes part: the experts, then the fixed roles of the mode."""
    fixed = (
        {"id": role, "name": ROLES[role][0], "role": ROLES[role][1], "model": cast.models.get(role, "")}
        for role in roles
    )
    return [*(each.model_dump(mode="json") for each in cast.experts), *fixed]


def manifest(record: DiscussionRecord, cast: Cast, *, created: str, active: str) -> dict[str, Any]:
    """The state of a discussion.

    Args:
        record: the discussion.
        cast: of it.
        created: when it began, in UTC.
        active: when something happened in it last, in UTC.
    """
    asked = record.discussion
    problem = cast.problem_definition
    return {
        "id": asked.id,
        "title": asked.topic,
        "created": created,
        "lastActive": active,
        "status": "active" if record.status == "open" else record.status,
        "mode": str(asked.mode),
        "currentPhase": _PHASES.get(record.status, "checkpoint"),
        "currentRound": record.partial.number if record.partial else len(record.rounds),
        "team_name": f"discussion-{asked.id}",
        "personas": personas(cast, asked.extent.roles),
        "tensionMap": [each.model_dump(mode="json") for each in cast.tensions],
        "problemDefinition": problem.model_dump(mode="json") if problem else None,
    }
