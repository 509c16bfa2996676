"""Fake-endpoint behaviours for tests: rate-limit and quota errors, with the forms of their reset times."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

from swarmgate.testing.exchange import Exchange, Response, refused
from swarmgate.testing.habits.habit import Habit

WAIT_S = 20
"""Seconds until the limits of these habits end, where they do not say otherwise."""


def _limited(
    headers: Callable[[], Mapping[str, str]], message: Callable[[], str] | None = None
) -> Callable[[Exchange], Response | None]:
    def first(exchange: Exchange) -> Response | None:
        if exchange.number > 1:
            return None
        text = message() if message else "Rate limit reached for model `m`."
        return refused(429, text, headers=headers(), type="tokens", code="rate_limit_exceeded")

    return first


def _later() -> datetime:
    return datetime.now(UTC) + timedelta(seconds=WAIT_S)


def _none() -> dict[str, str]:
    return {}


def _habit(name: str, about: str, source: str, refuse: Callable[[Exchange], Response | None]) -> Habit:
    return Habit(name=name, about=about, source=source, group="limits", refuse=refuse)


HABITS = (
    _habit(
        "limit-retry-after",
        "429 with `Retry-After` in seconds.",
        "Groq: https://github.com/Aider-AI/aider/issues/3265",
        _limited(lambda: {"Retry-After": str(WAIT_S)}),
    ),
    _habit(
        "limit-retry-after-date",
        "429 with `Retry-After` as a date.",
        "RFC 9110, 10.2.3: https://www.rfc-editor.org/rfc/rfc9110#field.retry-after",
        _limited(lambda: {"Retry-After": format_datetime(_later(), usegmt=True)}),
    ),
    _habit(
        "limit-retry-after-ms",
        "429 with `retry-after-ms`.",
        "Azure OpenAI, read by openai-python: https://github.com/openai/openai-python/blob/main/src/openai/_base_client.py",
        _limited(lambda: {"retry-after-ms": str(WAIT_S * 1000)}),
    ),
    _habit(
        "limit-reset-minutes",
        "429 with `x-ratelimit-reset-tokens: 6m0s`, the requests' own limit not being reached.",
        "OpenAI, rate limits in headers: https://platform.openai.com/docs/guides/rate-limits",
        _limited(
            lambda: {
                "x-ratelimit-remaining-requests": "59",
                "x-ratelimit-reset-requests": "1s",
                "x-ratelimit-remaining-tokens": "0",
                "x-ratelimit-reset-tokens": "6m0s",
            }
        ),
    ),
    _habit(
        "limit-reset-fractions",
        "429 with `x-ratelimit-reset-tokens: 1.57s`.",
        "Groq: https://github.com/groq/groq-typescript/issues/28",
        _limited(lambda: {"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1.57s"}),
    ),
    _habit(
        "limit-reset-epoch",
        "429 with `X-RateLimit-Reset` in milliseconds since 1970.",
        "OpenRouter, limits: https://openrouter.ai/docs/api-reference/limits",
        _limited(lambda: {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(_later().timestamp() * 1000))}),
    ),
    _habit(
        "limit-in-message",
        "429 that names the wait in its message alone: `Please try again in 1m0.36s`.",
        "Groq: https://github.com/OpenHands/OpenHands/pull/4167",
        _limited(
            _none,
            lambda: (
                "Rate limit reached for model `m` on tokens per minute (TPM): Limit 7000, Used 6148, Requested 7895. "
                "Please try again in 1m0.363142857s."
            ),
        ),
    ),
    _habit(
        "limit-resets-at",
        "429 that names the time in its message alone: `Resets at 2026-08-07T05:00:00Z`.",
        "Z.AI coding plan: https://github.com/LionSR/TeXRA/pull/9865",
        _limited(_none, lambda: f"Usage limit reached for 5 hour. Resets at {_later():%Y-%m-%dT%H:%M:%SZ}"),
    ),
    _habit(
        "limit-quota",
        "429 with `insufficient_quota`: waiting does not help.",
        "OpenAI, error codes: https://platform.openai.com/docs/guides/error-codes",
        lambda _exchange: refused(
            429,
            "You exceeded your current quota, please check your plan and billing details.",
            type="insufficient_quota",
            code="insufficient_quota",
        ),
    ),
)
