"""Streams of events: server-sent events and a WebSocket, with the same frames.

    GET /v1/events                 text/event-stream; `id` is the seq, resumed by `Last-Event-ID`
    GET /v1/events/past            a page of events that happened, as JSON
    WS  /v1/events/socket?since=   a message for each event

Close codes: 4001 nothing proves who asks (any more), 4003 not allowed (any more), 4004 there is no such repository or
goal, 4008 the reader is too slow, 4029 too many were opened, 1013 the server is full or its store is away, 1001 it ends
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, WebSocket
from pydantic_core import to_json
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocketDisconnect

from swarmgate.domain.base import Frozen
from swarmgate.errors import NotAllowed, NotFound, SwarmError, TooSlow, Unauthenticated
from swarmgate.server.accounts.model import Principal
from swarmgate.server.events.model import FeedEvent, Filter, Frame
from swarmgate.server.http import problems
from swarmgate.server.http.dependencies import ServicesOf, Who, current_principal, services_of
from swarmgate.server.http.identity import identify

STALLED_S = 30.0
"""Seconds in which a reader has to take what it is sent; one that does not is cut off, and may come back."""
_MOST_PAST = 500

_AUTH, _FORBIDDEN, _UNKNOWN, _SLOW, _ENDS, _LATER = 4001, 4003, 4004, 4008, 1001, 1013
_CODES: dict[type[SwarmError], int] = {
    Unauthenticated: _AUTH,
    NotAllowed: _FORBIDDEN,
    NotFound: _UNKNOWN,
    TooSlow: _SLOW,
    SwarmError: _LATER,
}
"""What a WebSocket is closed with: by the nearest class above the error that stands here."""

_SLOWNESS = TooSlow(f"What was sent was not taken within {STALLED_S:g} s.", hint="come back with the number seen last")

Batches = AsyncGenerator[tuple[Frame, ...], None]

Id = Annotated[str, Query(max_length=200)]
Place = Annotated[int | None, Query(ge=0, le=2**53)]

router = APIRouter(tags=["Events"])


class PastEvents(Frozen):
    """Events that happened, oldest first; `next` is the `after` of the next page, None where there is none yet."""

    items: tuple[FeedEvent, ...]
    next: int | None


class EventStream(Response):
    """Answers with server-sent events, until the reader goes away or may not see them any more.

    Args:
        batches: of frames; an empty one is a heartbeat.
        opened: counts it while it is open.
    """

    media_type = "text/event-stream"

    def __init__(self, batches: Batches, opened: contextlib.AbstractContextManager[None]) -> None:
        super().__init__(headers={"cache-control": "no-store", "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._batches, self._opened = batches, opened

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - ASGI's
        """Sends until the end."""
        with self._opened:
            try:
                await _until(_gone(receive), self._sent(send))
            finally:
                await self._batches.aclose()

    async def _sent(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        await _taken(_body(send, b": the feed\n\n"))
        try:
            async for frames in self._batches:
                await _taken(_body(send, b"".join([each.sse for each in frames]) or b": still here\n\n"))
        except TooSlow:
            return  # what was sent stays untaken, and the end would, too
        except SwarmError as error:
            await _taken(_body(send, b"event: closed\ndata: %b\n\n" % _told(error)))
        await send({"type": "http.response.body", "body": b""})


@router.get(
    "/v1/events",
    operation_id="stream_events",
    status_code=200,
    response_class=EventStream,
    responses={**problems.RESPONSES, 200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
)
async def stream(
    request: Request,
    services: ServicesOf,
    who: Who,
    *,
    repo: Annotated[list[str] | None, Query(max_length=100)] = None,
    goal: Id = "",
    task: Id = "",
    type: Annotated[list[str] | None, Query(max_length=100)] = None,  # noqa: A002 - the parameter's name
    since: Place = None,
    last_event_id: Annotated[str, Header(max_length=100)] = "",
) -> EventStream:
    """Streams events as they happen: `id` is the seq. `Last-Event-ID`, or `since`, is the seq that was seen last."""
    after = int(last_event_id) if last_event_id.isascii() and last_event_id.isdigit() else since
    wanted = _filter(repo, goal, task, type)
    await services.events.check(who, wanted)
    return EventStream(services.events.stream(_prove(request), after, wanted), services.events.opened("sse"))


@router.get("/v1/events/past", operation_id="list_events", responses=problems.RESPONSES)
async def past(
    services: ServicesOf,
    who: Who,
    *,
    repo: Annotated[list[str] | None, Query(max_length=100)] = None,
    goal: Id = "",
    task: Id = "",
    type: Annotated[list[str] | None, Query(max_length=100)] = None,  # noqa: A002 - the parameter's name
    after: Annotated[int, Query(ge=0, le=2**53)] = 0,
    limit: Annotated[int, Query(ge=1, le=_MOST_PAST)] = 100,
) -> PastEvents:
    """Lists events that happened behind `after`, oldest first."""
    found = await services.events.past(who, after, limit, _filter(repo, goal, task, type))
    return PastEvents(items=found, next=found[-1].seq if len(found) == limit else None)


@router.websocket("/v1/events/socket")
async def socket(websocket: WebSocket) -> None:
    """Sends the frames of the stream as messages; what the client says is not read."""
    await websocket.accept()
    try:
        current_principal(websocket)
        asked = websocket.query_params
        since = asked.get("since", "")
        wanted = _filter(asked.getlist("repo"), asked.get("goal", ""), asked.get("task", ""), asked.getlist("type"))
        after = int(since) if since.isascii() and since.isdigit() else None
        events = services_of(websocket).events
        batches = events.stream(_prove(websocket), after, wanted)
        with events.opened("websocket"), contextlib.suppress(WebSocketDisconnect):
            await _until(_disconnected(websocket), _messages(websocket, batches))
            await websocket.close(_ENDS)
    except SwarmError as error:
        code = next(_CODES[each] for each in type(error).__mro__ if each in _CODES)
        with contextlib.suppress(RuntimeError, WebSocketDisconnect, TooSlow):
            await _taken(websocket.close(code, error.message[:100]))


async def _messages(websocket: WebSocket, batches: Batches) -> None:
    async with contextlib.aclosing(batches):
        async for frames in batches:
            for each in frames:
                await _taken(websocket.send_text(each.text))


def _filter(repos: Sequence[str] | None, goal: str, task: str, types: Sequence[str] | None) -> Filter:
    return Filter(repos=frozenset(repos) if repos else None, goal=goal, task=task, types=frozenset(types or ()))


def _prove(connection: HTTPConnection) -> Callable[[], Principal]:
    """Asks again who it is that reads, by the header or the cookie that the request came with."""
    accounts, headers = connection.app.state.accounts, dict(connection.headers)
    tls = connection.url.scheme in {"https", "wss"}

    def proved() -> Principal:
        found = identify(accounts, headers, tls=tls)
        if found is None:
            raise Unauthenticated("Nothing says who asks.", hint="log in")
        return found

    return proved


async def _taken(sending: Coroutine[Any, Any, None]) -> None:
    """Sends, to a reader who takes it in time.

    Raises:
        TooSlow: it does not.
    """
    try:
        async with asyncio.timeout(STALLED_S):
            await sending
    except TimeoutError:
        raise _SLOWNESS from None


async def _until(gone: Coroutine[Any, Any, None], work: Coroutine[Any, Any, None]) -> None:
    """Works until it is done, or the reader has gone; raises what the work does."""
    tasks = [asyncio.ensure_future(gone), asyncio.ensure_future(work)]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for each in done:
            each.result()
    finally:
        for each in tasks:
            each.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _disconnected(websocket: WebSocket) -> None:
    while (await websocket.receive())["type"] != "websocket.disconnect":
        pass


async def _body(send: Send, data: bytes) -> None:
    await send({"type": "http.response.body", "body": data, "more_body": True})


def _told(error: SwarmError) -> bytes:
    return to_json({"code": error.code, "message": error.message, "hint": error.hint})
