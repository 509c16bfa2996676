"""What a command line agent printed: its last words, what it used, and the call that its answer is meant as. Pure.

Known envelopes are unwrapped, by the field that holds the final answer: `claude -p --output-format json` (and the last
line of `stream-json`): `result`; `gemini --output-format json`: `response`; `codex exec --json`: the text of the last
`agent_message` item. Anything else is the answer as it stands.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from swarmgate.domain.base import Frozen
from swarmgate.domain.json_text import loaded, loaded_at
from swarmgate.domain.usage import Usage
from swarmgate.llm.model import ToolCall, ToolSpec
from swarmgate.llm.spelled import Reading, read

_TAIL = re.compile(r"[\s`]*")
_CANDIDATES = 500
"""How many `{` of an answer are tried, from its end: it is the last thing that is said."""


class Said(Frozen):
    """The final answer of a program. `usage` is None where the program reports none; `error` is its own complaint."""

    text: str
    usage: Usage | None = None
    error: str = ""


def said(stdout: str) -> Said:
    """The final answer in what a program printed."""
    final: Said | None = None
    usage: Usage | None = None
    for value in _objects(stdout):
        usage = _usage(value) or usage
        found = _answer(value)
        final = found if found is not None else final
    if final is None:
        return Said(text=stdout, usage=usage)
    return final.model_copy(update={"usage": usage})


def answer(text: str, tools: Sequence[ToolSpec], *, prefix: str) -> Reading:
    """What an answer says, and the calls that it ends with; no calls when its last words are none.

    Only what ends the answer counts: what a program quotes on the way, from a file of the repository perhaps, is no
    verdict. Where it calls for something else before, nobody chooses: all of it is the answer. Where one tool is on
    offer, JSON may be its arguments alone.
    """
    reading = read(text, tools, prefix=prefix)
    calls = list(reading.calls)
    if len(tools) == 1 and (bare := _arguments(reading.after if calls else reading.text, tools[0])):
        calls.append(ToolCall(id=f"{prefix}_{len(calls)}", name=tools[0].name, arguments=bare))
    elif reading.after:
        calls = []
    return reading._replace(calls=_distinct(calls))


def _arguments(text: str, tool: ToolSpec) -> str:
    """The arguments of a tool as the JSON that a text ends with; empty where it ends otherwise."""
    for opening in reversed(list(re.finditer(r"\{", text))[-_CANDIDATES:]):
        try:
            value, end, unclear = loaded_at(text, opening.start(), strict=False)
        except ValueError:
            continue
        if _TAIL.fullmatch(text, end) and _fits(value, tool):
            return text[opening.start() : end] if unclear else json.dumps(value)
    return ""


def _distinct(calls: Iterable[ToolCall]) -> tuple[ToolCall, ...]:
    """The calls, one that is given again word for word once: programs state their answer and sum it up."""
    return tuple({(call.name, call.arguments): call for call in calls}.values())


def _objects(stdout: str) -> Iterator[dict[str, Any]]:
    """The whole output as one JSON object, else each line that is one."""
    pieces = [stdout] if _loaded(stdout) else stdout.splitlines()
    for piece in pieces:
        if value := _loaded(piece):
            yield value


def _loaded(text: str) -> dict[str, Any] | None:
    if not text.lstrip().startswith("{"):
        return None
    try:
        value = loaded(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _answer(value: dict[str, Any]) -> Said | None:
    if value.get("type") == "result" and isinstance(value.get("result"), str):
        return Said(text=value["result"], error=value["result"] if value.get("is_error") else "")
    failure = value.get("error")
    if isinstance(failure, dict) and (value.get("type") == "turn.failed" or "stats" in value):
        return Said(text="", error=str(failure.get("message", failure)))
    if isinstance(value.get("response"), str) and "stats" in value:
        return Said(text=value["response"])
    item = value.get("item")
    if isinstance(item, dict) and item.get("type") == "agent_message" and isinstance(item.get("text"), str):
        return Said(text=item["text"])
    return None


def _usage(value: dict[str, Any]) -> Usage | None:
    """The tokens that an envelope reports, by the names of Anthropic's and OpenAI's; cost where it names one."""
    counts = value.get("usage")
    if not isinstance(counts, dict):
        return None
    cached = _number(counts, "cache_read_input_tokens", "cached_input_tokens")
    prompt = _number(counts, "input_tokens", "prompt_tokens")
    if "cache_read_input_tokens" in counts:  # Anthropic counts cached tokens beside the input, OpenAI as a part of it
        prompt += cached + _number(counts, "cache_creation_input_tokens")
    cost = value.get("total_cost_usd")
    return Usage(
        prompt_tokens=prompt,
        cached_tokens=cached,
        completion_tokens=_number(counts, "output_tokens", "completion_tokens"),
        usd=float(cost) if isinstance(cost, int | float) else None,
    )


def _number(counts: dict[str, Any], *names: str) -> int:
    return next((counts[name] for name in names if isinstance(counts.get(name), int)), 0)


def _fits(value: Any, tool: ToolSpec) -> bool:
    """Whether an object names every argument that the tool requires, and so may be meant as its arguments."""
    return isinstance(value, dict) and set(tool.parameters.get("required", ())) <= value.keys()
