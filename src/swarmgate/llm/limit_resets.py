"""Parses when a rate limit or quota resets, from response headers and error text. Pure.

Endpoints and agent programs say it in ways of their own:

    Retry-After (RFC 9110, 10.2.3), retry-after-ms, x-ms-retry-after-ms (Azure)
    x-ratelimit-reset-requests: 6m0s (OpenAI), 2m59.56s (Groq); RateLimit-Reset: 30 (IETF draft)
    anthropic-ratelimit-tokens-reset: 2026-01-01T14:00:00Z; X-RateLimit-Reset: 1741305600000 (OpenRouter)
    RetryInfo.retryDelay: "34s" (Gemini); resets_at, resets_in_seconds (Codex)
    "Please retry after 20 seconds" (Azure); "Please try again in 1h2m3.5s" (OpenAI); "resets 3pm (Europe/Berlin)",
    "Claude AI usage limit reached|1760000000" (Claude Code); "try again at Oct 25th, 2025 5:42 PM" (Codex)
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

from pydantic import AwareDatetime

from swarmgate.domain.base import Frozen
from swarmgate.llm.time_parsing import later, moment, span, value

_FARTHEST = timedelta(days=62)
"""No limit ends later: the longest are those of a month. What names a later moment names none."""
_LONG = timedelta(hours=1)
"""A limit that lasts longer is a quota, whatever it calls itself."""
_WORDS, _LINES, _LINE, _TAIL = 8_000, 5, 1_000, 80
"""Characters of a text that are read; lines at the end of what a program printed, characters of one; and characters
behind the word that announces a moment."""
_BODY = 200_000
"""Characters of an answer that are read as JSON: refusals are short."""
_DEPTH, _STRINGS = 8, 200
"""How deep a JSON answer is looked into, and how many of its strings are read."""

_TOO_MANY, _PAYMENT, _FORBIDDEN, _SERVER = 429, 402, 403, 500

_UNPAID = re.compile(
    r"insufficient_quota|insufficient[ _](?:balance|credits?|funds)|credit balance|out of credits|not enough credits"
    r"|billing_(?:hard_)?limit|billing hard limit|payment required|billing_not_active|exceeded_current_quota"
    r"|check your plan and billing|\u4f59\u989d\u4e0d\u8db3|\u6b20\u8d39",
    re.IGNORECASE,
)
"""An account without money, also as providers in China say it: nothing ends this but its owner."""
_QUOTA = re.compile(
    r"quota|usage[ _]limit|(?:session|weekly|daily|monthly|hourly|spending|spend|5[- ]hour|five[- ]hour|plan) limit"
    r"|per[ _-]?(?:day|week|month)|billing",
    re.IGNORECASE,
)
"""Words of limits of a longer period than a minute."""
_LIMITED = re.compile(
    r"too many requests|rate[ _-]?limit|resource_?exhausted|overloaded|(?:^|\D)429(?:\D|$)"
    r"|quota\b.{0,40}\b(?:exceeded|exhausted|reached|used up)"
    r"|(?:exceeded|exhausted|reached|hit)\b.{0,60}\b(?:quota|limit)"
    r"|\blimit\b.{0,20}\b(?:reached|exceeded|hit)",
    re.IGNORECASE,
)
"""The words which mean that a limit was reached."""
_OPENING = re.compile(
    r"\W*(?:(?:claude(?: ai)?|codex|gemini|error|warning)\W+)*"
    r"(?:(?:usage|rate|session|weekly|daily|monthly|5-hour|opus|sonnet)\s+(?:usage\s+)?limit\s+(?:reached|exceeded|hit)"
    r"|you(?:'|\u2019)?(?:ve| have)\s+(?:hit|reached|exceeded)\s+your\b.{0,40}\blimit)",
    re.IGNORECASE,
)
"""How a program begins whose whole answer is that its limit was reached."""
_OPENING_LONGEST = 400

_CUE = re.compile(
    r"\b(?:try(?:ing)?\s+again|retry(?:ing)?|wait(?:ing)?|resets?|refresh(?:es)?|renews?|available|replenish(?:es|ed)?"
    r"|until|back)\b|limit reached\|",
    re.IGNORECASE,
)
_FILLER = re.compile(
    r"(?:[\s:,(|\u00b7\u2219-]|\b(?:again|your|the|limit|usage|request|will|be|it|available|about|around|at least|then"
    r"|approximately|please|reset|resets|another|for|by|on)\b)*",
    re.IGNORECASE,
)
_IN = re.compile(r"(?:in|after|at|on|until)\b[\s:]*(?:about\s+|approximately\s+)?", re.IGNORECASE)
_NUMBER = re.compile(r"(\d{1,13}(?:\.\d{1,9})?)(?=\s*(?:$|[.,;:!?)\"'\n]\s|[.,;:!?)\"'\n]$|seconds?\b|s\b))")

_ABROAD = re.compile(
    r"(\d{1,6}(?:\.\d{1,3})?)\s*(\u79d2|\u5206\u949f|\u5206\u9418|\u5c0f\u65f6|\u5c0f\u6642)\u949f?(?:\u4e4b)?[\u540e\u5f8c]"
    r"|\b(?:in|nach)\s+(\d{1,6}(?:[.]\d{1,3})?)\s*(Sekunden?|Minuten?|Stunden?)\b.{0,20}\b(?:erneut|wieder|nochmals?)",
    re.IGNORECASE,
)
"""The wait as proxies in China and in Germany say it: `30 \u79d2\u540e`, `in 30 Sekunden erneut`."""
_UNITS = {
    "\u79d2": 1, "\u5206\u949f": 60, "\u5206\u9418": 60, "\u5c0f\u65f6": 3_600, "\u5c0f\u6642": 3_600,
    "se": 1, "mi": 60, "st": 3_600,
}  # fmt: skip

_SECONDS = {
    "retryafter", "retryafterseconds", "retryaftersecs", "retrydelay", "retryin", "retryat", "resetinseconds",
    "resetsinseconds", "resetsat", "resetat", "resetsin", "resetin", "resettime", "resetafter", "ratelimitreset",
    "secondsuntilreset", "quotaresettime", "quotaresettimestamp", "quotaresetdelay",
}  # fmt: skip
_MILLISECONDS = {"retryafterms", "retryaftermilliseconds", "resetinms", "resetsinms"}


class Limit(Frozen):
    """A limit that was reached. `ends` is None where nothing names it; `model` is whose it is, as `provider/model`.

    `quota` tells what an account may use in a longer period (hours to months, or as much as was paid for) from a rate,
    of a minute or so.
    """

    ends: AwareDatetime | None = None
    quota: bool = False
    model: str = ""

    @property
    def kind(self) -> str:
        """The name of the limit."""
        return "usage limit" if self.quota else "rate limit"


def of_answer(status: int, headers: Mapping[str, str], body: str, *, now: datetime, zone: tzinfo = UTC) -> Limit | None:
    """The limit that an endpoint's refusal tells of; None: it is about something else, or names no end.

    A quota that is paid for (`insufficient_quota`) is given without an end, which a header cannot name either.

    Args:
        status: of HTTP.
        headers: of the answer; names in any case.
        body: of the answer, as it came.
        now: the present.
        zone: in which times of day are meant that name none.
    """
    data = _json(body[:_BODY])
    text = (body if data is None else json.dumps(data, ensure_ascii=False))[:_WORDS]  # as it reads, without escapes
    unpaid = status == _PAYMENT or _UNPAID.search(text)
    limited = unpaid or _LIMITED.search(text)
    if not (status in {_TOO_MANY, _PAYMENT} or status >= _SERVER or status in {408, 409, 425} or limited):
        return None if status != _FORBIDDEN else _limit(_exhausted(_lower(headers), now), text, now)
    own = _in_body(data, text, now, zone)
    if unpaid:
        return Limit(ends=_near(own, now), quota=True)
    lower = _lower(headers)
    return _limit([*_retry_after(lower, now), *own] or _exhausted(lower, now), text, now)


def of_stream(text: str, *, now: datetime) -> Limit | None:
    """The limit that an error in the middle of an answer tells of; None: it is about something else."""
    return of_answer(_TOO_MANY, {}, text, now=now) if _LIMITED.search(text[:_WORDS]) else None


def of_program(*printed: str, now: datetime, zone: tzinfo) -> Limit | None:
    """The limit that a program failed at, as the last lines of what it printed say; None: they say nothing of one.

    Args:
        printed: each of its streams, or its own complaint.
        now: the present.
        zone: of the user, whose times programs print.
    """
    for text in printed:
        lines = [line[:_LINE] for line in text.splitlines() if line.strip()][-_LINES:]
        tail = "\n".join(lines)
        if _LIMITED.search(tail) or _UNPAID.search(tail):
            ends = [each for line in lines for each in _in_body(_json(line), line, now, zone)]
            found = _limit(ends, tail, now)
            return found or Limit(quota=bool(_QUOTA.search(tail) or _UNPAID.search(tail)))
    return None


def of_whole_answer(text: str, *, now: datetime, zone: tzinfo) -> Limit | None:
    """The limit that is all that a program said though it ended well; None: it said something else."""
    text = text.strip()
    if len(text) > _OPENING_LONGEST or not _OPENING.match(text):
        return None
    return of_program(text, now=now, zone=zone)


def _limit(ends: list[datetime], words: str, now: datetime) -> Limit | None:
    """The limit that ends when the last of these moments has come; None: none of them is near enough to be true."""
    end = _near(ends, now)
    return Limit(ends=end, quota=bool(_QUOTA.search(words)) or end - now > _LONG) if end else None


def _near(ends: list[datetime], now: datetime) -> datetime | None:
    """The last of these moments that is believed; one that is over is now."""
    return max((max(each, now) for each in ends if each - now <= _FARTHEST), default=None)


# --- headers ---


def _lower(headers: Mapping[str, str]) -> dict[str, str]:
    return {str(name).lower(): str(value)[:_LINE] for name, value in headers.items()}


def _server(headers: Mapping[str, str], now: datetime) -> datetime | None:
    """What the endpoint takes for the present: a clock that is wrong, here or there, is no reason to wait for hours."""
    return value(date, now=now) if (date := headers.get("date", "")) and not date.isdecimal() else None


def _retry_after(headers: Mapping[str, str], now: datetime) -> list[datetime]:
    """What is asked for in so many words."""
    for name in ("retry-after-ms", "x-ms-retry-after-ms"):
        try:
            length = timedelta(milliseconds=max(float(headers.get(name, "")), 0.0))
        except (ValueError, OverflowError):
            continue
        if found := later(now, length):
            return [found]
    found = value(headers.get("retry-after", ""), now=now, server=_server(headers, now))
    return [found] if found else []


def _exhausted(headers: Mapping[str, str], now: datetime) -> list[datetime]:
    """The resets of those limits of which nothing remains; of a single one that does not say what remains, too."""
    server = _server(headers, now)
    resets = {name: header for name, header in headers.items() if "ratelimit" in name and "reset" in name}
    found: list[datetime] = []
    for name, header in resets.items():
        remains, status = (headers.get(name.replace("reset", word), "") for word in ("remaining", "status"))
        if _is_nothing(remains) or status == "rejected" or (len(resets) == 1 and not remains and not status):
            found += [when] if (when := value(header, now=now, server=server)) else []
    for name in ("ratelimit", "x-ratelimit"):  # "limit=100, remaining=0, reset=30", and later "burst";r=0;t=30
        for part in re.split(r",(?=\s*\")", headers.get(name, "")):
            parts = dict(re.findall(r"\b(remaining|reset|r|t)\s*=\s*(\d{1,12})", part))
            if parts.get("remaining", parts.get("r")) == "0" and (
                when := value(parts.get("reset", parts.get("t", "")), now=now)
            ):
                found.append(when)
    return found


def _is_nothing(remains: str) -> bool:
    try:
        return float(remains) <= 0
    except ValueError:
        return False


# --- bodies and words ---


def _json(text: str) -> Any:
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _in_body(data: Any, text: str, now: datetime, zone: tzinfo) -> list[datetime]:
    """Every moment that a body names: in fields by their names, in headers that it quotes, in words."""
    if data is None:
        return list(_in_words(text[:_WORDS], now, zone))
    found: list[datetime] = []
    for count, (key, field) in enumerate(_fields(data)):
        if count >= _STRINGS:
            break
        name = re.sub(r"[^a-z]", "", key.lower())
        if isinstance(field, dict):
            found += _exhausted(_lower(field), now) if name == "headers" else []
        elif name in _MILLISECONDS and isinstance(field, int | float) and not isinstance(field, bool):
            found += [when] if (when := value(field / 1000, now=now)) else []
        elif name in _SECONDS and (when := value(field, now=now)):
            found.append(when)
        elif isinstance(field, str):
            inner = _json(field) if key != "" else None
            found += _in_body(inner, field, now, zone) if inner is not None else _in_words(field[:_WORDS], now, zone)
    return found


def _fields(data: Any, key: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Every field of a JSON answer, at any depth."""
    if depth > _DEPTH:
        return
    if isinstance(data, dict):
        yield key, data
        for name, inner in data.items():
            yield from _fields(inner, str(name), depth + 1)
    elif isinstance(data, list):
        for inner in data:
            yield from _fields(inner, key, depth + 1)
    else:
        yield key, data


def _in_words(text: str, now: datetime, zone: tzinfo) -> Iterator[datetime]:
    """The moments that stand behind words such as `try again` and `resets`."""
    for cue in _CUE.finditer(text):
        behind = text[cue.end() : cue.end() + _TAIL]
        rest = behind[_end(_FILLER, behind) :]
        named = _IN.match(rest)
        rest = rest[named.end() :] if named else rest
        if (length := span(rest)) is not None:
            when = later(now, length)
        else:
            number = _NUMBER.match(rest) if named or cue[0].endswith("|") or cue[0].lower().startswith("wait") else None
            when = value(number[1], now=now) if number else moment(rest, now=now, zone=zone)
        if when is not None:
            yield when
    for found in _ABROAD.finditer(text):
        number, unit = filter(None, found.groups())
        if when := later(now, timedelta(seconds=float(number) * _UNITS[unit[:2].lower()])):
            yield when


def _end(pattern: re.Pattern[str], text: str) -> int:
    found = pattern.match(text)
    return found.end() if found else 0
