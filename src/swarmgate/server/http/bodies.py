"""Bodies of requests: read whole before anything else looks at them, within bounds of bytes and of time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress

from starlette.types import Message, Receive

from swarmgate.errors import BadRequest, BodyTooLarge, BodyTooSlow

_LINGER_S, _LINGER_BYTES = 2.0, 16 * 1024 * 1024
"""How long, and for how much, the rest of a body is let pass that is refused."""


class ClientGone(Exception):
    """The client went away before its body had come."""


async def read_body(headers: Mapping[str, str], receive: Receive, *, most: int, seconds: float) -> bytes:
    """The whole body.

    Args:
        headers: of the request, names in lower case.
        receive: of the request.
        most: bytes that it may have.
        seconds: in which it has to come.

    Raises:
        BadRequest: its length is no number.
        BodyTooLarge: it says, or turns out, to be larger.
        BodyTooSlow: it did not come in time.
        ClientGone: there is nobody any more.
    """
    length = headers.get("content-length", "0")
    if not (length.isascii() and length.isdigit()):
        raise BadRequest("Content-Length is no number.")
    if len(length) > len(str(most)) or int(length) > most:
        await _discard(receive)
        raise _too_large(most)
    try:
        async with asyncio.timeout(seconds):
            return await _all(receive, most)
    except TimeoutError:
        raise BodyTooSlow(f"The body did not come within {seconds:g} seconds.") from None


def replayed(body: bytes, receive: Receive) -> Receive:
    """What gives a body that was read again, once, and then what else comes: that the client went away."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


async def _all(receive: Receive, most: int) -> bytes:
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        body += message.get("body", b"")
        if len(body) > most:
            await _discard(receive)
            raise _too_large(most)
        if not message.get("more_body", False):
            return bytes(body)


async def _discard(receive: Receive) -> None:
    """Lets the rest of a body pass for a while: a client that is cut off in the middle does not see the answer."""
    passed = 0
    with suppress(TimeoutError):
        async with asyncio.timeout(_LINGER_S):
            while passed < _LINGER_BYTES:
                message = await receive()
                passed += len(message.get("body", b""))
                if not message.get("more_body", False):
                    return


def _too_large(most: int) -> BodyTooLarge:
    return BodyTooLarge(f"A body has {most:,} bytes at most.", hint="[server.limits] body_bytes says how many")
