"""A local OpenAI-compatible HTTP server that plays a script, streaming and not, over real sockets.

It answers in the APIs of Anthropic, OpenAI (responses) and Gemini as well (`swarmgate.testing.dialects`).
"""

from __future__ import annotations

import json
import math
import threading
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Self

from swarmgate.testing import habits as known
from swarmgate.testing.abilities import checked, lacking, probe_reply
from swarmgate.testing.answers import Answer, answer, chunks, completion, events
from swarmgate.testing.exchange import EVENTS, JSON, Exchange, Response, answered, refused
from swarmgate.testing.habits.habit import chunked, completed, refusal, sent
from swarmgate.testing.listener import Listener
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
        habits: names of habits of real endpoints that it plays, see `swarmgate.testing.habits`.
        pace: how much of each pause of a habit is really waited: 0.01 makes 0.7 seconds of 70.
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
        habits: Sequence[str] = (),
        pace: float = 1.0,
        context_tokens: int | None = None,
    ) -> None:
        self.script = Script.of(script)
        self.requests: list[ReceivedRequest] = []
        self.latency_s = latency_s
        self.lacks = checked(lacks)
        self.habits = (*lacking(self.lacks), *known.named(habits))
        self.pace = pace
        self.context_tokens = context_tokens
        self.stopping = threading.Event()
        self._turns = tuple(rule.turns for rule in self.script.rules)
        self._record = keep_requests
        self._asked_for: set[str] = set()
        self._fired: Counter[tuple[int, int, int]] = Counter()
        self._lock = threading.Lock()
        self._listener = Listener((host, port), self)
        self._number = 0
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

    def list_models(self) -> Response:
        """The answer to `GET /v1/models`."""
        for habit in self.habits:
            if habit.models is not None:
                return habit.models
        stated = {"max_model_len": self.context_tokens} if self.context_tokens else {}
        common = {"object": "model", "created": 0, "owned_by": "script", **stated}
        return answered({"object": "list", "data": [{"id": name, **common} for name in self.models]})

    def respond(self, body: Mapping[str, Any], http_headers: Mapping[str, str]) -> Response:
        """The answer to `POST /v1/chat/completions`: what the script says, as the habits have it."""
        with self._lock:
            self._number += 1
            exchange = Exchange(body, self._number)
        if (no := refusal(self.habits, exchange)) is not None:
            return sent(self.habits, no, exchange)
        due = self.play(body, http_headers)
        if isinstance(due, str):
            # OpenAI's way to say that trying again is of no use: whoever writes the script sees this at once.
            return refused(500, due, headers={"x-should-retry": "false"}, type="scripted")
        return sent(self.habits, self._answer(*due, exchange), exchange)

    def _answer(self, fault: Fault | None, given: Answer, exchange: Exchange) -> Response:
        kind = fault.kind if fault else ""
        if fault and kind.isdecimal():
            return _failed(fault)
        if kind == "hang":
            return Response(held_s=math.inf)
        if kind == "empty":
            given = replace(given, text="", calls=())
        whole = completed(self.habits, completion(given), exchange)
        cut = kind == "cut_stream"
        if not exchange.streams:
            data = b'{"choices": [{"message": ' if kind == "invalid_json" else json.dumps(whole).encode()
            return Response(parts=(data[: len(data) // 2] if cut else data,), cut=cut)
        options = exchange.body.get("stream_options") or {}
        found = chunked(self.habits, chunks(whole, include_usage=bool(options.get("include_usage"))), exchange)
        parts = events(found)
        if kind == "invalid_json":
            parts = [parts[0], b'data: {"choices": [{"delta": \n\n', parts[-1]]
        return Response(headers=EVENTS, parts=tuple(parts[: len(parts) // 2] if cut else parts), streamed=True, cut=cut)

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
            if self._record:
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


def _failed(fault: Fault) -> Response:
    """An HTTP error, with the headers and the body that the script gives it."""
    wait = {} if fault.retry_after is None else {"Retry-After": f"{fault.retry_after}"}
    headers, status = {**wait, **fault.headers}, int(fault.kind)
    if not fault.body:
        return refused(status, f"the script says {fault.kind}", headers=headers, type="scripted")
    text = fault.body if isinstance(fault.body, str) else json.dumps(fault.body)
    return Response(status, {**JSON, **headers}, (text.encode(),))


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content)
    return str(content or "")
