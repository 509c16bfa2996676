"""Statistics of the debate experiment: accuracy of each arm, and paired comparisons between arms.

The item is what was sampled: repeats of one item are alike, and count as one item that was looked at several times.

- Accuracy is the mean over items of the share of their repeats that were right; lift is the difference of two arms.
- Intervals are 95% percentile bootstrap intervals (Efron and Tibshirani, 1993): items are drawn with replacement, all
  repeats of an item together, and for the lift the item's judgements by both arms together (paired).
- McNemar's exact test (1947) counts items: one is right in an arm that was right in more than half of its repeats. Of
  the items that only one arm got right each arm has half where none is better: a two-sided binomial test.

Fail closed: what was not decided counts as rejected. A bad item is then judged right, a good one wrong.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from swarmgate.domain.base import Frozen, Line
from swarmgate.domain.review.votes import Tally
from swarmgate.domain.usage import Usage
from swarmgate.evaluation.debate.experiment_arms import Arm
from swarmgate.evaluation.debate.fixtures import Label
from swarmgate.evaluation.score import Score

RESAMPLES = 9_999
CONFIDENCE = 0.95
_HALF = 0.5

Interval = tuple[float, float]


class Judgement(Frozen):
    """What one arm made of one item in one repeat, and what that took.

    `turns` are those of participants (equal in debate and parallel), `calls` those of models: a participant that is
    asked again, or that failed, has another number of them. `tied`: as many ballots for as against: confidence decided.
    `silent` are participants that failed before the vote; `refused` are calls that endpoints refused for good, or did
    not answer in the time of a participant. `seconds` is model time, `wait` the wall time where a round's participants
    speak at once.
    """

    item: str
    label: Label
    category: str
    repeat: int
    arm: Arm
    approved: bool
    tally: Tally = Tally()
    tied: bool = False
    turns: int = 0
    calls: int = 0
    silent: int = 0
    refused: int = 0
    usage: Usage = Usage()
    seconds: float = 0.0
    wait: float = 0.0
    failed: Line = ""

    @property
    def right(self) -> bool:
        """Whether the verdict is the label's."""
        return self.approved is (self.label == "good")


class Rates(Frozen):
    """How one arm did. `score` counts bad items as positive: a hit is a bad item rejected.

    `good_approved` is the true-negative rate, `bad_rejected` the true-positive rate (recall of "bad"), `precision` the
    part of the rejected that were bad; None where there is no such item. `interval` is that of the accuracy; None for
    fewer than two items. `ballots` are those that were asked for, `unread` those of them that nobody could read,
    `abstained` those that took no side. Times in seconds; `wait` is a mean over judgements, everything else a sum.
    """

    arm: Arm
    items: int
    judgements: int
    accuracy: float
    interval: Interval | None
    score: Score
    good_approved: float | None
    bad_rejected: float | None
    precision: float | None
    turns: int
    calls: int
    ballots: int
    tied: int
    unread: int
    abstained: int
    silent: int
    refused: int
    undecided: int
    usage: Usage
    seconds: float
    wait: float


class Comparison(Frozen):
    """An arm against another on the same items. `lift` and `interval` are in accuracy, from -1 to 1.

    `only_first` and `only_second` are McNemar's discordant items, `p` is the probability of so uneven a split, or a
    more uneven one, where no arm is better. `equal_calls` says whether both had as many turns of participants.
    """

    first: Arm
    second: Arm
    items: int
    lift: float
    interval: Interval | None
    only_first: int
    only_second: int
    p: float
    equal_calls: bool


def rates(arm: Arm, judgements: Sequence[Judgement], *, seed: int = 0, resamples: int = RESAMPLES) -> Rates:
    """How the arm did; there is at least one judgement.

    Args:
        arm: whose judgements these are.
        judgements: of this arm.
        seed: of the bootstrap.
        resamples: of the bootstrap.
    """
    by_item = list(shares_right(judgements).values())
    score = sum((Score.of(expected=each.label == "bad", found=not each.approved) for each in judgements), Score())
    false_rate = score.false_rate
    return Rates(
        arm=arm,
        items=len(by_item),
        judgements=len(judgements),
        accuracy=fmean(by_item),
        interval=bootstrapped(by_item, seed=seed, resamples=resamples),
        score=score,
        good_approved=None if false_rate is None else 1 - false_rate,
        bad_rejected=score.recall,
        precision=score.precision,
        turns=sum(each.turns for each in judgements),
        calls=sum(each.calls for each in judgements),
        ballots=sum(sum(each.tally.model_dump().values()) for each in judgements),
        tied=sum(each.tied for each in judgements),
        unread=sum(each.tally.failed for each in judgements),
        abstained=sum(each.tally.abstain for each in judgements),
        silent=sum(each.silent for each in judgements),
        refused=sum(each.refused for each in judgements),
        undecided=sum(not (each.tally.approve or each.tally.reject) for each in judgements),
        usage=sum((each.usage for each in judgements), Usage()),
        seconds=sum(each.seconds for each in judgements),
        wait=fmean(each.wait for each in judgements),
    )


def compare(
    first: Sequence[Judgement], second: Sequence[Judgement], *, seed: int = 0, resamples: int = RESAMPLES
) -> Comparison:
    """One arm against another, which judged the same items as often.

    Args:
        first: of the arm whose lift is asked for.
        second: of the other.
        seed: of the bootstrap.
        resamples: of the bootstrap.
    """
    one, other = shares_right(first), shares_right(second)
    if one.keys() != other.keys():
        raise ValueError("arms are compared on the same items only")
    pairs = [(one[item], other[item]) for item in one]
    only_first = sum(a > _HALF >= b for a, b in pairs)
    only_second = sum(b > _HALF >= a for a, b in pairs)
    differences = [a - b for a, b in pairs]
    return Comparison(
        first=first[0].arm,
        second=second[0].arm,
        items=len(pairs),
        # Rounded: 0.8 - 0.7 must not be less than 0.1.
        lift=round(fmean(differences), 12),
        interval=bootstrapped(differences, seed=seed, resamples=resamples),
        only_first=only_first,
        only_second=only_second,
        p=mcnemar(only_first, only_second),
        equal_calls=_turns(first) == _turns(second),
    )


def shares_right(judgements: Iterable[Judgement]) -> Mapping[str, float]:
    """By item the share of its repeats that were right."""
    found: defaultdict[str, list[bool]] = defaultdict(list)
    for each in judgements:
        found[each.item].append(each.right)
    return {item: fmean(found[item]) for item in sorted(found)}


def _turns(judgements: Iterable[Judgement]) -> Mapping[tuple[str, int], int]:
    return {(each.item, each.repeat): each.turns for each in judgements}


def mcnemar(only_first: int, only_second: int) -> float:
    """The two-sided p of McNemar's exact test; 1 where no item is discordant."""
    from scipy.stats import binomtest  # type: ignore[import-untyped] # noqa: PLC0415 - no types; a second to import

    discordant = only_first + only_second
    return float(binomtest(only_first, discordant, 0.5).pvalue) if discordant else 1.0


def bootstrapped(values: Sequence[float], *, seed: int = 0, resamples: int = RESAMPLES) -> Interval | None:
    """The percentile interval of the mean of one value an item; None for fewer than two items.

    The differences of pairs are resampled here rather than the pairs: their mean is the difference of the means.
    """
    if len(values) < 2:  # noqa: PLR2004 - one item does not vary
        return None
    from numpy import asarray, mean, random  # noqa: PLC0415 - late: only with a report
    from scipy.stats import bootstrap  # noqa: PLC0415 - late, for start-up time

    found = bootstrap(
        (asarray(values, dtype=float),),
        mean,
        n_resamples=resamples,
        batch=1_000,
        confidence_level=CONFIDENCE,
        method="percentile",
        random_state=random.default_rng(seed),
    ).confidence_interval
    return round(float(found.low), 12), round(float(found.high), 12)
