"""Budgets: checked before each call, told once when a price is unknown; and what a role's calls used.

Calls that go on at the same time cannot all begin on the same remainder: each reserves what it is expected to use, its
prompt at a token per 4 characters and an answer as long as the longest so far, and one that no longer fits waits until
another has ended. A call that goes on alone is bounded by what is spent only. So a limit is overrun by what one call
uses, or by what answers of several are longer than any before them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager

from swarmgate.domain.budget import Account
from swarmgate.domain.usage import Usage
from swarmgate.errors import BudgetExhausted
from swarmgate.llm.events import CostUnknown, OnEvent, ignore
from swarmgate.llm.model import CallFailed, Model, ModelReply, ModelRequest
from swarmgate.llm.wire import estimated_tokens

_ANSWER = 500
"""Tokens of an answer, before there was a longer one."""


class Budget:
    """All budgets that hold at the moment of a call; shared by the models of all roles.

    When `usd` is limited and a call's price is unknown, nobody can say what is left: the user is told once
    (`CostUnknown`), and from then on `usd` is held against the known costs only, a lower bound. Tokens and seconds hold
    always. A call that began is not cut off: a budget can be overrun by what one call uses.

    Args:
        accounts: the budgets as they stand now, with what was used a moment ago.
        on_event: who is told.
        beside: another budget whose calls go on at the same time, and are bounded by the same account.
    """

    def __init__(
        self,
        accounts: Callable[[], Iterable[Account]] = tuple,
        *,
        on_event: OnEvent = ignore,
        beside: Budget | None = None,
    ) -> None:
        self._accounts = accounts
        self._warned = False
        self._on_event = on_event
        self._going_on: list[int] = beside._going_on if beside else []  # noqa: SLF001 - of its own kind
        self._answer, self._dearest = _ANSWER, 0.0
        self._waiting: list[asyncio.Future[None]] = beside._waiting if beside else []  # noqa: SLF001 - as above

    def require_room(self, tokens: int, what: str) -> None:
        """Whether `what` can be begun, which takes so many tokens at least.

        Raises:
            BudgetExhausted: no; nobody was asked anything.
        """
        self.check()
        require_room(self._accounts(), tokens, what)

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

    @asynccontextmanager
    async def call(self, prompt: int) -> AsyncIterator[None]:
        """One call with a prompt of so many tokens; it waits while others go on and it would not fit beside them.

        Raises:
            BudgetExhausted: it may not be made.
        """
        self.check()
        while self._going_on and not self._fits(prompt):
            ended = asyncio.get_running_loop().create_future()
            self._waiting.append(ended)
            await ended
            self.check()
        self._going_on.append(prompt)
        try:
            yield
        finally:
            self._going_on.remove(prompt)
            for each in self._waiting:
                if not each.done():
                    each.set_result(None)
            self._waiting.clear()

    def _fits(self, prompt: int) -> bool:
        """Whether a further call is expected to stay within every budget, beside those that go on."""
        calls = len(self._going_on) + 1
        expected = {
            "tokens": sum(self._going_on) + prompt + calls * self._answer,
            "usd": calls * self._dearest,
            "seconds": 0,
        }
        measures = (measure for account in self._accounts() for measure in account.measures())
        return all(measure.spent + expected[measure.key] <= measure.limit for measure in measures)

    def note(self, usage: Usage, model: str) -> None:
        """Look at what a call of `model` used."""
        self._answer = max(self._answer, usage.completion_tokens)
        self._dearest = max(self._dearest, usage.least_usd)
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
        async with self._budget.call(_prompt_tokens(request)):
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


def require_room(accounts: Iterable[Account], tokens: int, what: str) -> None:
    """Whether `what` can be begun, which takes so many tokens at least.

    Raises:
        BudgetExhausted: no; nobody was asked anything.
    """
    for account in accounts:
        for measure in account.measures():
            if measure.key == "tokens" and tokens > measure.left:
                raise BudgetExhausted(
                    f"{account.name} is too small: {what} takes about {tokens:,} tokens, and {measure.text} are used",
                    hint=f"nobody was asked: {account.way_on.format(key=measure.key)}",
                )


def _prompt_tokens(request: ModelRequest) -> int:
    return estimated_tokens(sum(len(message.content) for message in request.messages))
