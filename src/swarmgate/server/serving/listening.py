"""Listens: binds the address first, so that what is printed is true, and ends gracefully."""

from __future__ import annotations

import signal
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from swarmgate.config import Server
from swarmgate.errors import UsageError

_GRACE_S = 10
"""Seconds that open requests have to come to their end."""
_BACKLOG = 2048
_PEM = (
    "They are two PEM files that the server's user can read: a certificate with its chain, and its key, not encrypted"
)


def bind(host: str, port: int) -> socket.socket:
    """Binds an address; port 0 is any free one.

    Raises:
        UsageError: the address is taken, or is none of this machine's.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio has small packets sent at once only where the protocol is named: else each answer waits 40 ms for an ACK.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
    except OSError as error:
        bound.close()
        raise UsageError(
            f"The server cannot listen on {host} port {port}: {error.strerror or error}",
            hint="Name another one: swarm serve --port 0 takes any that is free",
        ) from None
    return bound


def require_tls(settings: Server) -> None:
    """Insists that certificate and key can be used, where there are any.

    Raises:
        UsageError: they cannot be read, or do not belong together.
    """
    if not settings.tls:
        return
    for name, place in (("tls_cert", settings.tls_cert), ("tls_key", settings.tls_key)):
        try:
            Path(place).read_bytes()
        except OSError as error:
            raise UsageError(f"[server] {name}: {place}: {error.strerror or error}", hint=_PEM) from None
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(settings.tls_cert, settings.tls_key, lambda: "")
    except (ssl.SSLError, OSError) as error:
        reason = getattr(error, "reason", "") or error
        raise UsageError(
            f"[server] tls_cert {settings.tls_cert} with tls_key {settings.tls_key} cannot be used: {reason}", hint=_PEM
        ) from None


def address(bound: socket.socket, *, tls: bool = False) -> str:
    """The URL of what is bound, without a slash at its end."""
    host, port = bound.getsockname()[:2]
    return f"http{'s' if tls else ''}://{f'[{host}]' if ':' in host else host}:{port}"


class Listener(uvicorn.Server):
    """Serves one application on one bound socket until it is told to end.

    Args:
        app: what answers.
        bound: where; closed at the end.
        settings: of the server, for TLS.
        started: called once, when requests are answered.
        ending: called once, when it ends: what streams to readers has to come to its end by itself.
    """

    def __init__(
        self,
        app: FastAPI,
        bound: socket.socket,
        settings: Server,
        *,
        started: Callable[[], None],
        ending: Callable[[], None],
    ) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                lifespan="on",
                log_config=None,
                access_log=False,
                server_header=False,
                ssl_certfile=settings.tls_cert or None,
                ssl_keyfile=settings.tls_key or None,
                proxy_headers=False,  # ours believes named proxies only
                backlog=_BACKLOG,
                ws_max_size=settings.limits.body_bytes,
                timeout_graceful_shutdown=_GRACE_S,
            )
        )
        self._bound = bound
        self._tell_started, self._tell_ending = started, ending

    def serve_until_told(self) -> None:
        """Serves; SIGTERM and SIGINT end it, and so does `should_exit`."""
        self.run(sockets=[self._bound])

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Ends at SIGINT and SIGTERM, the second time at once; that is an end like any other, and no error."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {each: signal.signal(each, self.handle_exit) for each in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Starts, and says so."""
        await super().startup(sockets=sockets)
        if self.started:
            self._tell_started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Takes no more requests, and waits for those that are open."""
        self._tell_ending()
        await super().shutdown(sockets=sockets)
