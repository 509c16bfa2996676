"""Traces every exchange with a model, failed ones too, with secrets redacted."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from functools import lru_cache
from typing import Protocol

from swarmgate.domain.base import Frozen
from swarmgate.domain.text.redaction import redact
from swarmgate.domain.usage import Usage
from swarmgate.errors import SwarmError
from swarmgate.llm.model import CallFailed, Message, Model, ModelReply, ModelRequest, ToolCall


class Exchange(Frozen):
    """One call to one model: what was said, and the reply or the error.

    `tools` are the names of the tools on offer. Seconds are wall time. Exactly one of `reply` and `error` is set;
    `wasted` is what a call used that failed. `key` is that of the request, where the reply can be given once more: it
    is kept as it came.
    """

    model: str
    purpose: dict[str, str]
    messages: tuple[Message, ...]
    tools: tuple[str, ...]
    reply: ModelReply | None = None
    error: str = ""
    wasted: Usage = Usage()
    started_at: datetime
    seconds: float
    key: str = ""


class Recorder(Protocol):
    """Takes exchanges; the ledger room writes them to `.swarm/traces/`."""

    def record(self, exchange: Exchange) -> None:
        """Keep one exchange."""


class Traced:
    """A `Model` that records every call to another.

    Args:
        inner: the model that answers.
        recorder: who keeps the exchanges.
        secrets: values to mask beside the known shapes, such as the configured keys.
        clock: now, with a time zone.
    """

    def __init__(
        self, inner: Model, recorder: Recorder, *, secrets: Iterable[str], clock: Callable[[], datetime]
    ) -> None:
        self.name = inner.name
        self._inner = inner
        self._recorder = recorder
        self._clock = clock
        known = tuple(secret for secret in secrets if secret)
        # A conversation is sent again with every turn: each message is redacted once.
        self._redact = lru_cache(maxsize=1024)(lambda text: redact(text, known))

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Answer the conversation; raises what `inner` raises."""
        started = self._clock()
        try:
            reply = await self._inner.complete(request)
        except SwarmError as error:
            wasted = error.usage if isinstance(error, CallFailed) else Usage()
            self._record(request, started, None, error.message, wasted)
            raise
        except BaseException as error:
            self._record(request, started, None, type(error).__name__)
            raise
        self._record(request, started, reply, "")
        return reply

    def _record(
        self,
        request: ModelRequest,
        started: datetime,
        reply: ModelReply | None,
        error: str,
        wasted: Usage = Usage(),  # noqa: B008 - frozen
    ) -> None:
        key = ""
        if reply:
            texts = {
                name: self._redact(getattr(reply, name)) for name in ("text", "thought", "after", "doubt", "opaque")
            }
            clean = {"tool_calls": self._calls(reply.tool_calls), "repaired": tuple(map(self._redact, reply.repaired))}
            redacted = reply.model_copy(update=texts | clean)
            key, reply = request.key if redacted == reply else "", redacted
        self._recorder.record(
            Exchange(
                model=self.name,
                purpose={key: self._redact(value) for key, value in request.purpose.items()},
                messages=tuple(self._message(message) for message in request.messages),
                tools=tuple(tool.name for tool in request.tools),
                reply=reply,
                error=self._redact(error),
                wasted=wasted,
                started_at=started,
                seconds=(self._clock() - started).total_seconds(),
                key=key,
            )
        )

    def _message(self, message: Message) -> Message:
        clean = {
            "content": self._redact(message.content),
            "tool_calls": self._calls(message.tool_calls),
            "opaque": self._redact(message.opaque),
        }
        return message.model_copy(update=clean)

    def _calls(self, calls: tuple[ToolCall, ...]) -> tuple[ToolCall, ...]:
        clean = ({"arguments": self._redact(call.arguments), "opaque": self._redact(call.opaque)} for call in calls)
        return tuple(call.model_copy(update=update) for call, update in zip(calls, clean, strict=True))
