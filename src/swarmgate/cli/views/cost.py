"""`swarm cost`: shows what was used, and by what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, get_args

import typer

from swarmgate.errors import UsageError
from swarmgate.terminal.columns import columns
from swarmgate.terminal.options import Json, Repo, filled
from swarmgate.terminal.terminal import boundary

if TYPE_CHECKING:
    from swarmgate.domain.spending.cost import CostReport, CostRow

_HEAD = ("calls", "tokens", "cached", "time", "cost")


def command(
    by: Annotated[
        str | None,
        typer.Option("--by", metavar="WHAT", callback=filled, help="One table: task, role, model, phase or day."),
    ] = None,
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Show tokens and money by task, role, model, phase and day.

    All goals and councils count, also what a run in another process used and has not recorded yet. Where a price is
    unknown, the cost is told as unknown, or as a lower bound.

    Example: swarm cost --by model
    """
    with boundary(json) as terminal:
        from swarmgate.config import nearest
        from swarmgate.domain.spending.cost import By
        from swarmgate.engine.swarm import Swarm

        tables: tuple[By, ...] = get_args(By)
        asked = tuple(each for each in tables if by in (None, each))
        if not asked:
            close = nearest(by or "", tables)
            hint = f"Did you mean {close}?" if close else f"They are: {', '.join(tables)}"
            raise UsageError(f"there is no table by {(by or '')[:60]!r}", hint=hint)
        report = Swarm(repo).cost()
        data = {"total": report.total, **{f"{each}s": report.by(each) for each in asked}}
        lines = [line for each in asked for line in ("", *_table(f"by {each}", report.by(each)))]
        terminal.result(data, [*_summary(report), *lines] if report.total.usage.calls else ["Nothing was used yet."])


def _summary(report: CostReport) -> list[str]:
    from swarmgate.domain.usage import cost_in_words

    total = report.total
    lines = [f"{total.tokens:,} tokens in {total.usage.calls:,} calls, {cost_in_words(total.usage)}"]
    if total.unsettled.calls:
        lines += [
            f"  * {total.unsettled.tokens:,} tokens of it, {cost_in_words(total.unsettled)}, are not on record yet:",
            "    of a step that goes on or died, or of a council",
        ]
    if unpriced := [row.name for row in report.models if row.usage.usd is None]:
        lines += [
            f"  no price was known for calls of: {', '.join(unpriced)}",
            "    set it in [prices] of .swarm/config.toml; what was used before stays unknown",
        ]
    return lines


def _table(title: str, rows: tuple[CostRow, ...]) -> list[str]:
    return columns([(title, *_HEAD), *(_row(row) for row in rows)])


def _row(row: CostRow) -> tuple[str, ...]:
    from swarmgate.domain.evidence.summary import duration
    from swarmgate.domain.usage import cost_in_column

    usage = row.usage
    tokens = f"{usage.tokens:,}{' *' if row.unsettled.calls else ''}"
    cost = cost_in_column(usage) if usage.calls else "-"
    return row.name, f"{usage.calls:,}", tokens, f"{usage.cached_tokens:,}", duration(usage.seconds), cost
