"""The HTTP listener of a scripted server: sockets, threads, and sending of responses."""

from __future__ import annotations

import contextlib
import json
import math
import socket
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler
from socketserver import TCPServer, ThreadingMixIn
from typing import Any, Protocol, cast

from swarmgate.testing.dialects import spoken_at, translated
from swarmgate.testing.exchange import Pause, Response, refused


class Responder(Protocol):
    """Decides what is answered."""

    stopping: threading.Event
    latency_s: float
    pace: float

    def list_models(self) -> Response:
        """The answer to `GET /v1/models`."""

    def respond(self, body: Mapping[str, Any], http_headers: Mapping[str, str]) -> Response:
        """The answer to `POST /v1/chat/completions`."""


class Listener(ThreadingMixIn, TCPServer):
    """One thread a connection. Not http.server's own: that one asks the DNS for its name before it starts."""

    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, address: tuple[str, int], plays: Responder) -> None:
        self.plays = plays
        self._open: set[socket.socket] = set()
        super().__init__(address, _Handler)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Keep count of open connections, so that they can be dropped."""
        self._open.add(request)
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._open.discard(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away in the middle is a part of the play."""

    def drop_connections(self) -> None:
        """Cut what is still connected."""
        for each in list(self._open):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    """Speaks HTTP; what it says is `Playing`'s business."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 1 << 16
    _dying = False

    def do_GET(self) -> None:
        """`GET /v1/models`."""
        known = self.path.split("?")[0].endswith("/models")
        self._send(self._plays.list_models() if known else refused(404, f"no such path: {self.path}"))

    def do_POST(self) -> None:
        """`POST /v1/chat/completions`, and the paths of dialects."""
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self._dying:
            self.close_connection = True
            return
        dialect = spoken_at(self.path)
        if dialect is None and not self.path.split("?")[0].endswith("/chat/completions"):
            self._send(refused(404, f"no such path: {self.path}"))
            return
        headers = {key.lower(): value for key, value in self.headers.items()}
        try:
            body = json.loads(data)
            response = self._plays.respond(dialect.asked(body, self.path) if dialect else body, headers)
            response = translated(dialect, response, body, self.path) if dialect else response
        except (ValueError, AttributeError, TypeError) as error:
            response = refused(400, f"not a {dialect.name if dialect else 'chat/completions'} request: {error}")
        self._wait(self._plays.latency_s)
        self._send(response)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Silent: the requests are kept by the server."""

    @property
    def _plays(self) -> Responder:
        return cast("Listener", self.server).plays

    def _wait(self, seconds: float) -> None:
        """Pause, but not beyond the end of the server."""
        if seconds:
            self._plays.stopping.wait(None if math.isinf(seconds) else seconds)

    def _send(self, response: Response) -> None:
        self._wait(response.held_s * self._plays.pace)
        self._dying |= response.closes
        self.close_connection |= response.cut or math.isinf(response.held_s)
        if math.isinf(response.held_s):
            return
        self.send_response_only(response.status)
        for key, value in response.headers.items():
            self.send_header(key, value)
        if response.streamed:
            self.send_header("Transfer-Encoding", "chunked")
        else:
            # Of a body that is cut, more is announced than comes.
            self.send_header("Content-Length", str(len(response.data) * (2 if response.cut else 1)))
        self.end_headers()
        for part in response.parts:
            if isinstance(part, Pause):
                self.wfile.flush()
                self._wait(part.seconds * self._plays.pace)
            elif part:
                self.wfile.write(b"%x\r\n%b\r\n" % (len(part), part) if response.streamed else part)
        if response.streamed and not response.cut:
            self.wfile.write(b"0\r\n\r\n")
