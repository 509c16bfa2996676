"""Converts a request to the `chat/completions` format, in the dialect that an endpoint accepts."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Self

from swarmgate.domain.base import Frozen
from swarmgate.domain.capabilities import Capabilities
from swarmgate.domain.text.json_text import loaded
from swarmgate.llm.endpoint.opaque_fields import MESSAGE, extra_fields, of_call
from swarmgate.llm.endpoint.opaque_fields import loaded as loaded_opaque
from swarmgate.llm.endpoint.schema_keywords import plain
from swarmgate.llm.model import Message, ModelRequest, ToolCall, ToolSpec
from swarmgate.llm.parsing import json_schema_tools
from swarmgate.llm.parsing.json_tools import as_text

_HEADERS = re.compile(r"(?:[A-Z_]+: .*\n)+\n")
"""The lines that a brief opens with, and the blank one after them."""

_NO_TEXT = "(no text)"
"""What stands where an endpoint takes no empty text."""


_ASKED_FOR = ("tools", "stream", "system", "response_format")
"""Features that a probe asks for; each has a finding of its own."""


class Dialect(Frozen):
    """The form of the wire that a model takes: everything but what is left out, and what was found to work beside that.

    Features by name: `refusals`. Without `max_tokens` it is the newer `max_completion_tokens`, without `system` the
    system message is part of the first user message. `held`: without tools, calls in text are held to a schema.
    `longest`: the most tokens of an answer that may be asked for.
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
        found = {each for each in (*_ASKED_FOR, *known.left_out) if known.lacks(each)}
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


def body(
    request: ModelRequest, dialect: Dialect, *, name: str, temperature: float | None, max_tokens: int | None
) -> dict[str, Any]:
    """The JSON body of a call to the model `provider/model`."""
    native = dialect.tools
    messages = request.messages if native else as_text(request.messages, request.tools)
    fields: dict[str, Any] = {
        "model": name.partition("/")[2],
        "messages": [_message(each, dialect, name) for each in messages],
    }
    if dialect.held and dialect.takes("response_format") and not native and request.tools:
        fields["messages"][0]["content"] += json_schema_tools.HOW
        fields["response_format"] = json_schema_tools.response_format(request.tools)
    if not dialect.takes("system"):
        fields["messages"] = _without_system(fields["messages"])
    if not dialect.takes("neighbours"):
        fields["messages"] = _taking_turns(fields["messages"])
    if native and request.tools:
        fields["tools"] = [_tool(tool, dialect) for tool in request.tools]
    return fields | options(dialect, temperature=temperature, max_tokens=max_tokens)


def options(dialect: Dialect, *, temperature: float | None, max_tokens: int | None) -> dict[str, Any]:
    """What of a request is neither said nor offered."""
    fields: dict[str, Any] = {}
    if temperature is not None and dialect.takes("temperature"):
        fields["temperature"] = temperature
    limit = next((each for each in ("max_tokens", "max_completion_tokens") if dialect.takes(each)), "")
    if max_tokens is not None and limit:
        fields[limit] = min(max_tokens, dialect.longest or max_tokens)
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
    return sum(map(_characters, messages))


def _characters(message: dict[str, Any]) -> int:
    characters = len(message.get("content") or "") + _length(extra_fields(message, MESSAGE))
    for call in message.get("tool_calls") or ():
        function = call["function"]
        characters += len(function["name"] + function["arguments"]) + _length(of_call(call, function))
    return characters


def _length(fields: dict[str, Any]) -> int:
    return len(json.dumps(fields, ensure_ascii=False)) if fields else 0


def _without_system(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The conversation with its instructions at the head of the first user message, after the header lines."""
    system, *rest = messages
    if not rest:
        return [{**system, "role": "user"}]
    text = str(rest[0]["content"])
    headers = found[0] if (found := _HEADERS.match(text)) else ""
    parts = (headers.strip(), system["content"], text[len(headers) :])
    return [{**rest[0], "content": "\n\n".join(filter(None, parts))}, *rest[1:]]


def _taking_turns(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The conversation with neighbouring messages of the user, or of the model, as one."""
    turns: list[dict[str, Any]] = []
    for message in messages:
        last = turns[-1] if turns else {"role": ""}
        if message["role"] in ("user", "assistant") and message["role"] == last["role"]:
            text = "\n\n".join(filter(None, (last["content"], message["content"])))
            calls = [*last.get("tool_calls", ()), *message.get("tool_calls", ())]
            turns[-1] = {**last, **message, "content": text, **({"tool_calls": calls} if calls else {})}
        else:
            turns.append(message)
    return turns


def _tool(tool: ToolSpec, dialect: Dialect) -> dict[str, Any]:
    spec = tool.model_dump(exclude={"answers"})
    if not dialect.takes("schema_keywords"):
        spec["parameters"] = plain(spec["parameters"])
    return {"type": "function", "function": spec}


def _message(message: Message, dialect: Dialect, name: str) -> dict[str, Any]:
    own = message.by in ("", name)
    fields: dict[str, Any] = _opaque(message.opaque, dialect, "message") if own else {}
    fields |= {"role": message.role, "content": _content(message, dialect)}
    if message.tool_calls:
        fields["tool_calls"] = [_call(call, dialect, own=own) for call in message.tool_calls]
    if message.role == "tool":
        fields["tool_call_id"] = _id(message.tool_call_id, dialect)
    return fields


def _content(message: Message, dialect: Dialect) -> str | None:
    if message.content.strip() or (message.content and dialect.takes("empty_content")):
        return message.content
    if message.tool_calls and dialect.takes("null_content"):
        return None
    return "" if dialect.takes("empty_content") else _NO_TEXT


def _call(call: ToolCall, dialect: Dialect, *, own: bool) -> dict[str, Any]:
    fields = _opaque(call.opaque, dialect, "call") if own else {}
    inner = fields.pop("function", None)
    extra = _taken(inner, dialect, "function") if isinstance(inner, dict) else {}
    function = {**extra, "name": call.name, "arguments": _object(call.arguments)}
    return {**fields, "id": _id(call.id, dialect), "type": "function", "function": function}


def _id(call_id: str, dialect: Dialect) -> str:
    """The id of a call; Mistral takes nine letters and digits and nothing else, OpenAI 40 characters."""
    if dialect.takes("call_ids"):
        return call_id
    return hashlib.sha256(call_id.encode()).hexdigest()[:9]


def _opaque(text: str, dialect: Dialect, place: str) -> dict[str, Any]:
    return _taken(loaded_opaque(text), dialect, place) if text else {}


def _taken(fields: dict[str, Any], dialect: Dialect, place: str) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if dialect.takes(f"{place}.{key}")}


def _object(arguments: str) -> str:
    """Arguments that every endpoint can read: several parse what is replayed to them and fail on malformed JSON."""
    try:
        if isinstance(loaded(arguments), dict):
            return arguments
    except ValueError:
        pass
    return json.dumps({"malformed": arguments[:2000]})
