"""Renders `rounds/NNN.json`: one round as kept, with its edges, shifts and assessment pulled out for other programs."""

from __future__ import annotations

import json
from typing import Any

from swarmgate.council.discussion.findings import Assessment
from swarmgate.council.discussion.model import DiscussionRecord, DiscussionRound, ShiftKind
from swarmgate.domain.text.printable import escaped

_SCORES = (
    "genuine_disagreement",
    "evidence_quality",
    "steel_manning",
    "novel_insights",
    "position_evolution",
    "overall",
)


def round_records(record: DiscussionRecord) -> dict[str, str]:
    """The text of each whole round by its name in the discussion's folder."""
    return {f"rounds/{each.number:03d}.json": _text(record, each) for each in record.rounds}


def _text(record: DiscussionRecord, held: DiscussionRound) -> str:
    given = next((each.assessment for each in held.messages if each.assessment), None)
    edges = _edges(held)
    content = {
        "roundId": held.number,
        "topic": held.topic or record.discussion.topic,
        "mode": record.discussion.mode,
        "timestamp": held.started_at,
        "messages": [each.model_dump(mode="json") for each in held.messages],
        "argumentGraph": edges,
        "positionShifts": _shifts(record, held),
        "synthesis": _synthesis(given) if given else None,
        "metadata": {
            "messageCount": len(held.messages),
            "participants": list(dict.fromkeys(each.author for each in held.messages)),
            "referenceCount": len(edges),
        },
        **held.model_dump(mode="json", exclude={"messages", "number", "topic", "started_at"}),
    }
    return escaped(json.dumps(content, ensure_ascii=False, indent=1)) + "\n"


def _edges(held: DiscussionRound) -> list[dict[str, Any]]:
    return [{"from": each.id, "to": link.to, "relation": link.kind} for each in held.messages for link in each.links]


def _shifts(record: DiscussionRecord, held: DiscussionRound) -> list[dict[str, Any]]:
    """The shifts that count, each from the position that the expert declared before."""
    stands: dict[str, str] = {}
    shifts = []
    for each in (each for past in record.rounds[: held.number] for each in past.messages):
        now = each.position.position if each.position else stands.get(each.author, "")
        moved = each.shift if each.shift and each.shift.kind is not ShiftKind.NONE and not each.shift.refused else None
        if moved and each.round == held.number:
            shifts.append(
                {
                    "type": "position_shift",
                    "expert": each.author,
                    "message": each.id,
                    "kind": moved.kind,
                    "from": stands.get(each.author, ""),
                    "to": now,
                    "trigger": next(iter(moved.cites), ""),
                    "cites": list(moved.cites),
                    "reasoning": moved.reason,
                }
            )
        stands[each.author] = now
    return shifts


def _synthesis(given: Assessment) -> dict[str, Any]:
    fields = given.model_dump(mode="json", exclude={*_SCORES})
    scores = given.model_dump(mode="json", include={*_SCORES})
    return {"qualityScore": scores, **fields}
