"""Data model of the debate experiment's report, and its tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

from swarmgate.domain.base import Frozen
from swarmgate.domain.usage import Usage
from swarmgate.evaluation.debate.decision import RULE, Decision, decide, points
from swarmgate.evaluation.debate.experiment_arms import WHOLE, Arm, Part, Setup, chosen_items
from swarmgate.evaluation.debate.fixtures import Fixtures, Label
from swarmgate.evaluation.debate.runs import Run
from swarmgate.evaluation.debate.statistics import Comparison, Interval, Judgement, Rates, compare, rates

MOST_LOST = 0.05
"""The share of an arm's turns that endpoints may refuse or leave unanswered, of its ballots that nobody can read, and
of its judgements without any verdict: beyond it something else is measured than whether debates are right."""

NOTES = (
    "A ballot APPROVE means: judged good. The majority decides, in a tie the sum of confidences, else: rejected.",
    "Fail closed: a ballot that nobody can read counts against approval, an item without a verdict as rejected.",
    "Equal calls: an item gets as many parallel ballots as its debate took turns, by the same models; single is one.",
    "Intervals: 95% percentile bootstrap over items, all repeats of an item together, arms paired.",
    "McNemar's exact test counts items; one is right in an arm that was right in more than half of its repeats.",
)


class Category(Frozen):
    """The items of one category: by arm the accuracy, and the share of the good items that were approved."""

    category: str
    items: int
    accuracy: dict[Arm, float]
    good_approved: dict[Arm, float | None]


class Places(Frozen):
    """Where the report lies: files by what they are, absolute. `decision` is empty where none was written."""

    json_file: str = ""
    html: str = ""
    png: str = ""
    decision: str = ""


class DebateReport(Frozen):
    """One evaluation.

    `planned` and `done` count items times repeats; only what every arm judged is counted. `asked` are calls that were
    made now: answers of an earlier run are used again. `partial` says why the run ended before its end, and `exit_code`
    is then that of the error; `undecided` why no decision was written.
    """

    id: str
    date: str
    fixtures: str
    fixtures_sha256: str
    setup: Setup
    good: int
    bad: int
    planned: int
    done: int
    asked: int
    warnings: tuple[str, ...] = ()
    partial: str = ""
    exit_code: int = 0
    arms: tuple[Rates, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    categories: tuple[Category, ...] = ()
    decision: Decision | None = None
    undecided: str = ""
    rule: str = RULE
    notes: tuple[str, ...] = NOTES
    places: Places = Places()
    judgements: tuple[Judgement, ...] = ()


def report_of(
    run: Run, fixtures: Fixtures, setup: Setup, *, name: str, date: str, asked: int, path: str, part: Part = WHOLE
) -> DebateReport:
    """Count what was judged.

    Args:
        run: what was judged.
        fixtures: the items that could be.
        setup: what was asked for.
        name: of this evaluation.
        date: UTC, ISO 8601.
        asked: calls that were made now.
        path: of the fixtures.
        part: that was judged.
    """
    by_arm = {arm: [each for each in run.judgements if each.arm is arm] for arm in setup.arms}
    by_arm = {arm: judged for arm, judged in by_arm.items() if judged}
    debate = by_arm.get(Arm.DEBATE, [])
    others = [by_arm[arm] for arm in (Arm.PARALLEL, Arm.SINGLE) if debate and arm in by_arm]
    comparisons = tuple(compare(debate, other, seed=setup.seed) for other in others)
    against = next((each for each in comparisons if each.second is Arm.PARALLEL), None)
    arms = tuple(rates(arm, judged, seed=setup.seed) for arm, judged in by_arm.items())
    stopped = run.stopped
    labels = Counter(item.label for item in chosen_items(fixtures.items, setup))
    undecided = _undecided(run, against, labels, part) or _lost(arms)
    decision = decide(against) if against and not undecided else None
    return DebateReport(
        id=name,
        date=date,
        fixtures=path,
        fixtures_sha256=fixtures.sha256,
        setup=setup,
        good=labels["good"],
        bad=labels["bad"],
        planned=run.planned,
        done=run.done,
        asked=asked,
        warnings=(*fixtures.warnings, *setup.warnings),
        partial=stopped.message if stopped else "",
        exit_code=stopped.exit_code if stopped else 0,
        arms=arms,
        comparisons=comparisons,
        categories=_categories(by_arm),
        decision=decision,
        undecided=undecided,
        judgements=tuple(run.judgements),
    )


def _undecided(run: Run, against: Comparison | None, labels: Mapping[Label, int], part: Part) -> str:
    """Why nothing can be decided, whatever was answered; empty where nothing speaks against it."""
    if run.stopped:
        return "the run is not complete"
    if part.of > 1:
        return f"this is part {part.number} of {part.of}"
    if against is None:
        return "a decision compares debate with parallel, and one of them was not asked for"
    if against.interval is None:
        return "one item alone says nothing about others"
    if len(labels) == 1:
        (label,) = labels
        return f"all items are {label}: who always answers the same is right every time"
    return ""


def _lost(arms: Sequence[Rates]) -> str:
    """Why nothing is decided though all was judged: of an arm too much is missing. Each is looked at for itself."""
    for each in arms:
        if each.refused > MOST_LOST * each.turns:
            lost = f"{each.refused} calls of {each.turns} turns"
            return f"{each.arm}: endpoints refused {lost}, or were too slow; run it again, which asks those alone"
        if each.unread > MOST_LOST * each.ballots:
            return f"{each.arm}: {each.unread} of {each.ballots} ballots could not be read"
        if each.undecided > MOST_LOST * each.judgements:
            return f"{each.arm}: {each.undecided} of {each.judgements} judgements came to no verdict"
    return ""


def _categories(by_arm: dict[Arm, list[Judgement]]) -> tuple[Category, ...]:
    every = [each for judged in by_arm.values() for each in judged]
    return tuple(_category(name, by_arm) for name in sorted({each.category for each in every}))


def _category(name: str, by_arm: dict[Arm, list[Judgement]]) -> Category:
    own = {arm: [each for each in judged if each.category == name] for arm, judged in by_arm.items()}
    good = {arm: [each.approved for each in judged if each.label == "good"] for arm, judged in own.items()}
    return Category(
        category=name,
        items=len({each.item for judged in own.values() for each in judged}),
        accuracy={arm: fmean(each.right for each in judged) for arm, judged in own.items()},
        good_approved={arm: fmean(approved) if approved else None for arm, approved in good.items()},
    )


def lines(report: DebateReport) -> list[str]:
    """For people: what was run, the table of the arms, the tests, the categories and the decision."""
    text = [*about(report), ""]
    if report.arms:
        text += [*aligned(arm_rows(report)), "", *tested(report), "", *aligned(category_rows(report)), ""]
        text += [*report.notes, ""]
    text += decided(report)
    places = report.places
    text += [f"{what}: {path}" for what, path in (("Report", places.html), ("Plot", places.png)) if path]
    return [*text, *([f"All judgements: {places.json_file}"] if places.json_file else [])]


def about(report: DebateReport) -> list[str]:
    """What was run, and what is doubtful about it."""
    setup = report.setup
    judged = f"{report.good + report.bad} items ({report.good} good, {report.bad} bad)"
    bounds = f"{_times(setup.participants, 'participant')}, {_times(setup.rounds, 'round')}"
    text = [
        f"{report.fixtures}: {judged}, {_times(setup.repeats, 'repeat')}, seed {setup.seed}",
        f"debate: {bounds}; models: {', '.join(setup.models)}",
        f"{report.asked} calls were asked now, all other answers were kept",
    ]
    if report.partial:
        text.append(f"PARTIAL: {report.done} of {report.planned} judged by every arm: {report.partial}")
    return text + [f"warning: {each}" for each in report.warnings]


def arm_rows(report: DebateReport) -> list[list[str]]:
    """The table of the arms, its head first."""
    rows = [["", *(each.arm for each in report.arms)]]
    return rows + [[title, *(show(each) for each in report.arms)] for title, show in _ROWS]


_ROWS: tuple[tuple[str, Callable[[Rates], str]], ...] = (
    ("accuracy (95% interval)", lambda each: _accuracy(each.accuracy, each.interval)),
    ("good items approved (true-negative rate)", lambda each: _share(each.good_approved)),
    ("bad items rejected (true-positive rate, recall)", lambda each: _share(each.bad_rejected)),
    ("rejected items that are bad (precision)", lambda each: _share(each.precision)),
    ("judgements", lambda each: f"{each.judgements:,}"),
    ("turns of voices", lambda each: f"{each.turns:,}"),
    ("calls of models", lambda each: f"{each.calls:,}"),
    ("tokens", lambda each: f"{each.usage.tokens:,}"),
    ("cost", lambda each: _cost(each.usage)),
    ("model time", lambda each: f"{each.seconds:,.1f} s"),
    ("wait for one judgement (mean)", lambda each: f"{each.wait:,.1f} s"),
    ("ties of ballots (confidence decided)", lambda each: str(each.tied)),
    ("parse failures (ballots without a verdict)", lambda each: str(each.unread)),
    ("ballots that abstain", lambda each: str(each.abstained)),
    ("speeches that failed before the vote", lambda each: str(each.silent)),
    ("calls refused, or not answered in time", lambda each: str(each.refused)),
    ("items without a verdict (count as rejected)", lambda each: str(each.undecided)),
)


def tested(report: DebateReport) -> list[str]:
    """The comparisons, two sentences each."""
    return [_tested(each) for each in report.comparisons]


def _tested(each: Comparison) -> str:
    interval = f" (95% interval {points(each.interval[0])} to {points(each.interval[1])})" if each.interval else ""
    calls = "equal calls" if each.equal_calls else "NOT at equal calls"
    return (
        f"{each.first} against {each.second}, {calls}: lift {points(each.lift)} points{interval}. "
        f"McNemar: {each.only_first} items right by {each.first} alone, {each.only_second} by {each.second} alone, "
        f"p = {each.p:.3g}."
    )


def category_rows(report: DebateReport) -> list[list[str]]:
    """By category the accuracy of each arm, and the share of good items that were approved; its head first."""
    arms = [each.arm for each in report.arms]
    head = ["category", "items", *(f"{arm}: accuracy" for arm in arms), *(f"{arm}: good approved" for arm in arms)]
    rows = [head]
    for each in report.categories:
        right = [_share(each.accuracy.get(arm)) for arm in arms]
        good = [_share(each.good_approved.get(arm)) for arm in arms]
        rows.append([each.category, str(each.items), *right, *good])
    return rows


def decided(report: DebateReport) -> list[str]:
    """The rule, the decision and where it stands."""
    text = [f"Rule: {report.rule}."]
    if report.decision:
        sure = "" if report.decision.sure else " (NOT SURE)"
        text.append(f"Decision: {report.decision.told}{sure}: {report.decision.why}.")
    elif report.undecided:
        text.append("Decision: none.")
    if report.places.decision:
        text.append(f'Written to {report.places.decision}: `[review] mode = "auto"` goes by it.')
    elif report.undecided:
        text.append(f"No decision is written: {report.undecided}.")
    return text


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """A table as text: the first column to the left, the others to the right."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    return ["  ".join([f"{row[0]:<{widths[0]}}", *map(str.rjust, row[1:], widths[1:])]) for row in rows]


def _times(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _share(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}%"


def _accuracy(share: float, interval: Interval | None) -> str:
    if interval is None:
        return _share(share)
    low, high = interval
    return f"{_share(share)} ({100 * low:.1f} to {100 * high:.1f})"


def _cost(usage: Usage) -> str:
    if usage.usd is not None:
        return f"${usage.usd:.4f}"
    return f"unknown, at least ${usage.known_usd:.4f}" if usage.known_usd else "unknown"
