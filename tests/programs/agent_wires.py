"""Scripted endpoints for real agent programs: Anthropic's Messages and OpenAI's Responses, streamed, on 127.0.0.1.

A turn is a tool call `(name, arguments)` or a text. Which one is due follows from the number of tool results that the
program sends back; a request without tools, such as one for a title, gets a text.
"""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

_IDS = itertools.count(1)
Turn = tuple[str, dict[str, Any]] | str


class AgentWires:
    """Serves the turns on both wires, for the length of a block."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self.turns = turns
        self.paths: list[str] = []
        wires = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
                wires.paths.append(self.path)
                events = wires.answer(self.path, body)
                self.send_response(200 if events is not None else 404)
                self.send_header("Content-Type", "text/event-stream")
                self.end_headers()
                for name, data in events or ():
                    self.wfile.write(f"event: {name}\ndata: {json.dumps(data)}\n\n".encode())

            def do_GET(self) -> None:
                self.send_response(404)
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
                del format, args

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.base_url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, path: str, body: dict[str, Any]) -> list[tuple[str, dict[str, Any]]] | None:
        """The events of an answer; None where nobody serves the path."""
        if path.partition("?")[0].endswith("/messages"):
            return list(_messages(self._due(body, _results_of_messages(body))))
        if path.endswith("/responses"):
            done = sum(each.get("type") == "function_call_output" for each in body.get("input", ()))
            return list(_responses(self._due(body, done)))
        return None

    def _due(self, body: dict[str, Any], done: int) -> Turn:
        return self.turns[min(done, len(self.turns) - 1)] if body.get("tools") else "A title"


def _results_of_messages(body: dict[str, Any]) -> int:
    contents = [each["content"] for each in body.get("messages", ()) if isinstance(each.get("content"), list)]
    return sum(block.get("type") == "tool_result" for content in contents for block in content)


def _messages(turn: Turn) -> Iterator[tuple[str, dict[str, Any]]]:
    usage = {"input_tokens": 100, "output_tokens": 1, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
    nothing: dict[str, Any] = {"content": [], "stop_reason": None, "stop_sequence": None}
    about = {"id": f"msg_{next(_IDS)}", "type": "message", "role": "assistant", "model": "m"}
    message = {**about, **nothing, "usage": usage}
    yield "message_start", {"type": "message_start", "message": message}
    if isinstance(turn, str):
        block: dict[str, Any] = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": turn}
    else:
        block = {"type": "tool_use", "id": f"toolu_{next(_IDS)}", "name": turn[0], "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(turn[1])}
    yield "content_block_start", {"type": "content_block_start", "index": 0, "content_block": block}
    yield "content_block_delta", {"type": "content_block_delta", "index": 0, "delta": delta}
    yield "content_block_stop", {"type": "content_block_stop", "index": 0}
    stop = {"stop_reason": "end_turn" if isinstance(turn, str) else "tool_use", "stop_sequence": None}
    yield "message_delta", {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 10}}
    yield "message_stop", {"type": "message_stop"}


def _responses(turn: Turn) -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(turn, str):
        content = [{"type": "output_text", "text": turn, "annotations": []}]
        item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content}
    else:
        item = {"type": "function_call", "id": "fc_1", "call_id": f"call_{next(_IDS)}", "name": turn[0],
                "arguments": json.dumps(turn[1]), "status": "completed"}  # fmt: skip
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    usage = {"input_tokens": 100, "output_tokens": 10, "total_tokens": 110, **details}
    made: dict[str, Any] = {"id": "resp_1", "object": "response", "status": "in_progress", "output": []}
    yield "response.created", {"type": "response.created", "response": made}
    yield "response.output_item.added", {"type": "response.output_item.added", "output_index": 0, "item": item}
    yield "response.output_item.done", {"type": "response.output_item.done", "output_index": 0, "item": item}
    done = {**made, "status": "completed", "output": [item], "usage": usage}
    yield "response.completed", {"type": "response.completed", "response": done}
