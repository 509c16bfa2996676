"""Writes the breaker counts of the running turn to `.swarm/runtime/breakers.json`, for `swarm status`.

No record: it may be lost at any time, is written without fsync and not at every call, and is gone with its turn. It
counts for nothing unless the process that wrote it still holds the lock.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from swarmgate.domain.guard import LiveTurn
from swarmgate.workspace.files.atomic import replace

if TYPE_CHECKING:
    import asyncio

_PAUSE_S = 0.1
"""Seconds between two writes; what comes in between is written at their end."""


class LiveCounts:
    """Writes the counts of the running turn.

    Args:
        path: the file; its folder exists while the lock is held.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._written = 0.0
        self._newest: LiveTurn | None = None
        self._waits: dict[str, tuple[str, str]] = {}
        self._due: asyncio.TimerHandle | None = None

    def show(self, turn: LiveTurn | None) -> None:
        """Shows these counts soon; None: the turn has ended, and none are shown any more. Called inside of a loop."""
        self._newest = turn
        if turn is None:
            self._cancel()
            self._written = 0.0
            with contextlib.suppress(OSError):
                self._path.unlink(missing_ok=True)
        elif self._due is None:
            wait = self._written + _PAUSE_S - time.monotonic()
            if wait <= 0:
                self._write()
            else:
                import asyncio  # noqa: PLC0415 - `swarm status` only reads, and does without

                self._due = asyncio.get_running_loop().call_later(wait, self._write)

    def wait(self, model: str, text: str, until: str) -> None:
        """Shows what the turn waits for, and until when (UTC, ISO 8601); empty: the wait for this model is over."""
        self._waits.pop(model, None)
        if until:
            self._waits[model] = (text, until)
        self._write()

    def _write(self) -> None:
        self._cancel()
        if self._newest is None:
            return
        self._written = time.monotonic()
        text, until = next(reversed(self._waits.values()), ("", ""))
        turn = self._newest.model_copy(update={"waits": text, "until": until})
        written = json.dumps({"pid": os.getpid(), "turn": turn.model_dump(mode="json")})
        with contextlib.suppress(OSError):  # a full disk shows itself where something is recorded
            replace(self._path, written, durable=False)

    def _cancel(self) -> None:
        if self._due is not None:
            self._due.cancel()
            self._due = None


def read(path: Path, owner: dict[str, object]) -> LiveTurn | None:
    """The turn that goes on in the process that holds the lock; None where there is none, or nothing of it is known.

    Args:
        path: the file.
        owner: as `lock.live_owner` says.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if not owner or data["pid"] != owner.get("pid"):
            return None
        turn = LiveTurn.model_validate(data["turn"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if turn.stands:
        return turn
    seconds = max(0, int(time.time() - turn.began))
    visible = (
        each.model_copy(update={"count": seconds}) if each.breaker == "wall_time" else each for each in turn.breakers
    )
    return turn.model_copy(update={"breakers": tuple(visible)})
