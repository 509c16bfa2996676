from __future__ import annotations

import pytest

from swarmgate.config import Config
from swarmgate.domain.usage import Usage
from swarmgate.llm.prices import cost

USED = Usage(prompt_tokens=1_000_000, cached_tokens=400_000, completion_tokens=100_000)
REMOTE = {"providers": {"openai": {"base_url": "https://api.example/v1"}}}
LOCAL = {"providers": {"openai": {"base_url": "http://127.0.0.1:1/v1"}}}


def usd(model: str, **settings: object) -> float | None:
    return cost(model, USED, Config.model_validate(settings))


def test_a_well_known_model_costs_its_list_price_cached_tokens_less() -> None:
    assert usd("openai/gpt-4o", **REMOTE) == pytest.approx(0.6 * 2.5 + 0.4 * 1.25 + 0.1 * 10)


def test_the_users_price_comes_first_the_longer_name_before_the_shorter() -> None:
    prices = {"gpt-4o": {"input": 1, "output": 0}}
    assert usd("openai/gpt-4o", prices=prices, **REMOTE) == pytest.approx(1.0)
    prices["openai/gpt-4o"] = {"input": 2, "output": 10}
    assert usd("openai/gpt-4o", prices=prices, **REMOTE) == pytest.approx(2 + 1)
    assert usd("other/gpt-4o", prices=prices) == pytest.approx(1.0)


def test_without_a_price_for_cached_tokens_they_cost_like_others() -> None:
    assert usd("a/b", prices={"b": {"input": 1, "output": 0}}) == pytest.approx(1.0)
    assert usd("a/b", prices={"b": {"input": 1, "output": 0, "cached": 0}}) == pytest.approx(0.6)


def test_an_unknown_price_is_none_also_on_this_machine() -> None:
    assert usd("openai/new-model", **REMOTE) is None
    assert usd("openai/gpt-4o", **LOCAL) is None
    assert usd("openai/gpt-4o", prices={"gpt-4o": {"input": 0, "output": 0}}, **LOCAL) == 0
