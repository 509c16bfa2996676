"""Budget accounts: checks budgets before each model call, and sums up what the calls of a role used.

Calls that go on at the same time cannot all begin on the same remainder: each is expected to use its prompt, at a token
per 4 characters, and an answer as long as the longest of its model so far; in US dollars, what the model's price makes
of that, and as much as its dearest call at least. One that does not fit beside the others waits until one has ended.
Nothing is known of a model that has not answered: its answer is taken for a long one, and a price that comes with the
answers only (that of an agent program) for more than is left. So near a limit its first call goes alone.

What holds: no call begins once a limit is reached, and a call that is not alone begins only where all that go on are
expected to end within every limit. So a limit is overrun by one call at most, the one that went on alone with what was
left, or else by so much as answers that were under way at the same time are longer than the longest of their model
before them, or than `_UNKNOWN` tokens of one that had not answered. A call that began is never cut off.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import partial

from swarmgate.config import PROJECT_FILE
from swarmgate.domain.spending.budget import Account
from swarmgate.domain.usage import Usage
from swarmgate.errors import BudgetExhausted, ConfigError, ExhaustedAccount, Owner
from swarmgate.llm.endpoint.wire import estimated_tokens
from swarmgate.llm.events import CostUnknown, OnEvent, ignore
from swarmgate.llm.limits.account import AccountLimits
from swarmgate.llm.model import CallFailed, Model, ModelReply, ModelRequest

_UNKNOWN = 8_000
"""Tokens of an answer of a model that has not answered yet: few are longer."""

_ANSWER = 500
"""Tokens of any other answer at least: the longest so far may have been a short one."""

Price = Callable[[Usage], float]
"""What a call costs for certain, in US dollars; nothing where the price is unknown."""


@dataclass(frozen=True, eq=False)
class _Call:
    """A call that goes on, or is about to. `accounts`: the owners of those that it is counted in."""

    model: str
    prompt: int
    price: Price | None
    accounts: frozenset[Owner] = frozenset()


@dataclass
class _Shared:
    """What budgets share whose calls go on at the same time; `longest` and `dearest` by model, in tokens and USD."""

    concurrent_calls: list[_Call] = field(default_factory=list)
    waiting: list[asyncio.Future[None]] = field(default_factory=list)
    longest: dict[str, int] = field(default_factory=dict)
    dearest: dict[str, float] = field(default_factory=dict)

    def usage(self, call: _Call) -> Usage:
        """What a call will use; its cost is unknown where neither its price nor an earlier call tells it."""
        answer = max(_ANSWER, self.longest.get(call.model, _UNKNOWN))
        usd = self.expected("usd", call)
        return Usage(
            calls=1, prompt_tokens=call.prompt, completion_tokens=answer, usd=usd if math.isfinite(usd) else None
        )

    def expected(self, key: str, call: _Call) -> float:
        """What a call will use of a measure."""
        answer = max(_ANSWER, self.longest.get(call.model, _UNKNOWN))
        if key == "tokens":
            return call.prompt + answer
        if key != "usd":
            return 0
        if call.price is None:
            return self.dearest.get(call.model, math.inf)
        usage = Usage(prompt_tokens=call.prompt, completion_tokens=answer)
        return max(call.price(usage), self.dearest.get(call.model, 0.0))


def unreserved(_expected: Usage) -> None:
    """Nobody else spends of the same budgets: nothing is to be reserved."""


class Budget:
    """All budgets that hold at the moment of a call; shared by the models of all roles.

    When `usd` is limited and a call's price is unknown, nobody can say what is left: the user is told once
    (`CostUnknown`), and from then on `usd` is held against the known costs only, a lower bound, where tokens are
    limited as well; where they are not, nothing would ever end the work, and no further call is made. Tokens and
    seconds hold always. By how much a limit can be overrun says the head of this file.

    Args:
        accounts: the budgets as they stand now, with what was used a moment ago.
        on_event: receives reports.
        reserve: hears what a call is likely to use right before it is made, and may refuse it.
        sharing: another budget with concurrent calls that are bounded by an account of the same owner; what
            is learnt of models by either is known to both.
    """

    def __init__(
        self,
        accounts: Callable[[], Iterable[Account]] = tuple,
        *,
        on_event: OnEvent = ignore,
        reserve: Callable[[Usage], None] = unreserved,
        sharing: Budget | None = None,
    ) -> None:
        self._accounts = accounts
        self._reserve = reserve
        self._warned = False
        self._on_event = on_event
        self._shared: _Shared = sharing._shared if sharing else _Shared()  # noqa: SLF001 - of its own kind

    def require_room(self, tokens: int, what: str) -> None:
        """Requires room for `what`, which takes at least so many tokens.

        Raises:
            BudgetExhausted: no; nobody was asked anything.
        """
        self.check()
        require_room(self._accounts(), tokens, what)

    def admit(self, model: str) -> None:
        """Admits a model whose price is unknown, or refuses it.

        Raises:
            ConfigError: only US dollars are limited, and these would never be used up.
        """
        require_end(self._accounts(), (model,))

    def check(self) -> None:
        """Checks that another call may be made.

        Raises:
            BudgetExhausted: no; the message says which budget, and what was spent of which limit.
        """
        accounts = tuple(self._accounts())
        endless = "usd" in (keys := _measured(accounts)) and "tokens" not in keys
        for account in accounts:
            for measure in account.measures():
                if measure.key == "usd" and measure.least and endless:
                    raise BudgetExhausted(
                        f"nobody can say what is left of {account.name}: the price of what was used is unknown",
                        account=ExhaustedAccount(account.owner, "tokens"),
                        hint="the work is paused, nothing is lost: limit `tokens` beside `usd` in "
                        f"[{account.section}]; prices of models are set in [prices]",
                    )
                if measure.used_up:
                    done = {"usd": "are spent", "tokens": "are used", "seconds": "have passed"}[measure.key]
                    raise BudgetExhausted(
                        f"{account.name} is used up: {measure.text} {done}",
                        account=ExhaustedAccount(account.owner, measure.key),
                        hint=f"the work is paused, nothing is lost: {account.next_action.format(key=measure.key)}",
                    )

    @asynccontextmanager
    async def call(self, prompt: int, model: str = "", price: Price | None = None) -> AsyncIterator[None]:
        """One call with a prompt of so many tokens; it waits while others go on and it would not fit beside them.

        Args:
            prompt: its tokens.
            model: that is asked.
            price: of its calls; None: only its answers say what they cost.

        Raises:
            BudgetExhausted: it may not be made.
            SwarmError: of `reserve`.
        """
        self.check()
        shared, call = self._shared, _Call(model, prompt, price, frozenset(each.owner for each in self._accounts()))
        while not self._fits(call):
            ended = asyncio.get_running_loop().create_future()
            shared.waiting.append(ended)
            await ended
            self.check()
        self._reserve(shared.usage(call))
        shared.concurrent_calls.append(call)
        try:
            yield
        finally:
            shared.concurrent_calls.remove(call)
            for each in shared.waiting:
                if not each.done():
                    each.set_result(None)
            shared.waiting.clear()

    def _fits(self, call: _Call) -> bool:
        """Whether a further call is expected to stay within every budget, beside those that go on in it."""
        for account in self._accounts():
            concurrent = [each for each in self._shared.concurrent_calls if account.owner in each.accounts]
            for measure in account.measures() if concurrent else ():
                expected = sum(self._shared.expected(measure.key, each) for each in (*concurrent, call))
                if measure.spent + expected > measure.limit:
                    return False
        return True

    def learn(self, usage: Usage, model: str, prompt: int) -> None:
        """Records what a call of `model` used whose prompt was estimated at so many tokens."""
        shared, answer = self._shared, max(usage.completion_tokens, usage.tokens - prompt)
        shared.longest[model] = max(shared.longest.get(model, 0), answer)
        shared.dearest[model] = max(shared.dearest.get(model, 0.0), usage.least_usd)

    def note(self, usage: Usage, model: str) -> None:
        """Reports a call of `model` whose price is unknown, where that matters."""
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
        end_turn: ends the sessions of agent programs.
        price: what its calls cost, before they are made; None: only its answers say that.
        limits: waits for the ends of limits, outside of the budget: others may go on meanwhile.
    """

    def __init__(
        self,
        inner: Model,
        budget: Budget,
        *,
        role: str = "",
        close: Callable[[], Awaitable[None]] | None = None,
        end_turn: Callable[[], Awaitable[None]] | None = None,
        price: Price | None = None,
        limits: AccountLimits | None = None,
    ) -> None:
        self.name = inner.name
        self.role = role
        self.total = Usage()
        self._undrained: dict[str, Usage] = {}
        self._running: dict[object, Usage] = {}
        self._inner = inner
        self._budget = budget
        self._close = close
        self._end_turn = end_turn
        self._price = price
        self._limits = limits

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Answer the conversation.

        Raises:
            BudgetExhausted: before the call, which is then not made; `LimitReached`: a limit ends too late.
            Stopped: the user ended the wait for a limit.
            CallFailed: as `inner`; what the failed calls used is counted.
        """
        if self._limits is None:
            return await self._paid(request)
        return await self._limits.outlast(partial(self._paid, request))

    async def _paid(self, request: ModelRequest) -> ModelReply:
        prompt = _prompt_tokens(request)
        async with self._budget.call(prompt, self.name, self._price):
            try:
                reply = await self._inner.complete(request)
            except CallFailed as error:
                self._count(error.usage, self.name)
                if error.usage.tokens:  # a call that came to nothing teaches nothing
                    self._budget.learn(error.usage, self.name, prompt)
                raise
            self._count(reply.usage, reply.model)
            self._budget.learn(reply.usage, self.name, prompt)
            return reply

    @property
    def pending(self) -> Usage:
        """What was used since the last drain, with what calls that go on say that they used so far."""
        return sum((*self._undrained.values(), *map(_so_far, self._running.values())), Usage())

    @contextmanager
    def metering(self, model: str) -> Iterator[Callable[[Usage], None]]:
        """Meters a call of an agent program; yields a function that takes its usage so far.

        That raises BudgetExhausted where a budget is used up: the call ends then, and what it used is counted.
        """
        call = object()

        def report(usage: Usage) -> None:
            self._running[call] = usage
            self._budget.check()

        try:
            yield report
        except CallFailed:  # it says itself what it used
            raise
        except BaseException:
            if used := self._running.get(call):
                self._count(used.model_copy(update={"calls": 1}), model)
            raise
        finally:
            self._running.pop(call, None)

    def drain(self) -> dict[str, Usage]:
        """What each model used since the last drain: the part that the ledger does not know yet."""
        drained, self._undrained = self._undrained, {}
        return drained

    async def end_turn(self) -> None:
        """A turn of the role is over: an agent program that its conversation goes on with is ended."""
        if self._end_turn:
            await self._end_turn()

    async def aclose(self) -> None:
        """Close the connections below; a later call opens new ones."""
        if self._close:
            await self._close()

    def _count(self, usage: Usage, model: str) -> None:
        self.total += usage
        self._undrained[model] = self._undrained.get(model, Usage()) + usage
        self._budget.note(usage, model)


def require_end(accounts: Iterable[Account], unknown: Sequence[str]) -> None:
    """Requires that budgets can end the work though the prices of these models are unknown.

    Raises:
        ConfigError: they do not.
    """
    keys = _measured(accounts)
    if unknown and "usd" in keys and "tokens" not in keys:
        raise ConfigError(
            f"the price of {', '.join(unknown)} is unknown, so that a budget in US dollars would never end",
            hint=f'set [prices."{unknown[0]}"] in {PROJECT_FILE} (input = 0 and output = 0 where it is free), or limit '
            "`tokens` beside `usd`",
        )


def _so_far(usage: Usage) -> Usage:
    """What a call has used for certain: that nobody knows its cost yet does not make that unknown for good."""
    return usage.model_copy(update={"usd": usage.least_usd, "known_usd": 0.0})


def _measured(accounts: Iterable[Account]) -> frozenset[str]:
    return frozenset(measure.key for account in accounts for measure in account.measures())


def require_room(accounts: Iterable[Account], tokens: int, what: str) -> None:
    """Requires room for `what`, which takes at least so many tokens.

    Raises:
        BudgetExhausted: no; nobody was asked anything.
    """
    for account in accounts:
        for measure in account.measures():
            if measure.key == "tokens" and tokens > measure.left:
                raise BudgetExhausted(
                    f"{account.name} is too small: {what} takes about {tokens:,} tokens, and {measure.text} are used",
                    account=ExhaustedAccount(account.owner, measure.key),
                    hint=f"nobody was asked: {account.next_action.format(key=measure.key)}",
                )


def _prompt_tokens(request: ModelRequest) -> int:
    return estimated_tokens(sum(len(message.content) for message in request.messages))
