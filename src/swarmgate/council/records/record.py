"""One record of a council: a journal under `.swarm/discussions/<id>/`, and the views of its fold beside it.

journal.jsonl     every line chained to the line before; `swarm verify` walks it
...               views: result.json, artifacts/, progress.md, as the pattern makes them; they can be made again
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, Generic, TypeVar

from pydantic import ValidationError

from swarmgate.council.records.document_store import Documents
from swarmgate.council.records.lifecycle import (
    LIFECYCLE,
    Begun,
    Completed,
    ExcludedFromCache,
    Resumed,
    Standing,
    Stopped,
    TimeUp,
)
from swarmgate.council.records.rules import Rules
from swarmgate.council.views.events import CouncilEvent
from swarmgate.domain.actor import USER
from swarmgate.domain.base import Entry, Frozen
from swarmgate.errors import CouncilRefused, LedgerError
from swarmgate.journal.documents import JOURNAL
from swarmgate.journal.journal import Journal

Q = TypeVar("Q", bound=Frozen)
S = TypeVar("S")
O = TypeVar("O")  # noqa: E741 - an outcome


class Record(Generic[Q, S, O]):
    """One record, read and checked from its first line on.

    Args:
        pattern: of the record.
        id: its name.
        documents: where it is kept.
        clean: gives a JSON-ready value without secrets; every event goes through it before it is kept.
        person: who says what a person says to it, as an actor.

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
        person: str = USER,
    ) -> None:
        self.pattern, self.id = pattern, id
        self._documents, self._clean, self._person = documents, clean, person
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
        """The outcome; None: there is none yet."""
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
        for actor, said in groupby(events, self._actor):
            group = list(said)
            self._journal.append(
                [self._without_secrets(each) for each in group],
                expect=self._journal.seq,
                actor=actor,
                durable=any(isinstance(each, durable) for each in group),
            )
        self.witness(events[-1])
        return self.standing

    def _actor(self, event: Frozen) -> str:
        """Who said it: the person, where it is their word; else it is recorded by swarmgate."""
        state = self._journal.state
        return self._person if state is not None and self.pattern.is_of_person(event, state.own) else "swarmgate"

    def repair(self) -> None:
        """Puts what a killed writer left of its last line aside, beside the journal; its process is gone.

        Raises:
            LedgerWriteFailed: the disk refused.
        """
        if torn := self._journal.lines.torn:
            self._documents.put(self.id, f"torn-{self.seq + 1}.txt", torn.decode("utf-8", "replace"))
            self._journal.lines.cut()

    def exclude_from_cache(self, why: str) -> None:
        """It answers no other request any more."""
        if self.standing.request_hash and not self.standing.over:
            self.append([ExcludedFromCache(why=why)])

    def entries(self) -> Iterator[Entry[Any]]:
        """Every entry, read again and checked."""
        return (entry for entry, _ in self._journal.entries())

    def steps(self) -> Iterator[tuple[Entry[Any], Standing[S] | None, Standing[S]]]:
        """Every entry, with how it stood before and after; before the first one is None."""
        before: Standing[S] | None = None
        for entry in self.entries():
            after = self._fold(before, [entry])
            if after is not None:
                yield entry, before, after
            before = after

    def replayed(self) -> Iterator[CouncilEvent]:
        """The progress events of the record once more; nothing is recorded."""
        for entry, before, after in self.steps():
            if before is not None:
                yield from self.pattern.progress_of_event(entry.event, before, after)

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


def _tag(kind: type[Frozen]) -> str:
    return str(kind.model_fields["type"].default)
