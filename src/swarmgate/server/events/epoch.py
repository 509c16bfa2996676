"""The epoch of the feed: which numbers its events have, and whether the store still holds what was told under them.

    epoch 0: 1, 2, 3 ...     epoch 1: 1,000,000,001 ...     epoch 2: 2,000,000,001 ...

An epoch ends when the store lost something of it: it was deleted, or came back from an older state. All events are then
collected anew, under numbers that no reader has seen yet, so that a reader who comes with an old one is known.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from pydantic import Field, ValidationError

from swarmgate.domain.base import Frozen
from swarmgate.server.store.model import Store
from swarmgate.workspace.files.atomic import replace

SPAN = 1_000_000_000
"""Numbers of one epoch."""

_KIND = "feed"
_MARK = "epoch"


class Note(Frozen):
    """What the server's home remembers of the feed, so that a loss of the store is noticed.

    Attributes:
        epoch: counted from 0.
        life: that of the store (`Store.life`) at the last start.
        home: path of the server's home; where it was moved, the events of clones in it have other keys.
        closed: number of rows at the end, where the server was stopped in order; -1: it runs, or was killed.
    """

    epoch: int = Field(0, ge=0)
    life: str = ""
    home: str = ""
    closed: int = -1


class Epochs:
    """Begins epochs, and ends them.

    Args:
        store: that holds the stream.
        home: of the server; `feed.json` in it.
    """

    def __init__(self, store: Store, home: Path) -> None:
        self._store, self._path = store, home / "feed.json"
        self._home = str(home.resolve())

    async def begin(self) -> tuple[int, int]:
        """The epoch at the start of the server, and how many rows its stream has.

        Raises:
            StoreAway: the store cannot be asked.
        """
        life, note = await self._store.life(), self._read()
        if note is None:
            return await self._anew(0, life), 0
        last = await self._store.last(stream(note.epoch))
        marked = await self._store.get(_KIND, _MARK) == b"%d" % note.epoch
        whole = note.closed == last or (note.closed < 0 and note.life == life)
        if marked and whole and note.home == self._home:
            self._write(Note(epoch=note.epoch, life=life, home=self._home))
            return note.epoch, last
        return await self._anew(note.epoch + 1, life), 0

    async def next(self, epoch: int) -> int:
        """The epoch after one whose rows were lost; raises `StoreAway`."""
        return await self._anew(epoch + 1, await self._store.life())

    async def lasts(self, epoch: int) -> bool:
        """Whether the store is still that of the epoch; raises `StoreAway`."""
        return await self._store.get(_KIND, _MARK) == b"%d" % epoch

    def end(self, epoch: int, rows: int) -> None:
        """Remembers that the server was stopped in order."""
        note = self._read()
        if note is not None and note.epoch == epoch:
            self._write(note.model_copy(update={"closed": rows}))

    async def _anew(self, epoch: int, life: str) -> int:
        self._write(Note(epoch=epoch, life=life, home=self._home))
        for old in (epoch - 1, epoch):
            await self._store.forget(stream(old))
            for key in await self._store.keys(cursors(old)):
                await self._store.delete(cursors(old), key)
        await self._store.put(_KIND, _MARK, b"%d" % epoch)
        return epoch

    def _read(self) -> Note | None:
        with suppress(FileNotFoundError, ValidationError):
            return Note.model_validate_json(self._path.read_bytes())
        return None

    def _write(self, note: Note) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        replace(self._path, note.model_dump_json())


def stream(epoch: int) -> str:
    """The name of the stream of an epoch in the store."""
    return f"feed-{epoch}"


def cursors(epoch: int) -> str:
    """The kind of the values that say how far each record was collected in an epoch."""
    return f"feed-{epoch}-cursors"
