"""Budgets: checked before each call, told once when a price is unknown; and what a role's calls used."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

from swarmgate.domain.budget import Account
from swarmgate.domain.usage import Usage
from swarmgate.errors import BudgetExhausted
from swarmgate.llm.events import CostUnknown, OnEvent, ignore
from swarmgate.llm.model import CallFailed, Model, ModelReply, ModelRequest


class Budget:
    """All budgets that hold at the moment of a call; shared by the models of all roles.

    When `usd` is limited and a call's price is unknown, nobody can say what is left: the user is told once
    (`CostUnknown`), and from then on `usd` is held against the known costs only, a lower bound. Tokens and seconds hold
    always. A call that began is not cut off: a budget can be overrun by what one call uses.

    Args:
        accounts: the budgets as they stand now, with what was used a moment ago.
        on_event: who is told.
    """

    def __init__(self, accounts: Callable[[], Iterable[Account]] = tuple, *, on_event: OnEvent = ignore) -> None:
        self._accounts = accounts
        self._warned = False
        self._on_event = on_event

    def check(self) -> None:
        """Whether another call may be made.

        Raises:
            BudgetExhausted: no; the message says which budget, and what was spent of which limit.
        """
        for account in self._accounts():
            for measure in account.measures():
                if measure.used_up:
                    done = {"usd": "are spent", "tokens": "are used", "seconds": "have passed"}[measure.key]
                    raise BudgetExhausted(
                        f"{account.name} is used up: {measure.text} {done}",
                        hint=f"the work is paused, nothing is lost: {account.way_on.format(key=measure.key)}",
                    )

    def note(self, usage: Usage, model: str) -> None:
        """Look at what a call of `model` used."""
        if usage.usd is not None or self._warned:
            return
        if any(measure.key == "usd" for account in self._accounts() for measure in account.measures()):
            self._warned = True
            self._on_event(CostUnknown(model=model))


class Metered:
    """A `Model` under a budget; the outermost layer of a role's model.

    Args:
        inner: the model that answers.
        budget: checked before each call.
        role: whose calls these are.
        close: closes the connections below.
    """

    def __init__(
        self, inner: Model, budget: Budget, *, role: str = "", close: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        self.name = inner.name
        self.role = role
        self.total = Usage()
        self._undrained = Usage()
        self._inner = inner
        self._budget = budget
        self._close = close

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Answer the conversation.

        Raises:
            BudgetExhausted: before the call, which is then not made.
            CallFailed: as `inner`; what the failed calls used is counted.
        """
        self._budget.check()
        try:
            reply = await self._inner.complete(request)
        except CallFailed as error:
            self._count(error.usage, self.name)
            raise
        self._count(reply.usage, reply.model)
        return reply

    @property
    def pending(self) -> Usage:
        """What was used since the last drain."""
        return self._undrained

    def drain(self) -> Usage:
        """What was used since the last drain: the part that the ledger does not know yet."""
        drained, self._undrained = self._undrained, Usage()
        return drained

    async def aclose(self) -> None:
        """Close the connections below; a later call opens new ones."""
        if self._close:
            await self._close()

    def _count(self, usage: Usage, model: str) -> None:
        self.total += usage
        self._undrained += usage
        self._budget.note(usage, model)
