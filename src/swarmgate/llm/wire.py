"""A request as the `chat/completions` endpoint takes it, and what of it an endpoint may turn out not to take."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Self

from swarmgate.domain.base import Frozen
from swarmgate.domain.capabilities import Capabilities
from swarmgate.domain.json_text import loaded
from swarmgate.llm import strict
from swarmgate.llm.json_tools import as_text
from swarmgate.llm.model import Message, ModelRequest, ToolCall

_NOT = r"(support|not enabled|unrecogni[sz]ed|unknown (field|param|arg)|not available|not permitted|--enable|--jinja)"
_ANY = re.IGNORECASE | re.DOTALL
_REFUSALS = {
    "stream_options": re.compile(r"stream_options|include_usage", _ANY),
    "max_tokens": re.compile(r"max_completion_tokens", _ANY),
    "response_format": re.compile(r"response_format|json_schema|structured|grammar", _ANY),
    # ollama: "does not support tools"; OpenRouter: "No endpoints found that support tool use";
    # vLLM: '"auto" tool choice requires --enable-auto-tool-choice'; llama.cpp: "tools param requires --jinja flag"
    "tools": re.compile(rf"{_NOT}.*\b(tools?|functions?)\b|\b(tools?|functions?)\b.*{_NOT}", _ANY),
    "stream": re.compile(rf"{_NOT}.*\bstream|\bstream.*{_NOT}", _ANY),
    # gemma: "System role not supported", "Developer instruction is not enabled for models/gemma-3-27b-it"
    "system": re.compile(rf"\b(system|developer)\b.*{_NOT}|{_NOT}.*\b(system|developer)\b", _ANY),
}
"""What the error message of a 4xx says when the endpoint does not take a feature; the first that fits is dropped."""

OTHERWISE = {
    "stream_options": "it takes no stream_options: without them from here on",
    "max_tokens": "it takes no max_tokens: max_completion_tokens from here on",
    "response_format": "it holds no answer to a schema: JSON in plain text from here on",
    "tools": "it does not call tools: they are described in text from here on, and calls are read there",
    "stream": "it does not stream: answers are asked for whole from here on",
    "system": "it takes no system message: the instructions stand in the first user message from here on",
}
"""What becomes otherwise without a feature, for people."""


class Dialect(Frozen):
    """The form of the wire that a model takes: everything but what is left out, and what was found to work beside that.

    Features by name: `tools`, `stream`, `stream_options`, `max_tokens` (left out: the newer `max_completion_tokens`),
    `system` (left out: the system message is part of the first user message), `response_format`. `held`: without
    tools, calls in text are held to a schema. `longest`: the most tokens of an answer that may be asked for.
    """

    left_out: frozenset[str] = frozenset()
    held: bool = False
    longest: int | None = None

    @classmethod
    def of(cls, known: Capabilities, written: Mapping[str, bool], refused: Iterable[str] = ()) -> Self:
        """The dialect of a model.

        Args:
            known: what was found out about it, now and in earlier runs.
            written: features that the user's settings speak of; they win over what is known.
            refused: what of that the endpoint refused to this process all the same.
        """
        found = {each for each in _REFUSALS.keys() | {*known.left_out} if known.lacks(each)}
        found -= {each for each, wanted in written.items() if wanted}
        found |= {each for each, wanted in written.items() if not wanted}
        return cls(left_out=found | {*refused}, held=known.json_schema is True, longest=known.longest_answer)

    def takes(self, feature: str) -> bool:
        """Whether the feature may be sent."""
        return feature not in self.left_out

    @property
    def tools(self) -> bool:
        """Whether tools are called natively; else they are described, and called, in text."""
        return self.takes("tools")

    def without(self, feature: str) -> Self:
        """The same less a feature."""
        return self.model_copy(update={"left_out": self.left_out | {feature}})

    def refused(self, complaint: str, body: dict[str, Any]) -> str:
        """The feature of `body` that the endpoint complains about; empty: it is something else."""
        sent = {*body, *(message["role"] for message in body.get("messages", ()))}
        return next(
            (feature for feature, pattern in _REFUSALS.items() if feature in sent and pattern.search(complaint)),
            "",
        )


def body(
    request: ModelRequest, dialect: Dialect, *, model: str, temperature: float | None, max_tokens: int | None
) -> dict[str, Any]:
    """The JSON body of the call."""
    native = dialect.tools
    messages = request.messages if native else as_text(request.messages, request.tools)
    fields: dict[str, Any] = {"model": model, "messages": [_message(each) for each in messages]}
    if dialect.held and dialect.takes("response_format") and not native and request.tools:
        fields["messages"][0]["content"] += strict.HOW
        fields["response_format"] = strict.response_format(request.tools)
    if not dialect.takes("system"):
        fields["messages"] = _without_system(fields["messages"])
    if native and request.tools:
        specs = (tool.model_dump(exclude={"answers"}) for tool in request.tools)
        fields["tools"] = [{"type": "function", "function": spec} for spec in specs]
    if temperature is not None:
        fields["temperature"] = temperature
    if max_tokens is not None:
        fields["max_tokens" if dialect.takes("max_tokens") else "max_completion_tokens"] = max_tokens
    if dialect.takes("stream"):
        fields["stream"] = True
        if dialect.takes("stream_options"):
            fields["stream_options"] = {"include_usage": True}
    return fields


def estimated_tokens(characters: int) -> int:
    """A token per 4 characters of English text or code: OpenAI's rule of thumb."""
    return -(-characters // 4)


def characters(messages: Iterable[dict[str, Any]]) -> int:
    """The length of everything that is said in messages of the wire."""
    return sum(
        len(message.get("content") or "")
        + sum(len(call["function"]["name"] + call["function"]["arguments"]) for call in message.get("tool_calls", ()))
        for message in messages
    )


def _without_system(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The conversation with its instructions at the end of the first user message, which still opens with headers."""
    system, *rest = messages
    if not rest:
        return [{**system, "role": "user"}]
    first = {**rest[0], "content": f"{rest[0]['content']}\n\n# Your instructions\n\n{system['content']}"}
    return [first, *rest[1:]]


def _message(message: Message) -> dict[str, Any]:
    fields: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        fields["content"] = message.content or None
        fields["tool_calls"] = [_call(call) for call in message.tool_calls]
    if message.role == "tool":
        fields["tool_call_id"] = message.tool_call_id
    return fields


def _call(call: ToolCall) -> dict[str, Any]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": _object(call.arguments)}}


def _object(arguments: str) -> str:
    """Arguments that every endpoint can read: several parse what is replayed to them and fail on malformed JSON."""
    try:
        if isinstance(loaded(arguments), dict):
            return arguments
    except ValueError:
        pass
    return json.dumps({"malformed": arguments[:2000]})
