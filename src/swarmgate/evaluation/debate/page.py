"""The report as one HTML file that needs nothing beside it. Whatever comes from fixtures or models is escaped."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from html import escape

from swarmgate.evaluation.debate.fixtures import Item
from swarmgate.evaluation.debate.report import DebateReport, about, arm_rows, category_rows, decided, tested
from swarmgate.evaluation.debate.statistics import shares_right

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; margin: 1rem 0; } th, td { padding: .2rem .7rem; border-bottom: 1px solid #ddd; }
td { text-align: right; } td:first-child, th:first-child, td.text { text-align: left; }
td.text { white-space: pre-wrap; }
img { max-width: 100%; } .decision { padding: .6rem 1rem; border-left: 4px solid #b0413e; background: #f7f5f2; }
"""

_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


def page(report: DebateReport, items: Sequence[Item], png: bytes) -> str:
    """The whole page.

    Args:
        report: what was found.
        items: the fixtures, for what each item is about.
        png: the picture; empty: there is none.
    """
    picture = f'<img alt="rates and lifts" src="data:image/png;base64,{b64encode(png).decode()}">' if png else ""
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        f"<title>swarm eval debate {escape(report.id)}</title><style>{_STYLE}</style></head><body>",
        "<h1>Is a debate worth its cost?</h1>",
        *(f"<p>{escape(line)}</p>" for line in about(report)),
        '<div class="decision">',
        *(f"<p>{escape(line)}</p>" for line in decided(report)),
        "</div>",
        picture,
    ]
    if report.arms:
        parts += ["<h2>Arms</h2>", _table(arm_rows(report))]
        parts += [f"<p>{escape(line)}</p>" for line in tested(report)]
        parts += ["<h2>Categories</h2>", _table(category_rows(report)), "<h2>Items</h2>", _items(report, items)]
        parts += ["<h2>How it is counted</h2><ul>", *(f"<li>{escape(note)}</li>" for note in report.notes), "</ul>"]
    return "\n".join([*filter(None, parts), "</body></html>", ""])


def _table(rows: Sequence[Sequence[str]]) -> str:
    head, *body = rows
    text = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    lines = ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in body]
    return f"<table><tr>{text}</tr>" + "".join(f"<tr>{line}</tr>" for line in lines) + "</table>"


def _items(report: DebateReport, items: Sequence[Item]) -> str:
    """Every item that was judged, with the part of the repeats in which each arm was right, the worst ones first."""
    shares = {
        each.arm: shares_right(judged for judged in report.judgements if judged.arm is each.arm)
        for each in report.arms
    }  # fmt: skip
    known = {item.id: item for item in items}
    order = sorted({each.item for each in report.judgements}, key=lambda item: sum(of[item] for of in shares.values()))
    head = "".join(
        f"<th>{escape(name)}</th>" for name in ("item", "label", *(f"{arm}: right" for arm in shares), "why")
    )
    rows = [
        f'<td class="text">{escape(item)}</td><td>{known[item].label}</td>'
        + "".join(f"<td>{100 * of[item]:.0f}%</td>" for of in shares.values())
        + f'<td class="text">{escape(known[item].reason)}</td>'
        for item in order
    ]
    return f"<table><tr>{head}</tr>" + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>"
