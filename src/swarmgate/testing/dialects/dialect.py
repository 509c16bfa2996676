"""What a dialect is, and what the three have in common. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from swarmgate.testing.exchange import EVENTS, Response, answered

Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Dialect:
    """One API.

    Attributes:
        name: what its makers call it.
        path: the end of its path.
        asked: translates a request, and its path, into one of `chat/completions` that asks for no stream.
        said: translates a completion into the whole answer; it is given the request as well.
        events: the whole answer as the events of a stream: the name (empty: none) and the data of each.
        streams: whether a request asks for a stream.
    """

    name: str
    path: re.Pattern[str]
    asked: Callable[[Body, str], dict[str, Any]]
    said: Callable[[Body, Body], dict[str, Any]]
    events: Callable[[dict[str, Any]], Iterable[tuple[str, dict[str, Any]]]]
    streams: Callable[[Body, str], bool]


def translated(dialect: Dialect, response: Response, body: Body, path: str) -> Response:
    """The answer in a dialect; what is no whole completion (an error, a cut, a silence) goes out as it is.

    Args:
        dialect: which.
        response: the answer to the translated request.
        body: the request as it came.
        path: its path.
    """
    try:
        completion = json.loads(response.data)
    except ValueError:
        return response
    if response.status != 200 or response.cut or "choices" not in completion:  # noqa: PLR2004 - HTTP's OK
        return response
    whole = dialect.said(completion, body)
    if not dialect.streams(body, path):
        return answered(whole)
    parts = tuple(_event(name, data) for name, data in dialect.events(whole))
    return Response(headers=EVENTS, parts=parts, streamed=True)


def chat(model: object, said: Iterable[tuple[str, str]], tools: Sequence[object]) -> dict[str, Any]:
    """A `chat/completions` request: who said what, and the names of the tools on offer."""
    functions = [{"type": "function", "function": {"name": str(each)}} for each in tools if each]
    messages = [{"role": role, "content": content} for role, content in said]
    return {"model": str(model or ""), "messages": messages, **({"tools": functions} if functions else {})}


def texts(content: Any) -> str:
    """The text of a content: a text, or a list of parts; a result of a tool has parts of its own."""
    if isinstance(content, str):
        return content
    parts = [each for each in content if isinstance(each, Mapping)] if isinstance(content, list) else []
    return "".join(str(each["text"]) if "text" in each else texts(each.get("content")) for each in parts)


def calls(completion: Body) -> list[tuple[str, str, str]]:
    """The tool calls of a completion: id, name, arguments as text."""
    made = completion["choices"][0]["message"].get("tool_calls") or ()
    return [(each["id"], each["function"]["name"], each["function"]["arguments"]) for each in made]


def text_of(completion: Body) -> str:
    """The text of a completion."""
    return str(completion["choices"][0]["message"].get("content") or "")


def parsed(arguments: str) -> Any:
    """Arguments as a value; those that are no JSON stay a text."""
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


def _event(name: str, data: dict[str, Any]) -> bytes:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data)}\n\n".encode()
