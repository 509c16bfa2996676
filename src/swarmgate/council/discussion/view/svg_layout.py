"""Computes coordinates for two SVG drawings: who countered whom, and positions over rounds.

Numbers are units of the drawings, which are `WIDTH` wide.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from swarmgate.council.discussion.argument.graph import Evolution, Graph, Stand
from swarmgate.council.discussion.model import Relation, ShiftKind
from swarmgate.council.discussion.view import phrases

WIDTH, HEIGHT = 760, 420
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#56b4e9")
"""Okabe and Ito's, which colour-blind readers tell apart."""

_DASHES = ("", "9 4", "3 3", "12 4 3 4")
_DRAWN = {Relation.COUNTERS: "counters", Relation.SUPPORTS: "supports"}

_ACROSS, _DOWN = 210, 160
"""Half of the width and of the height of the oval."""

_ASIDE = 0.3
"""Share of the half width beyond which a name stands beside its circle, not above or below."""

_LABEL = 22
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 40, 24, 64

Point = tuple[float, float]


# --- who countered whom ---


class Arrow(NamedTuple):
    """Who countered or supported whom, with the place of the number that says how often."""

    kind: str
    title: str
    width: int
    path: str
    x: float
    y: float
    times: int


class Author(NamedTuple):
    """A circle with its name on the side away from the middle, where no arrow runs."""

    name: str
    x: float
    y: float
    label: str
    label_x: float
    label_y: float
    anchor: str


class Relations(NamedTuple):
    """Authors around an oval, and arrows between them."""

    arrows: Sequence[Arrow]
    authors: Sequence[Author]


def relations(graph: Graph) -> Relations:
    """An arrow for who countered whom and one for supports, with counts."""
    at = dict(zip(graph.authors, _oval(len(graph.authors)), strict=True))
    arrows = [
        _arrow(at[source], at[target], kind, f"{source} {kind} {target}: {count}", count)
        for relation, kind in _DRAWN.items()
        for (source, target), count in sorted(graph.between(relation).items())
    ]
    return Relations(arrows, [_author(name, at[name]) for name in graph.authors])


def _oval(count: int) -> Iterator[Point]:
    for number in range(count):
        angle = 2 * math.pi * number / max(count, 1) - math.pi / 2
        yield WIDTH / 2 + _ACROSS * math.cos(angle), HEIGHT / 2 + _DOWN * math.sin(angle)


def _arrow(start: Point, end: Point, kind: str, title: str, count: int) -> Arrow:
    """A curve to the right of the straight line, so that two opposite ones lie apart; counters bend further."""
    (x1, y1), (x2, y2) = start, end
    length = math.hypot(x2 - x1, y2 - y1) or 1
    across, along = ((y1 - y2) / length, (x2 - x1) / length), ((x2 - x1) / length, (y2 - y1) / length)
    bend = 46 if kind == "counters" else 20
    middle = ((x1 + x2) / 2 + bend * across[0], (y1 + y2) / 2 + bend * across[1])
    x1, y1, x2, y2 = x1 + 16 * along[0], y1 + 16 * along[1], x2 - 18 * along[0], y2 - 18 * along[1]
    return Arrow(
        kind,
        title,
        min(1 + count, 5),
        f"M{x1:.1f} {y1:.1f}Q{middle[0]:.1f} {middle[1]:.1f} {x2:.1f} {y2:.1f}",
        round((x1 + x2) / 4 + middle[0] / 2, 1),
        round((y1 + y2) / 4 + middle[1] / 2 + 4, 1),
        count,
    )


def _author(name: str, at: Point) -> Author:
    x, y = at
    aside = (x - WIDTH / 2) / _ACROSS
    anchor, dx = ("start", 20) if aside > _ASIDE else ("end", -20) if aside < -_ASIDE else ("middle", 0)
    dy = (-18 if y < HEIGHT / 2 else 28) if not dx else 4
    short = name if len(name) <= _LABEL else f"{name[: _LABEL - 3]}..."
    return Author(name, round(x, 1), round(y, 1), short, round(x + dx, 1), round(y + dy, 1), anchor)


# --- positions over rounds ---


class Tick(NamedTuple):
    """A line across at a confidence."""

    percent: int
    path: str
    x: float
    y: float


class Column(NamedTuple):
    """A moment of a round in which positions were declared, or shifted in responses."""

    round: int
    what: str
    x: float
    y: float


class Mark(NamedTuple):
    """A stand; `mark` is how far it moved, or `refused`. `left` and `top` are where a drawn one begins."""

    message: str
    title: str
    mark: str
    x: float
    y: float
    left: float
    top: float


class Line(NamedTuple):
    """The stands of one expert, joined, with the place of its name in the legend."""

    expert: str
    colour: str
    dash: str
    points: str
    stands: Sequence[Mark]
    x: float
    y: float


class Positions(NamedTuple):
    """Confidence over rounds, a line an expert."""

    height: int
    ticks: Sequence[Tick]
    columns: Sequence[Column]
    lines: Sequence[Line]


def positions(evolution: Sequence[Evolution]) -> Positions:
    """Rings are minor shifts, diamonds major ones, crosses refused ones."""
    moments = sorted({(each.round, _late(each)) for one in evolution for each in one.stands})
    at = {
        moment: _LEFT + (WIDTH - _LEFT - _RIGHT) * (place + 0.5) / len(moments) for place, moment in enumerate(moments)
    }
    columns = [
        Column(number, "response" if late else "declared", round(x, 1), HEIGHT - 40) for (number, late), x in at.items()
    ]
    ticks = [
        Tick(percent, f"M{_LEFT} {_y(percent / 100):.1f}H{WIDTH - _RIGHT}", _LEFT - 8, round(_y(percent / 100) + 4, 1))
        for percent in range(0, 101, 20)
    ]
    lines = [_line(number, each, at) for number, each in enumerate(evolution)]
    return Positions(HEIGHT + 22 * len(evolution), ticks, columns, lines)


def _late(stand: Stand) -> bool:
    """Whether it comes from the responses of its round, not from the declaration at its beginning."""
    return stand.step != "position"


def _y(confidence: float) -> float:
    return _TOP + (HEIGHT - _TOP - _BOTTOM) * (1 - confidence)


def _line(number: int, evolution: Evolution, at: dict[tuple[int, bool], float]) -> Line:
    # Lines of one confidence would hide each other.
    aside = 5 * (number - 1)
    known = [
        (at[each.round, _late(each)] + aside, _y(each.confidence), each)
        for each in evolution.stands
        if each.confidence is not None
    ]
    return Line(
        evolution.expert,
        _COLOURS[number % len(_COLOURS)],
        _DASHES[number % len(_DASHES)],
        " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in known),
        [_mark(evolution.expert, x, y, each) for x, y, each in known],
        _LEFT,
        HEIGHT + 22 * number,
    )


def _mark(expert: str, x: float, y: float, stand: Stand) -> Mark:
    moved = f"; {stand.shift} shift, moved by {', '.join(stand.cites)}" if stand.shift is not ShiftKind.NONE else ""
    title = f"{expert}, {phrases.percent(stand.confidence)}{moved}: {stand.position}"
    mark, up = ("refused", 6) if stand.refused else (str(stand.shift), 9)
    return Mark(stand.message, title, mark, round(x, 1), round(y, 1), round(x - 6, 1), round(y - up, 1))
