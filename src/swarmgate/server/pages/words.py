"""Says for pages what views have as codes and numbers: how good a status is, how long ago a time was, what was used."""

from __future__ import annotations

from datetime import UTC, datetime

from swarmgate.domain.actor import USER, name_of
from swarmgate.domain.evidence.summary import duration, in_words, tests_in_words
from swarmgate.domain.usage import Usage, cost_in_column, cost_in_words

__all__ = [
    "ago",
    "cost_in_column",
    "cost_in_words",
    "day_and_hour",
    "duration",
    "in_words",
    "moment",
    "person_in_words",
    "plain",
    "sentence",
    "short_usage",
    "state_of",
    "tests_in_words",
    "tone",
]

_GOOD = frozenset({"complete", "pass", "approved", "approve", "present", "done", "completed", "passed"})
_BAD = frozenset(
    {"blocked", "rejected", "reject", "failed", "fail", "error", "damaged", "missing", "changed", "disabled"}
)
_WARN = frozenset(
    {"paused", "awaiting approval", "stopping", "interrupted", "undone", "plan_approval", "phase_approval", "answers",
     "planning_failed", "blocked_task", "phase_rejected", "waiting", "skipped", "open"}
)  # fmt: skip
_BUSY = frozenset({"working", "in progress", "in_progress", "running", "queued"})
_STATES = {
    "plan_approval": "plan waits for approval",
    "phase_approval": "phase waits for approval",
    "answers": "waits for answers",
    "planning_failed": "planning failed",
    "blocked_task": "task blocked",
    "phase_rejected": "phase rejected",
    "nothing": "done",
    "goal": "idle",
}
_MINUTE, _HOUR, _DAY, _WEEK = 60, 3600, 86_400, 7 * 86_400
_THOUSAND = 1000


def tone(word: str) -> str:
    """The class of a status: `good`, `bad`, `warn`, `busy`, or empty."""
    said = str(word).lower()
    tones = {"good": _GOOD, "bad": _BAD, "warn": _WARN, "busy": _BUSY}
    return next((name for name, words in tones.items() if said in words), "")


def plain(word: str) -> str:
    """A code of ours as words: `in_progress` is `in progress`."""
    return _STATES.get(str(word), str(word).replace("_", " ").lower())


def state_of(state: str, waiting: str) -> str:
    """The one word that says how a goal is: what the server does with it, else what it waits for."""
    return waiting if state == "idle" and waiting else state


def person_in_words(actor: str) -> str:
    """Who did something: `ada`, `the user`, or the name of a role as it is."""
    return name_of(actor) or ("the user" if actor == USER else actor)


def _parsed(time: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(time)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def ago(time: str, now: datetime | None = None) -> str:
    """How long ago a time (ISO 8601) was, or in how long it is: `5 minutes ago`, `in 2 hours`, `3 May 2026`."""
    found = _parsed(time)
    if found is None:
        return time
    seconds = ((now or datetime.now(UTC)) - found).total_seconds()
    size = abs(seconds)
    if size < _MINUTE:
        return "just now" if seconds >= 0 else "in a moment"
    if size >= _WEEK:
        return f"{found.day} {found:%B %Y}"
    number, unit = next(
        (int(size // of), name) for of, name in ((_DAY, "day"), (_HOUR, "hour"), (_MINUTE, "minute")) if size >= of
    )
    count = f"{number} {unit}{'' if number == 1 else 's'}"
    return f"{count} ago" if seconds > 0 else f"in {count}"


def sentence(text: str) -> str:
    """A text as the head of something: with a capital letter."""
    return text[:1].upper() + text[1:]


def moment(time: str) -> str:
    """A time (ISO 8601) to the second: `2026-05-03 14:05:09 UTC`."""
    found = _parsed(time)
    return f"{found.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC" if found else time


def day_and_hour(time: str) -> str:
    """A time (ISO 8601) as a line of a stream begins: `14:05:09`."""
    found = _parsed(time)
    return f"{found.astimezone(UTC):%H:%M:%S}" if found else ""


def short_usage(usage: Usage) -> str:
    """Tokens and money, as short as a row has room: `12.4k tokens, $0.0211`."""
    tokens = f"{usage.tokens / _THOUSAND:,.1f}k" if usage.tokens >= 10 * _THOUSAND else f"{usage.tokens:,}"
    return f"{tokens} tokens, {cost_in_words(usage)}"
