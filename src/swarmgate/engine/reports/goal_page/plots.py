"""Computes the geometry of the page's plots: places across in percent, so that text keeps its size on any screen."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from swarmgate.domain.state.state import Outcome
from swarmgate.engine.reports.timeline import AttemptTime

_ROW, _BAR, _AXIS = 36, 14, 30
"""Pixels: a row with its label above its bar, the bar, and the axis below all rows."""
_NARROWEST = 0.4
"""Percent: a bar that lasts shorter is drawn so wide, or nobody would see it."""
_TICKS = 4
_MARKS = {
    Outcome.COMPLETE: "✓",
    Outcome.REJECTED: "✕",
    Outcome.INTERRUPTED: "‖",
    Outcome.UNDONE: "↶",
    Outcome.RUNNING: "…",
}
"""How an attempt ended, for who sees no colours."""
_MINUTES, _HOURS = 120, 7200
"""Seconds from which on an axis counts in minutes, and in hours."""


class Tick(NamedTuple):
    """A line across all rows; `x` in percent."""

    x: float
    label: str
    anchor: str


class Bar(NamedTuple):
    """A part of a row; `x` and `width` in percent, `kind` is its class in the style sheet."""

    x: float
    width: float
    kind: str
    title: str


class Row(NamedTuple):
    """A label with a value, bars below it, and marks behind bars; `y` of the label in pixels."""

    label: str
    value: str
    y: int
    bars: tuple[Bar, ...]
    marks: tuple[tuple[float, str], ...] = ()


class Plot(NamedTuple):
    """Rows over one axis. `alt` says in words what is to be seen, `legend` names the kinds of bars."""

    alt: str
    axis: str
    rows: tuple[Row, ...]
    ticks: tuple[Tick, ...]
    legend: tuple[tuple[str, str], ...] = ()

    @property
    def height(self) -> int:
        """Pixels of the whole."""
        return self.bottom + _AXIS

    @property
    def bottom(self) -> int:
        """Pixels down to the axis."""
        return _ROW * len(self.rows)


class Part(NamedTuple):
    """A part of a value: how much, and its kind."""

    amount: float
    kind: str


class Value(NamedTuple):
    """What a bar shows: its name, the sum in words, and the parts that it is made of."""

    label: str
    words: str
    parts: tuple[Part, ...]


def bars(
    name: str, axis: str, values: Sequence[Value], kinds: Mapping[str, str], *, whole: bool = False
) -> Plot | None:
    """Bars of parts, one a value; None where there is nothing to see.

    Args:
        name: what the plot shows, for its alternative text.
        axis: the label of the axis, with its unit.
        values: from top to bottom.
        kinds: the class of each part and its words in the legend.
        whole: what is counted has no halves.
    """
    most = max((sum(part.amount for part in value.parts) for value in values), default=0.0)
    if not most:
        return None
    ticks, end = _ticks(most, whole=whole)
    rows = []
    for number, value in enumerate(values):
        left, drawn = 0.0, []
        for part in value.parts:
            if part.amount:
                title = f"{value.label}: {_plain(part.amount)} {kinds[part.kind]}"
                drawn.append(_bar(left / end, (left + part.amount) / end, part.kind, title))
                left += part.amount
        rows.append(Row(value.label, value.words, _ROW * number + 14, tuple(drawn)))
    largest = max(values, key=lambda value: sum(part.amount for part in value.parts))
    used = {bar.kind for row in rows for bar in row.bars}
    alt = f"{name}: {len(rows)} {'bar' if len(rows) == 1 else 'bars'}; most: {largest.label}, {largest.words}"
    legend = tuple((kind, words) for kind, words in kinds.items() if kind in used)
    return Plot(alt, axis, tuple(rows), ticks, legend)


def timeline(name: str, times: Sequence[AttemptTime], labels: Mapping[str, str]) -> Plot | None:
    """The attempts at each task as bars of stages over the time at work; None where nothing was at work."""
    last = max((span.end for each in times for span in each.spans), default=0.0)
    if not last:
        return None
    unit, seconds = ("s", 1) if last < _MINUTES else ("min", 60) if last < _HOURS else ("h", 3600)
    ticks, end = _ticks(last / seconds)
    whole = end * seconds
    tasks: dict[str, list[AttemptTime]] = {}
    for each in times:
        tasks.setdefault(each.task, []).append(each)
    rows = []
    for number, (task, attempts) in enumerate(tasks.items()):
        drawn = [
            _bar(
                span.start / whole,
                span.end / whole,
                f"stage-{span.stage.replace(' ', '-')}",
                f"{task}, attempt {each.attempt}, {span.stage}: {span.end - span.start:.1f} s",
            )
            for each in attempts
            for span in each.spans
        ]
        marks = [(_percent(each.spans[-1].end / whole), _MARKS[each.outcome]) for each in attempts]
        took = sum(span.end - span.start for each in attempts for span in each.spans)
        count = f"{len(attempts)} attempt{'' if len(attempts) == 1 else 's'}, {took / seconds:.1f} {unit}"
        rows.append(Row(labels.get(task, task), count, _ROW * number + 14, tuple(drawn), tuple(marks)))
    rejected = sum(each.outcome is Outcome.REJECTED for each in times)
    alt = f"{name}: {len(times)} attempts at {len(rows)} tasks in {last / seconds:.1f} {unit}, {rejected} rejected"
    return Plot(alt, f"time at work ({unit}); waiting for you is left out", tuple(rows), ticks)


def _bar(start: float, end: float, kind: str, title: str) -> Bar:
    width = max(100 * (end - start), _NARROWEST)
    return Bar(min(_percent(start), 100 - _NARROWEST), round(width, 2), kind, title)


def _percent(share: float) -> float:
    return round(100 * share, 2)


def _ticks(most: float, *, whole: bool = False) -> tuple[tuple[Tick, ...], float]:
    """Round numbers from 0 to past `most`, and the last of them."""
    rough = max(most / _TICKS, 1.0 if whole else 0.0)
    power = 10 ** math.floor(math.log10(rough))
    step = next(power * each for each in (1, 2, 5, 10) if power * each >= rough)
    count = math.ceil(most / step - 1e-9)
    end = step * count
    return tuple(_tick(number, count, step) for number in range(count + 1)), end


def _tick(number: int, count: int, step: float) -> Tick:
    anchor = "start" if not number else "end" if number == count else "middle"
    return Tick(_percent(number / count), _plain(number * step), anchor)


def _plain(number: float) -> str:
    """`12,000`, `2.5`, `0.0003`: as many digits as say something."""
    return f"{number:,.0f}" if number >= 100 or number == int(number) else f"{number:.3g}"  # noqa: PLR2004 - three digits


def short(text: str, most: int = 34) -> str:
    """The beginning of a label: text in a plot does not wrap."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def legend(kinds: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """The legend of stages: class and words."""
    return tuple((f"stage-{each.replace(' ', '-')}", each) for each in kinds)
