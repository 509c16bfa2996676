"""Stores model exchanges under `.swarm/traces/`, one JSON file a call, named by ledger position.

    000042-003-reviewer-review.json     the third call after ledger line 42

The position is what lets a new run count the cost of calls whose step died before it could record them, and give the
answers once more that were paid for already (`llm.wrappers.replay`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from pydantic import BaseModel

from swarmgate.domain.usage import Usage
from swarmgate.journal.disk_errors import writing
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.workspace.files.atomic import replace
from swarmgate.workspace.files.folders import make


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

    def unrecorded(self, since: int) -> Usage:
        """What the calls made at ledger position `since` or later used: their steps never came to record it."""
        total = Usage()
        for path in sorted(self._folder.traces.glob("*.json")):
            position = path.name.partition("-")[0]
            if not position.isdigit() or int(position) < since:
                continue
            try:
                data = json.loads(path.read_text(encoding="utf-8"))
                total += Usage.model_validate(data["reply"]["usage"])
            except (OSError, ValueError, KeyError, TypeError):
                continue
        return total

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
