"""Money and tokens: checked before each call, counted after it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from swarmgate.config import BudgetLimits
from swarmgate.domain.usage import Usage
from swarmgate.errors import BudgetExhausted
from swarmgate.llm.events import CostUnknown, OnEvent, ignore
from swarmgate.llm.model import CallFailed, Model, ModelReply, ModelRequest


class Budget:
    """What a project has used up, against `[budget]`; shared by the models of all roles.

    When `usd` is set and a call's price is unknown, nobody can say what is left: the user is told once
    (`CostUnknown`), and from then on `usd` is held against the known costs only, a lower bound. `tokens` holds always.

    Args:
        limits: the `[budget]` section.
        spent: what the ledger says was used before this run.
        on_event: who is told.
    """

    def __init__(self, limits: BudgetLimits, spent: Usage | None = None, *, on_event: OnEvent = ignore) -> None:
        self._limits = limits
        self.spent = spent or Usage()
        self._known_usd = self.spent.usd or 0.0
        self._warned = False
        self._on_event = on_event

    def check(self) -> None:
        """Whether another call may be made.

        Raises:
            BudgetExhausted: no; the message says what was spent of which limit.
        """
        limits = self._limits
        if limits.usd is not None and self._known_usd >= limits.usd:
            least = "at least " if self.spent.usd is None else ""
            raise _exhausted(f"{least}${self._known_usd:.2f} of ${limits.usd:.2f} are spent", "usd")
        if limits.tokens is not None and self.spent.tokens >= limits.tokens:
            raise _exhausted(f"{self.spent.tokens:,} of {limits.tokens:,} tokens are used", "tokens")

    def add(self, usage: Usage, model: str) -> None:
        """Count what a call of `model` used."""
        self.spent += usage
        self._known_usd += usage.usd or 0.0
        if usage.usd is None and self._limits.usd is not None and not self._warned:
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
        self._budget.add(usage, model)


def _exhausted(what: str, key: str) -> BudgetExhausted:
    return BudgetExhausted(
        f"the budget is used up: {what}",
        hint=f"the work is paused, nothing is lost: raise `{key}` in [budget] of .swarm/config.toml, then `swarm run`",
    )
