"""A small endpoint of a test: gives one answer, whole or streamed, and refuses what the test says."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Seen = list[dict[str, Any]]
"""The bodies of requests, in order."""
Refusal = str | Mapping[str, Any]
"""Why a request is refused: a message, or the whole `error`; empty where it is not."""


@contextmanager
def chat_server(
    *,
    message: Mapping[str, Any],
    deltas: Sequence[Mapping[str, Any]] = (),
    seen: Seen,
    refusal: Callable[[Mapping[str, Any]], Refusal] = lambda _body: "",
    status: int = 400,
    finish: str = "stop",
) -> Iterator[str]:
    """`with chat_server(...) as base_url`: answers `message`, or the `deltas` where a stream is asked for."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            seen.append(body)
            if why := refusal(body):
                error = {"message": why} if isinstance(why, str) else why
                self._send(status, "application/json", json.dumps({"error": error}).encode())
            elif body.get("stream"):
                chunks = [{"choices": [{"index": 0, "delta": each}]} for each in deltas or [message]]
                chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
                lines = [f"data: {json.dumps(each)}\n\n" for each in chunks]
                self._send(200, "text/event-stream", "".join([*lines, "data: [DONE]\n\n"]).encode())
            else:
                choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
                self._send(200, "application/json", json.dumps({"choices": [choice]}).encode())

        def _send(self, status: int, kind: str, data: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1"
        finally:
            server.shutdown()
            thread.join()
