"""Draws the debate experiment's results as PNG: accuracy of each arm, and the range of the lift."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any

from swarmgate.evaluation.debate.decision import LEAST_LIFT

if TYPE_CHECKING:
    from swarmgate.evaluation.debate.statistics import Comparison, Interval, Rates

_RATES = (
    ("accuracy", "accuracy", "#222222"),
    ("good items\napproved", "good_approved", "#2a7f62"),
    ("bad items\nrejected", "bad_rejected", "#b0413e"),
)
_SHADES = (0.35, 0.6, 1.0)
"""Of the bars of one group, by arm; all groups have the same."""

_DARK, _TALL = 0.5, 0.15
"""Bars that carry white letters at their foot: dark and tall enough."""


def png(arms: Sequence[Rates], comparisons: Sequence[Comparison]) -> bytes:
    """The picture: rates by arm on the left, lifts with their intervals and the threshold on the right.

    Args:
        arms: in the order of the legend.
        comparisons: whose lifts are shown; may be none.
    """
    # Not pyplot: it keeps figures, and picks a window system by the environment.
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415 - late: half a second to import
    from matplotlib.figure import Figure  # noqa: PLC0415 - late, for start-up time

    figure = Figure(figsize=(10, 4.2), dpi=110, layout="constrained")
    FigureCanvasAgg(figure)
    if comparisons:
        left, right = figure.subplots(1, 2, width_ratios=(3, 2))
        _lifts(right, comparisons)
    else:
        left = figure.subplots(1, 1)
    _bars(left, arms)
    file = BytesIO()
    # Without the version of matplotlib in it: the same numbers make the same bytes.
    figure.savefig(file, format="png", metadata={"Software": None})
    return file.getvalue()


def _bars(axes: Any, arms: Sequence[Rates]) -> None:
    width = 0.8 / len(arms)
    for number, (rates, shade) in enumerate(zip(arms, _SHADES, strict=False)):
        for group, (_, name, colour) in enumerate(_RATES):
            share = getattr(rates, name)
            if share is None:
                continue
            at = group + (number - (len(arms) - 1) / 2) * width
            error = _reach(share, rates.interval) if name == "accuracy" else None
            axes.bar(at, 100 * share, width * 0.92, color=colour, alpha=shade, yerr=error, capsize=3)
            ink = "white" if shade > _DARK and share > _TALL else "#222222"
            axes.annotate(f"{rates.arm}\n{100 * share:.0f}%", (at, 2), ha="center", va="bottom", fontsize=7, color=ink)
    axes.set_xticks(range(len(_RATES)), [title for title, _, _ in _RATES])
    axes.set_ylim(0, 105)
    axes.set_ylabel("% (bars: 95% interval of the accuracy)")
    axes.set_title("How often each arm was right", fontsize=10)


def _lifts(axes: Any, comparisons: Sequence[Comparison]) -> None:
    for at, each in enumerate(comparisons):
        error = _reach(each.lift, each.interval)
        axes.errorbar(100 * each.lift, at, xerr=error, fmt="o", color="#222222", capsize=4)
    names = [f"{each.first} - {each.second}{'' if each.equal_calls else '*'}" for each in comparisons]
    axes.set_yticks(range(len(comparisons)), names)
    axes.set_ylim(-0.7, len(comparisons) - 0.3)
    axes.axvline(0, color="#999999", linewidth=1)
    axes.axvline(100 * LEAST_LIFT, color="#b0413e", linewidth=1, linestyle="--")
    axes.set_xlabel("points, 95% interval; dashed: the threshold\n* not at equal calls")
    axes.xaxis.label.set_size(8)
    axes.set_title("Lift in accuracy", fontsize=10)


def _reach(share: float, interval: Interval | None) -> list[list[float]] | None:
    """How far the interval reaches below and above, in points."""
    if interval is None:
        return None
    low, high = interval
    return [[100 * max(0.0, share - low)], [100 * max(0.0, high - share)]]
