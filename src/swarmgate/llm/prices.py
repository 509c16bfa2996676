"""Computes what a call costs: from the user's `[prices]`, else from list prices of well-known models.

An unknown price is None and reads "unknown"; it is never counted as 0. A server on this machine costs something too
(or is a gateway to one that does), so its models have no price unless the user states one.
"""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from swarmgate.config import Config, Price, is_program
from swarmgate.domain.usage import Usage

_PER = 1_000_000

# US dollars per million tokens: the providers' list prices as of November 2025 (openai.com/api/pricing,
# claude.com/pricing, standard tier). They change: `[prices]` overrides.
_LIST = {
    "gpt-5": (1.25, 10.00, 0.125),
    "gpt-5-mini": (0.25, 2.00, 0.025),
    "gpt-5-nano": (0.05, 0.40, 0.005),
    "gpt-4.1": (2.00, 8.00, 0.50),
    "gpt-4.1-mini": (0.40, 1.60, 0.10),
    "gpt-4.1-nano": (0.10, 0.40, 0.025),
    "gpt-4o": (2.50, 10.00, 1.25),
    "gpt-4o-mini": (0.15, 0.60, 0.075),
    "claude-opus-4-5": (5.00, 25.00, 0.50),
    "claude-sonnet-4-5": (3.00, 15.00, 0.30),
    "claude-haiku-4-5": (1.00, 5.00, 0.10),
}
_LOCAL = {"localhost", "127.0.0.1", "::1", "0.0.0.0"}  # noqa: S104 - compared with, not bound to


def price_of(model: str, config: Config) -> Price | None:
    """The price of a `provider/model`, looked up by that name, then without the provider; None when unknown."""
    provider, _, bare = model.partition("/")
    for name in (model, bare):
        if name in config.prices:
            return config.prices[name]
    endpoint = config.providers.get(provider)
    if bare not in _LIST or (endpoint and urlsplit(endpoint.base_url).hostname in _LOCAL):
        return None
    prompt, completion, cached = _LIST[bare]
    return Price(input=prompt, output=completion, cached=cached)


def unpriced(models: Iterable[str], config: Config) -> tuple[str, ...]:
    """Those of these models whose price is unknown before they are asked; agent programs may say theirs."""
    return tuple(model for model in dict.fromkeys(models) if not is_program(model) and price_of(model, config) is None)


def cost(model: str, usage: Usage, config: Config) -> float | None:
    """US dollars for `usage` at `model`; None when the price is unknown."""
    price = price_of(model, config)
    if price is None:
        return None
    cached = price.input if price.cached is None else price.cached
    fresh = usage.prompt_tokens - usage.cached_tokens
    return (fresh * price.input + usage.cached_tokens * cached + usage.completion_tokens * price.output) / _PER
