"""Store of a project's council records: begins, opens and lists them, and finds them by request."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from pydantic_core import from_json

from swarmgate.config import nearest
from swarmgate.council.records.document_store import Documents
from swarmgate.council.records.lifecycle import Begun
from swarmgate.council.records.record import Record
from swarmgate.council.records.rules import Rules
from swarmgate.domain.actor import USER
from swarmgate.domain.base import Frozen
from swarmgate.domain.usage import Allowance
from swarmgate.errors import CouncilRefused, LedgerError
from swarmgate.journal.documents import JOURNAL

Q = TypeVar("Q", bound=Frozen)
S = TypeVar("S")
O = TypeVar("O")  # noqa: E741 - an outcome

_ID = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]|\.(?!\.)){0,79}")
_ANOTHER_ID = "Give this one an id of its own."
_OLD = "manifest.json"
"""What a record of swarmgate before its journals had in the place of one."""

_BESIDE = '"team_name"'
"""A key of the manifest that a discussion has beside its journal."""


class Records:
    """The records of one project. One process writes a record, others may read it meanwhile.

    Args:
        documents: where they are kept.
        clean: as of `Record`.
        person: as of `Record`.
    """

    def __init__(self, documents: Documents, *, clean: Callable[[Any], Any], person: str = USER) -> None:
        self.documents = documents
        self.clean = clean
        self.person = person

    def begin(
        self,
        pattern: Rules[Q, S, O],
        request: Q,
        *,
        request_hash: str = "",
        allowance: Allowance = Allowance(),  # noqa: B008 - frozen
        part_of: str = "",
    ) -> Record[Q, S, O]:
        """Begins the record of a request; an existing record of the same request is returned.

        Raises:
            CouncilRefused: another record has its id, or it is no id.
            LedgerError: what is there cannot be read.
        """
        id, asked = str(getattr(request, "id")), request.model_dump(mode="json")  # noqa: A001, B009 - every request's
        self.check_id(id, pattern.name)
        if self.documents.names(id):
            if (other := self.begun(id, pattern.name).pattern) != pattern.name:
                raise CouncilRefused(
                    f"There is a record of another kind with the id {id}: a {other}.", hint=_ANOTHER_ID
                )
            there = self.open(pattern, id)
            begun = next(there.entries()).event
            clean = self.clean(asked)
            if differs := [f"`{key}`" for key in clean if clean[key] != begun.request.get(key)]:
                raise CouncilRefused(
                    f"There is another {pattern.name} with the id {id}: it differs in {', '.join(differs)}.",
                    hint=_ANOTHER_ID,
                )
            return there
        record = Record(pattern, id, self.documents, self.clean, self.person)
        record.append(
            [
                Begun(
                    pattern=pattern.name,
                    request=asked,
                    request_hash=request_hash,
                    allowance=allowance,
                    part_of="" if part_of == id else part_of,
                )
            ]
        )
        return record

    def open(self, pattern: Rules[Q, S, O], id: str) -> Record[Q, S, O]:  # noqa: A002 - the field's name
        """A record that is there.

        Raises:
            CouncilRefused: there is none of that id and pattern; the hint has the nearest.
            LedgerError: it is damaged, or was altered.
        """
        begun = self.begun(id, pattern.name)
        if begun.pattern != pattern.name:
            raise self._unknown(id, pattern.name)
        return Record(pattern, id, self.documents, self.clean, self.person)

    def begun(self, id: str, pattern: str = "") -> Begun:  # noqa: A002 - the field's name
        """The first event of a record; its chain is not checked.

        Raises:
            CouncilRefused: there is none of that id; `pattern` is what it was taken for.
            LedgerError: the line cannot be read.
        """
        self.check_id(id, pattern)
        line = self._first_line(id)
        if not line and id not in self.documents.records():
            raise self._unknown(id, pattern)
        if not line and _BESIDE not in (self.documents.get(id, _OLD) or _BESIDE):
            raise CouncilRefused(
                f"{id} is a record of an earlier swarmgate, in {self.documents.place(id, _OLD)}: this one reads "
                f"{JOURNAL}.",
                hint="Its texts are there to be read as they are; hold it anew under another id.",
            )
        try:
            return Begun.model_validate(from_json(line)["event"])
        except (ValueError, KeyError, TypeError):
            raise LedgerError(
                f"{self.documents.place(id, JOURNAL)} has no first line that can be read.",
                hint="Bring the file back from a backup or from git.",
            ) from None

    def began(self, id: str) -> str:  # noqa: A002 - the field's name
        """When a record began, as its first line has it, damaged or not; empty: it does not say."""
        with suppress(LedgerError, ValueError, KeyError, TypeError):
            return str(from_json(self._first_line(id))["time"])
        return ""

    def ids(self, pattern: str = "", *, parts: bool = True) -> tuple[str, ...]:
        """The ids of all records of a pattern (empty: of all), the newest first; `parts`: of others, too.

        One whose first line cannot be read is among them, at the end: whoever reads it is told.
        """
        found: list[tuple[str, str]] = []
        for name in self.documents.records():
            when, begun, line = "", None, b"?"
            with suppress(LedgerError, ValueError, KeyError, TypeError):
                line = self._first_line(name)
                entry = from_json(line)
                when, begun = str(entry["time"]), Begun.model_validate(entry["event"])
            if not line:
                continue
            if (not pattern or begun is None or begun.pattern == pattern) and (parts or not (begun and begun.part_of)):
                found.append((when, name))
        return tuple(name for _, name in sorted(found, reverse=True))

    def find(self, pattern: Rules[Q, S, O], request_hash: str) -> Record[Q, S, O] | None:
        """The newest complete record of that request; None: there is none. Damaged ones do not count."""
        for name in self.ids(pattern.name) if request_hash else ():
            with suppress(LedgerError, CouncilRefused):
                if self.begun(name).request_hash == request_hash:
                    there = self.open(pattern, name)
                    if there.standing.over and there.standing.request_hash == request_hash:
                        return there
        return None

    def is_id(self, id: str) -> bool:  # noqa: A002 - the field's name
        """Whether a record may have this id."""
        return bool(_ID.fullmatch(id))

    def check_id(self, id: str, pattern: str = "") -> None:  # noqa: A002 - the field's name
        """Insists that a record may have this id.

        Raises:
            CouncilRefused: it may not.
        """
        if not self.is_id(id):
            raise CouncilRefused(
                f"{id[:100]!r} is no id of a {pattern or 'record'}: letters, digits, `.`, `_` and `-`, at most 80."
            )

    def _first_line(self, id: str) -> bytes:  # noqa: A002 - the field's name
        return self.documents.lines(id).first()

    def _unknown(self, id: str, pattern: str) -> CouncilRefused:  # noqa: A002 - the field's name
        known = self.ids(pattern)
        close = nearest(id, known)
        hint = f"Did you mean {close}?" if close else ""
        what = pattern or "record"
        return CouncilRefused(f"There is no {what} {id[:80]!r}.", hint=hint if known else f"There is no {what} yet.")
