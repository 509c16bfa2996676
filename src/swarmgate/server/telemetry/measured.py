"""Measures every request and writes a line about each one that changes something or fails."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import structlog

from swarmgate.server.telemetry.metrics import Metrics

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_LOOKING = frozenset({"GET", "HEAD", "OPTIONS"})
_FAILED = 500
_GONE = 499
"""The status of a request whose client was gone before there was an answer."""

_log = structlog.get_logger("swarmgate.server")


class Measured:
    """Passes requests on; the outermost layer of the application, so that it sees every answer.

    Args:
        app: what answers.
        metrics: where requests are counted.
    """

    def __init__(self, app: App, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request; what is no HTTP is passed on as it is."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = time.perf_counter(), _GONE

        async def noticed(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noticed)
        except Exception:
            status = _FAILED
            raise
        finally:
            self._note(scope, status, time.perf_counter() - began)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "") or "other"
        self._metrics.requests.labels(scope["method"], route, str(status)).inc()
        self._metrics.seconds.labels(route).observe(seconds)
        if scope["method"] not in _LOOKING or status >= _FAILED:
            write = _log.error if status >= _FAILED else _log.info
            write("request", method=scope["method"], path=scope["path"], status=status, ms=round(seconds * 1000, 1))
