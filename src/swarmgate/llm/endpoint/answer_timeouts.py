"""Time limits of an answer: in total, until it begins, and between two chunks. Pure but for the clock."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from swarmgate.config import Provider, Role

_AFTER_END_S = 30.0
"""How long usage and `[DONE]` may take behind the reason of an end. Some endpoints name one in every chunk."""
_AFTER_DONE_S = 1.0
"""How long to wait for the end of the connection after the end of the answer, so that it can be used again."""

_PROGRESS_EVERY_S = 0.25
"""Seconds between two progress reports of an answer."""


@dataclass(frozen=True)
class TimeLimits:
    """Longest times in seconds: of a whole call, until its answer begins, and of a silence in the answer.

    Reading a long prompt takes a slow model minutes, and servers hold back the arguments of a call until they are
    whole: nothing comes meanwhile, and nothing is wrong. So the second and the third are as long as the first where
    the user does not say otherwise. A keep-alive, a comment or an empty chunk, is a sign of life to both.
    """

    whole_s: float
    first_byte_s: float
    silence_s: float

    @classmethod
    def of(cls, provider: Provider, role: Role | None = None, *, at_most: float | None = None) -> Self:
        """The limits of a role at an endpoint; `at_most` bounds all of them."""
        whole = min(filter(None, ((role and role.timeout_s) or provider.timeout_s, at_most)))
        first = (role and role.first_byte_s) or provider.first_byte_s or whole
        silence = (role and role.silence_s) or provider.silence_s or whole
        return cls(whole, min(first, whole), min(silence, whole))

    @property
    def whole(self) -> TimeLimits:
        """The limits of an answer that comes in one piece."""
        return TimeLimits(self.whole_s, self.whole_s, self.whole_s)


class AnswerTimer:
    """Applies the time limits to one call.

    Args:
        limits: the longest times.
        clock: seconds, that of the event loop.
    """

    def __init__(self, limits: TimeLimits, clock: Callable[[], float]) -> None:
        self._limits = limits
        self._clock = clock
        self._end = clock() + limits.whole_s
        self._last_progress = clock()
        self._begun = False
        self.done = False
        self.until = min(self._end, clock() + limits.first_byte_s)

    def received(self, *, begun: bool, done: bool, ended: bool = False) -> float:
        """Notes that data arrived; returns the deadline of the next.

        Args:
            begun: some of the answer is there.
            done: the stream is over.
            ended: the answer has said why it ends; usage may follow, and where nothing does, it is whole all the same.
        """
        self._begun, self.done = begun, done or ended
        silence = min(self._limits.silence_s, _AFTER_END_S) if ended else self._limits.silence_s
        wait = _AFTER_DONE_S if done else silence if begun else self._limits.first_byte_s
        self.until = min(self._end, self._clock() + wait)
        return self.until

    def worth_showing(self, size: int) -> bool:
        """Whether it is time to show how much there is."""
        if not size or self._clock() - self._last_progress < _PROGRESS_EVERY_S:
            return False
        self._last_progress = self._clock()
        return True

    @property
    def missed(self) -> str:
        """Which limit ran out, for people."""
        limits = self._limits
        if self.until >= self._end:
            return f"no complete answer within {limits.whole_s:g} s (timeout_s)"
        if self._begun:
            return f"no complete answer within {limits.silence_s:g} s of silence (silence_s)"
        return f"no answer began within {limits.first_byte_s:g} s (first_byte_s)"
