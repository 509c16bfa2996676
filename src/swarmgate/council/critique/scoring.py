"""Scoring of a critique: weighted mean, pass thresholds, choice of the best version, and learnt weights."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence

from swarmgate.council.critique.model import Criterion, CritiqueRecord, Evaluation, Iteration, Score
from swarmgate.domain.base import Frozen

_ROUNDING = 1e-9
"""By so much a mean may miss `stop`: that of scores that are all 0.8 is not always 0.8 in floating point."""


def clamped(criterion: str, given: float, reason: str = "") -> Score:
    """The score that was given, brought into 0 to 1; what it was stands in `clamped` where it lay outside."""
    score = min(max(float(given), 0.0), 1.0)
    return Score(criterion=criterion, score=score, reason=reason, clamped=None if score == given else float(given))


def weighted_mean(criteria: Iterable[Criterion], scores: Mapping[str, float]) -> float:
    """The mean of the scores by the weights of their criteria, 0 to 1; never beyond the lowest and highest score.

    Args:
        criteria: at least one has a weight above 0.
        scores: one for each criterion, by its name.
    """
    pairs = [(each.weight, scores[each.name]) for each in criteria]
    mean = math.fsum(weight * score for weight, score in pairs) / math.fsum(weight for weight, _ in pairs)
    values = [score for _, score in pairs]
    return min(max(mean, min(values)), max(values))


def evaluated(
    criteria: Sequence[Criterion],
    scores: Iterable[Score],
    *,
    stop: float,
    suggestions: tuple[str, ...] = (),
    model: str = "",
) -> Evaluation:
    """The evaluation that these scores are: it passes where each meets its threshold and the mean meets `stop`.

    Args:
        criteria: those of the critique.
        scores: one for each criterion; the result has them in the order of the criteria.
        stop: the weighted mean that is good enough, 0 to 1.
        suggestions: what would make it better.
        model: the evaluator's.
    """
    by_name = {each.criterion: each for each in scores}
    mean = weighted_mean(criteria, {name: each.score for name, each in by_name.items()})
    met = all(by_name[each.name].score >= each.threshold for each in criteria)
    return Evaluation(
        scores=tuple(by_name[each.name] for each in criteria),
        mean=mean,
        passed=met and mean >= stop - _ROUNDING,
        suggestions=suggestions,
        model=model,
    )


def missed(criteria: Iterable[Criterion], evaluation: Evaluation) -> tuple[str, ...]:
    """The criteria whose threshold the version does not meet, by name."""
    thresholds = {each.name: each.threshold for each in criteria}
    return tuple(each.criterion for each in evaluation.scores if each.score < thresholds[each.criterion])


def best(iterations: Iterable[Iteration]) -> Iteration | None:
    """The iteration with the best version: by passed, then mean; the earliest of equals. None: none is judged."""
    judged = [each for each in iterations if each.evaluation]
    return max(judged, key=_rank, default=None)  # max() gives the first of equals


def _rank(iteration: Iteration) -> tuple[bool, float]:
    found = iteration.evaluation
    return (found.passed, found.mean) if found else (False, 0.0)


def improvement(iterations: Iterable[Iteration]) -> float:
    """The mean of the best version less that of the first one that was judged; 0 where none is."""
    judged = [each for each in iterations if each.evaluation]
    top = best(judged)
    return _rank(top)[1] - _rank(judged[0])[1] if top else 0.0


def version_of(iterations: Sequence[Iteration], number: int) -> str:
    """The version that the iteration of that number judged: its own, or the last one before it."""
    return next((each.version for each in reversed(iterations[:number]) if each.version), "")


def unchanged(iterations: Sequence[Iteration]) -> bool:
    """Whether twice in a row the improved version was one that had been judged before."""
    last = iterations[-2:]
    return len(last) == 2 and all(each.same_as for each in last)  # noqa: PLR2004 - twice


class Learnt(Frozen):
    """Weights by criterion before and after; `runs` is how many past runs had something to say."""

    before: dict[str, float]
    after: dict[str, float]
    runs: int = 0


def learnt_weights(criteria: Sequence[Criterion], past: Collection[CritiqueRecord]) -> Learnt:
    """The weights, more of them where past runs fell short; their sum stays.

    Each is multiplied by 1 + the share of past judged iterations in which that criterion missed the threshold it had
    then, and all are scaled back. Iterations that took over an earlier evaluation do not count twice.

    Args:
        criteria: with the weights that were given.
        past: records of earlier runs of the same name, in any order.
    """
    judged = [(record, found) for record in past if (found := _judged(record))]
    shares = {each.name: _share(each.name, judged) for each in criteria}
    before = {each.name: each.weight for each in criteria}
    raised = {name: weight * (1 + shares[name]) for name, weight in before.items()}
    whole, sum_before = math.fsum(raised.values()), math.fsum(before.values())
    after = {name: weight * sum_before / whole for name, weight in raised.items()} if any(shares.values()) else before
    return Learnt(before=before, after=after, runs=len(judged))


def _judged(record: CritiqueRecord) -> list[Evaluation]:
    return [each.evaluation for each in record.iterations if each.evaluation and not each.same_as]


def _share(name: str, past: Iterable[tuple[CritiqueRecord, list[Evaluation]]]) -> float:
    """Of the evaluations that have the criterion, how many missed its threshold: 0 to 1; 0 where none has it."""
    had = short = 0
    for record, evaluations in past:
        if name in {each.name for each in record.critique.criteria}:
            had += len(evaluations)
            short += sum(name in missed(record.critique.criteria, each) for each in evaluations)
    return short / had if had else 0.0
