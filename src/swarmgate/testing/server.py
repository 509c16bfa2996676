"""A local OpenAI-compatible HTTP server that plays a script, streaming and not, over real sockets."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler
from socketserver import TCPServer, ThreadingMixIn
from types import TracebackType
from typing import Any, Self, cast

from swarmgate.testing.abilities import checked, probe_reply, refusal
from swarmgate.testing.answers import Answer, answer, as_events, as_json
from swarmgate.testing.script import Fault, Reply, Script, brief_headers


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """A `chat/completions` request as it came in.

    `headers` are those of the brief, `http_headers` those of HTTP (names in lower case), `tools` the names on offer,
    `body` the whole JSON.
    """

    headers: Mapping[str, str | list[str]]
    messages: tuple[Mapping[str, Any], ...]
    tools: tuple[str, ...]
    model: str
    http_headers: Mapping[str, str]
    body: Mapping[str, Any]


class ScriptedServer:
    """Plays a script at `base_url` while its `with` block lasts, or from `start()` to `stop()`.

    Args:
        script: what `Script.of` takes.
        host: the address to listen on.
        port: 0 picks a free one.
        latency_s: how long each answer is held back.
        keep_requests: whether `requests` is filled; off for long runs.
        lacks: features that the endpoint refuses, see `abilities.LACKING`.
        context_tokens: the window that `/v1/models` states for every model, as vLLM does; None: nothing is stated. The
            list holds the models that the script's rules name, and those that were asked for so far.
    """

    def __init__(
        self,
        script: Any,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        latency_s: float = 0.0,
        keep_requests: bool = True,
        lacks: Collection[str] = (),
        context_tokens: int | None = None,
    ) -> None:
        self.script = Script.of(script)
        self.requests: list[ReceivedRequest] = []
        self.latency_s = latency_s
        self.lacks = checked(lacks)
        self.context_tokens = context_tokens
        self.stopping = threading.Event()
        self._turns = tuple(rule.turns for rule in self.script.rules)
        self._keep = keep_requests
        self._asked_for: set[str] = set()
        self._fired: Counter[tuple[int, int, int]] = Counter()
        self._lock = threading.Lock()
        self._listener = _Listener((host, port), _Handler)
        self._listener.plays = self
        self._thread = threading.Thread(target=self._listener.serve_forever, args=(0.02,), daemon=True)

    @property
    def base_url(self) -> str:
        """What a client is given, up to and including `/v1`."""
        host, port = self._listener.server_address[:2]
        return f"http://{host!s}:{port}/v1"

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return int(self._listener.server_address[1])

    def start(self) -> Self:
        """Begin to answer."""
        self._thread.start()
        return self

    def stop(self) -> None:
        """Close every connection and end; requests that hang are let go."""
        self.stopping.set()
        if self._thread.is_alive():
            self._listener.shutdown()
            self._thread.join()
        self._listener.server_close()
        self._listener.drop_connections()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def models(self) -> list[str]:
        """What `/v1/models` lists; `scripted` where no rule names a model and none was asked for."""
        named = {name for rule in self.script.rules for name in rule.match.model}
        with self._lock:
            return sorted((named | self._asked_for) - {""}) or ["scripted"]

    def play(self, body: Mapping[str, Any], http_headers: Mapping[str, str]) -> tuple[Fault | None, Answer] | str:
        """What is due for a request: an answer and the fault that spoils it, or why there is none."""
        messages = tuple(body.get("messages", ()))
        brief = next((_text(each) for each in messages if each.get("role") == "user"), "")
        headers = brief_headers(brief)
        model = str(body.get("model", ""))
        tools = tuple(str(tool.get("function", {}).get("name", "")) for tool in body.get("tools") or ())
        number = self.script.choose(headers, brief, model)
        with self._lock:
            self._asked_for.add(model)
            if self._keep:
                self.requests.append(ReceivedRequest(headers, messages, tools, model, http_headers, body))
            if number is None:
                probed = probe_reply(headers)
                return (None, self._able(answer(probed, body, headers, 0))) if probed else self._no_rule(headers, model)
            turn = sum(each.get("role") == "assistant" for each in messages)
            turns = self._turns[number]
            fault, reply = self._due(number, turn, turns[min(turn, len(turns) - 1)])
        return fault, self._able(answer(reply, body, headers, turn))

    def _able(self, given: Answer) -> Answer:
        return replace(given, calls=given.calls[:1]) if "parallel_tools" in self.lacks else given

    def _due(self, rule: int, turn: int, reply: Reply) -> tuple[Fault | None, Reply]:
        """The fault that fires now, if any, and the reply that it spoils or that is given."""
        depth = 0
        while (fault := reply.fault) is not None:
            self._fired[rule, turn, depth] += 1
            if reply.then is None or fault.times is None or self._fired[rule, turn, depth] <= fault.times:
                return fault, Reply(text="x" * (fault.size if fault.kind == "huge" else 1000))
            reply = reply.then
            depth += 1
        return None, reply

    def _no_rule(self, headers: Mapping[str, str | list[str]], model: str) -> str:
        known = [rule.match.model_dump(include=rule.match.model_fields_set) for rule in self.script.rules]
        return f"no rule of the script fits: model {model!r}, headers {json.dumps(headers)}; rules match {known}"


class _Listener(ThreadingMixIn, TCPServer):
    """One thread a connection. Not http.server's own: that one asks the DNS for its name before it starts."""

    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64
    plays: ScriptedServer

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        self._open: set[socket.socket] = set()
        super().__init__(address, handler)

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
    """Speaks HTTP; what it says is `ScriptedServer.play`'s business."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 1 << 16

    def do_GET(self) -> None:
        """`GET /v1/models`."""
        if self.path.split("?")[0].endswith("/models"):
            stated = {"max_model_len": self._plays.context_tokens} if self._plays.context_tokens else {}
            common = {"object": "model", "created": 0, "owned_by": "script", **stated}
            entries = [{"id": name, **common} for name in self._plays.models]
            self._send(200, json.dumps({"object": "list", "data": entries}).encode())
        else:
            self._refuse(404, f"no such path: {self.path}")

    def do_POST(self) -> None:
        """`POST /v1/chat/completions`."""
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if not self.path.split("?")[0].endswith("/chat/completions"):
            self._refuse(404, f"no such path: {self.path}")
            return
        try:
            body = json.loads(data)
            if why := refusal(body, self._plays.lacks):
                self._refuse(400, why)
                return
            due = self._plays.play(body, {key.lower(): value for key, value in self.headers.items()})
        except (ValueError, AttributeError, TypeError) as error:
            self._refuse(400, f"not a chat/completions request: {error}")
            return
        if self._plays.latency_s:
            time.sleep(self._plays.latency_s)
        if isinstance(due, str):
            # OpenAI's way to say that trying again is of no use: whoever writes the script sees this at once.
            self._refuse(500, due, {"x-should-retry": "false"})
        else:
            self._answer(*due, body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Silent: the requests are kept by the server."""

    @property
    def _plays(self) -> ScriptedServer:
        return cast("_Listener", self.server).plays

    def _answer(self, fault: Fault | None, given: Answer, body: Mapping[str, Any]) -> None:
        kind = fault.kind if fault else ""
        if fault and kind.isdecimal():
            self._fail(fault)
        elif kind == "hang":
            self.close_connection = True
            self.plays_dead()
        elif body.get("stream"):
            options = body.get("stream_options") or {}
            self._stream(kind, as_events(_spoilt(given, kind), include_usage=bool(options.get("include_usage"))))
        else:
            self._whole(kind, as_json(_spoilt(given, kind)))

    def _fail(self, fault: Fault) -> None:
        """An HTTP error, with the headers and the body that the script gives it."""
        wait = {} if fault.retry_after is None else {"Retry-After": f"{fault.retry_after}"}
        headers = {**wait, **fault.headers}
        if not fault.body:
            self._refuse(int(fault.kind), f"the script says {fault.kind}", headers)
            return
        text = fault.body if isinstance(fault.body, str) else json.dumps(fault.body)
        self._send(int(fault.kind), text.encode(), headers=headers)

    def plays_dead(self) -> None:
        """Say nothing until the server stops."""
        self._plays.stopping.wait()

    def _whole(self, kind: str, data: bytes) -> None:
        if kind == "invalid_json":
            data = b'{"choices": [{"message": '
        if kind == "cut_stream":
            self.close_connection = True
        self._send(200, data, sent=data[: len(data) // 2] if kind == "cut_stream" else data)

    def _stream(self, kind: str, events: list[bytes]) -> None:
        if kind == "invalid_json":
            events = [events[0], b'data: {"choices": [{"delta": \n\n', events[-1]]
        if kind == "cut_stream":
            self.close_connection = True
            events = events[: len(events) // 2]
        self.send_response_only(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for event in events:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(event), event))
        if kind != "cut_stream":
            self.wfile.write(b"0\r\n\r\n")

    def _refuse(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        error = {"message": message, "type": "scripted", "code": None, "param": None}
        self._send(status, json.dumps({"error": error}).encode(), headers=headers)

    def _send(
        self, status: int, data: bytes, *, sent: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> None:
        self.send_response_only(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for key, value in (headers or {}).items():
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(data if sent is None else sent)


def _spoilt(given: Answer, kind: str) -> Answer:
    return Answer(given.model, "", (), given.usage, given.id) if kind == "empty" else given


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content)
    return str(content or "")
