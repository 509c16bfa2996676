"""Renders the report of `swarm eval patches` as one self-contained HTML page, its plots drawn as SVG."""

from __future__ import annotations

from collections.abc import Sequence

from swarmgate.domain.base import Frozen
from swarmgate.evaluation.patches.report import BOTH, HEAD, Group, PatchesReport, cells, why
from swarmgate.html import rendered

WIDTH, ROW, LEFT = 640, 26, 220
"""Of a plot, in pixels: the whole, a row, and what the names take."""


class Mark(Frozen):
    """A rate in a plot: where its point and the ends of its interval lie, in pixels from the left."""

    at: float
    low: float
    high: float


class Line(Frozen):
    """A row of a plot: a group with its two rates, caught and falsely blocked."""

    name: str
    y: int
    catch: Mark | None
    false: Mark | None


def page(report: PatchesReport) -> str:
    """The whole page."""
    wrongly = [row for row in report.rows if row.blocked and row.label == "right"]
    missed = [row for row in report.rows if not row.blocked and row.label == "wrong" and not row.trouble]
    return rendered(
        __file__,
        "patches.html",
        report=report,
        head=HEAD,
        tables=(
            ("By arm", [cells(each) for each in report.arms]),
            ("By model", [cells(each) for each in report.models]),
            ("By repository", [cells(each) for each in report.repositories]),
            ("By rule, each by itself", [cells(each) for each in report.rules]),
        ),
        plots=(("Arms and models", lines(report.models)), ("Repositories", lines(report.repositories))),
        width=WIDTH,
        left=LEFT,
        row=ROW,
        wrongly=[(row, why(row)) for row in wrongly],
        caught=[(row, why(row)) for row in report.rows if row.blocked and row.label == "wrong"],
        missed=missed,
    )


def lines(groups: Sequence[Group]) -> list[Line]:
    """The rows of a plot, one a group over both halves."""
    shown = [each for each in groups if each.half == BOTH]
    return [
        Line(
            name=f"{each.arm}: {each.name}",
            y=ROW * number + ROW // 2,
            catch=_mark(each.catch, each.catch_interval),
            false=_mark(each.false, each.false_interval),
        )
        for number, each in enumerate(shown)
    ]


def _mark(rate: float | None, span: tuple[float, float] | None) -> Mark | None:
    if rate is None or span is None:
        return None
    return Mark(at=_x(rate), low=_x(span[0]), high=_x(span[1]))


def _x(rate: float) -> float:
    return round(LEFT + rate * (WIDTH - LEFT - 20), 1)
