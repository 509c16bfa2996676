"""Sessions of councils outside a run: their model exchanges, usage and ledger events.

    .swarm/traces/council/debate-20261121-224500-3f2a/000001-participant-debate.json     its first call
    .swarm/traces/council/debate-20261121-224500-3f2a/open      there may be calls that the ledger does not count yet
    .swarm/runtime/council/debate-20261121-224500-3f2a.lock     held while it goes on

The ledger has one writer, and a run may be it for hours. So a council only keeps its calls, and whoever next writes the
ledger records their usage (`settle`), with the number of the last one: killed in between, nothing is counted twice.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pydantic import BaseModel

from swarmgate.domain.events.event import UsageRecorded
from swarmgate.domain.usage import Usage
from swarmgate.errors import CouncilRefused, LedgerLocked
from swarmgate.journal.disk_errors import writing
from swarmgate.journal.lock import WriterLock, describe, live_owner, read_owner
from swarmgate.ledger.councils.record_heads import sealed
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.files.traces import Call, by_model, call_at
from swarmgate.ledger.ledger import Ledger
from swarmgate.workspace.files.atomic import replace
from swarmgate.workspace.files.folders import make

ROLE = "council"
"""The role under which the ledger counts what councils outside of runs used."""
_OPEN = "open"


class Session:
    """One debate, dispatch or chat outside of a run; a recorder of model exchanges (`llm.wrappers.trace.Recorder`).

    Args:
        folder: the project's folder.
        name: what it is and its id, such as `debate-20261121-224500-3f2a`; usable as a file name.
    """

    def __init__(self, folder: SwarmFolder, name: str) -> None:
        self.name = name
        self.place = folder.traces / "council" / name
        self._lock = folder.runtime / "council" / f"{name}.lock"
        self._last = 0

    @property
    def open(self) -> bool:
        """Whether there may be calls that the ledger does not count yet."""
        return (self.place / _OPEN).exists()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keeps every other process out. A dead process's lock is taken over.

        Raises:
            CouncilRefused: a live process holds it.
            LedgerWriteFailed: the disk refused.
        """
        with self._locked():
            with writing(self.place):
                make(self.place)
                (self.place / _OPEN).touch()
            self._last = max(self._numbers(), default=0)
            yield

    @contextmanager
    def _locked(self) -> Iterator[None]:
        lock = WriterLock(self._lock)
        try:
            lock.acquire()
        except LedgerLocked as error:
            raise CouncilRefused(
                f"{self.name} goes on in another process: {describe(read_owner(self._lock))}.",
                hint="Wait for its end, or end that process; it can be resumed then.",
            ) from error
        try:
            yield
        finally:
            lock.release()

    def record(self, exchange: BaseModel) -> None:
        """Stores one exchange, which is already redacted."""
        data = exchange.model_dump(mode="json", exclude_defaults=True)
        purpose = data.get("purpose", {})
        self._last += 1
        name = f"{self._last:06d}-{purpose.get('role', 'model')}-{purpose.get('step', 'call')}.json"
        with writing(self.place / name):
            text = json.dumps(data, ensure_ascii=False, indent=1)
            replace(self.place / name, text.encode("utf-8", "replace"), durable=False)

    def used(self, *, after: int = 0) -> Usage:
        """The usage of the calls with numbers above `after`."""
        return sum((call.usage for call in self._calls(after)), Usage())

    def uncounted(self, ledger: Ledger) -> tuple[Call, ...]:
        """The calls that the ledger does not count yet."""
        events = (entry.event for entry, _ in ledger.entries())
        mine = (each for each in events if isinstance(each, UsageRecorded) and each.source == self.name)
        return self._calls(max((each.counted for each in mine), default=0))

    def due(self, ledger: Ledger) -> UsageRecorded | None:
        """What the ledger does not count yet, as an event; None: nothing."""
        last, models = max(self._numbers(), default=0), by_model(self.uncounted(ledger))
        used = sum(models.values(), Usage())
        if not used.calls:
            return None
        return UsageRecorded(role=ROLE, usage=used, models=models, source=self.name, counted=last)

    def _calls(self, after: int) -> tuple[Call, ...]:
        found = (call_at(path) for number, path in sorted(self._numbers().items()) if number > after)
        return tuple(call for call in found if call is not None)

    def settle(self, ledger: Ledger) -> None:
        """Has the ledger count all of it; a live one is left to its own end."""
        if live_owner(self._lock):
            return
        with suppress(CouncilRefused), self._locked():
            used, record = self.due(ledger), self.name.partition("-")[2]
            ledger.append([*([used] if used else []), *sealed(ledger, record)], expect=ledger.state.seq)
            (self.place / _OPEN).unlink(missing_ok=True)
            if not self._numbers():  # nobody was asked anything
                shutil.rmtree(self.place)

    def _numbers(self) -> dict[int, Path]:
        named = ((path.name.partition("-")[0], path) for path in self.place.glob("*.json"))
        return {int(number): path for number, path in named if number.isdigit()}


def unsettled(folder: SwarmFolder) -> list[Session]:
    """The sessions of which the ledger may not count everything yet, live ones among them."""
    return [Session(folder, mark.parent.name) for mark in sorted(folder.traces.glob(f"council/*/{_OPEN}"))]


def by_record(folder: SwarmFolder) -> dict[str, list[Session]]:
    """The sessions of every record, and under it those too of records whose ids go on from its own with a dot.

    A session is called by what it is of and by its record's id, and no more: `nightly` is no part of `my-nightly`.
    """
    found: dict[str, list[Session]] = {}
    for place in sorted((folder.traces / "council").glob("*")):
        pattern, _, record = place.name.partition("-")
        pieces = record.split(".") if pattern.isalpha() else []
        for count in range(1, len(pieces) + 1):
            found.setdefault(".".join(pieces[:count]), []).append(Session(folder, place.name))
    return found


def used(sessions: Iterable[Session]) -> Usage:
    """The usage of all sessions, including calls that were killed later."""
    return sum((each.used() for each in sessions), Usage())


class UnsettledUsage:
    """The usage of sessions that the ledger does not count yet, refreshed when one of them makes a call.

    Args:
        folder: the project's folder.
        own: the name of the session that is not meant; empty: there is none.
    """

    def __init__(self, folder: SwarmFolder, *, own: str = "") -> None:
        self._folder = folder
        self._own = own
        self._seen: object = None
        self._ledger = self._due = Usage()

    @property
    def due(self) -> Usage:
        """The usage of other sessions."""
        self._refresh()
        return self._due

    @property
    def whole(self) -> Usage:
        """The usage of other sessions, and all that the ledger counts."""
        self._refresh()
        return self._ledger + self._due

    def _refresh(self) -> None:
        """Reads ledger and sessions where one of them has grown.

        Raises:
            LedgerCorrupt: the ledger is damaged.
        """
        others = [each for each in unsettled(self._folder) if each.name != self._own]
        if not others and not self._own:
            self._due = Usage()
            return
        seen = (_stamp(self._folder.ledger), *((each.name, _stamp(each.place)) for each in others))
        if seen == self._seen:
            return
        ledger = Ledger.read(self._folder)
        self._ledger = ledger.state.usage
        self._due = sum((event.usage for each in others if (event := each.due(ledger))), Usage())
        self._seen = seen


def _stamp(path: Path) -> tuple[int, int]:
    """Size and time of a file or folder; nothing where there is none."""
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return found.st_size, found.st_mtime_ns


def settle(ledger: Ledger) -> None:
    """Records what sessions used that are over, or were killed; live ones settle at their own end.

    Raises:
        LedgerError: the ledger cannot be written.
    """
    for session in unsettled(ledger.folder):
        session.settle(ledger)
