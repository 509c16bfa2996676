"""Takes in hand edits of plan.md and plan.json between steps, and ends a step early where an edit requires it.

A step in which somebody works at the running task is cut short where an edit changes that very task: what would come of
the rest of it is for a definition that is gone. Every other edit waits for the end of the step and disturbs nobody.

Where nothing confines the commands of agents (`sandbox = "none"`), an edit may as well be theirs, such as easier
criteria for their own task: none is taken in before the next command of the user.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterator

from swarmgate.domain.events.event import Event
from swarmgate.domain.next_step import Step
from swarmgate.domain.state.state import State
from swarmgate.engine.context import Context
from swarmgate.errors import SwarmError
from swarmgate.ledger.ledger import Ledger
from swarmgate.ledger.reconcile import Reconciliation, edits, reconcile
from swarmgate.ledger.recovery.interruption import redefined, restored

CUT_SHORT = frozenset(
    {
        Step.CODE,
        Step.IMPLEMENT,
        Step.GATES,
        Step.REVIEW,
        Step.SECURITY_REVIEW,
        Step.TEST,
        Step.ADVERSARIAL_TEST,
        Step.REVIEW_TESTS,
        Step.RUN_TESTS,
    }
)
"""Steps that do nothing but work at the running attempt. The others plan, delegate, or must not stop half-way."""

Stamps = tuple[tuple[int, ...] | None, ...]
"""A version of plan.md and plan.json; empty: as they were left."""


class PlanEdits:
    """The hand edits that are made while one run is at work.

    Args:
        ctx: the context of the run. Where plan sync is off, edits are taken in when a command begins, and nothing here.
    """

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._on = ctx.config.automation.on("plan_sync")
        self._confined = ctx.commands.sandbox.name != "none"
        self._quiet_s = ctx.config.automation.debounce_s
        self._last: Stamps = ()
        self._judged: Stamps = ()
        self._cut = self._put_off = False

    async def cut_short(self, step: Step, work: Awaitable[list[Event]]) -> list[Event]:
        """The events of a step; none where an edit of the running task's own definition ended it early.

        Raises:
            BaseException: what the step raises; a cancellation from outside ends the step first.
        """
        if not (self._on and self._confined and step in CUT_SHORT):
            return await work
        working = asyncio.ensure_future(work)
        try:
            while not (await asyncio.wait({working}, timeout=self._quiet_s))[0]:
                if self._rests() and (message := await asyncio.to_thread(self._redefinition)):
                    self._cut = working.cancel()
                    self._ctx.notify("notice", message)
        except BaseException:
            working.cancel()
            await asyncio.wait({working})
            _ = working.cancelled() or working.exception()  # what it says to that is nobody's concern any more
            raise
        return [] if self._cut and working.cancelled() else working.result()

    async def take_in(self, state: State) -> list[Event]:
        """Between two steps: takes in what was edited, and tells what became of it. A refusal ends nothing.

        Returns:
            What is left to record: where a step was cut short for an edit that is gone again, its files come back.

        Raises:
            LedgerError: the ledger could not be written, or has lost lines.
        """
        cut, self._cut = self._cut, False
        if self._on and not self._confined:
            self._wait()
        elif self._on and (found := self._edited()):
            if found != self._last:  # an editor may be half-way through a file
                await asyncio.sleep(self._quiet_s)
            if found == self._edited():
                self._reconcile()
        still = self._ctx.ledger.state.open
        return [restored(state, self._ctx.folder, self._ctx.repository)] if cut and still == state.open else []

    def _edited(self) -> Stamps:
        """The version of the plan files where it is not the one that the ledger left, else empty; for two stats."""
        ledger = self._ctx.ledger
        return ledger.projector.edited() if ledger.state.plan is not None else ()

    def _rests(self) -> bool:
        """Whether there is an edit that was there at the last look, and was not there at the one before that."""
        found, before = self._edited(), self._last
        rests = bool(found) and found == before and found != self._judged
        self._last = found
        if rests:
            self._judged = found
        return rests

    def _redefinition(self) -> str:
        """What to tell where an edit may stand that changes the running task; else empty. Called in a thread.

        It looks through a ledger of its own: what the run's own has read may be replaced by the next projection.
        """
        try:
            ledger = Ledger.read(self._ctx.folder)
            found = edits(ledger, interruptible=True).found
        except SwarmError:  # told between two steps
            return ""
        task = ledger.state.open
        sources = [edit.source for edit in found if edit.plan is not None and task in edit.changed]
        return f"task {task} was changed in {' and '.join(sources)}: its attempt ends here" if sources else ""

    def _wait(self) -> None:
        """Tells once that an edit has to wait for the user."""
        if not self._put_off and self._edited():
            self._put_off = True
            message = "an edit of the plan files waits for your next command: no sandbox keeps agents from making it"
            self._ctx.notify("notice", message)

    def _reconcile(self) -> None:
        ctx = self._ctx

        def interrupt(state: State) -> list[Event]:
            return redefined(state, ctx.folder, ctx.repository)

        outcome = reconcile(ctx.ledger, author="user", interrupt=interrupt)
        if outcome.interrupted:
            stored = ctx.ledger.state.task(outcome.interrupted).attempts[-1].kept
            ended = f"the attempt at task {outcome.interrupted} ends: the definition of its task was changed by hand"
            ctx.notify("notice", f"{ended}; its unfinished work is kept in {stored}" if stored else ended)
        for line in _notices(outcome):
            ctx.notify("notice", line)


def _notices(outcome: Reconciliation) -> Iterator[str]:
    """What became of edits, in words."""
    for name in outcome.amended:
        yield f"your edit of {name} was taken into the plan"
    for refused in outcome.refused:
        yield (
            f"an edit of {refused.source} cannot stand: {' '.join(refused.problems)} "
            f"It is kept in {refused.kept}; {refused.source} is as the ledger says again."
        )
    for name in outcome.restored:
        yield f"{name} was missing or out of date and was written again"
