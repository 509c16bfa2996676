"""The stream of the feed in the store: one writer appends each row once, and notices when what was told is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from swarmgate.errors import StoreAway
from swarmgate.server.events.epoch import SPAN, Epochs, cursors, stream
from swarmgate.server.events.model import Frame, frame
from swarmgate.server.events.window import Window
from swarmgate.server.store.model import Store, StreamRow

_ROWS = 128
"""Rows that are read at once."""


class Log:
    """The stream of the current epoch.

    Args:
        store: that holds it.
        home: of the server.
        grew: is told of new frames.
        lost: is told that an epoch begins, in which nothing is yet.

    Attributes:
        epoch: counts how often the stream was made anew; -1 before it is open.
    """

    def __init__(
        self, store: Store, home: Path, grew: Callable[[Sequence[Frame]], None], lost: Callable[[], None]
    ) -> None:
        self.epoch = -1
        self._store, self._epochs, self._grew, self._lost = store, Epochs(store, home), grew, lost
        self._window: Window | None = None
        self._writing = asyncio.Lock()
        self._doubtful = False

    @property
    def window(self) -> Window:
        """What can be read; raises `StoreAway` before the store was there."""
        if self._window is None:
            raise StoreAway("The events of the server cannot be read now.", hint="Its store is away: try again later.")
        return self._window

    async def look(self) -> None:
        """Opens the stream, or looks whether the store still has what was told; raises `StoreAway`."""
        async with self._writing:
            if self._window is None:
                self.epoch, rows = await self._epochs.begin()
                self._take(rows)
            else:
                await self._caught_up()

    async def append(self, rows: Sequence[StreamRow]) -> bool:
        """Appends rows that are not there yet; False: everything was lost, and has to be handed in again.

        Raises:
            StoreAway: perhaps they were appended; to hand them in again is right in any case.
        """
        async with self._writing:
            window = self.window
            if self._doubtful and not await self._caught_up():
                return False
            self._doubtful = True  # until it is answered
            numbers = await self._store.append(stream(self.epoch), rows)
            new = [(window.base + seq, row.value) for seq, row in zip(numbers, rows, strict=True) if seq]
            if not new or new[0][0] != window.newest + 1:
                return await self._caught_up()
            self._doubtful = False
            self._extend(new)
            return True

    async def renew(self) -> None:
        """Begins an epoch; raises `StoreAway`."""
        async with self._writing:
            await self._renew()

    async def cursor(self, record: str) -> bytes | None:
        """What was noted for a record in this epoch."""
        return await self._store.get(cursors(self.window.base // SPAN), record)

    async def note(self, record: str, cursor: bytes) -> None:
        """Notes how far a record was collected."""
        await self._store.put(cursors(self.epoch), record, cursor)

    def end(self) -> None:
        """Remembers that the server stops in order."""
        if self._window is not None and not self._doubtful:
            self._epochs.end(self.epoch, self._window.newest - self._window.base)

    async def _caught_up(self) -> bool:
        """Takes in rows whose append was not answered; False where rows that were told are gone, or are others."""
        window, name = self.window, stream(self.epoch)
        known = window.newest - window.base
        rows = await self._store.read(name, max(known - 1, 0), _ROWS)
        if known:
            newest, rows = rows[:1], rows[1:]
            if not newest or not window.ends_with(frame(window.base + newest[0][0], newest[0][1])):
                await self._renew()
                return False
        if not await self._epochs.lasts(self.epoch):
            await self._renew()
            return False
        while rows:
            self._extend([(window.base + seq, value) for seq, value in rows])
            rows = await self._store.read(name, window.newest - window.base, _ROWS)
        self._doubtful = False
        return True

    async def _renew(self) -> None:
        self.epoch = await self._epochs.next(self.epoch)
        self._take(0)
        self._lost()

    def _take(self, rows: int) -> None:
        base = self.epoch * SPAN
        self._window = Window(self._store, stream(self.epoch), base=base, newest=base + rows)
        self._doubtful = False
        self._grew(())

    def _extend(self, rows: Sequence[tuple[int, bytes]]) -> None:
        frames = [frame(seq, value) for seq, value in rows]
        self.window.extend(frames)
        self._grew(frames)
