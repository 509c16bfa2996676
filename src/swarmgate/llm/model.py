"""What a model is to the rest of swarmgate: something with a name that completes a conversation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol, Self

from pydantic import Field, model_validator

from swarmgate.domain.base import Frozen
from swarmgate.domain.unicode import REPLACEMENT, whole, whole_json
from swarmgate.domain.usage import Usage
from swarmgate.errors import EndpointFailed

TOO_LONG = "too_long"
"""`ModelReply.finish_reason` of an answer that was cut off because no usable one is that long."""


class ToolCall(Frozen):
    """A tool that the model wants run; `arguments` is its raw JSON, not validated yet.

    `replaced` counts the halves of characters in it, which no file and no wire takes: U+FFFD stands for each.
    """

    id: str
    name: str
    arguments: str = "{}"
    replaced: int = 0

    @model_validator(mode="before")
    @classmethod
    def _writable(cls, data: Any) -> Any:
        return _writable(data, {"id": whole, "name": whole, "arguments": whole_json})


class Message(Frozen):
    """One message of a conversation; `tool_call_id` says which call a `tool` message answers."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""


class ToolSpec(Frozen):
    """A tool as it is offered to a model; `parameters` is a JSON schema of type object.

    `answers` says that a call is part of the answer, such as a verdict: an agent program, which reads and writes files
    by tools of its own, is offered these alone.
    """

    name: str
    description: str
    parameters: dict[str, Any]
    answers: bool = False


class ModelRequest(Frozen):
    """A conversation to complete: exactly one system message, first.

    `instructions` is what an agent program is told in the place of the system message, since it has tools of its own
    and none of ours. It is no part of the conversation.

    `purpose` says what the call is for (role, step, task, attempt ...) and goes to traces only, never to the model; so
    does `key`, by which the answer is found again (`llm.replay`).
    """

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    purpose: dict[str, str] = Field(default_factory=dict)
    key: str = ""
    instructions: str = Field("", exclude=True)

    @model_validator(mode="after")
    def _one_system_message_first(self) -> Self:
        if [at for at, message in enumerate(self.messages) if message.role == "system"] != [0]:
            raise ValueError("a conversation has exactly one system message, the first")
        return self


class ModelReply(Frozen):
    """What came back.

    `model` is the `provider/model` that answered. `finish_reason` is the endpoint's word (stop, tool_calls, length)
    or `TOO_LONG`: then `text` holds only the beginning and `tool_calls` is empty. `usage` holds the endpoint's own
    counts, or an estimate of a token per 4 characters where it reports none, so that token budgets hold either way.
    `replaced` is as for a `ToolCall`, of the text. This is the one border that every answer crosses, of an endpoint or
    of a program: what lies behind it can be written. `replayed`: it was paid for before, and stood on record.
    """

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    model: str = ""
    finish_reason: str = "stop"
    replaced: int = 0
    replayed: bool = False

    @model_validator(mode="before")
    @classmethod
    def _writable(cls, data: Any) -> Any:
        return _writable(data, {"text": whole, "finish_reason": whole})

    @property
    def halves(self) -> int:
        """How many halves of characters were replaced in all of it, its calls included."""
        return self.replaced + sum(call.replaced for call in self.tool_calls)


class Model(Protocol):
    """Completes conversations."""

    @property
    def name(self) -> str:
        """`provider/model`."""

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Answer the conversation.

        Raises:
            ModelError: no answer was to be had.
            BudgetExhausted: the answer may not be paid for.
        """


class CallFailed(EndpointFailed):
    """A call to a model failed.

    Args:
        retriable: whether the same call may succeed later.
        retry_after: seconds that the endpoint asked to wait; None when it did not say.
        usage: what the failed call used all the same.
    """

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        retriable: bool = False,
        retry_after: float | None = None,
        usage: Usage | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.retriable = retriable
        self.retry_after = retry_after
        self.usage = usage or Usage()


def _writable(data: Any, readings: Mapping[str, Callable[[str], str]]) -> Any:
    """The fields of a record with its texts as they can be written, and how many halves of characters they had."""
    if not isinstance(data, dict):
        return data
    found = {name: reading(data[name]) for name, reading in readings.items() if isinstance(data.get(name), str)}
    changed = {name: text for name, text in found.items() if text != data[name]}
    if not changed:
        return data
    marks = (REPLACEMENT, "\\ufffd")
    new = sum(text.count(mark) - data[name].count(mark) for name, text in changed.items() for mark in marks)
    return {**data, **changed, "replaced": data.get("replaced", 0) + max(new, 0)}
