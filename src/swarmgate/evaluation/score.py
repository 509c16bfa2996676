"""Scores yes-or-no judgements: counts, rates, and confidence intervals."""

from __future__ import annotations

from math import sqrt

from swarmgate.domain.base import Frozen

_Z = 1.96
"""Standard deviations of a 95% interval."""


class Score(Frozen):
    """Counts of judgements by what was true: hits, false alarms, misses, and rightly silent."""

    tp: int = 0
    fp: int = 0
    fn: int = 0
    tn: int = 0

    def __add__(self, other: Score) -> Score:
        """Both together."""
        return Score(tp=self.tp + other.tp, fp=self.fp + other.fp, fn=self.fn + other.fn, tn=self.tn + other.tn)

    @classmethod
    def of(cls, *, expected: bool, found: bool) -> Score:
        """One judgement."""
        return cls(tp=expected and found, fp=not expected and found, fn=expected and not found,
                   tn=not expected and not found)  # fmt: skip

    @property
    def cases(self) -> int:
        """How many were judged."""
        return self.tp + self.fp + self.fn + self.tn

    @property
    def recall(self) -> float | None:
        """True-positive rate, tp / (tp + fn); None without a positive case."""
        return _ratio(self.tp, self.tp + self.fn)

    @property
    def false_rate(self) -> float | None:
        """False-positive rate, fp / (fp + tn); None without a negative case."""
        return _ratio(self.fp, self.fp + self.tn)

    @property
    def precision(self) -> float | None:
        """The part of the alarms that was right, tp / (tp + fp); None where nothing was found."""
        return _ratio(self.tp, self.tp + self.fp)

    @property
    def f1(self) -> float | None:
        """The harmonic mean of precision and recall, 2tp / (2tp + fp + fn)."""
        return _ratio(2 * self.tp, 2 * self.tp + self.fp + self.fn)

    @property
    def youden(self) -> float | None:
        """Youden's index, recall less false-positive rate: 0 is guessing, 1 always right; None without both kinds."""
        recall, false_rate = self.recall, self.false_rate
        return None if recall is None or false_rate is None else recall - false_rate


def interval(hits: int, cases: int) -> tuple[float, float] | None:
    """The 95% interval of a rate by Wilson's score (1927); None without a case."""
    if not cases:
        return None
    rate, spread = hits / cases, _Z * _Z / cases
    middle = (rate + spread / 2) / (1 + spread)
    half = _Z / (1 + spread) * sqrt(rate * (1 - rate) / cases + spread / cases / 4)
    return max(0.0, middle - half), min(1.0, middle + half)


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None
