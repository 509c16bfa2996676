"""The page of cost: what was used by day, model and role, of a goal, of a repository, or of all that may be seen."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from swarmgate.domain.spending.cost import By, CostRow
from swarmgate.domain.usage import cost_in_column
from swarmgate.engine.reports.goal_page import plots
from swarmgate.engine.reports.goal_page.plots import Part, Plot, Value
from swarmgate.server.http.dependencies import ServicesOf, Who
from swarmgate.server.pages.routing import router
from swarmgate.server.pages.shell import page

routes = router()

_TABLES: tuple[By, ...] = ("day", "model", "role")
_OF_GOAL: tuple[By, ...] = ("phase", "task")
"""What only the numbers of one goal can be told apart by."""
_GOALS = 100
_BARS = 31
"""As many rows are drawn, of days the newest; the table has all."""
_TOKENS = {"prompt": "tokens of prompts", "cached": "tokens of prompts from a cache", "completion": "tokens of answers"}


@routes.get("/cost")
async def cost(
    request: Request,
    services: ServicesOf,
    who: Who,
    place: Annotated[str, Query(max_length=200)] = "",
    goal: Annotated[str, Query(max_length=100)] = "",
) -> Response:
    """What was used; `place` is `repo:ID` or `goal:ID`, empty: all."""
    place = f"goal:{goal}" if goal else place
    kind, _, name = place.partition(":")
    of = {kind: name} if kind in {"repo", "goal"} and name else {}
    repos, goals = await asyncio.gather(services.repositories.list(who), services.goals.list(who, limit=_GOALS))
    found = await asyncio.gather(
        *(services.cost.report(who, by=by, **of) for by in _TABLES + (_OF_GOAL if kind == "goal" else ()))
    )
    places = [
        ("", "all goals"),
        *((f"repo:{each.id}", f"repository {each.name}") for each in repos.items),
        *((f"goal:{each.id}", f"goal: {plots.short(each.title or each.text or each.id, 60)}") for each in goals.items),
    ]
    return await page(
        request,
        "cost.html",
        "cost",
        who,
        total=found[0].total,
        tables=[(each.by, drawn(each.by, each.rows), each.rows) for each in found],
        places=places,
        place=place if of else "",
        of=dict(places).get(place, name) if of else "all goals that you may see",
    )


def drawn(by: str, rows: Sequence[CostRow]) -> list[tuple[str, Plot | None]]:
    """Plots of money and tokens: of days in their order, else of what cost most first."""
    most = list(rows[-_BARS:]) if by == "day" else sorted(rows, key=_weight, reverse=True)[:_BARS]
    money = [
        Value(plots.short(row.name), cost_in_column(row.usage), (Part(row.usage.least_usd, "usd"),)) for row in most
    ]
    known = any(row.usage.least_usd for row in rows)
    return [
        *(
            [(f"Money by {by}", plots.bars(f"Money by {by}", "US dollars", money, {"usd": "US dollars"}))]
            if known
            else []
        ),
        (f"Tokens by {by}", plots.bars(f"Tokens by {by}", "tokens", [_tokens(row) for row in most], _TOKENS)),
    ]


def _weight(row: CostRow) -> tuple[float, int]:
    return row.usage.least_usd, row.usage.tokens


def _tokens(row: CostRow) -> Value:
    used = row.usage
    fresh = Part(used.prompt_tokens - used.cached_tokens, "prompt")
    parts = (fresh, Part(used.cached_tokens, "cached"), Part(used.completion_tokens, "completion"))
    return Value(plots.short(row.name), f"{used.tokens:,}", parts)
