"""Usage of model calls: tokens, and money where the price is known; and limits on it."""

from __future__ import annotations

from swarmgate.domain.base import Frozen


class Usage(Frozen):
    """Tokens and cost of one or more model calls.

    `usd` is None when the price of at least one call is unknown: unknown is never counted as 0. `known_usd` is then
    what the other calls cost, a lower bound.
    `cached_tokens` is the part of `prompt_tokens` that the provider served from its cache.
    """

    calls: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    usd: float | None = 0.0
    known_usd: float = 0.0
    seconds: float = 0.0

    @property
    def tokens(self) -> int:
        """All tokens that count against `[budget] tokens`: prompt and completion."""
        return self.prompt_tokens + self.completion_tokens

    @property
    def least_usd(self) -> float:
        """The certain part of what was spent."""
        return self.known_usd if self.usd is None else self.usd

    def __add__(self, other: Usage) -> Usage:
        unknown, least = self.usd is None or other.usd is None, self.least_usd + other.least_usd
        return Usage(  # validating takes half of the time of `model_construct`
            calls=self.calls + other.calls,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            usd=None if unknown else least,
            known_usd=least if unknown else 0.0,
            seconds=self.seconds + other.seconds,
        )

    def __sub__(self, other: Usage) -> Usage:
        """What of this is not part of `other`; never less than nothing."""
        usd = max(0.0, self.least_usd - other.least_usd)
        return Usage(
            calls=max(0, self.calls - other.calls),
            prompt_tokens=max(0, self.prompt_tokens - other.prompt_tokens),
            cached_tokens=max(0, self.cached_tokens - other.cached_tokens),
            completion_tokens=max(0, self.completion_tokens - other.completion_tokens),
            usd=None if self.usd is None else usd,
            known_usd=usd if self.usd is None else 0.0,
            seconds=max(0.0, self.seconds - other.seconds),
        )


def cost_in_words(usage: Usage) -> str:
    """US dollars: all of them, those that are known, or that none are."""
    if usage.usd is not None:
        return f"${usage.usd:.4f}"
    return f"at least ${usage.known_usd:.4f}, the rest unknown" if usage.known_usd else "cost unknown"


def cost_in_column(usage: Usage) -> str:
    """The same, as short as a column that is headed by what it counts can say it."""
    if usage.usd is not None:
        return f"${usage.usd:.4f}"
    return f"at least ${usage.known_usd:.4f}" if usage.known_usd else "unknown"


class Allowance(Frozen):
    """What may be used up: US dollars, tokens and seconds of work; None: no limit."""

    usd: float | None = None
    tokens: int | None = None
    seconds: float | None = None

    def but(self, *, usd: float | None = None, tokens: int | None = None) -> Allowance:
        """The same, with these limits where they are given."""
        given = {"usd": usd, "tokens": tokens}
        return self.model_copy(update={key: limit for key, limit in given.items() if limit is not None})

    @property
    def limited(self) -> bool:
        """Whether it holds anybody back."""
        return (self.usd, self.tokens, self.seconds) != (None, None, None)
