"""The newest events of the feed in memory, and older ones in blocks as they are asked for: bounded, and shared."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence

from swarmgate.server.events.model import Frame, frame
from swarmgate.server.store.model import Store

BLOCK = 64
"""Events that are read from the store at once, and at most sent at once."""
BYTES = 16 * 1024 * 1024
"""Of the newest events that are held in memory; older ones are read from the store."""
BLOCKS = 32
"""Blocks of older events that are held for readers who catch up."""


class Window:
    """Reads of one stream, whose numbers begin behind `base`.

    Args:
        store: that has the stream.
        stream: its name.
        base: is added to the store's numbers.
        newest: number of the newest event; what is appended from now on is told by `extend`.

    Attributes:
        newest: as above, kept up to date.
    """

    def __init__(self, store: Store, stream: str, *, base: int, newest: int) -> None:
        self._store, self._stream, self.base = store, stream, base
        self.newest = newest
        self._frames: list[Frame] = []
        self._bytes = 0
        self._blocks: OrderedDict[int, tuple[Frame, ...]] = OrderedDict()
        self._loading = asyncio.Lock()

    def extend(self, frames: Sequence[Frame]) -> None:
        """Takes in what was appended."""
        if not frames:
            return
        self._frames.extend(frames)
        self._bytes += sum(len(each.json) for each in frames)
        self.newest = frames[-1].seq
        if self._bytes > BYTES:
            kept, size = len(self._frames), 0
            while kept and size < BYTES // 2:
                kept -= 1
                size += len(self._frames[kept].json)
            self._frames, self._bytes = self._frames[kept:], size

    def ends_with(self, newest: Frame) -> bool:
        """Whether the newest event is this one; where only its number is known, that has to be it."""
        return newest == self._frames[-1] if self._frames else newest.seq == self.newest

    async def after(self, seq: int) -> Sequence[Frame]:
        """The next events behind `seq`, in order, at most `BLOCK`; none: there is none yet.

        Raises:
            StoreAway: they have to be read, and cannot.
        """
        if seq >= self.newest:
            return ()
        first = self._frames[0].seq if self._frames else self.newest + 1
        if seq + 1 >= first:
            start = seq + 1 - first
            return self._frames[start : start + BLOCK]
        number, offset = divmod(seq - self.base, BLOCK)
        return (await self._block(number))[offset:]

    async def _block(self, number: int) -> tuple[Frame, ...]:
        async with self._loading:  # many readers who catch up ask for the same one
            if number in self._blocks:
                self._blocks.move_to_end(number)
                return self._blocks[number]
            rows = await self._store.read(self._stream, number * BLOCK, BLOCK)
            block = tuple(frame(self.base + seq, value) for seq, value in rows)
            if len(block) == BLOCK:
                self._blocks[number] = block
                if len(self._blocks) > BLOCKS:
                    self._blocks.popitem(last=False)
            return block
