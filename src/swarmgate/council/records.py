"""The records of discussions, decisions, critiques and orchestrations, behind one small store of named texts.

    manifest.json          what was asked for, the status, and the SHA-256 of every finished round
    rounds/001.json        a finished round: never changes; `rounds/001.json.partial` while it is at work
    ...                    what else a pattern keeps: progress.md, personas/, artifacts/, context/, result.json

A store knows names and texts and nothing of files, so that files, SQLite and later Redis are one to the protocols.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Protocol, TypeVar

from pydantic import BaseModel, Field

from swarmgate.council.stream import Pattern
from swarmgate.domain.base import Frozen, Line
from swarmgate.domain.usage import Allowance, Usage

M = TypeVar("M", bound=BaseModel)

Status = Literal["prepared", "open", "paused", "complete", "failed"]


class Documents(Protocol):
    """Named texts by record. Names have parts separated by `/`; each write is whole or not at all."""

    def put(self, record: str, name: str, text: str, *, durable: bool = True) -> None:
        """Keep a text in the place of what has this name; `durable`: it outlives a power cut."""

    def get(self, record: str, name: str) -> str | None:
        """The text of that name; None: there is none.

        Raises:
            LedgerError: it cannot be read.
        """

    def append(self, record: str, name: str, text: str) -> None:
        """Add to the text of that name, which need not be there yet."""

    def rename(self, record: str, old: str, new: str) -> None:
        """Give a text another name, in one step and in the place of what has that."""

    def drop(self, record: str, name: str) -> None:
        """Forget a text, if it is there."""

    def names(self, record: str) -> tuple[str, ...]:
        """The names of all texts of a record, sorted."""

    def records(self) -> tuple[str, ...]:
        """Every record, sorted."""


class Manifest(Frozen):
    """What a record is of, and how far it is.

    `request` is that of the pattern, as JSON; `request_hash` is `request_hash()` of it. `rounds` are the SHA-256, in
    hex, of every finished round's text, `sealed` those of other texts that never change again, by name. `more` is what
    a pattern keeps beside: the choices of a discussion. `seal` is the SHA-256 of all the rest of the manifest.
    """

    id: str
    pattern: Pattern
    request: dict[str, Any]
    request_hash: str = ""
    created_at: str = ""
    status: Status = "open"
    why: Line = ""
    rounds: tuple[str, ...] = ()
    sealed: dict[str, str] = Field(default_factory=dict)
    allowance: Allowance = Allowance()
    usage: Usage = Usage()
    seconds: float = 0.0
    more: dict[str, Any] = Field(default_factory=dict)
    seal: str = ""


class Records:
    """The records of one project, checked as they are read.

    Args:
        documents: where they are kept.
        clean: gives a JSON-ready value without secrets; everything goes through it before it is kept.
    """

    def __init__(self, documents: Documents, *, clean: Callable[[Any], Any]) -> None:
        self._documents = documents
        self._clean = clean
