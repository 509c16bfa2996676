"""Interface of the stores that hold records of councils: journals and named texts."""

from __future__ import annotations

from typing import Protocol

from swarmgate.journal.lines import Lines


class Documents(Protocol):
    """Journals and named texts by record; `journal.documents`, `journal.sqlite` and `journal.redis` have them.

    Every method raises `LedgerError` where the store cannot be read or written.
    """

    def lines(self, record: str) -> Lines:
        """The journal of a record."""

    def put(self, record: str, name: str, text: str, *, durable: bool = True) -> None:
        """Keep a text in the place of what has this name; `durable`: it outlives a power cut."""

    def get(self, record: str, name: str) -> str | None:
        """The text of that name; None: there is none."""

    def append(self, record: str, name: str, text: str) -> None:
        """Add to the text of that name, which need not be there yet."""

    def drop(self, record: str, name: str) -> None:
        """Forget a text, if it is there."""

    def names(self, record: str) -> tuple[str, ...]:
        """The names of all texts of a record, sorted."""

    def records(self) -> tuple[str, ...]:
        """Every record, sorted."""

    def place(self, record: str, name: str) -> str:
        """Where that text is, as messages name it."""
