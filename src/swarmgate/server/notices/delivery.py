"""Delivers one message, and tries again as long as that may help: never twice at once, never for ever."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Mapping
from enum import Enum
from urllib.parse import urlsplit

import httpx

from swarmgate.errors import SwarmError

DELAYS_S = (1.0, 5.0, 30.0, 120.0, 600.0)
"""Seconds before each further attempt; a tenth more or less, so that many do not come at once."""
_LONGEST_S = 900.0
"""Seconds that a receiver can ask to be left alone, by `Retry-After`."""
_AGAIN = frozenset({408, 425, 429})
"""Refusals that are over after a while; every 5xx is one, too."""
_GONE = frozenset({404, 410})

_log = logging.getLogger(__name__)


class Delivered(Enum):
    """What became of a message."""

    YES = "yes"
    NO = "no"
    GONE = "gone"
    """There is nobody any more at that address."""


async def deliver(
    client: httpx.AsyncClient,
    url: str,
    body: bytes,
    headers: Callable[[], Mapping[str, str]],
    *,
    delays: tuple[float, ...] = DELAYS_S,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> Delivered:
    """Posts a message until it is taken, refused for good, or the attempts are used up.

    Args:
        client: by which it is sent.
        url: where to; only its host ever stands in the log, since the rest may be a secret.
        body: the message.
        headers: makes the headers of an attempt: signatures carry the time.
        delays: seconds before each further attempt.
        sleep: waits.
    """
    host = urlsplit(url).hostname or ""
    for number, delay in enumerate((*delays, None), start=1):
        answer, asked, why = None, 0.0, ""
        try:
            async with client.stream("POST", url, content=body, headers=dict(headers())) as response:
                answer, asked = response.status_code, _asked(response)
        except SwarmError as error:
            _log.warning("a notice is not sent: %s", error.message)
            return Delivered.NO
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            why = type(error).__name__
        if answer is not None and 200 <= answer < 300:  # noqa: PLR2004 - what HTTP calls a success
            return Delivered.YES
        if answer in _GONE:
            return Delivered.GONE
        if answer is not None and answer < 500 and answer not in _AGAIN:  # noqa: PLR2004 - from here on it is the server
            _log.warning("%s refuses a notice: %d", host, answer)
            return Delivered.NO
        if delay is None:
            _log.warning("%s did not take a notice in %d attempts: %s", host, number, why or answer)
            return Delivered.NO
        await sleep(max(delay * random.uniform(0.9, 1.1), asked))  # noqa: S311 - spreads load, hides nothing
    return Delivered.NO


def _asked(response: httpx.Response) -> float:
    """Seconds that the receiver asks to wait."""
    said = response.headers.get("retry-after", "")
    return min(float(said), _LONGEST_S) if said.isdecimal() else 0.0
