"""The `Model` protocol: something with a name that completes a conversation, with its request and reply types."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol, Self

from pydantic import Field, model_validator

from swarmgate.domain.base import Frozen
from swarmgate.domain.text.unicode import REPLACEMENT, whole, whole_json
from swarmgate.domain.usage import Usage
from swarmgate.errors import EndpointFailed
from swarmgate.llm.limit_resets import Limit

TOO_LONG = "too_long"
"""`ModelReply.finish_reason` of an answer that was cut off because no usable one is that long."""

REPEATS = "repeats"
"""The finish reason of one that was cut off because it repeated itself."""


class ToolCall(Frozen):
    """A tool that the model wants run; `arguments` is its raw JSON, not validated yet.

    `replaced` counts the halves of characters in it, which no file and no wire takes: U+FFFD stands for each. `opaque`
    is a JSON object of provider-specific fields (`endpoint.opaque_fields`), which are sent back unchanged, never read.
    """

    id: str
    name: str
    arguments: str = "{}"
    replaced: int = 0
    opaque: str = ""

    @model_validator(mode="before")
    @classmethod
    def _writable(cls, data: Any) -> Any:
        return _writable(data, {"id": whole, "name": whole, "arguments": whole_json, "opaque": whole_json})


class Message(Frozen):
    """One message of a conversation; `tool_call_id` says which call a `tool` message answers.

    `opaque` is as for a `ToolCall`; it is sent to the model `by` which the message was written, and to no other.
    """

    role: Literal["system", "user", "assistant", "tool"]
    content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    opaque: str = ""
    by: str = ""

    @property
    def size(self) -> int:
        """Characters of all that it says, opaque fields included."""
        called = sum(len(call.name) + len(call.arguments) + len(call.opaque) for call in self.tool_calls)
        return len(self.content) + len(self.opaque) + called


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
    does `key`, by which the answer is found (`llm.wrappers.replay`). `call_due`: words without a call are no answer.
    """

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    purpose: dict[str, str] = Field(default_factory=dict)
    key: str = ""
    call_due: bool = False
    instructions: str = Field("", exclude=True)

    @model_validator(mode="after")
    def _one_system_message_first(self) -> Self:
        if [at for at, message in enumerate(self.messages) if message.role == "system"] != [0]:
            raise ValueError("a conversation has exactly one system message, the first")
        return self


class ModelReply(Frozen):
    """The reply of a model.

    `model` is the `provider/model` that answered. `finish_reason` is the endpoint's word (stop, tool_calls, length)
    or `TOO_LONG` or `REPEATS`: then `text` holds only the beginning and `tool_calls` is empty. `cut` says where an
    answer was cut off, and what to set: for people. `usage` holds the endpoint's own
    counts, or an estimate of a token per 4 characters where it reports none, so that token budgets hold either way.
    `replaced` and `opaque` are as for a `ToolCall`, of the text and of the message. This is the one border that every
    answer crosses, of an endpoint or of a program: what lies behind it can be written. `replayed`: it was paid for
    before, and stood on record.

    `thought` is what the model thought in its answer, cut out before anything was read: it is for the record, nothing
    is taken from it. `after` are the words of `text` behind the last call that was read out of text. `repaired` tells
    how calls were spelt that could be read all the same, `doubt` why those that were read may not be meant.
    """

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    model: str = ""
    finish_reason: str = "stop"
    replaced: int = 0
    replayed: bool = False
    opaque: str = ""
    cut: str = ""
    thought: str = ""
    after: str = ""
    repaired: tuple[str, ...] = ()
    doubt: str = ""

    @model_validator(mode="before")
    @classmethod
    def _writable(cls, data: Any) -> Any:
        texts = dict.fromkeys(("text", "finish_reason", "thought", "after"), whole)
        return _writable(data, texts | {"opaque": whole_json})

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
            BudgetExhausted: the answer may not be paid for; `LimitReached`: the provider's limit ends too late.
        """


class CallFailed(EndpointFailed):
    """A call to a model failed.

    Args:
        retriable: whether the same call may succeed later.
        limit: of the account or the model, that was reached; None: it failed for another reason, or named no end.
        usage: what the failed call used all the same.
        asked: whether the model was asked; False where its limit is known, and nobody asks before the end.
    """

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        retriable: bool = False,
        limit: Limit | None = None,
        usage: Usage | None = None,
        asked: bool = True,
    ) -> None:
        super().__init__(message, hint=hint)
        self.asked = asked
        self.retriable = retriable
        self.limit = limit
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
