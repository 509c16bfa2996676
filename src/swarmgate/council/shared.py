"""Functions that the facades of all patterns share: start, resume, list and cache records."""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from swarmgate.config import nearest
from swarmgate.council.context import CouncilContext
from swarmgate.council.patterns import PATTERNS
from swarmgate.council.records.record import Record
from swarmgate.council.records.redaction import NAMES
from swarmgate.council.records.store import Records
from swarmgate.domain.base import Frozen
from swarmgate.domain.text.redaction import masked
from swarmgate.domain.usage import Allowance
from swarmgate.errors import BudgetExhausted, CouncilFailed, CouncilRefused, LedgerCorrupt, LedgerError, SwarmError
from swarmgate.journal.store import opened, stores
from swarmgate.project import Project
from swarmgate.version import __version__

# Late imports are here for start-up time: who looks at records needs no participants.
if TYPE_CHECKING:
    from swarmgate.council.pattern import Pattern, Where
    from swarmgate.council.records.lifecycle import Standing
    from swarmgate.council.records.rules import Rules
    from swarmgate.council.views.events import CouncilEvent

Q = TypeVar("Q", bound=Frozen)
S = TypeVar("S")
O = TypeVar("O")  # noqa: E741 - an outcome

_ANSWERS_HANG_ON = {
    *("roles", "agents", "providers", "models", "breakers", "loop", "project"),
    *("commands", "tests", "gates", "scope", "authority"),
}
"""The sections of settings that count for the cache: of participants, and of commands and gates as criteria.

`[council]` stands in the requests; budgets, prices and the rest change no answer.
"""

_NEAR = 0.8
"""How like an id another one is that may be meant: ids of one day are alike by their date."""


class Shared:
    """The functions of one project's council that are the same for every pattern.

    Args:
        project: whose.
    """

    def __init__(self, project: Project) -> None:
        self.project = project

    @cached_property
    def records(self) -> Records:
        """The records of the project, where `[council] store` has them.

        What is kept has no secret in its free text; what names something stays as it is.
        """
        redact = cache(self.project.redact)
        project, settings = self.project, self.project.config.council
        documents = opened(
            project.folder.path, settings.store, password_env=settings.store_password_env, environ=project.environ
        )
        return Records(documents, clean=lambda value: masked(value, redact, names=NAMES), person=self.project.actor)

    @property
    def allowance(self) -> Allowance:
        """What one council may use where its request does not say."""
        settings = self.project.config.council
        return Allowance(usd=settings.usd, tokens=settings.total_tokens)

    # --- hold ---

    async def hold(
        self,
        pattern: Pattern[Q, S, O],
        request: Q,
        *,
        allowance: Allowance | None = None,
        models: Mapping[str, str] | None = None,
        own: Any = None,
        on_event: Callable[[CouncilEvent], None] | None = None,
        where: Where | None = None,
    ) -> O | None:
        """Runs the pattern for a request, or resumes the record that was begun under its id.

        Args:
            pattern: of the request.
            request: what is asked for.
            allowance: what all of it may use; None: as it was begun with, or as `[council]` says.
            models: the model of every participant by its name, where the result may answer the same request again.
            own: what the pattern needs beside (`CouncilContext.own`).
            on_event: told of everything that happens.
            where: how messages about a key of the request begin.

        Raises:
            CouncilRefused: it cannot be held as asked, or goes on in another process.
            ConfigError, MissingRequirement: a participant has no model or no key.
            CouncilFailed: nothing came of it; that is on record.
            BudgetExhausted: a budget is used up; the hint says how it goes on.
            LedgerError: its record is damaged.
        """
        from swarmgate.council.participants.session import open_session as session  # noqa: PLC0415
        from swarmgate.council.run import run  # noqa: PLC0415
        from swarmgate.council.views.progress import teller  # noqa: PLC0415

        id = str(getattr(request, "id"))  # noqa: A001, B009 - every request has one
        self.records.check_id(id, pattern.name)
        known = id in self.records.documents.records() and self.records.begun(id).pattern == pattern.name
        there = self.records.open(pattern, id) if known else None
        allowed = allowance or (there.standing.allowance if there else self.allowance)
        name, goes_on = f"{pattern.name}-{id}", pattern.resume_command(id)
        hashed = "" if models is None else self.request_hash(pattern, request, models)
        tell: Callable[[CouncilEvent], None] = teller(self.project.listener, on_event)
        record: Record[Q, S, O] | None = None
        try:
            async with session(self.project, name, allowance=allowed, resume=goes_on) as contexts:
                context = CouncilContext(contexts, self.records, tell, own)
                pattern.check(request, context, where or (lambda _: ""))
                record = self.records.begin(pattern, request, request_hash=hashed, allowance=allowed, part_of=_whole())
                if not there and (needed := pattern.needs(request, context)):
                    contexts.budget.require_room(needed, pattern.first)
                record.repair()
                if there and models is not None and hashed != there.standing.request_hash:
                    record.exclude_from_cache("the project changed since it began")
                return await run(pattern, record, context, allowance=allowed)
        except BudgetExhausted as error:
            raise error.with_option(goes_on if pattern.adjustable else "", name) from error
        except CouncilFailed as error:
            raise (pattern.failure(error, record.standing) if record else error) from error

    async def resume(
        self,
        pattern: Pattern[Q, S, O],
        id: str,  # noqa: A002 - the field's name
        *,
        tokens: int | None = None,
        usd: float | None = None,
        **more: Any,
    ) -> O | None:
        """Resumes a record after its last complete step; returns its outcome at once where it is over.

        Args:
            pattern: of the record.
            id: of the record.
            tokens: what all of it may use, in tokens, with what it used before; None: as it was begun with.
            usd: the same in US dollars.
            more: as of `hold`.

        Raises:
            SwarmError: as `hold`.
        """
        record = self.record(pattern, id)
        if record.standing.over:
            self._settle(f"{pattern.name}-{id}")
            return record.outcome
        allowance = record.standing.allowance.but(usd=usd, tokens=tokens)
        return await self.hold(pattern, record.request, allowance=allowance, **more)

    # --- look ---

    def record(self, pattern: Rules[Q, S, O], id: str) -> Record[Q, S, O]:  # noqa: A002 - the field's name
        """A record, checked.

        Raises:
            CouncilRefused: there is none of that id and pattern; the hint says what it is the id of, or the nearest.
            LedgerError: it is damaged, or was altered.
        """
        try:
            return self.records.open(pattern, id)
        except LedgerCorrupt as error:  # a record is input, and not the ledger
            raise LedgerError(error.message, hint=error.hint) from error
        except CouncilRefused as error:
            if (
                self.records.is_id(id)
                and (old := pattern.earlier.format(id=id))
                and (self.project.folder.path / old).exists()
            ):
                raise CouncilRefused(
                    f"{id} is {_a(pattern.name)} of an earlier swarmgate, in .swarm/{old}: this one reads journals.",
                    hint="Its texts are there to be read as they are; hold it anew under another id.",
                ) from None
            raise self.refused(pattern.name, id, error) from None

    def standing(self, rules: Rules[Q, S, O], id: str) -> Standing[S]:  # noqa: A002 - the field's name
        """The state of a record, with pending edits of the user.

        Raises:
            SwarmError: as `record`; or what waits cannot be read.
        """
        return rules.waiting(self.record(rules, id).standing, self.records.documents)

    def rows(self, rules: Rules[Q, S, O], *, parts: bool = True) -> list[Any]:
        """A row for each record of a pattern, the newest first; a damaged one is named as such.

        Args:
            rules: of the pattern.
            parts: those too that were held as a part of another record.
        """
        return [self._row(rules, each) for each in self.records.ids(rules.name, parts=parts)]

    def cached(
        self, pattern: Pattern[Q, S, O], request: Q, models: Mapping[str, str], *, cache: bool | None = None
    ) -> Record[Q, S, O] | None:
        """The newest complete record of the same request; None: there is none, or it may not be used.

        Args:
            pattern: of the request.
            request: what is asked for.
            models: as of `hold`.
            cache: whether it may be used; None: as `[council] cache` says.
        """
        wanted = self.project.config.council.cache if cache is None else cache
        return self.records.find(pattern, self.request_hash(pattern, request, models)) if wanted else None

    def request_hash(self, pattern: Rules[Q, S, O], request: Q, models: Mapping[str, str]) -> str:
        """What a request is found again by: the SHA-256, in hex, of all that its answer hangs on.

        Args:
            pattern: of the request.
            request: what is asked for; its `id` does not count.
            models: the model of every participant by its name, as it stands after all settings.
        """
        asked = pattern.sought(request).model_dump(mode="json", exclude={"id"})
        whole = {"pattern": pattern.name, "request": asked, "models": dict(models), "state": self._state()}
        text = json.dumps({**whole, "version": __version__}, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    def answers(self, pattern: Rules[Q, S, O], id: str, models: Callable[[Q], Mapping[str, str]]) -> bool:  # noqa: A002 - the field's name
        """Whether a record answers the same request again, as the project is now: it is over, and nothing failed in it.

        Args:
            pattern: of the record.
            id: of the record.
            models: gives the model of every participant of a request by its name, as it stands after all settings.

        Raises:
            SwarmError: as `record`.
        """
        record = self.record(pattern, id)
        known = record.standing.request_hash if record.standing.over else ""
        return bool(known) and known == self.request_hash(pattern, record.request, models(record.request))

    def elsewhere(self) -> str:
        """That records lie in the store that `[council] store` does not name, in a line; empty: none do."""
        mine, found = self.project.config.council.store, list[str]()
        with suppress(SwarmError):
            for documents in stores(self.project.folder.path):
                if documents.kind != mine and (many := len(documents.records())):
                    count = "1 record is" if many == 1 else f"{many:,} records are"
                    found.append(f"{count} in {documents.whole} (store = {documents.kind})")
        return "; ".join(found)

    def refused(self, name: str, id: str, error: CouncilRefused) -> CouncilRefused:  # noqa: A002 - the field's name
        """The refusal of an id, with what it is the id of, or the nearest one.

        Args:
            name: of the pattern that it was taken for.
            id: that is not known.
            error: the refusal as it came.
        """
        with suppress(SwarmError):
            other = self.records.begun(id).pattern
            if other != name and other in PATTERNS:
                return CouncilRefused(
                    f"{id} is {_a(other)}, not {_a(name)}.", hint=f"swarm {PATTERNS[other].verb} show {id}"
                )
        if id in self.records.documents.records():  # of an earlier swarmgate: the error says so
            return error
        known = self.records.ids(name)
        close = nearest(id, known) or ""
        near = difflib.SequenceMatcher(None, id, close).ratio() >= _NEAR
        meant = f"Did you mean {close}? " if near else ""
        hint = (
            f"{meant}They are listed by: swarm {PATTERNS[name].verb} list" if known else f"There is no {name} here yet."
        )
        other = self.elsewhere()
        return type(error)(error.message, hint=f"{hint} {other}." if other else hint)

    def _row(self, rules: Rules[Q, S, O], id: str) -> Any:  # noqa: A002 - the field's name
        try:
            return rules.row(self.standing(rules, id))
        except SwarmError as error:
            return rules.damaged(id, self.records.began(id), error.message)

    def _settle(self, name: str) -> None:
        """Has the ledger count a session that was killed between the end of its record and that."""
        from swarmgate.council.participants.session import settle  # noqa: PLC0415

        if self.project.session(name).open:
            settle(self.project)

    def _state(self) -> str:
        """The SHA-256, in hex, of all in the project that an answer hangs on, beside the request.

        The files as they are now (untracked ones too, ignored ones and `.swarm/` not: to commit a record, or anything
        else as it is, changes nothing), AGENTS.md, the project's own prompts, context, gates and accepted findings, the
        settings that participants, commands and gates hang on, and the variables that commands inherit by their names.
        What is installed does not count.
        """
        from swarmgate.agents.briefs.house_rules import uncommitted  # noqa: PLC0415
        from swarmgate.workspace.git.driver import Driver  # noqa: PLC0415

        folder, config = self.project.folder, self.project.config
        repository = self.project.repository()
        settings = config.model_dump_json(include=_ANSWERS_HANG_ON)
        inherited = json.dumps({name: os.environ.get(name) for name in config.commands.env})
        listed = Driver(repository.root).records("ls-tree", "-z", repository.snapshot())
        files = b"\n".join(each for each in listed if not each.endswith(b"\t.swarm")).hex()
        parts = (files, settings, inherited, *(each.text for each in uncommitted(folder.root)))
        state = hashlib.sha256("\n".join(parts).encode(errors="surrogateescape"))
        own = (each for place in (folder.prompts, folder.gates) for each in sorted(place.rglob("*")))
        for path in (folder.context, *own):
            if path.is_file():
                state.update(f"\n{folder.relative(path)}\n{hashlib.sha256(path.read_bytes()).hexdigest()}".encode())
        return state.hexdigest()


def new_id() -> str:
    """A name that sorts by time: `20261121-224500-3f2a`."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"


def _whole() -> str:
    """The orchestration that a record which begins now is a step of; empty: none."""
    from swarmgate.council.participants.session import SHARED_BUDGET  # noqa: PLC0415

    shared = SHARED_BUDGET.get()
    return shared.record if shared else ""


def _a(name: str) -> str:
    return f"{'an' if name.startswith('o') else 'a'} {name}"
