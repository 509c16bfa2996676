"""The records of discussions, decisions, critiques and orchestrations, behind one small store of named texts.

    manifest.json          what was asked for, the status, and the SHA-256 of every finished round
    rounds/001.json        a finished round: never changes; `rounds/001.json.partial` while it is at work
    ...                    what else a pattern keeps: progress.md, personas/, artifacts/, context/, result.json

A store knows names and texts and nothing of files, so that files, SQLite and later Redis are one to the protocols.

Rounds are a chain: `before` in one is the SHA-256 of the one before it, of the first that of the request. The hash of a
finished text goes into the manifest before the text gets its name: killed in between, the `.partial` has exactly that
hash and is given the name when it is next read. Manifest and rounds carry a `seal`, the SHA-256 of all else in them, so
that what was changed by hand is noticed. Whoever changes all of them, hashes too, is not found out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, Field

from swarmgate import __version__
from swarmgate.config import nearest
from swarmgate.council.record_texts import MANIFEST, PARTIAL, Documents, Texts, canonical, digest, sealed
from swarmgate.council.stream import Pattern
from swarmgate.domain.base import Frozen, Line
from swarmgate.domain.usage import Allowance, Usage
from swarmgate.errors import CouncilRefused, LedgerError

M = TypeVar("M", bound=BaseModel)

Status = Literal["prepared", "open", "paused", "complete", "failed"]

NAMES = frozenset(
    {"id", "name", "pattern", "status", "mode", "kind", "step", "done", "author", "participant", "by", "criterion"}
    | {"to", "between", "cites", "condensed", "source", "prepared", "facilitator", "strategy", "stand"}
    | {"model", "facilitator_model", "evaluator_model", "gate", "target", "recommendation"}
    | {"who", "field", "files"}
    | {"prompt_hash", "promptHash", "started_at", "startedAt", "resolved_by", "resolvedBy", "ended_by"}
)
"""Fields of the patterns' models that name something: they are kept as they are, whatever they look like."""

PART_OF = "part_of"
"""The key of `Manifest.more` that says what a record is a part of."""

_ID = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]|\.(?!\.)){0,79}")
_ROUND = re.compile(r"rounds/([0-9]{3,})\.json")
_BEFORE = "before"


class Manifest(Frozen):
    """What a record is of, and how far it is.

    `request` is that of the pattern, as JSON; `request_hash` is `request_hash()` of it. `rounds` are the SHA-256, in
    hex, of every finished round's text, `sealed` those of other texts that never change again, by name. `more` is what
    a pattern keeps beside: the choices of a discussion. Its key `part_of` is the id of the record that this one is a
    part of, which counts its usage as its own.
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


class _Seen(NamedTuple):
    """A manifest as it was last read or written, its text, and the SHA-256 that the next round follows."""

    text: str
    manifest: Manifest
    head: str


class Records:
    """The records of one project, checked as they are read. One process writes a record, others may read it meanwhile.

    Every method that takes an id raises `CouncilRefused` where there is no such record, and `LedgerError`, which names
    the text, where one is missing, damaged or changed by hand, or the store fails.

    Args:
        documents: where they are kept.
        clean: gives a JSON-ready value without secrets; everything goes through it before it is kept.
        part_of: the id of the record that one that begins now is a part of; empty: of none.
    """

    def __init__(
        self, documents: Documents, *, clean: Callable[[Any], Any], part_of: Callable[[], str] = lambda: ""
    ) -> None:
        self._documents = documents
        self.documents: Any = documents  # journals are kept there, too
        self._part_of = part_of
        self._texts = Texts(documents, clean=clean)
        self._seen: dict[str, _Seen] = {}

    # --- the manifest ---

    def begin(self, manifest: Manifest) -> Manifest:
        """Keeps what is asked for, with the time where it has none; the same request is taken up as it stands.

        Raises:
            CouncilRefused: another record has this id, or it is no id.
        """
        self.check_id(manifest.id, manifest.pattern)
        whole = {PART_OF: name} if (name := self._part_of()) and name != manifest.id else {}
        asked = manifest.model_copy(
            update={
                "request": self._texts.plain(manifest.request),
                "why": self._texts.plain(manifest.why),
                "more": {**whole, **self._texts.plain(manifest.more)},
                "created_at": manifest.created_at or datetime.now(UTC).isoformat(timespec="milliseconds"),
            }
        )
        if not self._documents.names(manifest.id):
            return self._keep(asked)
        there = self.manifest(manifest.id)
        if there.pattern != asked.pattern:
            raise CouncilRefused(
                f"There is a {there.pattern} with the id {there.id}.", hint=f"Give the {asked.pattern} another id."
            )
        if differs := _difference(there.request, asked.request):
            raise CouncilRefused(
                f"There is another {there.pattern} with the id {there.id}: it differs in {differs}.",
                hint="Give this one an id of its own.",
            )
        return there

    def manifest(self, id: str, pattern: str = "") -> Manifest:  # noqa: A002 - the field's name
        """What a record is of, and how far it is.

        Args:
            id: of the record.
            pattern: that it must be of; empty: any.
        """
        self.check_id(id, pattern)
        text = self._documents.get(id, MANIFEST)
        if text is None:
            if self._documents.names(id):
                raise self._texts.missing(id, MANIFEST)
            raise self._unknown(id, pattern)
        if id not in self._seen or self._seen[id].text != text:
            found = self._texts.model(id, MANIFEST, self._texts.unsealed(id, MANIFEST, text), Manifest)
            if found.id != id:
                raise self._texts.damaged(id, MANIFEST, f"it is that of {found.id}")
            self._seen[id] = _Seen(text, found, _head(found))
        manifest = self._seen[id].manifest
        if pattern and manifest.pattern != pattern:
            raise self._unknown(id, pattern)
        return manifest

    def change(
        self,
        id: str,  # noqa: A002 - as above
        *,
        status: Status | None = None,
        why: str | None = None,
        request: Mapping[str, Any] | None = None,
        request_hash: str | None = None,
        allowance: Allowance | None = None,
        usage: Usage | None = None,
        seconds: float | None = None,
        more: Mapping[str, Any] | None = None,
    ) -> Manifest:
        """Changes those fields of the manifest that are given; `more` is replaced as a whole, but for `part_of`.

        Raises:
            CouncilRefused: the request was to change, and there are rounds already.
        """
        there = self.manifest(id)
        if request is not None and there.rounds:
            raise CouncilRefused(f"The {there.pattern} {id} has rounds: what it is about cannot change any more.")
        if more is not None:
            more = {**{key: there.more[key] for key in (PART_OF,) if key in there.more}, **more}
        cleaned = {"why": why, "request": request, "more": more}
        given = {
            **{key: self._texts.plain(value) for key, value in cleaned.items() if value is not None},
            "status": status,
            "request_hash": request_hash,
            "allowance": allowance,
            "usage": usage,
            "seconds": seconds,
        }
        return self._keep(there.model_copy(update={key: each for key, each in given.items() if each is not None}))

    # --- rounds ---

    def keep_partial(self, id: str, number: int, model: BaseModel, *, cleaned: bool = False) -> None:  # noqa: A002 - as above
        """Keeps the round at work as far as it is; `cleaned`: it came from `plain`, and has no secrets any more.

        Raises:
            CouncilRefused: it is not the next one.
        """
        text = sealed(
            self._round(id, number, model, cleaned=cleaned), indent=None
        )  # after each message: three times as fast
        self._documents.put(id, round_name(number) + PARTIAL, text, durable=False)

    def keep_round(self, id: str, number: int, model: BaseModel, *, cleaned: bool = False) -> None:  # noqa: A002 - as above
        """Keeps a whole round, which never changes again; `cleaned` as above.

        Raises:
            CouncilRefused: it is not the next one.
        """
        text, manifest = sealed(self._round(id, number, model, cleaned=cleaned)), self.manifest(id)
        self._finish(round_name(number), text, manifest.model_copy(update={"rounds": (*manifest.rounds, digest(text))}))

    def rounds(self, id: str, kind: type[M]) -> tuple[M, ...]:  # noqa: A002 - as above
        """The whole rounds so far, in order."""
        self.check_id(id)
        names = self._documents.names(id)  # before the manifest: another process may finish a round meanwhile
        manifest = self.manifest(id)
        before, found = digest(canonical(manifest.request)), []
        for number, expected in enumerate(manifest.rounds, start=1):
            name = round_name(number)
            data = self._texts.unsealed(id, name, self._texts.finished(id, name, expected))
            if data.pop(_BEFORE, "") != before:
                raise self._texts.damaged(id, name, "it does not follow the file before it")
            found.append(self._texts.model(id, name, data, kind))
            before = expected
        known = {round_name(number) for number in range(1, len(found) + 1)}
        for name in names:
            if _ROUND.fullmatch(name) and name not in known:
                raise self._texts.damaged(id, name, f"{MANIFEST} knows of no such round")
        return tuple(found)

    def check_rounds(self, id: str) -> None:  # noqa: A002 - as above
        """Compares the texts of the whole rounds with their hashes; what they say is not read.

        Raises:
            LedgerError: one is missing, damaged or was changed by hand.
        """
        for number, expected in enumerate(self.manifest(id).rounds, start=1):
            self._texts.finished(id, round_name(number), expected)

    def partial(self, id: str, number: int, kind: type[M]) -> M | None:  # noqa: A002 - as above
        """The round at work as far as it was kept; None: it has not begun, or it is whole."""
        manifest, name = self.manifest(id), round_name(number) + PARTIAL
        text = self._documents.get(id, name) if number > len(manifest.rounds) else None
        if text is None:
            return None
        data = self._texts.unsealed(id, name, text)
        if data.pop(_BEFORE, "") != self._seen[id].head:
            raise self._texts.damaged(id, name, "it does not follow the file before it")
        return self._texts.model(id, name, data, kind)

    # --- other texts ---

    def seal(self, id: str, name: str, value: BaseModel | str) -> None:  # noqa: A002 - as above
        """Keeps a text that never changes again; the same once more is fine.

        Raises:
            CouncilRefused: there is another one.
        """
        text, manifest = self._texts.text(value), self.manifest(id)
        expected = manifest.sealed.get(name)
        if expected is None:
            sealed = {**manifest.sealed, name: digest(text)}
            self._finish(name, text, manifest.model_copy(update={"sealed": sealed}))
        elif self._texts.finished(id, name, expected) != text:
            raise CouncilRefused(f"{self._documents.place(id, name)} is there already, and never changes.")

    def sealed(self, id: str, name: str, kind: type[M]) -> M | None:  # noqa: A002 - as above
        """What was sealed under that name; None: nothing was."""
        text = self.sealed_text(id, name)
        return None if text is None else self._texts.model(id, name, self._texts.data(id, name, text), kind)

    def sealed_text(self, id: str, name: str) -> str | None:  # noqa: A002 - as above
        """The same as it stands there."""
        self.check_id(id)
        there = self._documents.get(id, name)  # before the manifest, as above
        expected = self.manifest(id).sealed.get(name)
        if expected is not None:
            return self._texts.finished(id, name, expected)
        if there is not None:
            raise self._texts.damaged(id, name, f"{MANIFEST} knows nothing of it")
        return None

    def put(
        self,
        id: str,  # noqa: A002 - as above
        name: str,
        value: BaseModel | str,
        *,
        cleaned: bool = False,
    ) -> None:
        """Keeps a text, or a model as JSON, in the place of what has this name; a `cleaned` text as it is."""
        self.check_id(id)
        text = value if cleaned and isinstance(value, str) else self._texts.text(value)
        self._documents.put(id, name, text, durable=False)

    def get(self, id: str, name: str) -> str | None:  # noqa: A002 - as above
        """The text of that name, unchecked; None: there is none."""
        self.check_id(id)
        return self._documents.get(id, name)

    def append(self, id: str, name: str, text: str) -> None:  # noqa: A002 - as above
        """Adds to a text."""
        self.check_id(id)
        self._documents.append(id, name, self._texts.text(text))

    def drop(self, id: str, name: str) -> None:  # noqa: A002 - as above
        """Forgets a text that `put` or `append` made, if it is there."""
        self.check_id(id)
        self._documents.drop(id, name)

    # --- looking ---

    def ids(self, pattern: str = "") -> tuple[str, ...]:
        """The ids of all records of a pattern (empty: of all), the newest first.

        One whose manifest cannot be read is among them, at the end: whoever reads it is told.
        """
        found: list[tuple[str, str]] = []
        for name in self._documents.records():
            head: dict[str, Any] = {}
            with suppress(LedgerError):
                text = self._documents.get(name, MANIFEST)
                if text is None:
                    continue
                head = self._texts.data(name, MANIFEST, text)
            if not pattern or head.get("pattern", pattern) == pattern:
                found.append((str(head.get("created_at", "")), name))
        return tuple(name for _, name in sorted(found, reverse=True))

    def find(self, pattern: str, request_hash: str) -> str:
        """The id of the newest complete record of that request; empty: there is none. Damaged ones do not count."""
        found: list[tuple[str, str]] = []
        for name in self._documents.records() if request_hash else ():
            with suppress(LedgerError, CouncilRefused):
                if json.dumps(request_hash) not in (self._documents.get(name, MANIFEST) or ""):
                    continue
                there = self.manifest(name, pattern)
                if there.request_hash == request_hash and there.status == "complete":
                    found.append((there.created_at, name))
        return max(found, default=("", ""))[1]

    def names(self, id: str) -> tuple[str, ...]:  # noqa: A002 - as above
        """The names of all texts of a record, sorted."""
        self.check_id(id)
        return self._documents.names(id)

    def plain(self, value: Any) -> Any:
        """A JSON-ready value as it is kept: without secrets, and without what JSON and UTF-8 cannot hold."""
        return self._texts.plain(value)

    def place(self, id: str, name: str) -> str:  # noqa: A002 - as above
        """Where a text is, as messages name it."""
        self.check_id(id)
        return self._documents.place(id, name)

    def check_id(self, id: str, pattern: str = "") -> None:  # noqa: A002 - as above
        """Insists that a record may have this id.

        Raises:
            CouncilRefused: it may not.
        """
        if not _ID.fullmatch(id):
            raise CouncilRefused(
                f"{id[:100]!r} is no id of a {pattern or 'record'}: letters, digits, `.`, `_` and `-`, at most 80."
            )

    # --- inside ---

    def _keep(self, manifest: Manifest) -> Manifest:
        kept = Manifest.model_validate(manifest.model_dump(mode="json"))  # copies were not validated
        text = sealed(kept.model_dump(mode="json"))
        self._documents.put(kept.id, MANIFEST, text)
        self._seen[kept.id] = _Seen(text, kept, _head(kept))
        return kept

    def _finish(self, name: str, text: str, manifest: Manifest) -> None:
        """Keeps a text for good: under its `.partial`, its hash in the manifest, and then under its name."""
        self._documents.put(manifest.id, name + PARTIAL, text)
        self._keep(manifest)
        try:
            self._documents.rename(manifest.id, name + PARTIAL, name)
        except LedgerError:
            if self._documents.get(manifest.id, name) != text:  # else a reader was faster
                raise

    def _round(self, id: str, number: int, model: BaseModel, *, cleaned: bool) -> dict[str, Any]:  # noqa: A002 - as above
        manifest = self.manifest(id)
        if number != len(manifest.rounds) + 1:
            raise CouncilRefused(f"Round {number} of the {manifest.pattern} {id} is not the next one.")
        told = model.model_dump(mode="json")
        return {_BEFORE: self._seen[id].head, **(told if cleaned else self._texts.plain(told))}

    def _unknown(self, id: str, pattern: str) -> CouncilRefused:  # noqa: A002 - as above
        known = self.ids(pattern)
        close = nearest(id, known)
        hint = f"Did you mean {close}?" if close else ""
        what = pattern or "record"
        return CouncilRefused(f"There is no {what} {id[:80]!r}.", hint=hint if known else f"There is no {what} yet.")


def request_hash(pattern: str, request: BaseModel, *, models: Mapping[str, str], state: str) -> str:
    """What a request is found again by: the SHA-256, in hex, of all that its answer hangs on.

    Args:
        pattern: of the request.
        request: what is asked for; its `id` does not count.
        models: the names of the models by voice, as they stand after all settings.
        state: of the project: `engine.in_project` knows.
    """
    asked = request.model_dump(mode="json", exclude={"id"})
    whole = {"pattern": pattern, "request": asked, "models": dict(models), "state": state, "version": __version__}
    return digest(canonical(whole))


def round_name(number: int) -> str:
    """The name of a finished round's text."""
    return f"rounds/{number:03d}.json"


def _head(manifest: Manifest) -> str:
    return manifest.rounds[-1] if manifest.rounds else digest(canonical(manifest.request))


def _difference(there: dict[str, Any], asked: dict[str, Any]) -> str:
    """The keys in which two requests differ; empty: they are the same."""
    keys = dict.fromkeys((*asked, *there))
    return ", ".join(f"`{key}`" for key in keys if there.get(key) != asked.get(key))
