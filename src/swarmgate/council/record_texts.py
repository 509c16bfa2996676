"""Texts of records over a store: cleaned and sealed as they are kept, checked as they are read.

A store knows names and texts and nothing of files, so that files, SQLite and later Redis are one to the protocols.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from swarmgate.errors import LedgerError

M = TypeVar("M", bound=BaseModel)

MANIFEST = "manifest.json"
"""The name of the text that says what a record is of, and has the hashes of its finished texts."""

PARTIAL = ".partial"
"""How the name of a text ends that is at work, or on its way to be finished."""

_SEAL = "seal"
_WAY_OUT = "Bring it back from a backup or from git, or begin anew under another id."


class Documents(Protocol):
    """Named texts by record. Names have parts separated by `/`; each write is whole or not at all.

    Every method raises `LedgerError` where the store cannot be read or written.
    """

    def put(self, record: str, name: str, text: str, *, durable: bool = True) -> None:
        """Keep a text in the place of what has this name; `durable`: it outlives a power cut."""

    def get(self, record: str, name: str) -> str | None:
        """The text of that name; None: there is none."""

    def append(self, record: str, name: str, text: str) -> None:
        """Add to the text of that name, which need not be there yet."""

    def rename(self, record: str, old: str, new: str) -> None:
        """Give a text another name, in one step and in the place of what has that.

        Raises:
            LedgerError: there is no text of the old name.
        """

    def drop(self, record: str, name: str) -> None:
        """Forget a text, if it is there."""

    def names(self, record: str) -> tuple[str, ...]:
        """The names of all texts of a record, sorted."""

    def records(self) -> tuple[str, ...]:
        """Every record, sorted."""

    def place(self, record: str, name: str) -> str:
        """Where that text is, as messages name it."""


class Texts:
    """The texts of all records, as JSON where they are models.

    Args:
        documents: where they are kept.
        clean: gives a JSON-ready value without secrets.
    """

    def __init__(self, documents: Documents, *, clean: Callable[[Any], Any]) -> None:
        self._documents = documents
        self._clean = clean

    def finished(self, record: str, name: str, expected: str) -> str:
        """A text whose hash is known; one that was left under its `.partial` gets its name.

        Raises:
            LedgerError: it is missing, or is not the one of that hash.
        """
        for there in (name, name + PARTIAL, name):  # its writer may rename it between two looks
            text = self._documents.get(record, there)
            if text is not None and digest(text) == expected:
                if there != name:
                    with suppress(LedgerError):  # what can only be read is read
                        self._documents.rename(record, there, name)
                return text
            if text is not None and there == name:
                raise self.damaged(record, name, f"it is not what {MANIFEST} has on record")
        raise self.missing(record, name)

    def text(self, value: BaseModel | str) -> str:
        """What is kept of a text, or of a model: its JSON."""
        if isinstance(value, str):
            return str(self.plain(value))
        return _json(self.plain(value.model_dump(mode="json")))

    def plain(self, value: Any) -> Any:
        """The value without secrets, and without what JSON and UTF-8 cannot hold, such as a lone surrogate."""
        return json.loads(json.dumps(self._clean(value), ensure_ascii=False).encode("utf-8", "replace"))

    def data(self, record: str, name: str, text: str) -> dict[str, Any]:
        """The JSON object that a text is.

        Raises:
            LedgerError: it is none.
        """
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise self.damaged(record, name, f"it is no JSON ({error})") from None
        if not isinstance(data, dict):
            raise self.damaged(record, name, "it is no JSON object")
        return data

    def unsealed(self, record: str, name: str, text: str) -> dict[str, Any]:
        """The JSON object that a text of `sealed` is, without the seal.

        Raises:
            LedgerError: it is none, or was changed.
        """
        data = self.data(record, name, text)
        if data.pop(_SEAL, "") != digest(canonical(data)):
            raise self.damaged(record, name, "its `seal` is not that of what it says")
        return data

    def model(self, record: str, name: str, data: dict[str, Any], kind: type[M]) -> M:
        """The model of that JSON.

        Raises:
            LedgerError: it is none of that kind.
        """
        try:
            return kind.model_validate(data)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(part) for part in first["loc"])
            raise self.damaged(record, name, f"`{place}`: {first['msg']}" if place else first["msg"]) from None

    def missing(self, record: str, name: str) -> LedgerError:
        """That a text is not there, which must be."""
        return LedgerError(f"{self._documents.place(record, name)} is missing.", hint=_WAY_OUT)

    def damaged(self, record: str, name: str, why: str) -> LedgerError:
        """That a text is not as swarmgate wrote it."""
        return LedgerError(
            f"{self._documents.place(record, name)} is damaged, or was changed by hand: {why}", hint=_WAY_OUT
        )


def canonical(value: Any) -> str:
    """A JSON-ready value as the one text that its hash is of."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def digest(text: str) -> str:
    """The SHA-256 of a text, in hex."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def sealed(data: dict[str, Any], *, indent: int | None = 1) -> str:
    """The text of a JSON object with the SHA-256 of all of it."""
    return _json({**data, _SEAL: digest(canonical(data))}, indent=indent)


def _json(data: Any, *, indent: int | None = 1) -> str:
    return f"{json.dumps(data, ensure_ascii=False, indent=indent)}\n"
