"""What a model call used: tokens and, where the price is known, money."""

from __future__ import annotations

from swarmgate.domain.base import Frozen


class Usage(Frozen):
    """Tokens and cost of one or more model calls.

    `usd` is None when the price of at least one call is unknown: unknown is never counted as 0.
    `cached_tokens` is the part of `prompt_tokens` that the provider served from its cache.
    """

    calls: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    usd: float | None = 0.0
    seconds: float = 0.0

    @property
    def tokens(self) -> int:
        """All tokens that count against `[budget] tokens`: prompt and completion."""
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage.model_construct(
            calls=self.calls + other.calls,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            usd=None if self.usd is None or other.usd is None else self.usd + other.usd,
            seconds=self.seconds + other.seconds,
        )
