"""What every facade of a council's pattern stands on: the project, and the records of all patterns."""

# ruff: noqa: PLC0415 - late, for start-up time: to list and to look needs neither voices nor models

from __future__ import annotations

import difflib
import hashlib
import json
import os
import secrets
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Literal

from swarmgate.config import nearest
from swarmgate.council.masking import masked
from swarmgate.council.shared import Shared
from swarmgate.domain.usage import Allowance
from swarmgate.errors import BudgetExhausted, CouncilRefused, SwarmError
from swarmgate.journal.store import opened

if TYPE_CHECKING:
    from pydantic import BaseModel

    from swarmgate.agents.contexts import AgentContexts
    from swarmgate.council.records import Records
    from swarmgate.council.stream import Pattern
    from swarmgate.project import Project

VERBS = {
    "debate": "debate",
    "dispatch": "dispatch",
    "chat": "chat",
    "discussion": "discuss",
    "decision": "decide",
    "critique": "critique",
    "orchestration": "orchestrate",
}
"""What a council does -> the command that does it, and has `show` and `list` for what is on record."""

_ANSWERS_HANG_ON = {
    *("roles", "providers", "models", "breakers", "loop", "project"),
    *("commands", "tests", "gates", "scope", "authority"),
}
"""The sections of settings that count for the cache: those of voices, and those of commands and gates as criteria.

`[council]` stands in the requests; budgets, prices and the rest change no answer.
"""

_RECORDS = ("discussion", "decision", "critique", "orchestration")
"""What is kept where `[council] store` says."""

_NEAR = 0.8
"""How like an id another one is that may be meant: ids of one day are alike by their date."""


class InProject:
    """What the facades of all patterns share: one store of records, and what is done with every record."""

    def __init__(self, project: Project) -> None:
        self.project = project

    @cached_property
    def records(self) -> Records:
        """The records of discussions, decisions, critiques and orchestrations, where `[council] store` has them.

        What is kept has no secret in its free text; what names something stays as it is.
        """
        from swarmgate.council.records import NAMES, Records

        redact = cache(self.project.redact)  # a round at work is kept again after each step
        documents = opened(self.project.folder.path, self.project.config.council.store)
        return Records(documents, clean=lambda value: masked(value, redact, names=NAMES), part_of=_whole)

    @property
    def allowance(self) -> Allowance:
        """What one council may use where its request does not say."""
        settings = self.project.config.council
        return Allowance(usd=settings.usd, tokens=settings.total_tokens)

    @asynccontextmanager
    async def sitting(
        self,
        pattern: Pattern,
        id: str,  # noqa: A002 - the field's name
        allowance: Allowance | None = None,
        goes_on: str = "",
    ) -> AsyncIterator[AgentContexts]:
        """The voices of one record; no other process is at it meanwhile, and its use goes on the ledger at the end.

        Args:
            pattern: of the record.
            id: of the record.
            allowance: what it may use, with what it used before; None: as `[council]` says.
            goes_on: the command line with which it goes on; empty: it cannot.

        Raises:
            CouncilRefused: it goes on in another process.
            BudgetExhausted: its budget, or the project's, is used up; the hint says how it goes on.
            LedgerCorrupt: the ledger is damaged.
        """
        from swarmgate.council.session import opened as session

        name = f"{pattern}-{id}"
        try:
            async with session(self.project, name, allowance=allowance, resume=goes_on) as voices:
                yield voices
        except BudgetExhausted as error:
            raise error.with_option(goes_on, name) from error

    # --- the cache of results ---

    def request_hash(self, pattern: Pattern, request: BaseModel, models: Mapping[str, str]) -> str:
        """What a request is found again by: for its manifest, and for `_cached`.

        Args:
            pattern: of the request.
            request: what is asked for.
            models: the name of each voice's model, as it stands after all settings.
        """
        from swarmgate.council.records import request_hash

        return request_hash(pattern, request, models=models, state=self._state())

    def cached(self, pattern: Pattern, request_hash: str, *, cache: bool | None = None) -> str:
        """The id of the newest complete record of the same request; empty: there is none, or it may not be used.

        Args:
            pattern: of the request.
            request_hash: as `_request_hash` gives it.
            cache: whether it may be used; None: as `[council] cache` says.
        """
        wanted = self.project.config.council.cache if cache is None else cache
        return self.records.find(pattern, request_hash) if wanted else ""

    def _state(self) -> str:
        """The SHA-256, in hex, of all in the project that an answer hangs on, beside the request.

        The files as they are now (untracked ones too, ignored ones and `.swarm/` not: to commit a record, or anything
        else as it is, changes nothing), AGENTS.md, the project's own prompts, context, gates and accepted findings, the
        settings that voices, commands and gates hang on, and the variables that commands inherit by their names. What
        is installed does not count.
        """
        from swarmgate.agents.house_rules import lying
        from swarmgate.workspace.driver import Driver

        folder, config = self.project.folder, self.project.config
        repository = self.project.repository()
        settings = config.model_dump_json(include=_ANSWERS_HANG_ON)
        inherited = json.dumps({name: os.environ.get(name) for name in config.commands.env})
        listed = Driver(repository.root).records("ls-tree", "-z", repository.snapshot())
        files = b"\n".join(each for each in listed if not each.endswith(b"\t.swarm")).hex()
        parts = (files, settings, inherited, *(each.text for each in lying(folder.root)))
        state = hashlib.sha256("\n".join(parts).encode(errors="surrogateescape"))
        own = (each for place in (folder.prompts, folder.gates) for each in sorted(place.rglob("*")))
        for path in (folder.context, *own):
            if path.is_file():
                state.update(f"\n{folder.relative(path)}\n{hashlib.sha256(path.read_bytes()).hexdigest()}".encode())
        return state.hexdigest()

    def belongs(self, id: str, pattern: Pattern) -> bool:  # noqa: A002 - the field's name
        """Whether a record is a part of another one; one that cannot be read is its own."""
        from swarmgate.council.records import PART_OF

        with suppress(SwarmError):
            return PART_OF in self.records.manifest(id, pattern).more
        return False

    def elsewhere(self) -> str:
        """That records lie in the store that `[council] store` does not name, in a line; empty: none do."""
        mine, folder = self.project.config.council.store, self.project.folder
        other: Literal["files", "sqlite"] = "sqlite" if mine == "files" else "files"
        place = folder.discussions if other == "files" else folder.records
        with suppress(SwarmError):
            if place.exists() and (many := len(opened(folder.path, other).records())):
                told = "1 record is" if many == 1 else f"{many:,} records are"
                return f"{told} in {folder.relative(place)} (store = {other})"
        return ""

    # --- ids ---

    def refused(self, kind: str, id: str, error: CouncilRefused) -> CouncilRefused:  # noqa: A002 - as above
        """The refusal of an id, with what it is the id of, or the nearest one.

        Args:
            kind: what it was taken for, of `VERBS`.
            id: that is not known.
            error: the refusal as it came.
        """
        kinds = self._kinds()
        for other, ids in kinds.items():
            with suppress(SwarmError):
                if other != kind and id in ids():
                    return CouncilRefused(
                        f"{id} is {_a(other)}, not {_a(kind)}.", hint=f"swarm {VERBS[other]} show {id}"
                    )
        known = kinds[kind]()
        close = nearest(id, known) or ""
        near = difflib.SequenceMatcher(None, id, close).ratio() >= _NEAR
        meant = f"Did you mean {close}? " if near else ""
        hint = f"{meant}They are listed by: swarm {VERBS[kind]} list" if known else f"There is no {kind} here yet."
        other = self.elsewhere() if kind in _RECORDS else ""
        return type(error)(error.message, hint=f"{hint} {other}." if other else hint)

    def _kinds(self) -> dict[str, Callable[[], Sequence[str]]]:
        """What a council does -> the ids of all of those on record."""

        def records(pattern: str) -> Callable[[], Sequence[str]]:
            return lambda: self.records.ids(pattern)

        return {
            **{
                each: partial(Shared(self.project).records.ids, each)
                for each in ("debate", "dispatch", "chat", "discussion")
            },
            **{each: records(each) for each in ("decision", "critique", "orchestration")},
        }


def _whole() -> str:
    """The orchestration that a record which begins now is a step of; empty: none."""
    from swarmgate.council.session import TOGETHER

    together = TOGETHER.get()
    return together.record if together else ""


def _a(kind: str) -> str:
    return f"{'an' if kind.startswith('o') else 'a'} {kind}"


def new_id() -> str:
    """A name that sorts by time: `20261121-224500-3f2a`."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
