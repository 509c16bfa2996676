"""Tables of a gate evaluation: cases by set, gate and category, and findings on releases of other projects."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from swarmgate.domain.base import Frozen
from swarmgate.evaluation.score import Score, interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from swarmgate.evaluation.gate_runs import Judged
    from swarmgate.evaluation.releases import Block, Change

WRONG_SHOWN = 20
"""So many wrong judgements of a set are listed; the count of the others is told."""


class Row(Frozen):
    """One category: its counts, and the rates in words that a table shows (None where there is no such case)."""

    gate: str
    category: str
    score: Score
    recall: float | None
    false_rate: float | None
    precision: float | None
    f1: float | None
    youden: float | None


class SetReport(Frozen):
    """One labelled set. `mean_youden` is over the categories that have both kinds of cases; `wrong` lists mistakes."""

    name: str
    rows: tuple[Row, ...]
    total: Row
    mean_youden: float | None
    wrong: tuple[str, ...]
    trouble: tuple[str, ...]


class ReleaseReport(Frozen):
    """Changes of releases, how many were blocked, the 95% interval of that rate, and each block with its findings."""

    changes: int
    blocked: int
    interval: tuple[float, float] | None
    blocks: tuple[str, ...]


class EvaluationReport(Frozen):
    """All that was measured; `not_measured` names the sets that need data which was not given."""

    sets: tuple[SetReport, ...]
    releases: ReleaseReport | None = None
    not_measured: tuple[str, ...] = ()


def of_set(name: str, judged: Iterable[Judged]) -> SetReport:
    """Count what was judged, by gate and category."""
    scores: defaultdict[tuple[str, str], Score] = defaultdict(Score)
    wrong, trouble = [], set()
    for each in judged:
        case = each.case
        scores[case.gate, case.category] += Score.of(expected=case.expected, found=each.found)
        if each.trouble:
            trouble.add(f"{case.gate}: {each.trouble}")
        if each.found is not case.expected:
            wrong.append(f"{'missed' if case.expected else 'false alarm'}: {case.gate} {case.category} {case.place}")
    rows = tuple(_row(*key, score) for key, score in sorted(scores.items()))
    indexes = [row.youden for row in rows if row.youden is not None]
    return SetReport(
        name=name, rows=rows, total=_row("", "all", sum(scores.values(), Score())),
        mean_youden=sum(indexes) / len(indexes) if indexes else None, wrong=tuple(wrong),
        trouble=tuple(sorted(trouble)),
    )  # fmt: skip


def of_releases(judged: Iterable[tuple[Change, Sequence[Block]]]) -> ReleaseReport:
    """Count the changes that were blocked."""
    changes, blocked, blocks = 0, 0, []
    for change, found in judged:
        changes += 1
        blocked += bool(found)
        for block in found:
            findings = " | ".join(block.findings[:3])
            blocks.append(f"{change.releases} {change.path}: {block.gate}: {block.reason}: {findings}")
    return ReleaseReport(changes=changes, blocked=blocked, interval=interval(blocked, changes), blocks=tuple(blocks))


def lines(report: EvaluationReport) -> list[str]:
    """The report as text: a table a set, its mistakes below it."""
    text: list[str] = []
    for each in report.sets:
        text += [*_table(each), ""]
    if report.releases:
        found = report.releases
        low, high = found.interval or (0.0, 0.0)
        text += [f"releases: {found.blocked} of {found.changes} changes blocked (95% interval {low:.3f} to {high:.3f})"]
        text += [*(f"  {block}" for block in found.blocks), ""]
    if report.not_measured:
        text += ["Not measured, because the data was not named:", *(f"  {each}" for each in report.not_measured)]
    return text


def _row(gate: str, category: str, score: Score) -> Row:
    return Row(
        gate=gate, category=category, score=score, recall=score.recall, false_rate=score.false_rate,
        precision=score.precision, f1=score.f1, youden=score.youden,
    )  # fmt: skip


def _table(report: SetReport) -> list[str]:
    rows = [*report.rows, *([report.total] if len(report.rows) > 1 else [])]
    width = max(len(f"{row.gate} {row.category}".strip()) for row in rows) if rows else 0
    text = [f"{report.name:<{width}}  " + " ".join(f"{title:>{wide}}" for title, wide in _COLUMNS)]
    for row in rows:
        score = row.score
        name = f"{row.gate} {row.category}".strip()
        rates = " ".join(_rate(rate) for rate in (row.recall, row.false_rate, row.precision, row.f1, row.youden))
        text.append(f"{name:<{width}}  {score.cases:>6} {score.tp:>6} {score.fp:>6} {score.fn:>6} {rates}")
    if report.mean_youden is not None and len(report.rows) > 1:
        text.append(f"mean Youden index of the categories: {report.mean_youden:.3f}")
    text += [f"  could not judge: {each}" for each in report.trouble]
    text += [f"  {each}" for each in report.wrong[:WRONG_SHOWN]]
    more = len(report.wrong) - WRONG_SHOWN
    return [*text, *([f"  and {more} more; --json lists all"] if more > 0 else [])]


_COLUMNS = (
    ("cases", 6), ("hit", 6), ("false", 6), ("missed", 6),
    ("recall", 7), ("FPR", 7), ("prec.", 7), ("F1", 7), ("Youden", 7),
)  # fmt: skip


def _rate(rate: float | None) -> str:
    return f"{'-':>7}" if rate is None else f"{rate:7.3f}"
