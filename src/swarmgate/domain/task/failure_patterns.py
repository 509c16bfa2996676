"""Detects patterns over the attempts at a task that predict that another attempt in the same way fails.

Every rejected attempt is compared with those before it. What the newest one shows is judged by how often it has been
seen: once is advice for whoever works next, twice is told to the architect first of all, and from the third time on the
task stops, if two of them came after the user's last decision about it: after a retry there is always a next attempt.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from functools import lru_cache
from itertools import pairwise

from swarmgate.domain.events.event import AttemptKind
from swarmgate.domain.guard import Effect, Turn
from swarmgate.domain.review.evidence import Remark, telling
from swarmgate.domain.review.stage import Judge, stopped_role
from swarmgate.domain.state.lifecycle import TaskState
from swarmgate.domain.state.state import Attempt, Outcome, TaskRecord
from swarmgate.domain.text.same_message import failing_lines, steady

RULE = "trajectory"
"""The name of these notes in the ledger, and the beginning of the stage of a task that they stop."""

TESTS = frozenset({Judge.TESTS, Judge.ATTACKS})
"""Judges whose feedback is what a run of tests printed."""
_STOP_TOTAL = 3
_STOP_SINCE = 2
_REREADS = 10
"""Files read again unchanged in one turn; with results dropped from the conversation, half of it is enough."""
_WORKING = frozenset({"code", "implement"})
_GROWTH, _GROWTH_FILES = 1.5, 3
"""A change has grown when it has so many times the files, and so many files more."""
_NAMED = 3
"""As many files, tests or findings are named in a fact."""


_steady = lru_cache(maxsize=4096)(steady)
_failing_lines = lru_cache(maxsize=256)(failing_lines)
"""Every decision about a task looks at all of its attempts again."""


class Pattern(StrEnum):
    """The failure patterns."""

    REPETITION = "repetition loop"
    PING_PONG = "ping-pong"
    STUCK = "stuck on test"
    GROWTH = "scope growth"
    THRASH = "context thrash"


class Level(IntEnum):
    """The consequence of a pattern for the next attempt."""

    ADVICE = 1
    ARCHITECT = 2
    STOP = 3


EFFECTS = {Level.ADVICE: Effect.NOTED, Level.ARCHITECT: Effect.WARNED, Level.STOP: Effect.STOPPED}
"""How a level stands in the ledger."""

_ADVICE = {
    Pattern.REPETITION: "Do not hand the same in again: find out why it was rejected and take another approach.",
    Pattern.PING_PONG: "Two demands seem to pull against each other: find a change that meets both.",
    Pattern.STUCK: "Read that test and what it calls before you change anything; the cause may lie elsewhere.",
    Pattern.GROWTH: "Mend the reasons of the rejection only, in as few files as possible; take the rest back.",
    Pattern.THRASH: "Read the ranges that you need, once, and change one file after the other.",
}


@dataclass(frozen=True)
class Observation:
    """A pattern that the newest rejected attempt shows: `times` in all, `since` the user's last word on it."""

    pattern: Pattern
    attempt: int
    times: int
    since: int
    fact: str

    @property
    def level(self) -> Level:
        """The consequence of the observed pattern."""
        if self.times >= _STOP_TOTAL and self.since >= _STOP_SINCE:
            return Level.STOP
        return Level.ADVICE if self.times == 1 else Level.ARCHITECT

    @property
    def text(self) -> str:
        """The pattern with its fact and how often it was seen, in a line."""
        often = "" if self.times == 1 else f" (seen {self.times} times)"
        return f"{self.pattern}{often}: {self.fact}"

    @property
    def advice(self) -> str:
        """The same with what to do about it."""
        return f"{self.text}. {_ADVICE[self.pattern]}"


def observe(record: TaskRecord) -> tuple[Observation, ...]:
    """The patterns that the newest rejected attempt shows, the gravest first; none while the user's word is newer."""
    attempts = tuple(attempt for attempt in record.attempts if _counts(attempt))
    if not attempts or record.override_pending:
        return ()
    found = []
    for pattern, detect in _DETECTORS.items():
        fact = detect(attempts, record.turns)
        if not fact:  # what earlier attempts showed is counted only where the newest one shows it too
            continue
        seen = [each.number for at, each in enumerate(attempts) if detect(attempts[: at + 1], record.turns)]
        since = sum(number > record.renewed for number in seen)
        found.append(Observation(pattern, seen[-1], len(seen), since, fact))
    return tuple(sorted(found, key=lambda each: -each.level))


def stopping(record: TaskRecord) -> Observation | None:
    """The pattern that stops the task, if one does."""
    worst = next(iter(observe(record)), None)
    return worst if worst and worst.level is Level.STOP else None


def is_news(record: TaskRecord, observed: Observation) -> bool:
    """Whether the ledger does not tell it of this attempt yet, with this effect or a graver one."""
    rising = list(Effect)
    return not any(
        note.rule == RULE
        and note.attempt == observed.attempt
        and note.detail.startswith(observed.pattern)
        and rising.index(note.effect) >= rising.index(EFFECTS[observed.level])
        for note in record.guards
    )


def _counts(attempt: Attempt) -> bool:
    """Whether an attempt says something about those who work: not one that was cut short, or that the user opened."""
    return attempt.outcome is Outcome.REJECTED and attempt.kind is not AttemptKind.OVERRIDE


Detector = Callable[[Sequence[Attempt], Sequence[Turn]], str]
"""What the last of some attempts shows, as a fact; empty for nothing."""


def _repetition(attempts: Sequence[Attempt], _turns: Sequence[Turn]) -> str:
    last = attempts[-1]
    if not _is_workers(last):
        return ""
    earlier = [each for each in attempts[:-1] if _is_workers(each)]
    if last.contents and earlier and earlier[-1].contents == last.contents:
        return f"attempt {last.number} left the very files of attempt {earlier[-1].number}"
    if earlier and earlier[-1].stage == last.stage and _size(last) < _size(earlier[-1]):
        return ""
    found = Counter(map(_key, telling(last.stage, last.feedback)))
    if same := next((each for each in earlier if _same_rejection(each, last, found)), None):
        return f"attempt {last.number} was rejected for all that attempt {same.number} was, by {last.stage}"
    return ""


def _is_workers(attempt: Attempt) -> bool:
    """Whether the rejection is about the work: not the end of a judge's turn, nor of a commit by a hook."""
    judges = attempt.stage.judge is Judge.BREAKER and attempt.state is not TaskState.CODER_DELEGATED
    return not judges and attempt.stage.judge is not Judge.COMMIT


def _same_rejection(earlier: Attempt, later: Attempt, found: Mapping[tuple[str, str], int]) -> bool:
    """Whether nothing was mended: every finding of the earlier rejection is `found` again, and no fewer in all."""
    if earlier.stage != later.stage or _is_of_tests(later):
        return False
    if later.stage.judge is Judge.BREAKER:  # its feedback is what the role did last
        return stopped_role(earlier.reason) == stopped_role(later.reason)
    if not earlier.feedback or _size(later) < _size(earlier):
        return False
    left = dict(found)
    for remark in telling(earlier.stage, earlier.feedback):  # most comparisons end at the first one
        key = _key(remark)
        left[key] = left.get(key, 0) - 1
        if left[key] < 0:
            return False
    return True


def _size(attempt: Attempt) -> int:
    """How many findings the rejection had; ledgers of earlier versions tell the first ones only."""
    return attempt.findings or len(telling(attempt.stage, attempt.feedback))


def _key(remark: Remark) -> tuple[str, str]:
    """What makes two findings equal; the line does not: it moves with what is written above it."""
    return remark.file, _steady(remark.message)


def _ping_pong(attempts: Sequence[Attempt], _turns: Sequence[Turn]) -> str:
    if len(attempts) < 3 or not all(attempt.contents for attempt in attempts[-3:]):  # noqa: PLR2004 - A, B, A
        return ""
    first, second, third = (dict(attempt.contents) for attempt in attempts[-3:])
    before = {path for attempt in attempts[:-3] for path, _ in attempt.contents}
    # A file that is in one change and not in another is as in the base commit there: that A has to come back twice,
    # since once is what a reviewer asks for who wants a file taken out.
    flipped = [
        path
        for path in sorted(first.keys() | second.keys() | third.keys())
        if first.get(path) == third.get(path) != second.get(path) and (path in first or path in before)
    ]
    if not flipped:
        return ""
    a, b, c = (attempt.number for attempt in attempts[-3:])
    return f"attempt {c} brought back what attempt {b} had changed of attempt {a}, in {_named(flipped)}"


def _stuck(attempts: Sequence[Attempt], _turns: Sequence[Turn]) -> str:
    if len(attempts) < 2:  # noqa: PLR2004 - one is compared with the one before
        return ""
    before, last = attempts[-2:]
    if not (_is_of_tests(before) and before.stage == last.stage) or set(last.failures) < set(before.failures):
        return ""
    same = sorted(set(before.failures) & set(last.failures))
    if (before.failures or last.failures) and not same:
        return ""
    if _failing(before) != _failing(last):
        return ""
    what = f"{_named(same)} failed" if same else "the tests failed"
    return f"{what} in attempts {before.number} and {last.number} with the same message"


def _is_of_tests(attempt: Attempt) -> bool:
    """Whether a run of tests rejected it: its message is the run's output."""
    return attempt.stage.judge in TESTS or bool(attempt.failures)


def _failing(attempt: Attempt) -> frozenset[str]:
    return _failing_lines("\n".join(remark.message for remark in attempt.feedback) or attempt.reason)


def _growth(attempts: Sequence[Attempt], _turns: Sequence[Turn]) -> str:
    captured = [attempt for attempt in attempts[-3:] if attempt.captured]
    if len(captured) < 2 or not attempts[-1].captured:  # noqa: PLR2004 - one is compared with the one before
        return ""
    before, last = captured[-2:]
    if set(before.outside) < set(last.outside) and _is_growth(len(before.outside), len(last.outside)):
        more = sorted(set(last.outside) - set(before.outside))
        return f"attempt {last.number} changed {_count(len(more))} more outside of the scope: {_named(more)}"
    counts = [len(attempt.files) for attempt in captured]
    if len(counts) == 3 and counts[0] and all(_is_growth(*pair) for pair in pairwise(counts)):  # noqa: PLR2004 - twice
        return f"the change grew with every attempt: {counts[0]}, {counts[1]}, then {_count(counts[2])}"
    return ""


def _is_growth(before: int, after: int) -> bool:
    """Whether it is more than a file that was asked for."""
    return after >= max(before + _GROWTH_FILES, _GROWTH * before)


def _thrash(attempts: Sequence[Attempt], turns: Sequence[Turn]) -> str:
    last = attempts[-1]
    for turn in turns:
        if turn.attempt != last.number or turn.step not in _WORKING:
            continue
        if turn.rereads >= (_REREADS // 2 if turn.dropped else _REREADS):
            lost = f", {turn.dropped} old results were dropped" if turn.dropped else ""
            return f"in attempt {last.number} unchanged files were read again {turn.rereads} times{lost}"
    return ""


_DETECTORS: dict[Pattern, Detector] = {
    Pattern.REPETITION: _repetition,
    Pattern.PING_PONG: _ping_pong,
    Pattern.STUCK: _stuck,
    Pattern.GROWTH: _growth,
    Pattern.THRASH: _thrash,
}


def _named(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _count(files: int) -> str:
    return f"{files} file{'' if files == 1 else 's'}"
