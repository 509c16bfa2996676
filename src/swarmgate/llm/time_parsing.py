"""Parses points in time and durations as they are written: `6m0s`, `2 days 3 hours`, `3pm (Europe/Berlin)`. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from email.utils import parsedate_to_datetime
from zoneinfo import ZoneInfo

_GRACE = timedelta(minutes=5)
"""A time of day that is over for no longer than this is meant as today's: it is written in whole minutes, or hours."""

_EPOCH_S, _EPOCH_MS = 1e9, 1e11
"""Numbers from here on are no spans but seconds, or milliseconds, since 1970: 1e9 s are 31 years, 1e11 s 3,168."""

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0, "w": 604_800.0}
_PIECE = (
    r"(\d{1,12}(?:\.\d{1,12})?)\s*(milliseconds?|msecs?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d"
    r"|weeks?|w)(?![a-z])"
)
_SPAN = re.compile(rf"{_PIECE}(?:[\s,]*(?:and\s+)?{_PIECE})*", re.IGNORECASE)
_PIECES = re.compile(_PIECE, re.IGNORECASE)
_ONE = re.compile(r"\b(?:an?|one)\s+(?=(?:second|minute|hour|day|week)\b)", re.IGNORECASE)

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MONTH = rf"(?P<month>{'|'.join(_MONTHS)})[a-z]*\.?"
_DAY_OF_MONTH = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?(?![\d:]|\s*[ap]\.?m)"
_YEAR = r"(?:,?\s+(?P<year>\d{4})\b)?"
_DAY_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        r"(?P<year>\d{4})-(?P<number>\d{2})-(?P<day>\d{2})",
        rf"(?:(?:{'|'.join(_DAYS)})[a-z]*,?\s+)?{_MONTH}\s+{_DAY_OF_MONTH}{_YEAR}",
        rf"(?:(?:{'|'.join(_DAYS)})[a-z]*,?\s+)?{_DAY_OF_MONTH}\s+{_MONTH}{_YEAR}",
        rf"(?P<weekday>{'|'.join(_DAYS)})[a-z]*\b",
        r"(?P<relative>today|tomorrow)\b",
    )
)
_CLOCK = re.compile(
    r"(?P<word>midnight|noon)\b|(?P<hour>\d{1,2})(?::(?P<minute>\d{2}))?(?::(?P<second>\d{2})(?:\.\d+)?)?"
    r"(?:\s*(?P<half>[ap])\.?m\b\.?)?",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"[\s,]*(?:T(?=\d))?(?:(?:at|on)\s+)?", re.IGNORECASE)
_ZONE = re.compile(
    r"\s*\(?\s*(?:(?P<place>[A-Za-z]+/[A-Za-z_]+(?:/[A-Za-z_]+)?)|(?:UTC|GMT)?(?P<offset>[+-]\d{1,2}(?::?\d{2})?)\b"
    r"|(?P<name>UTC|GMT|Z|[PMCE][SD]?T|BST|CES?T|JST|Pacific|Eastern)\b)"
)
_NAMES = {
    "UTC": "UTC", "GMT": "UTC", "Z": "UTC", "P": "America/Los_Angeles", "M": "America/Denver", "C": "America/Chicago",
    "E": "America/New_York", "BST": "Europe/London", "CET": "Europe/Berlin", "CEST": "Europe/Berlin",
    "JST": "Asia/Tokyo",
}  # fmt: skip


def span(text: str) -> timedelta | None:
    """The span of time that a text begins with: `20ms`, `1h2m3.5s`, `2 days 3 hours`; None: it begins with none."""
    found = _SPAN.match(_ONE.sub("1 ", text))
    if found is None:
        return None
    seconds = sum(float(number) * _UNITS[_unit(unit)] for number, unit in _PIECES.findall(found[0]))
    return _span(seconds)


def moment(text: str, *, now: datetime, zone: tzinfo) -> datetime | None:
    """The moment that a text begins with: `14:00`, `Oct 25th, 2025 5:42 PM`, `tomorrow at 9am PT`, RFC 3339.

    A time of day without a day is the next one; a day without a year is that of the nearest year.

    Args:
        text: in English, or digits alone.
        now: the present.
        zone: where the times are meant that name none.
    """
    day, rest = _day(text)
    clock, rest = _clock(rest if day is None else rest[_end(_BETWEEN, rest) :])
    if day is None and clock is not None:
        day, rest = _day_behind(rest)
    if day is None and clock is None:
        return None
    here = _zone(rest, zone)
    try:
        local = now.astimezone(here)
        when = datetime.combine(day(local.date()) if day else local.date(), clock or time(), here)
        if day is None and when < local - _GRACE:
            when = datetime.combine(local.date() + timedelta(days=1), clock or time(), here)
        return when.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def value(data: object, *, now: datetime, server: datetime | None = None) -> datetime | None:
    """The moment that a header or a field names: a number, a span, RFC 3339 or an HTTP date (RFC 9110, 5.6.7).

    Args:
        data: the value; numbers are seconds from now, or seconds or milliseconds since 1970, as their size says.
        now: the present.
        server: what the other side takes for the present; its moments are moved by the difference.
    """
    if isinstance(data, bool) or not isinstance(data, str | int | float):
        return None
    text = str(data).strip()
    moved = now - server if server else timedelta()
    try:
        number = float(text)
    except ValueError:
        if (length := span(text)) is not None and _SPAN.fullmatch(text):
            return later(now, length)
        return _shifted(_stamp(text), moved)
    if not math.isfinite(number):
        return None
    if number >= _EPOCH_S:
        return _shifted(_since_1970(number / (1000 if number >= _EPOCH_MS else 1)), moved)
    return later(now, _span(max(number, 0.0)))


def rendered(end: datetime, now: datetime) -> str:
    """Formats the end of a limit for people."""
    end, now = rounded(end).astimezone(), now.astimezone()
    return f"at {end:%H:%M:%S}" if end.date() == now.date() else f"on {end:%a %d %b} at {end:%H:%M:%S}"


def utc(when: datetime) -> str:
    """A moment as records hold it: UTC, ISO 8601, in whole seconds, never an earlier one."""
    return rounded(when).astimezone(UTC).isoformat(timespec="seconds")


def rounded(when: datetime) -> datetime:
    """The next whole second."""
    return (when + timedelta(microseconds=999_999)).replace(microsecond=0)


def later(now: datetime, length: timedelta | None) -> datetime | None:
    """So much later; None where that is no moment any more."""
    try:
        return None if length is None else now + length
    except OverflowError:
        return None


def _unit(word: str) -> str:
    word = word.lower()
    return "ms" if word.startswith(("ms", "mil")) else word[0]


def _span(seconds: float) -> timedelta | None:
    try:
        return timedelta(seconds=seconds)
    except OverflowError:
        return None


def _stamp(text: str) -> datetime | None:
    """RFC 3339 or an HTTP date."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        try:
            found = parsedate_to_datetime(text)
        except (ValueError, IndexError, OverflowError):
            return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _since_1970(seconds: float) -> datetime | None:
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _shifted(when: datetime | None, by: timedelta) -> datetime | None:
    try:
        return None if when is None else (when + by).astimezone(UTC)
    except (OverflowError, ValueError):
        return None


def _end(pattern: re.Pattern[str], text: str) -> int:
    found = pattern.match(text)
    return found.end() if found else 0


def _day(text: str) -> tuple[Callable[[date], date] | None, str]:
    """Which day a text begins with, given today, and the rest of it."""
    for form in _DAY_FORMS:
        if found := form.match(text):
            return _day_of(found.groupdict()), text[found.end() :]
    return None, text


def _day_behind(text: str) -> tuple[Callable[[date], date] | None, str]:
    """The day behind a time of day: `3pm on Monday`."""
    day, rest = _day(text[_end(_BETWEEN, text) :])
    return (day, rest) if day else (None, text)


def _day_of(groups: dict[str, str | None]) -> Callable[[date], date]:
    def named(today: date) -> date:
        if groups.get("relative"):
            return today + timedelta(days=str(groups["relative"]).lower() == "tomorrow")
        if weekday := groups.get("weekday"):
            return today + timedelta(days=(_DAYS.index(weekday.lower()) - today.weekday()) % 7)
        month = int(groups.get("number") or 0) or _MONTHS.index(str(groups["month"]).lower()) + 1
        day = int(str(groups["day"]))
        if groups["year"]:
            return date(int(groups["year"]), month, day)
        years = (today.year - 1, today.year, today.year + 1)
        return min(
            (date(year, month, day) for year in years if _exists(year, month, day)), key=lambda d: abs(d - today)
        )

    return named


def _exists(year: int, month: int, day: int) -> bool:
    try:
        return bool(date(year, month, day))
    except ValueError:
        return False


def _clock(text: str) -> tuple[time | None, str]:
    """The time of day that a text begins with, and the rest of it: with minutes, or am or pm, or in a word."""
    found = _CLOCK.match(text)
    if found is None or not (found["word"] or found["minute"] or found["half"]):
        return None, text
    rest = text[found.end() :]
    if found["word"]:
        return time(12 if found["word"].lower() == "noon" else 0), rest
    hour, minute, second = (int(found[name] or 0) for name in ("hour", "minute", "second"))
    if found["half"]:
        if not 1 <= hour <= 12:  # noqa: PLR2004 - hours of a clock
            return None, text
        hour = hour % 12 + 12 * (found["half"].lower() == "p")
    try:
        return time(hour, minute, second), rest
    except ValueError:
        return None, text


def _zone(text: str, default: tzinfo) -> tzinfo:
    """The zone that a text begins with; the default, where it names none that is known."""
    found = _ZONE.match(text)
    zone = default
    if found and found["offset"]:
        digits = found["offset"].replace(":", "")
        hours, minutes = (digits[1:-2], digits[-2:]) if len(digits) > 3 else (digits[1:], "0")  # noqa: PLR2004 - +HH
        length = timedelta(hours=int(hours), minutes=int(minutes))
        zone = timezone(-length if digits[0] == "-" else length) if length < timedelta(days=1) else default
    elif found:
        name = found["place"] or _NAMES.get(found["name"]) or _NAMES[found["name"][0]]
        try:
            zone = ZoneInfo(name)
        except (ValueError, OSError, KeyError):
            zone = default
    return zone
