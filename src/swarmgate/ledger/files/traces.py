"""Stores model exchanges under `.swarm/traces/`, one JSON file a call, named by ledger position.

    000042-003-reviewer-review.json     the third call after ledger line 42

The position is what lets a new run count the cost of calls whose step died before it could record them, and give the
answers once more that were paid for already (`llm.wrappers.replay`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel

from swarmgate.domain.usage import Usage
from swarmgate.journal.disk_errors import writing
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.workspace.files.atomic import replace
from swarmgate.workspace.files.folders import make


class Call(NamedTuple):
    """What a kept exchange used, or wasted: whose it was, which model answered, on which day (UTC)."""

    role: str
    model: str
    usage: Usage
    day: str


def call_at(path: Path) -> Call | None:
    """The call that a file holds; None where that is damaged."""
    try:
        data = json.loads(path.read_bytes())
        answered = "reply" in data
        usage = Usage.model_validate(data["reply"]["usage"] if answered else data["wasted"])
        model = (data["reply"].get("model") if answered else "") or data.get("model", "")
        began = data.get("started_at", "")
        day = datetime.fromisoformat(began).astimezone(UTC).date().isoformat() if began else ""
        return Call(str(data.get("purpose", {}).get("role", "")), str(model), usage, day)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def by_model(calls: Iterable[Call]) -> dict[str, Usage]:
    """What each model used."""
    found: dict[str, Usage] = {}
    for call in calls:
        found[call.model] = found.get(call.model, Usage()) + call.usage
    return found


class TraceStore:
    """Writes the exchanges of one run; they are redacted before they come here (`llm.wrappers.trace`).

    Args:
        folder: the project's folder.
        position: the ledger's present sequence number.
    """

    def __init__(self, folder: SwarmFolder, position: Callable[[], int]) -> None:
        self._folder = folder
        self._position = position
        self._counter = len(self._at(position()))
        self._last = position()

    def record(self, exchange: BaseModel) -> None:
        """Stores one exchange."""
        seq = self._position()
        self._counter = self._counter + 1 if seq == self._last else 1
        self._last = seq
        data = exchange.model_dump(mode="json", exclude_defaults=True)
        purpose = data.get("purpose", {})
        name = f"{seq:06d}-{self._counter:03d}-{purpose.get('role', 'model')}-{purpose.get('step', 'call')}.json"
        text = json.dumps(data, ensure_ascii=False, indent=1)
        path = self._folder.traces / name
        with writing(path):
            make(path.parent)
            replace(path, text.encode("utf-8", "replace"), durable=False)

    def unrecorded(self, since: int) -> tuple[Call, ...]:
        """The calls made at ledger position `since` or later: no step came to record what they used."""
        named = ((path.name.partition("-")[0], path) for path in sorted(self._folder.traces.glob("*.json")))
        found = (call_at(path) for position, path in named if position.isdigit() and int(position) >= since)
        return tuple(call for call in found if call is not None)

    def finished(self, since: int, deaths: Sequence[int] = ()) -> dict[str, Any]:
        """The replies of calls made at ledger position `since` or later, as data by the key of their request.

        Args:
            since: where the step began.
            deaths: positions at which a run found that the one before had died. A reply may be what kills: after two
                deaths without a further call the newest one is left out, and one more with each death after that.
        """
        found: dict[str, Any] = {}
        newest = since
        for path in sorted(self._folder.traces.glob("*.json")):
            position = path.name.partition("-")[0]
            if not position.isdigit() or int(position) < since:
                continue
            try:
                data = json.loads(path.read_text(encoding="utf-8"))
                found.pop(data["key"], None)  # the newest stands last
                found[str(data["key"])] = data["reply"]
                newest = int(position)
            except (OSError, ValueError, KeyError, TypeError):
                continue  # it failed, holds what was redacted, or cannot be read
        barren = sum(death > newest for death in deaths) - 1
        for _ in range(min(max(barren - 1, 0), len(found))):
            found.popitem()
        return found

    def _at(self, seq: int) -> list[str]:
        return sorted(path.name for path in self._folder.traces.glob(f"{seq:06d}-*.json"))
