"""The HTTP request and response of a scripted endpoint, as data classes. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

JSON = {"Content-Type": "application/json"}
EVENTS = {"Content-Type": "text/event-stream"}


@dataclass(frozen=True, slots=True)
class Exchange:
    """A `chat/completions` request.

    `number` counts the requests to the server from 1: an endpoint that is only loading answers the third.
    """

    body: Mapping[str, Any]
    number: int = 1

    @property
    def messages(self) -> tuple[Mapping[str, Any], ...]:
        """The conversation."""
        return tuple(each for each in self.body.get("messages") or () if isinstance(each, Mapping))

    @property
    def spoken(self) -> tuple[Mapping[str, Any], ...]:
        """What the model said before, as the client sends it back."""
        return tuple(each for each in self.messages if each.get("role") == "assistant")

    @property
    def streams(self) -> bool:
        """Whether a stream was asked for."""
        return bool(self.body.get("stream"))

    @property
    def offers_tools(self) -> bool:
        """Whether tools are on offer."""
        return bool(self.body.get("tools"))


@dataclass(frozen=True, slots=True)
class Pause:
    """A pause of so many seconds in which nothing is sent."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Response:
    """The response to send: bytes, and pauses between them.

    `streamed` bytes go out in chunks (HTTP/1.1), others with their length. `held_s`: so long, in seconds, nothing at
    all is sent, no status either. `cut`: the connection ends before the body does. `closes`: nothing is announced, and
    the next request on the connection is dropped without an answer.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: dict(JSON))
    parts: tuple[bytes | Pause, ...] = ()
    streamed: bool = False
    held_s: float = 0.0
    cut: bool = False
    closes: bool = False

    @property
    def data(self) -> bytes:
        """All bytes of it."""
        return b"".join(part for part in self.parts if isinstance(part, bytes))


def refused(status: int, message: str, *, headers: Mapping[str, str] | None = None, **error: Any) -> Response:
    """A refusal in OpenAI's form; `error` are further keys of the object."""
    fields = {"message": message, "type": "invalid_request_error", "param": None, "code": None, **error}
    return answered({"error": fields}, status=status, headers=headers)


def answered(value: Any, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A response of one JSON value."""
    return Response(status, {**JSON, **(headers or {})}, (json.dumps(value).encode(),))
