"""Renders `rounds/NNN.json`: one round as kept, with its edges, shifts and assessment pulled out for other programs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from swarmgate.council.discussion.findings import Assessment
from swarmgate.council.discussion.model import DiscussionRecord, DiscussionRound, Message, Shift, ShiftKind, Step
from swarmgate.council.discussion.view.message import facts
from swarmgate.domain.text.printable import escaped

_SCORES = (
    "genuine_disagreement",
    "evidence_quality",
    "steel_manning",
    "novel_insights",
    "position_evolution",
    "overall",
)

_TYPES = {
    Step.POSITION: "position_declaration",
    Step.FRAME: "opening",
    Step.ARGUE: "argument",
    Step.ATTACK: "stress_test",
    Step.ASK: "question",
    Step.RESPOND: "response",
    Step.ANALOGY: "analogy",
    Step.STRESS: "stress_test",
    Step.ASSESS: "quality_gate",
    Step.RECORD: "record",
}
"""What the structured-discussion document calls the messages of a step, or would."""


def round_records(record: DiscussionRecord, times: Mapping[str, str]) -> dict[str, str]:
    """The text of each whole round by its name in the discussion's folder; `times` are those of messages, by id."""
    return {f"rounds/{each.number:03d}.json": _text(record, each, times) for each in record.rounds}


def _text(record: DiscussionRecord, held: DiscussionRound, times: Mapping[str, str]) -> str:
    given = next((each.assessment for each in held.messages if each.assessment), None)
    edges, stood = _edges(held), _stood(record.rounds[: held.number])
    content = {
        "roundId": held.number,
        "topic": held.topic or record.discussion.topic,
        "mode": record.discussion.mode,
        "timestamp": held.started_at,
        "messages": [_message(each, stood.get(each.id, ""), times.get(each.id, "")) for each in held.messages],
        "argumentGraph": edges,
        "positionShifts": [_shift(each, stood.get(each.id, "")) for each in held.messages if _moved(each)],
        "synthesis": _synthesis(given) if given else None,
        "metadata": {
            "messageCount": len(held.messages),
            "participants": list(dict.fromkeys(each.author for each in held.messages)),
            "referenceCount": len(edges),
        },
        **held.model_dump(mode="json", exclude={"messages", "number", "topic", "started_at"}),
    }
    return escaped(json.dumps(content, ensure_ascii=False, indent=1)) + "\n"


def _message(message: Message, stood: str, time: str) -> dict[str, Any]:
    """A message as the structured-discussion document writes it, then with all that is kept of it."""
    return {
        "id": message.id,
        "from": message.author,
        "type": "message" if message.human else _TYPES[message.step],
        "content": _content(message, stood),
        "references": [{"targetId": each.to, "type": each.kind} for each in message.links],
        "timestamp": time,
        **message.model_dump(mode="json", exclude={"id"}),
    }


def _content(message: Message, stood: str) -> Any:
    position = message.position
    if message.step is Step.POSITION and position:
        return position.model_dump(mode="json")
    if message.shift:
        return {
            "response": message.text,
            "positionShift": message.shift.kind,
            "currentPosition": position.position if position else stood,
            "previousPosition": stood,
            "shiftReason": message.shift.reason,
        }
    typed = facts(message) if message.framing or message.assessment else ()
    return "\n".join(filter(None, [message.text, *typed]))


def _stood(rounds: Sequence[DiscussionRound]) -> dict[str, str]:
    """The position that its author declared last before each message, by the message's id."""
    stands: dict[str, str] = {}
    stood: dict[str, str] = {}
    for each in (each for held in rounds for each in held.messages):
        stood[each.id] = stands.get(each.author, "")
        stands[each.author] = each.position.position if each.position else stood[each.id]
    return stood


def _moved(message: Message) -> bool:
    shift = message.shift
    return shift is not None and shift.kind is not ShiftKind.NONE and not shift.refused


def _shift(message: Message, stood: str) -> dict[str, Any]:
    """A shift that counts."""
    shift = message.shift or Shift()
    return {
        "type": "position_shift",
        "expert": message.author,
        "message": message.id,
        "kind": shift.kind,
        "from": stood,
        "to": message.position.position if message.position else stood,
        "trigger": next(iter(shift.cites), ""),
        "cites": list(shift.cites),
        "reasoning": shift.reason,
    }


def _edges(held: DiscussionRound) -> list[dict[str, Any]]:
    return [{"from": each.id, "to": link.to, "relation": link.kind} for each in held.messages for link in each.links]


def _synthesis(given: Assessment) -> dict[str, Any]:
    fields = given.model_dump(mode="json", exclude={*_SCORES})
    scores = given.model_dump(mode="json", include={*_SCORES})
    return {"qualityScore": scores, **fields}
