"""The records of councils: each a journal under `.swarm/discussions/<id>/`, and the views of its fold beside it.

journal.jsonl     every line chained to the line before; `swarm verify` walks it
...               views: result.json, artifacts/, progress.md, as the pattern makes them; they can be made again
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Generic, Protocol, TypeVar

from pydantic import ValidationError
from pydantic_core import from_json

from swarmgate.config import nearest
from swarmgate.council.records.lifecycle import (
    LIFECYCLE,
    Begun,
    Completed,
    Resumed,
    Standing,
    Stopped,
    TimeUp,
    Unanswering,
)
from swarmgate.council.rules import Rules
from swarmgate.council.views.events import CouncilEvent
from swarmgate.domain.base import Entry, Frozen
from swarmgate.domain.usage import Allowance
from swarmgate.errors import CouncilRefused, LedgerError
from swarmgate.journal.documents import JOURNAL
from swarmgate.journal.journal import Journal
from swarmgate.journal.lines import Lines

Q = TypeVar("Q", bound=Frozen)
S = TypeVar("S")
O = TypeVar("O")  # noqa: E741 - an outcome

_ID = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]|\.(?!\.)){0,79}")
_ANOTHER_ID = "Give this one an id of its own."
_OLD = "manifest.json"
"""What a record of swarmgate before its journals had in the place of one."""


class Documents(Protocol):
    """Journals and named texts by record; `journal.documents` and `journal.sqlite` have them.

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


class Record(Generic[Q, S, O]):
    """One record, read and checked from its first line on.

    Args:
        pattern: of the record.
        id: its name.
        documents: where it is kept.
        clean: gives a JSON-ready value without secrets; every event goes through it before it is kept.

    Attributes:
        witness: is told of the newest event after each append: it may vouch for the head elsewhere.

    Raises:
        LedgerCorrupt: a line was altered, or is not of this pattern.
    """

    def __init__(
        self,
        pattern: Rules[Q, S, O],
        id: str,  # noqa: A002 - the field's name
        documents: Documents,
        clean: Callable[[Any], Any],
    ) -> None:
        self.pattern, self.id = pattern, id
        self._documents, self._clean = documents, clean
        self.witness: Callable[[Frozen], None] = _nobody
        self._kinds: Mapping[str, type[Frozen]] = {**LIFECYCLE, **{_tag(kind): kind for kind in pattern.events}}
        self._journal: Journal[Standing[S] | None] = Journal(documents.lines(id), self._kinds, self._fold, None)

    @property
    def standing(self) -> Standing[S]:
        """How far it is."""
        if self._journal.state is None:
            raise CouncilRefused(f"There is no {self.pattern.name} {self.id!r}.")
        return self._journal.state

    @property
    def outcome(self) -> O | None:
        """What it comes to; None: nothing yet."""
        return self.pattern.outcome(self.standing)

    @property
    def request(self) -> Q:
        """What was asked for, without its secrets."""
        return self._requested(next(self.entries()).event)

    @property
    def seq(self) -> int:
        """The number of its last line."""
        return self._journal.seq

    @property
    def newest(self) -> Frozen:
        """Its newest event, as it is kept: without secrets."""
        return self._journal.newest[-1]

    @property
    def head(self) -> str:
        """The hash of its last line, in hex."""
        return self._journal.head

    def append(self, events: Sequence[Frozen]) -> Standing[S]:
        """Records events, without secrets.

        Raises:
            StaleWriter: another process has written meanwhile.
            IllegalMove: they may not stand there.
            LedgerWriteFailed: the disk refused.
        """
        durable: tuple[type[Frozen], ...] = (Begun, Stopped, Completed, *self.pattern.milestones)
        self._journal.append(
            [self._without_secrets(each) for each in events],
            expect=self._journal.seq,
            durable=any(isinstance(each, durable) for each in events),
        )
        self.witness(events[-1])
        return self.standing

    def repair(self) -> None:
        """Puts what a killed writer left of its last line aside, beside the journal; its process is gone.

        Raises:
            LedgerWriteFailed: the disk refused.
        """
        if torn := self._journal.lines.torn:
            self._documents.put(self.id, f"torn-{self.seq + 1}.txt", torn.decode("utf-8", "replace"))
            self._journal.lines.cut()

    def unanswer(self, why: str) -> None:
        """It answers no other request any more."""
        if self.standing.request_hash and not self.standing.over:
            self.append([Unanswering(why=why)])

    def entries(self) -> Iterator[Entry[Any]]:
        """Every entry, read again and checked."""
        return (entry for entry, _ in self._journal.entries())

    def replayed(self) -> Iterator[CouncilEvent]:
        """What was told while it was held, once more: a view of the record, in which nothing is recorded."""
        before: Standing[S] | None = None
        for entry in self.entries():
            after = self._fold(before, [entry])
            if before is not None and after is not None:
                yield from self.pattern.tells(entry.event, before, after)
            before = after

    def publish(self) -> None:
        """Writes the views of how it stands.

        Raises:
            LedgerWriteFailed: the disk refused; the record itself is whole.
        """
        for name, text in self.pattern.views(self.standing).items():
            if self._documents.get(self.id, name) != text:
                self._documents.put(self.id, name, text, durable=False)

    def grow(self, name: str, text: str) -> None:
        """Adds to a view, until all of them are written again.

        Raises:
            LedgerWriteFailed: as `publish`.
        """
        self._documents.append(self.id, name, text)

    def place(self, name: str = JOURNAL) -> str:
        """Where a text of it is, as messages name it."""
        return self._documents.place(self.id, name)

    def _without_secrets(self, event: Frozen) -> Frozen:
        text = json.dumps(self._clean(event.model_dump(mode="json")), ensure_ascii=False).encode("utf-8", "replace")
        return type(event).model_validate_json(text)

    def _fold(self, standing: Standing[S] | None, entries: Iterable[Entry[Any]]) -> Standing[S] | None:
        own: tuple[type[Frozen], ...] = (Resumed, TimeUp, *self.pattern.events)
        for entry in entries:
            if standing is None:
                request = self._requested(entry.event)
                standing = Standing(self.id, self.pattern.name, self.pattern.begin(request))
            standing = standing.shared(entry)
            if isinstance(entry.event, own):
                standing = replace(standing, own=self.pattern.apply(standing.own, entry.event))
        return standing

    def _requested(self, event: Any) -> Q:
        """The request of the first line.

        Raises:
            LedgerError: there is none, or it is of another pattern.
        """
        if not isinstance(event, Begun) or event.pattern != self.pattern.name:
            raise LedgerError(f"{self.place()} is of no {self.pattern.name}.")
        try:
            request = self.pattern.request.model_validate(event.request)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            raise LedgerError(f"{self.place()} is of no {self.pattern.name}: `{where}`: {first['msg']}") from None
        if (own := str(getattr(request, "id"))) != self.id:  # noqa: B009 - every request's
            raise LedgerError(f"{self.place()} is that of the {self.pattern.name} {own}.")
        return request


def _nobody(_event: Frozen) -> None:
    """Nobody vouches for it."""


class Records:
    """The records of one project. One process writes a record, others may read it meanwhile.

    Args:
        documents: where they are kept.
        clean: as of `Record`.
    """

    def __init__(self, documents: Documents, *, clean: Callable[[Any], Any]) -> None:
        self.documents = documents
        self.clean = clean

    def begin(
        self,
        pattern: Rules[Q, S, O],
        request: Q,
        *,
        request_hash: str = "",
        allowance: Allowance = Allowance(),  # noqa: B008 - frozen
        part_of: str = "",
    ) -> Record[Q, S, O]:
        """The record of a request, begun; the same request is taken up as it stands.

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
        record = Record(pattern, id, self.documents, self.clean)
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

    def open(self, pattern: Rules[Q, S, O], id: str) -> Record[Q, S, O]:  # noqa: A002 - as above
        """A record that is there.

        Raises:
            CouncilRefused: there is none of that id and pattern; the hint has the nearest.
            LedgerError: it is damaged, or was altered.
        """
        begun = self.begun(id, pattern.name)
        if begun.pattern != pattern.name:
            raise self._unknown(id, pattern.name)
        return Record(pattern, id, self.documents, self.clean)

    def begun(self, id: str, pattern: str = "") -> Begun:  # noqa: A002 - as above
        """The first event of a record; its chain is not checked.

        Raises:
            CouncilRefused: there is none of that id; `pattern` is what it was taken for.
            LedgerError: the line cannot be read.
        """
        self.check_id(id, pattern)
        line = self._first_line(id)
        if not line and id not in self.documents.records():
            raise self._unknown(id, pattern)
        if not line and self.documents.get(id, _OLD) is not None:
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

    def began(self, id: str) -> str:  # noqa: A002 - as above
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
                told = from_json(line)
                when, begun = str(told["time"]), Begun.model_validate(told["event"])
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

    def is_id(self, id: str) -> bool:  # noqa: A002 - as above
        """Whether a record may have this id."""
        return bool(_ID.fullmatch(id))

    def check_id(self, id: str, pattern: str = "") -> None:  # noqa: A002 - as above
        """Insists that a record may have this id.

        Raises:
            CouncilRefused: it may not.
        """
        if not self.is_id(id):
            raise CouncilRefused(
                f"{id[:100]!r} is no id of a {pattern or 'record'}: letters, digits, `.`, `_` and `-`, at most 80."
            )

    def _first_line(self, id: str) -> bytes:  # noqa: A002 - as above
        return self.documents.lines(id).first()

    def _unknown(self, id: str, pattern: str) -> CouncilRefused:  # noqa: A002 - as above
        known = self.ids(pattern)
        close = nearest(id, known)
        hint = f"Did you mean {close}?" if close else ""
        what = pattern or "record"
        return CouncilRefused(f"There is no {what} {id[:80]!r}.", hint=hint if known else f"There is no {what} yet.")


def _tag(kind: type[Frozen]) -> str:
    return str(kind.model_fields["type"].default)
