"""The context that preflight checks get, and the record of what a check found."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps

from swarmgate.config import Config
from swarmgate.domain.preflight import Reach
from swarmgate.domain.spending.budget import Account
from swarmgate.domain.state.state import State
from swarmgate.errors import SwarmError
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger
from swarmgate.workspace.git.repository import Repository
from swarmgate.workspace.sandbox.command_runner import CommandRunner


@dataclass(frozen=True)
class PreflightContext:
    """One project before one phase.

    Attributes:
        folder: its `.swarm/`.
        repository: its work tree.
        ledger: the ledger, read or held.
        state: its fold, with the limits of the settings as they are now.
        phase: the phase that is to begin.
        config: the settings.
        roles: the roles that have to be able to speak.
        commands: what confines the tests and the tools of gates.
        budgets: the budgets as they stand now.
        reach: looks at the endpoints of models; passed in, since this room knows no models.
        demands: makes sure that models and what the settings ask for are there; returns warnings, or raises.
        ours: a run asks, which holds the ledger and owns the work tree.
    """

    folder: SwarmFolder
    repository: Repository
    ledger: Ledger
    state: State
    phase: int
    config: Config
    roles: tuple[str, ...]
    commands: Callable[[], CommandRunner]
    budgets: Callable[[], Sequence[Account]]
    reach: Callable[[Sequence[str]], Awaitable[Sequence[Reach]]]
    demands: Callable[[], Sequence[str]]
    ours: bool = False

    def fresh(self) -> Repository:
        """The repository for one check alone: what one remembers is not made for several threads."""
        return Repository(self.repository.root)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What one check found.

    Attributes:
        detail: what was looked at, or why nothing was.
        problem: what is wrong; empty: nothing.
        hint: what to do about it.
        skipped: there was nothing to look at.
        blocks: whether a problem stops the phase.
        seconds: how long it took, where that is known better than for its whole group.
    """

    detail: str = ""
    problem: str = ""
    hint: str = ""
    skipped: bool = False
    blocks: bool = True
    seconds: float | None = None

    @classmethod
    def of(cls, error: SwarmError, detail: str = "") -> CheckResult:
        """The problem that an error is."""
        return cls(detail, error.message, error.hint)


Inspection = Callable[[PreflightContext], Awaitable[Mapping[str, CheckResult]]]
"""Looks, and answers by the name of the check."""


def in_thread(inspect: Callable[[PreflightContext], Mapping[str, CheckResult]]) -> Inspection:
    """A look that blocks, in a thread of its own: where it never ends, nothing waits for it, not even our end."""

    @wraps(inspect)
    async def inspected(context: PreflightContext) -> Mapping[str, CheckResult]:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Mapping[str, CheckResult]] = loop.create_future()

        def settle(found: Mapping[str, CheckResult] | None, error: BaseException | None) -> None:
            if answer.done():
                return
            if error is not None:
                answer.set_exception(error)
            else:
                answer.set_result(found or {})

        def work() -> None:
            found, failed = None, None
            try:
                found = inspect(context)
            except BaseException as error:  # noqa: BLE001 - told to who waits
                failed = error
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(settle, found, failed)

        threading.Thread(target=work, name=f"preflight-{inspect.__module__}", daemon=True).start()
        return await answer

    return inspected


def few(names: Sequence[str], limit: int = 5) -> str:
    """The first of several names, and how many more there are."""
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more
