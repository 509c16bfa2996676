"""Two drawings of a discussion as SVG inside of a page: who countered whom, and positions over rounds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape

from swarmgate.council.discussion import words
from swarmgate.domain.argument_graph import Evolution, Graph, Stand
from swarmgate.domain.discussion import Relation, ShiftKind
from swarmgate.domain.printable import printable

_WIDTH, _HEIGHT = 760, 420
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#56b4e9")
"""Okabe and Ito's, which colour-blind readers tell apart."""

_DASHES = ("", "9 4", "3 3", "12 4 3 4")
_DRAWN = {Relation.COUNTERS: "counters", Relation.SUPPORTS: "supports"}
_PLAIN = {"counters": 'fill="none" stroke="#b2182b" stroke-dasharray="6 4"', "supports": 'fill="none" stroke="#1b7837"'}
"""How they look to a reader that knows no style sheet for drawings; the page's own has the last word."""

_ACROSS, _DOWN = 210, 160
"""Half of the width and of the height of the oval."""

_ASIDE = 0.3
"""Share of the half width beyond which a name stands beside its circle, not above or below."""

_LABEL = 22
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 40, 24, 64

Point = tuple[float, float]


def text(words_: str) -> str:
    """Text of anybody as text of a page."""
    return escape(printable(words_))


def _short(name: str) -> str:
    return name if len(name) <= _LABEL else f"{name[: _LABEL - 3]}..."


# --- who countered whom ---


def relations(graph: Graph) -> str:
    """Authors around an oval; a red dashed arrow for who countered whom, a green one for supports, with counts."""
    authors = graph.authors
    at = dict(zip(authors, _oval(len(authors)), strict=True))
    body = [_head("Who countered and who supported whom", _HEIGHT), _arrowheads()]
    for kind, style in _DRAWN.items():
        for (source, target), count in sorted(graph.between(kind).items()):
            body.append(_arrow(at[source], at[target], style, f"{source} {style} {target}: {count}", count))
    body += [_author(name, at[name]) for name in authors]
    return "\n".join([*body, "</svg>"])


def _oval(count: int) -> Iterator[Point]:
    for number in range(count):
        angle = 2 * math.pi * number / max(count, 1) - math.pi / 2
        yield _WIDTH / 2 + _ACROSS * math.cos(angle), _HEIGHT / 2 + _DOWN * math.sin(angle)


def _arrowheads() -> str:
    return "".join(
        f'<marker id="{style}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="9" markerHeight="9" '
        f'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L10 5L0 10z" class="{style}-head"/></marker>'
        for style in _DRAWN.values()
    ).join(("<defs>", "</defs>"))


def _arrow(start: Point, end: Point, style: str, title: str, count: int) -> str:
    """A curve to the right of the straight line, so that two opposite ones lie apart; counters bend further."""
    (x1, y1), (x2, y2) = start, end
    length = math.hypot(x2 - x1, y2 - y1) or 1
    across, along = ((y1 - y2) / length, (x2 - x1) / length), ((x2 - x1) / length, (y2 - y1) / length)
    bend = 46 if style == "counters" else 20
    middle = ((x1 + x2) / 2 + bend * across[0], (y1 + y2) / 2 + bend * across[1])
    x1, y1, x2, y2 = x1 + 16 * along[0], y1 + 16 * along[1], x2 - 18 * along[0], y2 - 18 * along[1]
    label = ((x1 + x2) / 4 + middle[0] / 2, (y1 + y2) / 4 + middle[1] / 2 + 4)
    return (
        f'<g><title>{text(title)}</title><path class="{style}" {_PLAIN[style]} marker-end="url(#{style})" '
        f'stroke-width="{min(1 + count, 5)}" d="M{x1:.1f} {y1:.1f}Q{middle[0]:.1f} {middle[1]:.1f} {x2:.1f} {y2:.1f}"/>'
        f'<text class="count" text-anchor="middle" x="{label[0]:.1f}" y="{label[1]:.1f}">{count}</text></g>'
    )


def _author(name: str, at: Point) -> str:
    """A circle with its name on the side away from the middle, where no arrow runs."""
    aside = (at[0] - _WIDTH / 2) / _ACROSS
    anchor, dx = ("start", 20) if aside > _ASIDE else ("end", -20) if aside < -_ASIDE else ("middle", 0)
    dy = (-18 if at[1] < _HEIGHT / 2 else 28) if not dx else 4
    return (
        f"<g><title>{text(name)}</title>"
        f'<circle class="author" fill="#eee" stroke="#222" cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="12"/>'
        f'<text x="{at[0] + dx:.1f}" y="{at[1] + dy:.1f}" text-anchor="{anchor}">{text(_short(name))}</text></g>'
    )


# --- positions over rounds ---


def positions(evolution: Sequence[Evolution]) -> str:
    """Confidence over rounds, a line an expert: rings are minor shifts, diamonds major ones, crosses refused ones."""
    columns = sorted({(each.round, _late(each)) for one in evolution for each in one.stands})
    height = _HEIGHT + 22 * len(evolution)
    body = [_head("Confidence of each expert over the rounds", height), *_axes(columns)]
    for number, each in enumerate(evolution):
        body += _line(number, each, columns)
    return "\n".join([*body, "</svg>"])


def _late(stand: Stand) -> bool:
    """Whether it comes from the responses of its round, not from the declaration at its beginning."""
    return stand.step != "position"


def _x(column: int, columns: int) -> float:
    return _LEFT + (_WIDTH - _LEFT - _RIGHT) * (column + 0.5) / max(columns, 1)


def _y(confidence: float) -> float:
    return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (1 - confidence)


def _axes(columns: Sequence[tuple[int, bool]]) -> Iterator[str]:
    for tenths in range(0, 11, 2):
        y = _y(tenths / 10)
        yield f'<path class="grid" stroke="#ccc" d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}"/>'
        yield f'<text class="tick" x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{tenths * 10}%</text>'
    for at, (number, late) in enumerate(columns):
        x, what = _x(at, len(columns)), "response" if late else "declared"
        yield f'<text class="tick" x="{x:.1f}" y="{_HEIGHT - 40}" text-anchor="middle">round {number}</text>'
        yield f'<text class="tick" x="{x:.1f}" y="{_HEIGHT - 24}" text-anchor="middle">{what}</text>'


def _line(number: int, evolution: Evolution, columns: Sequence[tuple[int, bool]]) -> Iterator[str]:
    colour, dash = _COLOURS[number % len(_COLOURS)], _DASHES[number % len(_DASHES)]
    at = {column: place for place, column in enumerate(columns)}
    # Lines of one confidence would hide each other.
    aside = 5 * (number - 1)
    points = [
        ((_x(at[each.round, _late(each)], len(columns)) + aside, _y(each.confidence)), each)
        for each in evolution.stands
        if each.confidence is not None
    ]
    path = " ".join(f"{x:.1f},{y:.1f}" for (x, y), _ in points)
    yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"/>'
    yield from (_point(evolution.expert, point, each, colour) for point, each in points)
    y = _HEIGHT + 22 * number
    yield f'<path d="M{_LEFT} {y}h36" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"/>'
    yield f'<text class="legend" x="{_LEFT + 46}" y="{y + 4}">{text(evolution.expert)}</text>'


def _point(expert: str, at: Point, stand: Stand, colour: str) -> str:
    x, y = at
    marks = {
        ShiftKind.NONE: f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>',
        ShiftKind.MINOR: f'<circle class="ring" fill="#fff" cx="{x:.1f}" cy="{y:.1f}" r="7" stroke="{colour}"/>',
        ShiftKind.MAJOR: f'<path d="M{x:.1f} {y - 9:.1f}l9 9l-9 9l-9-9z" fill="{colour}"/>',
    }
    mark = marks[stand.shift]
    if stand.refused:
        mark = f'<path d="M{x - 6:.1f} {y - 6:.1f}l12 12m0-12l-12 12" stroke="{colour}" stroke-width="2"/>'
    moved = f"; {stand.shift} shift, moved by {', '.join(stand.cites)}" if stand.shift is not ShiftKind.NONE else ""
    title = f"{expert}, {words.percent(stand.confidence)}{moved}: {stand.position}"
    return f'<a href="#{text(stand.message)}"><title>{text(title)}</title>{mark}</a>'


def _head(label: str, height: int) -> str:
    return f'<svg role="img" aria-label="{escape(label)}" viewBox="0 0 {_WIDTH} {height}">'
