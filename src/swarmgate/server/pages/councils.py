"""The pages of councils: all of them, and one with its transcript, the graph of its argument, and its votes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, NamedTuple

from fastapi import Form, Query
from starlette.requests import Request
from starlette.responses import Response

from swarmgate.council.decision.model import Strategy
from swarmgate.council.discussion.argument.graph import Edge, Graph, Node
from swarmgate.council.discussion.view.svg_layout import HEIGHT, WIDTH, relations
from swarmgate.errors import SwarmError
from swarmgate.server.accounts.model import Role
from swarmgate.server.http.dependencies import ServicesOf, Who
from swarmgate.server.pages.needs import Text
from swarmgate.server.pages.routing import router
from swarmgate.server.pages.shell import page, went_on
from swarmgate.server.services.views.record import ArgumentGraph, CouncilView, UtteranceView, VotesView

routes = router()

_ROWS, _SAID, _CHOICES = 50, 500, 100
_PLACES = {1: "First", 2: "Second", 3: "Third", 4: "Fourth", 5: "Fifth"}
Names = Annotated[str, Form(max_length=2000)]
PATTERNS = {
    "discussion": ("topic", "experts discuss until they agree, or know why not"),
    "debate": ("question", "seats argue for and against, and vote"),
    "decision": ("question", "options are weighed, and one is chosen"),
    "critique": ("task", "a text is written, criticised and made better"),
}
"""The patterns that a person begins with one text: the field that it is, and what the pattern does."""
_ACTS = {
    "queued": (("stop", "Stop"),),
    "working": (("stop", "Stop"),),
    "open": (("resume", "Go on"),),
    "paused": (("resume", "Go on"),),
    "prepared": (("resume", "Go on"),),
    "failed": (("resume", "Try again"),),
}


class Speech(NamedTuple):
    """One utterance, as the transcript shows it."""

    id: str
    who: str
    what: str
    round: int
    time: str
    text: str


class Ballot(NamedTuple):
    """What a person is asked for: `approval` or `ranked` of options, else a `stand`; and who is waited for."""

    kind: str
    options: tuple[str, ...]
    people: tuple[str, ...]

    @property
    def places(self) -> tuple[str, ...]:
        """The places of a ranking, in words."""
        return tuple(f"{_PLACES.get(number, f'{number}th')} choice" for number in range(1, len(self.options) + 1))


class Table(NamedTuple):
    """Rows under their heads."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@routes.get("/councils")
async def councils(
    request: Request, services: ServicesOf, who: Who, after: Annotated[str, Query(max_length=100)] = ""
) -> Response:
    """The councils that may be seen, and a form for a new one."""
    found, repos = await asyncio.gather(
        services.councils.list(who, after=after, limit=_ROWS), services.repositories.list(who)
    )
    return await page(
        request,
        "councils.html",
        "councils",
        who,
        councils=found.items,
        next=found.next,
        patterns=[(name, what) for name, (_, what) in PATTERNS.items()],
        may_start=[each for each in repos.items if who.may(Role.OPERATOR, each.id)],
    )


@routes.post("/councils")
async def begin(
    services: ServicesOf,
    who: Who,
    pattern: Annotated[Literal["discussion", "debate", "decision", "critique"], Form()],
    place: Annotated[str, Form(max_length=100)],
    question: Annotated[str, Form(min_length=1, max_length=10_000)],
    participants: Names = "",
    people: Names = "",
) -> Response:
    """Begins a council; who takes part is as the settings say where it is not said here."""
    named = {"participants": _names(participants), "humans": _names(people)}
    request = {PATTERNS[pattern][0]: question, **{key: names for key, names in named.items() if names}}
    made = await services.councils.start(who, pattern, request, repo=place)
    return went_on(f"/councils/{made.id}", "The council begins.")


@routes.get("/councils/{id}")
async def council(request: Request, services: ServicesOf, who: Who, id: str) -> Response:  # noqa: A002 - the field's name
    """One council: what came of it, its votes, the graph of its argument, its transcript."""
    view = await services.councils.get(who, id)
    try:
        said, graph, votes = await asyncio.gather(
            services.councils.transcript(who, id, limit=_SAID),
            services.councils.graph(who, id),
            services.councils.votes(who, id),
        )
        transcript, drawn, counted = said.items, graph, votes
    except SwarmError:  # its record is damaged: `problem` of the view says so
        transcript, drawn, counted = (), ArgumentGraph(council=id), VotesView(council=id)
    told = drawn_graph(drawn)
    return await page(
        request,
        "council.html",
        "councils",
        who,
        council=view,
        transcript=list(speeches(transcript)),
        votes=table(counted.votes),
        relations=relations(told) if told.nodes else None,
        arguments=[f"{each['source']} {each['kind']} {each['target']}" for each in drawn.edges],
        width=WIDTH,
        height=HEIGHT,
        acts=_ACTS.get(view.status, ()),
        ballot=ballot(view) if view.waits else None,
        may_run=who.may(Role.OPERATOR, view.repo),
        may_answer=who.may(Role.APPROVER, view.repo),
    )


@routes.post("/councils/{id}/{verb}")
async def act(
    services: ServicesOf,
    who: Who,
    id: str,  # noqa: A002 - the field's name
    verb: Literal["stop", "resume", "answer"],
    text: Text = "",
    stand: Annotated[Literal["", "agree", "disagree", "abstain"], Form()] = "",
    options: Annotated[list[str], Form(max_length=_CHOICES)] = [],  # noqa: B006 - FastAPI copies it
    person: Annotated[str, Form(max_length=100)] = "",
) -> Response:
    """Stops a council, has it go on, or gives the vote of a person that it waits for."""
    match verb:
        case "stop":
            await services.councils.stop(who, id)
        case "resume":
            await services.councils.resume(who, id)
        case "answer":
            vote = {"stand": stand, "options": [each for each in options if each], "reason": text}
            await services.councils.answer(who, id, vote, person=person)
    done = {"stop": "It ends at the next safe point.", "resume": "It goes on.", "answer": "Said."}
    return went_on(f"/councils/{id}", done[verb])


def ballot(view: CouncilView) -> Ballot:
    """What is asked of the people whom a decision waits for."""
    decision = view.data.get("decision") or {}
    strategy = decision.get("strategy")
    kind = strategy if strategy in {Strategy.APPROVAL, Strategy.RANKED} else "stand"
    return Ballot(str(kind), tuple(decision.get("options") or ()), view.waits_for)


def _names(text: str) -> list[str]:
    """What stands between commas."""
    return [each.strip() for each in text.split(",") if each.strip()]


def drawn_graph(view: ArgumentGraph) -> Graph:
    """The graph that services answer as data, as it is drawn."""
    nodes = tuple(Node.model_validate(each) for each in view.nodes)
    return Graph(nodes=nodes, edges=tuple(Edge.model_validate(each) for each in view.edges), evolution=())


def speeches(said: Iterable[UtteranceView]) -> Iterable[Speech]:
    """What was said, by whom; what only keeps the books is left out."""
    for each in said:
        if each.text:
            message = each.data.get("message") or {}
            what = str(message.get("step") or each.type).replace("_", " ")
            place = str(message.get("id") or f"line-{each.seq}")
            yield Speech(place, each.who, what, each.round, each.time, each.text)


def table(votes: Iterable[Mapping[str, Any]]) -> Table | None:
    """The votes as a table; None: nobody voted."""
    rows = list(votes)
    keys = tuple(dict.fromkeys(key for row in rows for key, value in row.items() if value not in (None, "", [], ())))
    if not keys:
        return None
    cells = tuple(tuple(_cell(row.get(key)) for key in keys) for row in rows)
    return Table(tuple(key.replace("_", " ") for key in keys), cells)


def _cell(value: Any) -> str:
    if value is None or value == "":
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(_cell, value))
    if isinstance(value, dict):
        return "; ".join(f"{key}: {_cell(each)}" for key, each in value.items())
    return str(value)
