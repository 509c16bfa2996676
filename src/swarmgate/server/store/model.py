"""Interface of the store: named values with lifetimes, and streams. What is in it may be lost, and is made anew."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol


class StreamRow(NamedTuple):
    """A row to be appended to a stream: `key` is unique in its stream, `value` is kept as it is."""

    key: str
    value: bytes


class Store(Protocol):
    """What the server may lose: implemented by SQLite and Redis.

    Every method raises `StoreAway` where the store cannot be reached, or refuses (its disk is full). Then nothing of
    the call was kept, or all of it: a call may be made again. Lifetimes are measured by the wall clock of the store's
    machine; nothing else hangs on a clock.
    """

    async def get(self, kind: str, key: str) -> bytes | None:
        """The value of a key; None: there is none, or its time is over."""

    async def put(
        self, kind: str, key: str, value: bytes, *, ttl_s: float | None = None, only_new: bool = False
    ) -> bool:
        """Stores a value in the place of the one before; whether it was stored.

        Args:
            kind: of value; keys are unique in it.
            key: of the value.
            value: all of it.
            ttl_s: seconds until it vanishes; None: never.
            only_new: leave a value that is there as it is, and answer False.
        """

    async def delete(self, kind: str, key: str) -> None:
        """Deletes a value, if it exists."""

    async def keys(self, kind: str) -> tuple[str, ...]:
        """The keys of a kind, sorted."""

    async def append(self, stream: str, rows: Sequence[StreamRow]) -> tuple[int, ...]:
        """Appends rows in order, all or none; their numbers, which rise by 1 from 1.

        A row whose key the stream has already is not appended again: its number is 0.
        """

    async def read(self, stream: str, after: int, limit: int) -> tuple[tuple[int, bytes], ...]:
        """At most `limit` rows behind number `after`, in order, each with its number."""

    async def last(self, stream: str) -> int:
        """The number of the newest row of a stream; 0: there is none."""

    async def forget(self, stream: str) -> None:
        """Deletes a stream; its numbers begin at 1 again."""

    async def life(self) -> str:
        """What stays the same while nothing that was stored can have been lost: of the machine, or of its process."""

    async def drop(self) -> None:
        """Deletes everything."""

    async def ping(self) -> None:
        """Insists that the store can be read and written."""

    async def close(self) -> None:
        """Ends; what was stored stays."""
