"""When a limit ends, in every form that is known to be in use; the source of each stands beside it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarmgate.llm import time_parsing
from swarmgate.llm.limit_resets import Limit, of_answer, of_program, of_stream, of_whole_answer

NOW = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
"""A Sunday; 13:00 in Berlin."""
BERLIN = ZoneInfo("Europe/Berlin")
EPOCH = int(NOW.timestamp())
HOUR = 3600


def seconds(limit: Limit | None) -> float | None:
    """How long from now it lasts."""
    return (limit.ends - NOW).total_seconds() if limit and limit.ends else None


def answered(headers: dict[str, str] | None = None, body: Any = "", status: int = 429) -> Limit | None:
    text = body if isinstance(body, str) else json.dumps(body)
    return of_answer(status, headers or {}, text, now=NOW)


def printed(text: str) -> Limit | None:
    return of_program(text, now=NOW, zone=BERLIN)


def groq(**named: str) -> dict[str, str]:
    return {f"x-ratelimit-{key.replace('_', '-')}": value for key, value in named.items()}


HEADERS: list[tuple[dict[str, str], float | None]] = [
    # RFC 9110, 10.2.3
    ({"Retry-After": "20"}, 20),
    ({"retry-after": " 0.5 "}, 0.5),
    ({"Retry-After": "Sun, 22 Nov 2026 12:01:00 GMT"}, 60),
    ({"Retry-After": "Sun, 22 Nov 2026 12:01:00 -0000"}, 60),
    ({"Retry-After": "Sat, 21 Nov 2026 12:01:00 GMT"}, 0),
    ({"Retry-After": "-3"}, 0),
    # what the endpoint takes for the present is an hour behind
    ({"Retry-After": "Sun, 22 Nov 2026 11:01:00 GMT", "Date": "Sun, 22 Nov 2026 11:00:00 GMT"}, 60),
    # openai-python, _base_client.py: _parse_retry_after_header; Azure OpenAI
    ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
    ({"x-ms-retry-after-ms": "1500"}, 1.5),
    # platform.openai.com/docs/guides/rate-limits, rate limits in headers
    (groq(remaining_requests="0", reset_requests="6m0s", remaining_tokens="9", reset_tokens="20ms"), 360),
    (groq(remaining_requests="59", reset_requests="6m0s", remaining_tokens="0", reset_tokens="20ms"), 0.02),
    (groq(remaining_requests="0", reset_requests="1s", remaining_tokens="0", reset_tokens="6m0s"), 360),
    (groq(remaining_requests="59", reset_requests="6m0s", remaining_tokens="9", reset_tokens="20ms"), None),
    (groq(reset_requests="6m0s", reset_tokens="20ms"), None),
    # console.groq.com/docs/rate-limits
    (groq(remaining_tokens="0", reset_tokens="7.66s"), 7.66),
    (groq(remaining_requests="0", reset_requests="2m59.56s"), 179.56),
    # docs.claude.com/en/api/rate-limits, response headers
    (
        {
            "anthropic-ratelimit-tokens-remaining": "0",
            "anthropic-ratelimit-tokens-reset": "2026-11-22T12:00:07Z",
            "anthropic-ratelimit-requests-remaining": "50",
            "anthropic-ratelimit-requests-reset": "2026-11-22T19:00:00Z",
        },
        7,
    ),
    # the same for subscriptions, as Claude Code reads them
    (
        {
            "anthropic-ratelimit-unified-5h-status": "rejected",
            "anthropic-ratelimit-unified-5h-reset": str(EPOCH + 2 * HOUR),
            "anthropic-ratelimit-unified-7d-status": "allowed",
            "anthropic-ratelimit-unified-7d-reset": str(EPOCH + 90 * HOUR),
        },
        2 * HOUR,
    ),
    # openrouter.ai/docs/api-reference/limits: milliseconds
    ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(EPOCH * 1000 + 5000)}, 5),
    # docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api: seconds (GitHub Models)
    ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(EPOCH + 90)}, 90),
    ({"x-ratelimit-reset": str(EPOCH + 90)}, 90),
    # draft-ietf-httpapi-ratelimit-headers-07 and -10
    ({"RateLimit": "limit=100, remaining=0, reset=30"}, 30),
    ({"RateLimit": '"burst";r=9;t=5, "day";r=0;t=300'}, 300),
    ({"RateLimit": '"burst";r=9;t=5'}, None),
    ({"RateLimit-Remaining": "0", "RateLimit-Reset": "30"}, 30),
    # inference-docs.cerebras.ai/support/rate-limits
    (groq(remaining_tokens_minute="0", reset_tokens_minute="11.38"), 11.38),
    # nothing, or nothing that can be true
    ({}, None),
    ({"Retry-After": ""}, None),
    ({"Retry-After": "soon"}, None),
    ({"Retry-After": "nan"}, None),
    ({"Retry-After": "inf"}, None),
    ({"Retry-After": "1e400"}, None),
    ({"Retry-After": "99999999"}, None),
    ({"retry-after-ms": "1e300"}, None),
    ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "99999999999999999999"}, None),
    ({"x-ratelimit-remaining": "?", "x-ratelimit-reset": "30"}, None),
    ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1600000000"}, 0),
]


@pytest.mark.parametrize(("headers", "lasts"), HEADERS)
def test_headers(headers: dict[str, str], lasts: float | None) -> None:
    assert seconds(answered(headers)) == (None if lasts is None else pytest.approx(lasts, abs=0.01))


GEMINI = {
    "error": {
        "code": 429,
        "status": "RESOURCE_EXHAUSTED",
        "message": "You exceeded your current quota, please check your plan and billing details.\n"
        "Please retry in 34.07s.",
        "details": [
            {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaValue": "250"}]},
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34s"},
        ],
    }
}
TPM = (
    "Rate limit reached for gpt-4 on tokens per min (TPM): Limit 10000, Used 9000, Requested 2000. "
    "Please try again in {}. Visit x"
)
BODIES: list[tuple[Any, float | None]] = [
    # ai.google.dev, google.rpc.RetryInfo; the OpenAI-compatible endpoint wraps it into a list
    (GEMINI, 34.07),
    ([GEMINI], 34.07),
    ({"error": {"details": [{"retryDelay": "34s"}]}}, 34),
    # OpenAI: community.openai.com, "Please try again in"
    ({"error": {"message": TPM.format("6s"), "code": "rate_limit_exceeded"}}, 6),
    ({"error": {"message": TPM.format("20ms")}}, 0.02),
    ({"error": {"message": TPM.format("1h2m3.5s")}}, 3723.5),
    # Azure OpenAI
    ({"error": {"code": "429", "message": "... exceeded token rate limit. Please retry after 20 seconds."}}, 20),
    ({"error": {"message": "Rate limit: please wait 20 seconds before retrying"}}, 20),
    ({"error": {"message": "Rate limit. Retry after 1 minute and 30 seconds"}}, 90),
    ({"error": {"message": "Rate limit. Try again in a minute"}}, 60),
    # ChatGPT's backend, as Codex reads it
    ({"error": {"type": "usage_limit_reached", "resets_at": EPOCH + 5 * HOUR}}, 5 * HOUR),
    ({"error": {"type": "usage_limit_reached", "resets_in_seconds": 1234}}, 1234),
    # OpenRouter quotes the upstream's answer, and headers
    ({"error": {"metadata": {"headers": {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": f"{EPOCH}000"}}}}, 0),
    ({"error": {"metadata": {"raw": json.dumps({"error": {"message": "retry after 7 seconds"}})}}}, 7),
    ({"retry_after": 1.5}, 1.5),
    ({"retry_after_ms": 1500}, 1.5),
    ({"error": "rate limited until 2026-11-22T12:30:00Z"}, 1800),
    ("Too many requests, retry in 5 minutes", 300),
    ({"error": {"message": "Please wait a few minutes before you try again."}}, None),
    ({"error": {"message": "Rate limit reached: 30 requests per minute, 14,400 per day"}}, None),
    ({"error": {"message": "Retry after 9999999 hours"}}, None),
    ("{" * 5000, None),
    ("[" * 100_000, None),
    ({"error": {"retry_after": True}}, None),
    ({"error": {"retry_after": {"x": 1}}}, None),
]


@pytest.mark.parametrize(("body", "lasts"), BODIES)
def test_bodies(body: Any, lasts: float | None) -> None:
    assert seconds(answered(body=body)) == (None if lasts is None else pytest.approx(lasts, abs=0.01))


PROGRAMS: list[tuple[str, float | None]] = [
    # github.com/anthropics/claude-code, issues 1785, 5977, 9046 and many others
    (f"Claude AI usage limit reached|{EPOCH + 7200}", 7200),
    ("5-hour limit reached \u2219 resets 3pm (Europe/Berlin)", 2 * HOUR),
    ("5-hour limit reached \u2219 resets 3:30pm", 2.5 * HOUR),
    ("You've hit your session limit \u00b7 resets 3pm", 2 * HOUR),
    ("You've hit your weekly limit \u00b7 resets Nov 25, 1pm (UTC)", 73 * HOUR),
    ("Claude usage limit reached. Your limit will reset at 3pm (America/Santiago).", 6 * HOUR),
    # github.com/openai/codex, codex-rs/core/src/error.rs
    ("You've hit your usage limit. Upgrade to Pro or try again at Nov 25th, 2026 5:42 PM.", 76.7 * HOUR),
    ("You've hit your usage limit. Try again in 2 days 3 hours.", 51 * HOUR),
    ("You've hit your usage limit. Try again at 5:42 PM.", 4.7 * HOUR),
    ("ERROR: You've hit your usage limit. Try again in 2 days 3 hours 5 minutes.", 51 * HOUR + 300),
    # github.com/google-gemini/gemini-cli
    ("You have exhausted your capacity on this model. Your quota will reset after 19h5m3s. Quota exceeded.", 68_703),
    # without a day: the next one; a few minutes ago is today's
    ("usage limit reached, resets at 14:00", HOUR),
    ("usage limit reached, resets at 13:00", 0),
    ("usage limit reached, resets at 12:58", -0.0),
    ("usage limit reached, resets at 12:00", 23 * HOUR),
    ("usage limit reached, resets at midnight UTC", 12 * HOUR),
    ("usage limit reached, resets tomorrow at 9am PT", 29 * HOUR),
    ("usage limit reached, resets Monday 9am", 20 * HOUR),
    ("usage limit reached, resets Mon, Nov 23 at 9:00 AM UTC", 21 * HOUR),
    ("usage limit reached, resets on 2026-11-24", 35 * HOUR),
    ("usage limit reached, resets 24 November 2026 14:00 +02:00", 48 * HOUR),
    ("usage limit reached until 2026-11-22 13:30:00 UTC", 1.5 * HOUR),
    ("usage limit reached, resets Jan 2, 12am UTC", 40 * 24 * HOUR + 12 * HOUR),
    ("rate limit: wait 20", 20),
    # no moment
    ("usage limit reached", None),
    ("usage limit reached, resets at 25:00", None),
    ("usage limit reached, resets 13pm", None),
    ("usage limit reached, resets Feb 30, 1pm", None),
    ("usage limit reached, resets soon", None),
    ("usage limit reached, resets Mar 3, 2031 1pm", None),
]


@pytest.mark.parametrize(("text", "lasts"), PROGRAMS)
def test_programs(text: str, lasts: float | None) -> None:
    limit = printed(text)
    assert limit is not None
    assert seconds(limit) == (None if lasts is None else pytest.approx(lasts, abs=1))


def test_a_time_of_day_over_the_end_of_summer_time() -> None:
    before = datetime(2026, 10, 24, 23, 30, tzinfo=UTC)  # 01:30 in Berlin, 90 minutes before clocks go back
    limit = of_program("usage limit reached, resets at 4am", now=before, zone=BERLIN)
    assert limit is not None
    assert limit.ends == datetime(2026, 10, 25, 3, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    "body",
    [
        # platform.openai.com/docs/guides/error-codes
        {"error": {"message": "You exceeded your current quota, please check your plan", "code": "insufficient_quota"}},
        # docs.claude.com/en/api/errors, 400
        {"error": {"type": "invalid_request_error", "message": "Your credit balance is too low to access the API."}},
        {"error": {"message": "Insufficient Balance"}},  # api-docs.deepseek.com/quick_start/error_codes, 402
        {"error": {"message": "billing_hard_limit_reached"}},
    ],
)
@pytest.mark.parametrize("status", [400, 402, 403, 429])
def test_what_has_to_be_paid_names_no_end_whatever_a_header_says(body: Any, status: int) -> None:
    assert answered({"Retry-After": "20"}, body, status) == Limit(ends=None, quota=True)


def test_payment_required_is_a_quota_without_a_word() -> None:
    assert answered(status=402) == Limit(ends=None, quota=True)


@pytest.mark.parametrize(
    ("status", "headers", "body", "lasts"),
    [
        (503, {"Retry-After": "120"}, "", 120),
        (529, {}, "Overloaded, try again in 30 seconds", 30),  # Anthropic
        (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(EPOCH + 90)}, "", 90),  # GitHub
        (403, {"Retry-After": "60"}, "You have exceeded a secondary rate limit", 60),
        (403, {"Retry-After": "60"}, "no such project", None),
        (401, {"Retry-After": "60"}, "wrong key", None),
        (400, {}, "the parameter retry must be until 14:00", None),
        (404, {"x-ratelimit-reset": "60"}, "no such model", None),
    ],
)
def test_which_answers_tell_of_limits(status: int, headers: dict[str, str], body: str, lasts: float | None) -> None:
    assert seconds(answered(headers, body, status)) == lasts


def test_rates_and_quotas_are_told_apart() -> None:
    kinds = {
        "20": answered({"Retry-After": "20"}),
        "7200": answered({"Retry-After": "7200"}),
        "week": printed("You've hit your weekly limit \u00b7 resets 3pm"),
        "tpm": answered(body={"error": {"message": TPM.format("6s")}}),
    }
    assert {key: limit.quota for key, limit in kinds.items() if limit} == {
        "20": False,
        "7200": True,
        "week": True,
        "tpm": False,
    }


def test_an_error_in_a_stream() -> None:
    assert seconds(of_stream("Rate limit exceeded, retry in 5s", now=NOW)) == 5
    assert of_stream("the tool is not available until 14:00", now=NOW) is None


@pytest.mark.parametrize(
    "text",
    [
        "ModuleNotFoundError: no module named x",
        "tests failed; try again in 5 minutes",
        "Error: the server is not available until 14:00",
        "AssertionError: expected 200, got 500",
        "rate limiting was added\n" + "line\n" * 9,
        "",
    ],
)
def test_programs_that_fail_for_another_reason(text: str) -> None:
    assert printed(text) is None


@pytest.mark.parametrize(
    ("text", "is_limit"),
    [
        (f"Claude AI usage limit reached|{EPOCH + 7200}", True),
        ("You\u2019ve hit your session limit \u00b7 resets 3pm (Europe/Berlin)", True),
        ("  Error: You've reached your usage limit. Try again in 2 hours.", True),
        ("I added a rate limit: after 100 requests clients are told to try again in 5 minutes.", False),
        ("The usage limit reached message now says when it resets at 14:00.", False),
        ("Rate limit reached: handled in client.py, tests pass. " + "More words about it. " * 40, False),
        ('{"tool": "submit_verdict", "arguments": {"verdict": "REJECTED", "summary": "rate limit exceeded"}}', False),
    ],
)
def test_an_answer_is_a_limit_only_where_it_says_nothing_else(text: str, *, is_limit: bool) -> None:
    assert (of_whole_answer(text, now=NOW, zone=BERLIN) is not None) is is_limit


# --- properties ---

HEADER_NAMES = st.sampled_from(
    (
        *("Retry-After", "retry-after-ms", "Date", "RateLimit", "x-ratelimit-reset", "x-ratelimit-remaining"),
        *("x-ratelimit-reset-tokens", "x-ratelimit-remaining-tokens", "anthropic-ratelimit-tokens-reset"),
    )
)
CUES = st.sampled_from(
    ["try again in ", "resets at ", "limit reached|", "retry after ", "wait ", "until ", '{"retry_after": ']
)


@given(
    st.sampled_from([200, 400, 402, 403, 404, 409, 429, 500, 503]),
    st.dictionaries(HEADER_NAMES, st.text(max_size=40) | st.integers().map(str) | st.floats().map(str)),
    st.lists(CUES | st.text(max_size=30) | st.integers().map(str)).map("".join),
)
def test_whatever_is_said_an_end_is_neither_over_nor_far(status: int, headers: dict[str, str], body: str) -> None:
    for limit in (
        of_answer(status, headers, body, now=NOW),
        of_program(body, f"rate limit exceeded, {body}", now=NOW, zone=BERLIN),
        of_stream(body, now=NOW),
        of_whole_answer(body, now=NOW, zone=BERLIN),
    ):
        assert limit is None or limit.ends is None or NOW <= limit.ends <= NOW + timedelta(days=62)


@given(
    st.integers(0, 61 * 24 * HOUR), st.sampled_from(["{d} days {h} hours {m} minutes {s} seconds", "{d}d{h}h{m}m{s}s"])
)
def test_a_span_reads_as_it_was_written(whole: int, form: str) -> None:
    days, rest = divmod(whole, 24 * HOUR)
    text = form.format(d=days, h=rest // HOUR, m=rest // 60 % 60, s=rest % 60)
    assert time_parsing.span(text) == timedelta(seconds=whole)
    assert seconds(answered(body=f"rate limit: try again in {text}.")) == whole


@given(
    st.datetimes(datetime(2026, 11, 22, 12, 10), datetime(2027, 1, 10)),  # noqa: DTZ001 - the zone comes next
    st.sampled_from(["UTC", "Europe/Berlin", "America/Los_Angeles", "Asia/Kolkata", "Pacific/Auckland"]),
    st.sampled_from(["%b %d, %Y %H:%M", "%Y-%m-%d %H:%M", "%d %B %Y at %H:%M", "%a, %b %d, %Y at %I:%M %p"]),
)
def test_a_moment_reads_as_it_was_written(when: datetime, zone: str, form: str) -> None:
    meant = when.replace(second=0, microsecond=0, tzinfo=ZoneInfo(zone))
    found = printed(f"usage limit reached, resets {meant.strftime(form)} ({zone})")
    assert found is not None
    assert found.ends == max(meant.astimezone(UTC), NOW)


@given(st.datetimes(datetime(2026, 1, 1), datetime(2026, 12, 31)), st.times(), st.booleans())  # noqa: DTZ001 - UTC comes next
def test_a_time_of_day_is_the_next_one(present: datetime, clock: Any, half: bool) -> None:  # noqa: FBT001 - drawn
    now = present.replace(tzinfo=UTC)
    text = clock.strftime("%I:%M %p" if half else "%H:%M")
    limit = of_program(f"usage limit reached, resets at {text}", now=now, zone=UTC)
    assert limit is not None
    assert limit.ends is not None
    assert now <= limit.ends <= now + timedelta(days=1)
    assert limit.ends == now or (limit.ends.hour, limit.ends.minute) == (clock.hour, clock.minute)


@pytest.mark.parametrize(
    ("said", "wait"),
    [
        ("\u8bf7\u6c42\u8fc7\u4e8e\u9891\u7e41\uff0c\u8bf7\u5728 30 \u79d2\u540e\u91cd\u8bd5", 30),
        ("\u8bf7 2 \u5206\u949f\u540e\u518d\u8bd5", 120),
        ("Ratenlimit erreicht. Bitte in 30 Sekunden erneut versuchen.", 30),
        ("Bitte versuchen Sie es nach 2 Minuten wieder.", 120),
        ("\u6bcf 60 \u79d2\u9650 3 \u6b21", None),  # a limit of 3 in 60 s, and no wait
        ("in 24 Stunden sind 100 Anfragen erlaubt", None),
    ],
)
def test_waits_are_read_in_chinese_and_german(said: str, wait: float | None) -> None:
    assert seconds(answered(body={"error": {"message": said}})) == wait


def test_an_empty_account_in_china_is_not_waited_for() -> None:
    limit = answered(body={"error": {"code": "1113", "message": "\u8d26\u6237\u4f59\u989d\u4e0d\u8db3"}})
    assert limit is not None
    assert (limit.ends, limit.quota) == (None, True)


@pytest.mark.parametrize("said", ["-1", "NaN", "inf", "1e308", "9" * 30, "soon", "", "0x10", "-1e999"])
def test_a_retry_after_that_is_none_is_now_or_nothing(said: str) -> None:
    assert seconds(answered({"Retry-After": said})) in (None, 0)
