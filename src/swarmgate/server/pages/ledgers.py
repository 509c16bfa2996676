"""The pages of ledgers: all of them, and one with its chain walked and its lines."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated, Any

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from swarmgate.server.http.dependencies import ServicesOf, Who
from swarmgate.server.pages.routing import router
from swarmgate.server.pages.shell import page

routes = router()

_LINES = 50
_LONGEST = 20_000
"""Characters of one line that are shown; the API has the whole."""


@routes.get("/ledger")
async def ledgers(
    request: Request, services: ServicesOf, who: Who, after: Annotated[str, Query(max_length=100)] = ""
) -> Response:
    """The ledgers that may be seen."""
    found = await services.goals.list(who, after=after, limit=_LINES)
    return await page(request, "ledgers.html", "ledger", who, goals=found.items, next=found.next)


@routes.get("/ledger/{goal}")
async def ledger(
    request: Request, services: ServicesOf, who: Who, goal: str, until: Annotated[int, Query(ge=0)] = 0
) -> Response:
    """One ledger, the newest lines first; `until` is the newest position that is shown, 0: the newest there is."""
    of, audit = await asyncio.gather(services.goals.get(who, goal), services.ledger.verify(who, goal))
    newest = min(until or audit.seq, audit.seq)
    part = await services.ledger.page(who, goal, after=str(max(0, newest - _LINES)), limit=min(_LINES, newest or 1))
    place = f"/ledger/{goal}"
    return await page(
        request,
        "ledger.html",
        "ledger",
        who,
        goal=goal,
        title=of.title or of.text or of.id,
        audit=audit,
        entries=list(reversed(part.items)),
        pretty=pretty,
        newer=f"{place}?until={newest + _LINES}" if newest < audit.seq else "",
        older=f"{place}?until={newest - _LINES}" if newest > _LINES else "",
    )


def pretty(event: dict[str, Any]) -> str:
    """An event as people read JSON."""
    text = json.dumps(event, ensure_ascii=False, indent=2)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}\n…"
