"""Follows the records of all project folders in a thread of its own, and hands new lines to the feed.

It looks at the files' stamps instead of waiting for events of the file system, of which a machine has too few for many
folders, and network disks none. Looking takes at most a twentieth of one processor: the pause between two looks is as
much longer as they take.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Coroutine, Iterable
from pathlib import Path
from typing import Any, Protocol, TypeVar

from pydantic_core import from_json, to_json

from swarmgate.errors import StoreAway, SwarmError
from swarmgate.journal.chain import GENESIS
from swarmgate.server.events.model import stored
from swarmgate.server.events.records import Folder, Followed, Line, Record
from swarmgate.server.events.words import event_of
from swarmgate.server.store.model import StreamRow

T = TypeVar("T")

LOOK_S = 0.02
"""Seconds between two looks, at least."""
LIST_S = 2.0
"""Seconds between two questions what is to be followed."""
_SHARE = 20
_MOST_S = 1.0
_RETRY_S = 0.5
_CHUNK = 128
"""Lines that are kept in one step."""

_log = logging.getLogger(__name__)


class Sink(Protocol):
    """Where lines go to; its methods run in the event loop, and raise `StoreAway`."""

    async def cursor(self, record: str) -> bytes | None:
        """What `keep` was given for the record the last time."""

    async def keep(self, record: str, rows: list[StreamRow], cursor: bytes) -> bool:
        """Keeps rows, each once, and then the cursor; False: everything was lost, and has to be handed in again."""

    async def trouble(self, followed: Followed, record: str, why: str) -> None:
        """Is told that a record cannot be read on in."""


class _Lost(Exception):
    """The sink lost everything."""


class Collector:
    """Collects lines into a sink.

    Args:
        sink: that takes them.
        mask: masks the secrets in a text.
    """

    def __init__(self, sink: Sink, mask: Callable[[str], str]) -> None:
        self._sink, self._mask = sink, mask
        self._loop: asyncio.AbstractEventLoop | None = None
        self._folders: dict[Path, Folder] = {}
        self._listed: Callable[[], Iterable[Followed]] | None = None
        self._next_list = 0.0
        self._lock = threading.Lock()
        self._anew = threading.Event()
        self._stopping = threading.Event()
        self._busy = False
        self._thread = threading.Thread(target=self._run, name="swarm-feed", daemon=True)

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Begins; the sink is called in this loop."""
        self._loop = loop
        self._thread.start()

    def stop(self) -> None:
        """Ends after a last look; not to be called in the loop, which has to go on meanwhile."""
        self._stopping.set()
        if self._thread.ident is not None:
            self._thread.join()

    def follow(self, followed: Followed) -> None:
        """Collects from a folder from now on, once, also where it is known under another path."""
        with self._lock:
            self._folders.setdefault(followed.swarm.resolve(), Folder(followed))

    def follow_all(self, listed: Callable[[], Iterable[Followed]]) -> None:
        """Keeps to the folders that are listed, which is asked every `LIST_S`, in this thread of its own."""
        self._listed = listed

    def again(self) -> None:
        """Hands everything in again: the sink lost it."""
        self._anew.set()

    # --- its thread ---

    def _run(self) -> None:
        while not self._stopping.is_set():
            began, self._busy = time.thread_time(), False
            away_s = self._look()
            looked_s = 0.0 if self._busy else time.thread_time() - began
            self._stopping.wait(away_s or min(max(LOOK_S, looked_s * _SHARE), _MOST_S))
        self._look()

    def _list(self) -> None:
        """Takes in which folders are there; a folder that is a goal's and a repository's is the goal's."""
        self._busy, self._next_list = True, time.monotonic() + LIST_S
        try:
            there = sorted(self._listed() if self._listed else (), key=lambda each: not each.goal)
        except Exception:  # noqa: BLE001 - what cannot be listed now is followed as it was
            _log.exception("it cannot be listed what the feed is to follow")
            return
        wanted: dict[Path, Followed] = {}
        for each in there:
            wanted.setdefault(each.swarm.resolve(), each)
        with self._lock:
            known = self._folders
            self._folders = {
                path: known[path] if path in known and known[path].followed == each else Folder(each)
                for path, each in wanted.items()
            }

    def _look(self) -> float:
        """Looks at everything; seconds to wait, where the store is away."""
        if self._listed is not None and time.monotonic() >= self._next_list:
            self._list()
        with self._lock:
            folders = list(self._folders.values())
        if self._anew.is_set():
            self._anew.clear()
            for record in (each for folder in folders for each in folder.records.values()):
                record.forget()
        for folder in folders:
            try:
                self._folder(folder)
            except StoreAway:
                return _RETRY_S
            except _Lost:
                self._anew.set()
                break
            except Exception:  # noqa: BLE001 - what one folder holds never ends the feed of all others
                _log.exception("the records of %s cannot be followed", folder.followed.swarm)
        return 0.0

    def _folder(self, folder: Folder) -> None:
        try:
            folder.look()
        except (SwarmError, OSError) as error:
            if str(error) != folder.trouble:
                self._tell(folder.followed, "records", str(error))
            folder.trouble = str(error)
        else:
            folder.trouble = ""
        for record in list(folder.records.values()):
            if record.grew():
                self._record(record)

    def _record(self, record: Record) -> None:
        self._busy = True
        if not record.placed:
            kept = self._await(self._sink.cursor(record.key))
            seq, head = from_json(kept) if kept else (0, GENESIS)
            record.place(int(seq), str(head))
        chunk: list[Line] = []
        try:
            for line in record.unread():
                chunk.append(line)
                if len(chunk) == _CHUNK:
                    self._keep(record, chunk)
            self._keep(record, chunk)
            record.settled()
        except (StoreAway, _Lost):
            record.forget()
            raise
        except (SwarmError, OSError) as error:
            self._keep(record, chunk)  # those before the one that is wrong
            if str(error) != record.trouble:
                self._tell(record.followed, record.name, str(error))
            record.failed(str(error))

    def _keep(self, record: Record, chunk: list[Line]) -> None:
        """Hands lines to the sink, and empties the list."""
        if not chunk:
            return
        rows = [
            StreamRow(f"{record.key}/{line.seq}/{line.hash[:16]}", stored(event_of(record, line, self._mask)))
            for line in chunk
        ]
        last = chunk[-1]
        if not self._await(self._sink.keep(record.key, rows, to_json((last.seq, last.hash)))):
            raise _Lost
        record.took(last)
        chunk.clear()

    def _tell(self, followed: Followed, record: str, why: str) -> None:
        self._await(self._sink.trouble(followed, record, why))

    def _await(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of work in the event loop, where the store and the feed are."""
        assert self._loop is not None  # noqa: S101 - the thread begins with it
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()
