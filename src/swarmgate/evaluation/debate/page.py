"""Renders the debate experiment's report as one self-contained HTML file with all text escaped."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence

from swarmgate.evaluation.debate.fixtures import Item
from swarmgate.evaluation.debate.report import DebateReport, about, arm_rows, category_rows, decided, tested
from swarmgate.evaluation.debate.statistics import shares_right
from swarmgate.html import rendered


def page(report: DebateReport, items: Sequence[Item], png: bytes) -> str:
    """The whole page, every item that was judged among it with the part of the repeats in which each arm was right.

    Args:
        report: what was found.
        items: the fixtures, for what each item is about.
        png: the picture; empty: there is none.
    """
    shares = {
        each.arm: shares_right(judged for judged in report.judgements if judged.arm is each.arm)
        for each in report.arms
    }  # fmt: skip
    judged = {each.item for each in report.judgements}
    # The worst ones first.
    order = sorted(judged, key=lambda item: (sum(of[item] for of in shares.values()), item))
    known = {item.id: item for item in items}
    return rendered(
        __file__,
        "report.html",
        report=report,
        about=about(report),
        decided=decided(report),
        picture=b64encode(png).decode(),
        arms=arm_rows(report),
        tested=tested(report),
        categories=category_rows(report),
        shares=shares,
        items=[known[item] for item in order],
    )
