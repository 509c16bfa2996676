"""The event log of automation (`.swarm/events.jsonl`), and its dead letters (`runtime/dead-letters.jsonl`).

Neither is a record that anything is decided by, so neither ever fails its caller: what cannot be written is told on
stderr, once, and the work goes on. Texts are cut to `TEXT`; whoever hands in a text leaves secrets out of it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import to_json

from swarmgate.domain.base import Frozen
from swarmgate.domain.events.automation import AutomationEvent, DeadLetter, Happening
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.files.rotating_lines import LIMIT_BYTES, RotatingLines

TEXT = 2_000
"""Characters of one text that are kept."""

STOPPED = "stopped"
"""Why a letter is kept: swarmgate stopped watching before the subscriber had taken the event."""

_Record = TypeVar("_Record", bound=Frozen)


class Letter(Frozen):
    """An event that `subscriber` could not take, whole, and why."""

    seq: int
    time: str
    subscriber: str
    error: str
    event: Happening


def _now() -> datetime:
    return datetime.now(UTC)


class AutomationLog:
    """The events of automation. Safe between threads and processes.

    Args:
        folder: the project's.
        clock: of the events' times.
        limit: bytes from which on the file rotates.
    """

    def __init__(self, folder: SwarmFolder, *, clock: Callable[[], datetime] = _now, limit: int = LIMIT_BYTES) -> None:
        self.lines = RotatingLines(folder.automation_log, limit=limit)
        self.unreadable = 0
        """Lines that the last `read` had to skip."""
        self._clock = clock
        self._reported = False

    def append(self, event: AutomationEvent, *, actor: str) -> Happening:
        """Tells an event; returns it with its place, whose `seq` is 0 where it could not be written."""
        at = Happening(
            source="automation",
            seq=0,
            time=_stamp(self._clock()),
            actor=actor,
            data=_short(event.model_dump(mode="json")),
        )

        def made(number: int) -> bytes:
            nonlocal at
            at = at.model_copy(update={"seq": number})
            return _line(at)

        try:
            self.lines.append(made)
        except OSError as error:
            at = at.model_copy(update={"seq": 0})
            if not self._reported:
                self._reported = True
                _report(self.lines, error)
        return at

    def read(self, last: int | None = None) -> tuple[Happening, ...]:
        """The events that are kept, oldest first; `last`: only so many of the newest. Unreadable lines are counted.

        Raises:
            OSError: the file cannot be read.
        """
        found, self.unreadable = _read(self.lines, happening_of)
        return found[max(0, len(found) - last) :] if last is not None else found


class DeadLetters:
    """Events that subscribers could not take. What goes in is told on the journal as `dead_letter`.

    Args:
        folder: the project's.
        clock: of the letters' times.
    """

    def __init__(self, folder: SwarmFolder, *, clock: Callable[[], datetime] = _now) -> None:
        self.lines = RotatingLines(folder.dead_letters)
        self.unreadable = 0
        """Lines that the last `read` had to skip."""
        self._journal = AutomationLog(folder, clock=clock)
        self._folder = folder
        self._clock = clock
        self._reported = False

    def keep(self, subscriber: str, events: Sequence[Happening], error: str, *, tell: bool = True) -> None:
        """Keeps events whole, in one write.

        Args:
            subscriber: who could not take them.
            events: in their order.
            error: why not.
            tell: whether the journal hears of it, once for all of them; never of a dead letter about a dead letter.
        """
        if not events:
            return
        time, why = _stamp(self._clock()), _cut(error)

        def made(number: int) -> bytes:
            letters = (
                Letter(seq=n, time=time, subscriber=subscriber, error=why, event=event)
                for n, event in enumerate(events, start=number)
            )
            return b"".join(map(_line, letters))

        try:
            if self._folder.path.is_dir():  # where the user removed it all, nothing is made anew
                self._folder.runtime.mkdir(exist_ok=True)
            self.lines.append(made)
        except OSError as failed:
            if not self._reported:
                self._reported = True
                _report(self.lines, failed)
        worth = [each for each in events if each.type != "dead_letter"]
        if tell and worth:
            self.tell(subscriber, worth[0], why if len(events) == 1 else f"{why} ({len(events):,} events)")

    def tell(self, subscriber: str, event: Happening | None, error: str) -> None:
        """Tells the journal alone; None: it is about several events."""
        about = {"event": event.type, "seq": event.seq} if event else {"event": ""}
        letter = DeadLetter(subscriber=subscriber, error=error, **about)
        self._journal.append(letter, actor=subscriber)

    def read(self, last: int | None = None) -> tuple[Letter, ...]:
        """The letters that are kept, oldest first; `last`: only so many of the newest. Unreadable lines are counted.

        Raises:
            OSError: the file cannot be read.
        """
        found, self.unreadable = _read(self.lines, _letter)
        return found[max(0, len(found) - last) :] if last is not None else found


def happening_of(line: bytes) -> Happening | None:
    """The event of a line of the journal; None where it is unreadable, or no event of automation."""
    try:
        found = Happening.model_validate_json(line)
    except ValidationError:
        return None
    return found if found.source == "automation" and isinstance(found.data.get("type"), str) else None


def _letter(line: bytes) -> Letter | None:
    try:
        return Letter.model_validate_json(line)
    except ValidationError:
        return None


def _read(lines: RotatingLines, record: Callable[[bytes], _Record | None]) -> tuple[tuple[_Record, ...], int]:
    """The records, and how many lines are none."""
    all_lines = lines.read()
    found = tuple(each for line in all_lines if (each := record(line)) is not None)
    return found, len(all_lines) - len(found)


def _line(record: Frozen) -> bytes:
    return to_json(record) + b"\n"


def _short(value: Any) -> Any:
    """JSON with its texts cut."""
    if isinstance(value, dict):
        return {key: _short(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_short(each) for each in value]
    return _cut(value) if isinstance(value, str) else value


def _cut(text: str) -> str:
    clean = text.encode("utf-8", "replace").decode()  # a lone surrogate has no place in UTF-8
    return clean if len(clean) <= TEXT else f"{clean[: TEXT - 3]}..."


def _stamp(time: datetime) -> str:
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _report(lines: RotatingLines, error: OSError) -> None:
    why = error.strerror or error
    sys.stderr.write(f"swarm: {lines.path} cannot be written: {why}. Automation goes on without telling there.\n")
