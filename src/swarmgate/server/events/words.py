"""Makes an event of the feed from a line of a ledger or of a council's journal, with its words and without secrets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import ValidationError
from pydantic_core import from_json, to_json

from swarmgate.automation.events.listing import in_full
from swarmgate.domain.events.automation import Happening
from swarmgate.domain.text.redaction import masked
from swarmgate.ledger.views.describe import first_line
from swarmgate.server.events.model import FeedEvent
from swarmgate.server.events.records import Line, Record

MOST_BYTES = 64 * 1024
"""Of one event's data: a plan of thousands of tasks is read from the ledger instead."""

_TITLES = ("title", "topic", "question", "task", "brief", "prompt")
"""Fields of a council's request that say what it is about."""

_WHO = ("participant", "author", "seat", "who", "by", "sender", "agent")
"""Fields of a council's events that say whose they are."""


def event_of(record: Record, line: Line, mask: Callable[[str], str]) -> FeedEvent:
    """The event of a line; its seq is not known yet.

    Args:
        record: that has the line.
        line: of it.
        mask: masks the secrets in a text: what was written before a key was known may hold it.
    """
    entry = from_json(line.entry)
    data: dict[str, Any] = masked(entry["event"], mask)
    text = _ledger(line.seq, entry, data) if record.source == "ledger" else _council(record, data)
    task = data.get("task", "")
    return FeedEvent(
        seq=0,
        time=entry["time"],
        repo=record.followed.repo,
        goal=record.followed.goal,
        source=record.source,
        record=record.name,
        source_seq=line.seq,
        type=str(data["type"]),
        task=task if isinstance(task, str) and record.source == "ledger" else "",
        actor=str(entry["actor"]),
        text=text,
        data=data if len(to_json(data)) <= MOST_BYTES else {"type": data["type"], "cut": True},
    )


def _ledger(seq: int, entry: dict[str, Any], data: dict[str, Any]) -> str:
    """One line; empty for an event that this version does not know."""
    happening = Happening(source="ledger", seq=seq, time=entry["time"], actor=entry["actor"], data=data)
    try:
        return in_full(happening)
    except (ValidationError, KeyError, AttributeError, TypeError, ValueError):
        return ""


def _council(record: Record, data: dict[str, Any]) -> str:
    """One line: what a council is about where it begins, else who did what."""
    if data["type"] == "begun":
        request = data.get("request")
        asked = request if isinstance(request, dict) else {}
        about = next((str(asked[each]) for each in _TITLES if isinstance(asked.get(each), str)), "")
        return f"{record.pattern} begins: {first_line(about)}" if about else f"{record.pattern} begins"
    inner = [data, *(each for each in data.values() if isinstance(each, dict))]
    who = next((str(part[key]) for part in inner for key in _WHO if isinstance(part.get(key), str) and part[key]), "")
    why = f": {first_line(str(data['why']))}" if data.get("why") else ""
    what = str(data["type"]).replace("_", " ")
    return f"{record.pattern} {what}{f' ({who})' if who else ''}{why}"
