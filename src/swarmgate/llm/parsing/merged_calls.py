"""Combines native tool calls, calls in the text, and words of an answer into one reply. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Literal

from swarmgate.domain.text.json_text import loaded
from swarmgate.llm.model import ModelReply, ModelRequest, ToolCall, ToolSpec
from swarmgate.llm.parsing import json_schema_tools
from swarmgate.llm.parsing.call_shapes import mended, own_name
from swarmgate.llm.parsing.text_calls import Reading, read, read_plain
from swarmgate.llm.parsing.thinking import without_thinking

Asked = Literal["native", "text", "schema"]
"""How calls were asked for: natively, as JSON in text, or in an answer that is held to a schema."""

_BOTH = "it makes calls, and others stand in its text: which of them are meant cannot be told"


def answered(request: ModelRequest, text: str, native: tuple[ToolCall, ...], *, asked: Asked) -> ModelReply:
    """Builds the reply for an answer. Usage, model and reason are left to the caller.

    Calls are native ones, whether they were asked for or not, else those that the text spells, whether native ones were
    asked for or not. Thinking is cut out of all of it before.

    Args:
        request: what was asked.
        text: what the endpoint gave as content.
        native: the calls that it gave as such.
        asked: how calls were to be made. In their own text models also name what is not on offer; where native calls
            were asked for, text that does so is text.
    """
    if not request.tools:
        return _reply(read_plain(text), native)
    prefix = f"text_{len(request.messages)}"
    if native:
        return _native(request, text, native)
    if asked == "schema" and (form := json_schema_tools.unwrapped(read_plain(text).text)):
        # In a schema, text and calls have their own places: what is quoted stands in the text.
        reading = read(form[1], request.tools, prefix=prefix)
        words = read_plain(form[0])
        thought = read_plain(text).thought or words.thought
        return _reply(reading._replace(text=words.text, thought=thought), reading.calls)
    reading = read(text, request.tools, prefix=prefix, data=_visible_texts(request))
    if asked == "native" and reading.calls:
        names = {tool.name for tool in request.tools}
        if not all(call.name in names for call in reading.calls):
            return _reply(read_plain(text), ())
        repair = f"{' and '.join(dict.fromkeys(call.name for call in reading.calls))}: called in text"
        reading = reading._replace(repaired=(repair, *reading.repaired))
    return _reply(reading, reading.calls)


def _native(request: ModelRequest, text: str, native: tuple[ToolCall, ...]) -> ModelReply:
    """Native calls, their arguments mended where that is clear; they hold where the text calls for nothing else."""
    specs = {tool.name: tool for tool in request.tools}
    repaired: list[str] = []
    calls = tuple(_mended(call, specs, repaired) for call in native)
    reading = read(text, request.tools, data=_visible_texts(request))
    made = {_meaning(call) for call in calls}
    others = [call for call in reading.calls if call.name in specs and _meaning(call) not in made]
    answers = any((spec := specs.get(call.name)) and spec.answers for call in (*calls, *others))
    doubt = _BOTH if others and answers else ""
    words = read_plain(text) if others else reading
    return _reply(Reading(words.text, thought=words.thought, repaired=tuple(repaired), doubt=doubt), calls)


def _mended(call: ToolCall, specs: dict[str, ToolSpec], repaired: list[str]) -> ToolCall:
    """A native call, its name without a name space, its arguments without thinking, fences and liberties."""
    name = call.name if call.name in specs else own_name(call.name)
    name = name if name in specs else call.name
    arguments, how = mended(without_thinking(call.arguments), specs.get(name))
    how = (*(("its name",) if name != call.name else ()), *how)
    how = (*how, "thinking before its arguments") if without_thinking(call.arguments) != call.arguments else how
    if not how:
        return call
    repaired.append(f"{name}: {', '.join(how)}")
    return call.model_copy(update={"name": name, "arguments": arguments})


def _meaning(call: ToolCall) -> tuple[str, Any]:
    try:
        return call.name, json.dumps(loaded(call.arguments, strict=False), sort_keys=True)
    except ValueError:
        return call.name, call.arguments


def _visible_texts(request: ModelRequest) -> Iterable[str]:
    return [message.content for message in request.messages if message.role in ("user", "tool")]


def _reply(reading: Reading, calls: tuple[ToolCall, ...]) -> ModelReply:
    return ModelReply(
        text=reading.text,
        tool_calls=calls,
        thought=reading.thought,
        after=reading.after,
        repaired=reading.repaired,
        doubt=reading.doubt,
    )
