"""What a goal of a fleet is called, what it wants of a worker, and how it stands, as its newest commit says."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, NamedTuple

from pydantic import AfterValidator, Field, ValidationError

from swarmgate.domain.base import Frozen, Line
from swarmgate.domain.events.event import PauseReason
from swarmgate.domain.next_step import approval_due, next_step, waiting_for
from swarmgate.domain.state.state import Planning, State
from swarmgate.domain.state.unattended import Unattended
from swarmgate.errors import UsageError

GOALS = "refs/swarm/goals/"
"""What the references of goals begin with."""
_ID = re.compile(r"g-[0-9a-f]{12}")
PRIORITIES = (-1000, 1000)
"""The lowest and the highest priority."""
Priority = Annotated[int, Field(ge=PRIORITIES[0], le=PRIORITIES[1])]
_TRAILER = re.compile(r"^Swarm-([A-Z][a-z]*): (.*)$", re.MULTILINE)


class Goal(NamedTuple):
    """A goal: the repository that it is of, by the name that the settings give it, and its id."""

    repo: str
    id: str

    @property
    def ref(self) -> str:
        """The reference of its ledger."""
        return f"{GOALS}{self.id}"

    @property
    def branch(self) -> str:
        """The branch of its work."""
        return f"swarm/{self.id}"

    @property
    def lock(self) -> str:
        """What two jobs of it must not hold at once."""
        return f"{self.repo}:{self.id}"

    @classmethod
    def named(cls, text: str, repo: str) -> Goal:
        """The goal that somebody names: `calc:g-0123456789ab`, or the id alone.

        Args:
            text: the name.
            repo: the repository of a bare id; empty: there is none that is meant.

        Raises:
            UsageError: it is no name of a goal.
        """
        before, _, name = text.rpartition(":")
        if not _ID.fullmatch(name) or not (before or repo):
            raise UsageError(
                f"{text!r} names no goal.", hint="A goal is called like calc:g-0123456789ab; see: swarm fleet status"
            )
        return cls(before or repo, name)

    @classmethod
    def known(cls, repo: str, name: str) -> Goal | None:
        """The goal of an id that a reference of a remote, or a job, has; None: no goal is called like that.

        Ids become names of folders and references: whoever may write either must not choose others.
        """
        return cls(repo, name) if _ID.fullmatch(name) else None


def new_id() -> str:
    """The id of a goal that is not there yet."""
    return f"g-{secrets.token_hex(6)}"


def _time(text: str) -> str:
    """Requires a time with its zone, or nothing."""
    if text and datetime.fromisoformat(text).tzinfo is None:
        raise ValueError("a time without a zone")
    return text


class Wish(Frozen):
    """What a goal wants of the fleet, beside its ledger in `goal.json`: set when it is submitted.

    `author` and `email` are of whoever submitted it, and of its commits. `base` is the branch that it begins at. With
    `argv` it is an errand: a worker runs that command once, and its answer is all that is wanted.
    """

    text: str
    queue: Line = "default"
    priority: Priority = 0
    base: Line = ""
    author: Line = ""
    email: Line = ""
    created: Line = ""
    argv: tuple[str, ...] = ()


class Standing(StrEnum):
    """How a goal stands: whether a worker has something to do with it."""

    DUE = "due"
    LIMIT = "limit"
    """It waits for the end of a model's limit."""
    ENDPOINT = "endpoint"
    """A model's endpoint failed; it is tried again by itself."""
    WAITING = "waiting"
    """It is a person's turn."""
    BUDGET = "budget"
    FAILED = "failed"
    """A step ended in an error; a person looks at it, then: swarm fleet retry."""
    DONE = "done"

    @property
    def open(self) -> bool:
        """Whether a worker goes on with it, now or later."""
        return self in (Standing.DUE, Standing.LIMIT, Standing.ENDPOINT)


class Summary(Frozen):
    """The newest commit of a goal in short: what a list needs to know without reading the ledger."""

    standing: Standing = Standing.DUE
    until: Annotated[Line, AfterValidator(_time)] = ""
    queue: Line = "default"
    priority: Priority = 0
    seq: int = 0
    epoch: int = 0
    worker: Line = ""
    version: Line = ""
    tasks: Line = ""
    title: Line = ""

    def trailers(self) -> str:
        """The lines of the commit's message that say it."""
        told = self.model_dump(mode="json")
        return "".join(f"Swarm-{key.capitalize()}: {value}\n" for key, value in told.items() if value not in ("", 0))

    @classmethod
    def read(cls, message: str) -> Summary:
        """What a commit's message says; lines that this version does not know are left out.

        Of a message that no swarmgate wrote, a person has to look at the goal: one must not hide all others.
        """
        found = {key.lower(): value for key, value in _TRAILER.findall(message)}
        try:
            return cls.model_validate({key: value for key, value in found.items() if key in cls.model_fields})
        except ValidationError:
            return cls(standing=Standing.FAILED, title="(its newest commit says nothing that can be read)")


def summarised(state: State, wish: Wish, rules: Unattended, *, decided: bool, answered: bool = False) -> Summary:
    """The summary of a state; the arguments are those of `standing_of`, and `wish` is the goal's.

    `answered`: the answer of an errand is there.
    """
    standing, until = standing_of(state, rules, decided=decided)
    if wish.argv:
        standing, until = Standing.DONE if answered else Standing.DUE, ""
    tasks = state.plan.tasks if state.plan else {}
    settled = sum(state.task(each).settled for each in tasks)
    return Summary(
        standing=standing,
        until=until,
        queue=wish.queue,
        priority=wish.priority,
        seq=state.seq,
        epoch=state.lease.epoch,
        worker=state.lease.worker,
        version=state.lease.version,
        tasks=f"{settled}/{len(tasks)}" if tasks else "",
        title=wish.text.strip().partition("\n")[0][:80],
    )


_PAUSED: Mapping[PauseReason, Standing] = {
    PauseReason.BUDGET: Standing.BUDGET,
    PauseReason.LIMIT: Standing.LIMIT,
    PauseReason.ENDPOINT: Standing.ENDPOINT,
    PauseReason.PREFLIGHT: Standing.FAILED,
    PauseReason.ERROR: Standing.FAILED,
}


def standing_of(state: State, rules: Unattended, *, decided: bool = False) -> tuple[Standing, str]:
    """How a goal stands, and until when where it waits for an end (UTC, ISO 8601).

    Args:
        state: of its ledger.
        rules: what is approved in the user's place.
        decided: a person has just decided something: why the last run paused counts no more.
    """
    if state.finished or state.planning is Planning.NONE:
        return Standing.DONE, ""
    if not due(state, rules) and waiting_for(state) is not None:
        return Standing.WAITING, ""
    if state.pause is not None and not decided and (why := _PAUSED.get(state.pause.reason)):
        return why, state.pause.until
    return Standing.DUE, ""


def due(state: State, rules: Unattended) -> bool:
    """Whether there is something to do that no person has to do first."""
    return next_step(state) is not None or approval_due(state, rules) is not None


def now() -> str:
    """The time in UTC, ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
