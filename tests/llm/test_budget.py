from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable

import pytest

from swarmgate.domain.spending.budget import PROJECT, Account
from swarmgate.domain.usage import Allowance, Usage
from swarmgate.errors import BudgetExhausted, ExhaustedAccount, Owner
from swarmgate.llm.budget import Budget, Metered, require_room
from swarmgate.llm.events import CostUnknown, ModelEvent
from swarmgate.llm.model import CallFailed, Message, ModelReply, ModelRequest
from swarmgate.llm.scripted import ScriptedModel

ASK = ModelRequest(messages=(Message(role="system", content="s"), Message(role="user", content="u")))


def reply(usd: float | None = 0.0, tokens: int = 0) -> ModelReply:
    return ModelReply(text="x", usage=Usage(calls=1, prompt_tokens=tokens, usd=usd))


class Books:
    """What the engine is to a budget: it knows what was spent, the calls of these models among it."""

    def __init__(self, spent: Usage | None = None, **limits: float) -> None:
        self.spent = spent or Usage()
        self.limits = Allowance.model_validate(limits)
        self.models: list[Metered] = []

    def accounts(self) -> Iterable[Account]:
        total = sum((model.pending for model in self.models), self.spent)
        return (
            Account(Owner("task", "2.1"), Allowance(), total),
            Account(PROJECT, self.limits, total),
        )


def metered(books: Books, replies: list[ModelReply | Exception], told: list[ModelEvent] | None = None) -> Metered:
    budget = Budget(books.accounts, on_event=told.append if told is not None else lambda _: None)
    model = Metered(ScriptedModel(replies), budget)
    books.models.append(model)
    return model


async def test_money_used_up_stops_before_the_next_call() -> None:
    inner = ScriptedModel([reply(2.0), reply(1.5), reply(9)])
    books = Books(usd=3.0)
    model = Metered(inner, Budget(books.accounts))
    books.models.append(model)
    await model.complete(ASK)
    await model.complete(ASK)
    with pytest.raises(BudgetExhausted, match=r"the budget is used up: \$3\.50 of \$3\.00 are spent") as caught:
        await model.complete(ASK)
    assert len(inner.requests) == 2
    assert caught.value.exit_code == 4
    assert "`usd` in [budget]" in caught.value.hint
    assert "`swarm run`" in caught.value.hint


async def test_tokens_of_earlier_runs_and_of_other_roles_count() -> None:
    books = Books(Usage(prompt_tokens=600), tokens=1000)
    coder, critic = metered(books, [reply(tokens=400)]), metered(books, [reply()])
    await coder.complete(ASK)
    with pytest.raises(BudgetExhausted, match="1,000 of 1,000 tokens are used"):
        await critic.complete(ASK)
    assert (coder.total.tokens, critic.total.tokens) == (400, 0)


async def test_time_that_passed_counts() -> None:
    with pytest.raises(BudgetExhausted, match="61 of 60 s of work have passed"):
        await metered(Books(Usage(seconds=61), seconds=60), [reply()]).complete(ASK)


@pytest.mark.parametrize(
    ("owner", "name", "ways"),
    [
        (Owner("run"), "this run", ["`swarm run` goes on with a new budget", "[budget.run]"]),
        (Owner("phase", "2"), "phase 2", ["raise `tokens` in [budget.phase]"]),
        (Owner("task", "2.1"), "task 2.1", ["[budget.task]", "swarm retry 2.1", "swarm skip 2.1"]),
        (Owner("session", "debate-7"), "debate-7", ["raise `tokens` in [council]"]),
        (Owner("debate"), "this debate by `[council]`", ["raise `tokens` in [council]"]),
        (Owner("evaluation"), "this evaluation", ["raise `tokens` in [budget]"]),
    ],
)
def test_which_budget_it_was_is_said_with_a_way_on(owner: Owner, name: str, ways: list[str]) -> None:
    account = Account(owner, Allowance(tokens=10), Usage(prompt_tokens=10))
    told = re.escape(f"the budget of {name} is used up: 10 of 10 tokens are used")
    with pytest.raises(BudgetExhausted, match=told) as caught:
        Budget(lambda: [account]).check()
    assert all(way in caught.value.hint for way in ways)
    assert caught.value.account == ExhaustedAccount(owner, "tokens")


@pytest.mark.parametrize(
    ("limits", "used", "measure"),
    [
        ({"usd": 1.0}, Usage(usd=1.0), "usd"),
        ({"seconds": 60}, Usage(seconds=61), "seconds"),
        ({"usd": 1.0, "tokens": 10}, Usage(usd=None, prompt_tokens=10), "tokens"),
        ({"usd": 1.0}, Usage(usd=None, prompt_tokens=10), "tokens"),  # nobody knows the dollars: tokens end it
    ],
)
def test_what_has_to_be_raised_is_no_matter_of_words(limits: dict[str, float], used: Usage, measure: str) -> None:
    account = Account(PROJECT, Allowance.model_validate(limits), used)
    with pytest.raises(BudgetExhausted) as caught:
        Budget(lambda: [account]).check()
    assert caught.value.account == (PROJECT, measure)
    assert caught.value.is_of(PROJECT)
    assert not caught.value.is_of(Owner("run"))
    assert caught.value.with_hint("another").account == caught.value.account


def test_a_budget_that_is_too_small_to_begin_with_is_told_as_one() -> None:
    account = Account(Owner("session", "debate-7"), Allowance(tokens=10), Usage())
    with pytest.raises(BudgetExhausted, match="is too small") as caught:
        Budget(lambda: [account]).require_room(11, "the first round")
    assert caught.value.account == (Owner("session", "debate-7"), "tokens")


async def test_dollars_alone_end_with_the_first_call_whose_price_is_unknown() -> None:
    """An agent program, which may or may not say what it costs."""
    model = metered(Books(usd=1.0), [reply(0.1), reply(None), reply()])
    await model.complete(ASK)
    await model.complete(ASK)
    with pytest.raises(BudgetExhausted, match="nobody can say what is left of the budget") as caught:
        await model.complete(ASK)
    assert "limit `tokens` beside `usd`" in caught.value.hint


async def test_an_unknown_price_is_told_once_and_known_costs_still_count() -> None:
    told: list[ModelEvent] = []
    books = Books(usd=1.0, tokens=1_000_000)
    model = metered(books, [reply(None), reply(None), reply(1.0), reply()], told)
    for _ in range(3):
        await model.complete(ASK)
    assert told == [CostUnknown(model="scripted/model")]
    with pytest.raises(BudgetExhausted, match=r"at least \$1\.00"):
        await model.complete(ASK)


def test_known_costs_of_an_earlier_run_still_count() -> None:
    earlier = Usage(usd=None) + Usage(usd=2.0)
    with pytest.raises(BudgetExhausted, match=r"at least \$2\.00 of \$1\.50"):
        Budget(Books(earlier, usd=1.5, tokens=9).accounts).check()


async def test_without_limits_everything_goes_and_nothing_is_told() -> None:
    told: list[ModelEvent] = []
    model = metered(Books(), [reply(None, 10**9)] * 2, told)
    await model.complete(ASK)
    await model.complete(ASK)
    assert told == []


def test_a_budget_of_nothing_allows_nothing() -> None:
    with pytest.raises(BudgetExhausted):
        Budget(Books(usd=0).accounts).check()


async def test_drain_gives_each_usage_once_failed_calls_too() -> None:
    failed = CallFailed("down", usage=Usage(prompt_tokens=5))
    model = Metered(ScriptedModel([reply(tokens=1), failed, reply(tokens=2)]), Budget())
    await model.complete(ASK)
    with pytest.raises(CallFailed):
        await model.complete(ASK)
    assert sum(each.tokens for each in model.drain().values()) == 6
    await model.complete(ASK)
    assert [each.tokens for each in model.drain().values()] == [2]
    assert model.drain() == {}
    assert model.total.tokens == 8


class Slow:
    """A model that takes a moment, and notes how many calls go on at the same time."""

    name = "local/slow"

    def __init__(self, usage: Usage) -> None:
        self.usage, self.calls, self.now, self.most = usage, 0, 0, 0

    async def complete(self, request: ModelRequest) -> ModelReply:
        del request
        self.calls += 1
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.01)
        self.now -= 1
        return ModelReply(text="x", usage=self.usage)


async def at_once(inner: Slow, number: int, *, tokens: int) -> tuple[Books, list[ModelReply | BaseException]]:
    books = Books(tokens=tokens)
    model = Metered(inner, Budget(books.accounts))
    books.models.append(model)
    return books, await asyncio.gather(*(model.complete(ASK) for _ in range(number)), return_exceptions=True)


async def test_calls_at_the_same_time_cannot_all_begin_on_the_same_remainder() -> None:
    inner = Slow(Usage(calls=1, prompt_tokens=150))
    books, ended = await at_once(inner, 8, tokens=100)
    assert inner.calls == 1
    assert sum(isinstance(each, BudgetExhausted) for each in ended) == 7
    assert books.models[0].total.tokens == 150


async def test_calls_that_fit_beside_each_other_go_on_at_the_same_time() -> None:
    inner = Slow(Usage(calls=1, prompt_tokens=150))
    _, ended = await at_once(inner, 8, tokens=100_000)
    assert inner.most == 8
    assert not any(isinstance(each, BaseException) for each in ended)


async def test_calls_wait_for_each_other_near_the_limit_and_use_all_of_it() -> None:
    inner = Slow(Usage(calls=1, prompt_tokens=150))
    _, ended = await at_once(inner, 8, tokens=1_200)
    assert inner.calls == 8
    assert 1 < inner.most < 8
    assert not any(isinstance(each, BaseException) for each in ended)


@pytest.mark.parametrize(
    ("books", "usage", "most"),
    [
        (Books(tokens=9_000), Usage(calls=1, completion_tokens=3_000), 1),
        (Books(usd=9.0), Usage(calls=1, usd=3.0), 2),
    ],
)
async def test_long_and_dear_answers_count_for_those_that_come(books: Books, usage: Usage, most: int) -> None:
    inner = Slow(usage)
    model = Metered(inner, Budget(books.accounts))
    books.models.append(model)
    await model.complete(ASK)
    await asyncio.gather(*(model.complete(ASK) for _ in range(4)), return_exceptions=True)
    assert (inner.calls, inner.most) == (3, most)


async def test_a_call_that_is_given_up_keeps_no_other_from_beginning() -> None:
    inner = Slow(Usage(calls=1, prompt_tokens=1))
    books = Books(tokens=100)
    model = Metered(inner, Budget(books.accounts))
    books.models.append(model)
    first, second = (asyncio.ensure_future(model.complete(ASK)) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    assert (await second).text == "x"


def test_what_cannot_be_begun_is_refused_with_the_numbers() -> None:
    require_room(Books(tokens=1_000).accounts(), 1_000, "the first round")
    with pytest.raises(BudgetExhausted, match=r"the first round takes about 1,001 tokens, and 0 of 1,000 tokens"):
        require_room(Books(tokens=1_000).accounts(), 1_001, "the first round")
    require_room(Books(usd=1.0).accounts(), 10**9, "the first round")


def per_token(usage: Usage) -> float:
    return usage.tokens / 1_000_000


async def test_a_model_that_has_not_answered_yet_is_asked_once_before_many_are() -> None:
    """Its price comes with its answers, so that of the first is waited for: ten at once would spend ten times that."""
    inner = Slow(Usage(calls=1, usd=0.015))
    books = Books(usd=0.02)
    model = Metered(inner, Budget(books.accounts))
    books.models.append(model)
    ended = await asyncio.gather(*(model.complete(ASK) for _ in range(10)), return_exceptions=True)
    assert (inner.calls, inner.most) == (2, 1)
    assert sum(isinstance(each, BudgetExhausted) for each in ended) == 8


async def test_a_known_price_tells_what_a_prompt_costs_before_anybody_is_asked() -> None:
    """At a dollar per million tokens a first answer counts as 8,000: two fit in $0.017, eight do not."""
    inner = Slow(Usage(calls=1, completion_tokens=7_000, usd=0.007))
    books = Books(usd=0.017)
    model = Metered(inner, Budget(books.accounts), price=per_token)
    books.models.append(model)
    await asyncio.gather(*(model.complete(ASK) for _ in range(8)), return_exceptions=True)
    assert (inner.calls, inner.most) == (3, 2)


async def test_what_one_budget_learnt_the_one_beside_it_knows_and_own_limits_count_own_calls_only() -> None:
    """Eight steps at once, each with a budget of its own: together they use what is left, and one call more at most."""
    inner, models = Slow(Usage(calls=1, prompt_tokens=50, completion_tokens=5_000)), list[Metered]()

    def all_of_it() -> Account:
        return Account(Owner("session", "all"), Allowance(tokens=14_000), sum((each.total for each in models), Usage()))

    first: Budget | None = None
    for number in range(8):
        own = Account(Owner("session", f"step {number}"), Allowance(tokens=6_000), Usage())
        budget = Budget(lambda own=own: (own, all_of_it()), sharing=first)  # type: ignore[misc]  # a default of a lambda
        first = first or budget
        models.append(Metered(inner, budget))
    await asyncio.gather(*(each.complete(ASK) for each in models), return_exceptions=True)
    assert inner.calls == 3
    assert all_of_it().spent.tokens == 3 * 5_050
    assert inner.most == 1, "a second one of 5,050 does not fit beside the first while 14,000 are the limit of three"


async def test_calls_that_other_budgets_bound_do_not_hold_back_those_of_one() -> None:
    inner = Slow(Usage(calls=1, prompt_tokens=50))
    accounts = [Account(Owner("session", f"step {number}"), Allowance(tokens=9_000), Usage()) for number in range(2)]
    first = Budget(lambda: accounts[:1])
    budgets = [first, Budget(lambda: accounts[1:], sharing=first)]
    await asyncio.gather(*(Metered(inner, each).complete(ASK) for each in budgets))
    assert inner.most == 2


async def test_a_call_that_fails_without_use_teaches_nothing() -> None:
    failed: list[ModelReply | Exception] = [CallFailed("down"), reply(tokens=90), reply(tokens=90)]
    model = metered(Books(tokens=100), failed)
    ended = await asyncio.gather(*(model.complete(ASK) for _ in range(3)), return_exceptions=True)
    assert [type(each).__name__ for each in ended] == ["CallFailed", "ModelReply", "ModelReply"]
