from __future__ import annotations

import pytest

from swarmgate.config import BudgetLimits
from swarmgate.domain.usage import Usage
from swarmgate.errors import BudgetExhausted
from swarmgate.llm.budget import Budget, Metered
from swarmgate.llm.events import CostUnknown, ModelEvent
from swarmgate.llm.model import CallFailed, Message, ModelReply, ModelRequest
from swarmgate.llm.scripted import ScriptedModel

ASK = ModelRequest(messages=(Message(role="system", content="s"), Message(role="user", content="u")))


def reply(usd: float | None = 0.0, tokens: int = 0) -> ModelReply:
    return ModelReply(text="x", usage=Usage(calls=1, prompt_tokens=tokens, usd=usd))


async def test_money_used_up_stops_before_the_next_call() -> None:
    inner = ScriptedModel([reply(2.0), reply(1.5), reply(9)])
    model = Metered(inner, Budget(BudgetLimits(usd=3.0)))
    await model.complete(ASK)
    await model.complete(ASK)
    with pytest.raises(BudgetExhausted, match=r"\$3\.50 of \$3\.00") as caught:
        await model.complete(ASK)
    assert len(inner.requests) == 2
    assert caught.value.exit_code == 4
    assert "`usd` in [budget]" in caught.value.hint
    assert "`swarm run`" in caught.value.hint


async def test_tokens_of_earlier_runs_and_of_other_roles_count() -> None:
    budget = Budget(BudgetLimits(tokens=1000), Usage(prompt_tokens=600))
    coder = Metered(ScriptedModel([reply(tokens=400)]), budget, role="coder")
    critic = Metered(ScriptedModel([reply()]), budget, role="critic")
    await coder.complete(ASK)
    with pytest.raises(BudgetExhausted, match="1,000 of 1,000 tokens"):
        await critic.complete(ASK)
    assert (coder.total.tokens, critic.total.tokens) == (400, 0)


async def test_an_unknown_price_is_told_once_and_known_costs_still_count() -> None:
    told: list[ModelEvent] = []
    budget = Budget(BudgetLimits(usd=1.0), on_event=told.append)
    model = Metered(ScriptedModel([reply(None), reply(None), reply(1.0)]), budget)
    for _ in range(3):
        await model.complete(ASK)
    assert told == [CostUnknown(model="scripted/model")]
    assert budget.spent.usd is None
    with pytest.raises(BudgetExhausted, match=r"at least \$1\.00"):
        budget.check()


async def test_without_limits_everything_goes_and_nothing_is_told() -> None:
    told: list[ModelEvent] = []
    model = Metered(ScriptedModel([reply(None, 10**9)] * 2), Budget(BudgetLimits(), on_event=told.append))
    await model.complete(ASK)
    await model.complete(ASK)
    assert told == []


def test_a_budget_of_nothing_allows_nothing() -> None:
    with pytest.raises(BudgetExhausted):
        Budget(BudgetLimits(usd=0)).check()


async def test_drain_gives_each_usage_once_failed_calls_too() -> None:
    failed = CallFailed("down", usage=Usage(prompt_tokens=5))
    model = Metered(ScriptedModel([reply(tokens=1), failed, reply(tokens=2)]), Budget(BudgetLimits()))
    await model.complete(ASK)
    with pytest.raises(CallFailed):
        await model.complete(ASK)
    assert model.drain().tokens == 6
    await model.complete(ASK)
    assert model.drain().tokens == 2
    assert model.drain() == Usage()
    assert model.total.tokens == 8
