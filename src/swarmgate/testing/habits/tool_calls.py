"""Endpoint quirks: tool calls with unusual ids, indexes, names and arguments."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from swarmgate.testing.exchange import Exchange, Response, refused
from swarmgate.testing.habits.habit import (
    Chunks,
    Habit,
    message_of,
    with_call_deltas,
    with_calls,
    with_message,
)

Complete = Callable[[dict[str, Any], Exchange], dict[str, Any]]

_NINE = 9
"""Characters of an id at Mistral."""


def _calls(change: Callable[[dict[str, Any], int, Exchange], dict[str, Any]]) -> Complete:
    def changed(whole: dict[str, Any], exchange: Exchange) -> dict[str, Any]:
        return with_calls(whole, lambda call, number: change(call, number, exchange))

    return changed


def _deltas(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[Chunks, Exchange], Chunks]:
    return lambda found, _exchange: with_call_deltas(found, change)


def _without(*keys: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda call: {key: value for key, value in call.items() if key not in keys}


def _arguments(change: Callable[[str], Any]) -> Complete:
    def changed(call: dict[str, Any], _number: int, _exchange: Exchange) -> dict[str, Any]:
        function = call["function"]
        return {**call, "function": {**function, "arguments": change(str(function["arguments"]))}}

    return _calls(changed)


def _loaded(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


def _none_as(value: Any) -> Complete:
    """Another spelling of no arguments at all."""
    return _arguments(lambda arguments: value if _loaded(arguments) == {} else arguments)


def _names(*, prefix: str = "", suffix: str = "") -> Complete:
    """Names with something in front, and the first with something behind it."""

    def changed(call: dict[str, Any], number: int, _exchange: Exchange) -> dict[str, Any]:
        name = f"{prefix}{call['function']['name']}{'' if number else suffix}"
        return {**call, "function": {**call["function"], "name": name}}

    return _calls(changed)


def _name_always(found: Chunks, _exchange: Exchange) -> Chunks:
    """The name and the id of a call with each of its deltas."""
    heads: dict[int, dict[str, Any]] = {}

    def change(call: dict[str, Any]) -> dict[str, Any]:
        head = heads.setdefault(call["index"], call)
        function = {"name": head["function"]["name"], **call["function"]}
        return {"id": head["id"], "type": "function", **call, "function": function}

    return with_call_deltas(found, change)


def _name_in_pieces(found: Chunks, _exchange: Exchange) -> Chunks:
    """The name of a call in two deltas."""
    pieces: Chunks = []
    for chunk in found:
        calls = [call for each in chunk["choices"] for call in each.get("delta", {}).get("tool_calls") or ()]
        name = calls[0].get("function", {}).get("name") if len(calls) == 1 else None
        if not name:
            pieces.append(chunk)
            continue
        half = len(name) // 2
        head = {**calls[0], "function": {**calls[0]["function"], "name": name[:half]}}
        tail = {"index": calls[0]["index"], "function": {"name": name[half:]}}
        for call in (head, tail):
            choice = {**chunk["choices"][0], "delta": {"tool_calls": [call]}}
            pieces.append({**chunk, "choices": [choice]})
    return pieces


def _empty_later(found: Chunks, _exchange: Exchange) -> Chunks:
    """Deltas after the first have id and name, and both are empty."""
    return with_call_deltas(
        found,
        lambda call: call if call.get("id") else {"id": "", **call, "function": {"name": "", **call["function"]}},
    )


def _at_once(found: Chunks, _exchange: Exchange) -> Chunks:
    """Whole calls, and the end, in one chunk."""
    whole: dict[int, dict[str, Any]] = {}
    rest: Chunks = []
    for chunk in found:
        calls = [call for each in chunk["choices"] for call in each.get("delta", {}).get("tool_calls") or ()]
        if not calls:
            rest.append(chunk)
        for call in calls:
            first = whole.setdefault(call["index"], {**call, "function": {**call["function"]}})
            if first["id"] != call.get("id"):
                first["function"]["arguments"] += call["function"]["arguments"]
    if not whole:
        return found
    end = next(at for at, chunk in enumerate(rest) if chunk["choices"] and chunk["choices"][0]["finish_reason"])
    choice = {**rest[end]["choices"][0], "delta": {"role": "assistant", "tool_calls": list(whole.values())}}
    rest[end] = {**rest[end], "choices": [choice]}
    return rest


def _nine(call: dict[str, Any], number: int, exchange: Exchange) -> dict[str, Any]:
    return {**call, "id": f"Abc{len(exchange.spoken):03d}{number:03d}"}


def _only_nine(exchange: Exchange) -> Response | None:
    for message in exchange.messages:
        ids = [call.get("id") for call in message.get("tool_calls") or ()]
        ids += [message["tool_call_id"]] if "tool_call_id" in message else []
        for each in ids:
            if not re.fullmatch(rf"[a-zA-Z0-9]{{{_NINE}}}", str(each)):
                text = f"Tool call id was {each} but must be a-z, A-Z, 0-9, with a length of {_NINE}."
                return refused(400, text, type="invalid_function_call", code="3280")
    return None


def _ids_needed(exchange: Exchange) -> Response | None:
    for message in exchange.spoken:
        if any(not call.get("id") or not call.get("type") for call in message.get("tool_calls") or ()):
            return refused(400, "tool_calls.id and tool_calls.type are required")
    return None


def _unique_ids_needed(exchange: Exchange) -> Response | None:
    ids = [call.get("id") for message in exchange.spoken for call in message.get("tool_calls") or ()]
    again = next((each for each in ids if ids.count(each) > 1), None)
    return None if again is None else refused(400, f"Duplicate value for 'tool_call_id' of {again} in message[2]")


def _all_answered(exchange: Exchange) -> Response | None:
    """OpenAI's own rule: after calls come their results, each of them, and nothing between."""
    messages = exchange.messages
    for at, message in enumerate(messages):
        ids = [call.get("id") for call in message.get("tool_calls") or ()]
        after = [each.get("tool_call_id") for each in messages[at + 1 : at + 1 + len(ids)] if each["role"] == "tool"]
        if sorted(map(str, ids)) != sorted(map(str, after)):
            text = (
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
                "'tool_call_id'. The following tool_call_ids did not have response messages: "
                f"{', '.join(map(str, ids))}"
            )
            return refused(400, text)
    return None


def _json_needed(exchange: Exchange) -> Response | None:
    for message in exchange.spoken:
        for call in message.get("tool_calls") or ():
            if not isinstance(_loaded(str(call["function"]["arguments"])), dict):
                text = 'The "function.arguments" parameter of the code model must be in JSON format.'
                return refused(400, f"<400> InternalError.Algo.InvalidParameter: {text}")
    return None


def _malformed_first(call: dict[str, Any], _number: int, exchange: Exchange) -> dict[str, Any]:
    if exchange.spoken:
        return call
    arguments = str(call["function"]["arguments"])
    return {**call, "function": {**call["function"], "arguments": arguments[:-1]}}


def _legacy(whole: dict[str, Any], _exchange: Exchange) -> dict[str, Any]:
    """The one call as OpenAI's API had it before `tools`."""
    message = message_of(whole)
    if not message.get("tool_calls"):
        return whole
    rest = {key: value for key, value in message.items() if key != "tool_calls"}
    call = message["tool_calls"][0]["function"]
    return with_message(whole, {**rest, "function_call": dict(call)}, finish="function_call")


def _failed_generation(exchange: Exchange) -> Response | None:
    if exchange.number > 1 or not exchange.offers_tools:
        return None
    return refused(
        400,
        "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
        code="tool_use_failed",
        failed_generation='<function=read_file>{"path": "a.py"</function>',
    )


def _habit(name: str, about: str, source: str, **stages: Any) -> Habit:
    return Habit(name=name, about=about, source=source, group="tool calls", **stages)


HABITS = (
    _habit(
        "call-ids-missing",
        "Calls have no id.",
        "NVIDIA NIM, kimi-k2.5: https://github.com/anomalyco/opencode/pull/25925",
        complete=_calls(lambda call, _number, _exchange: _without("id")(call)),
    ),
    _habit(
        "call-ids-empty",
        "Ids of calls are empty, and 400 comes when they come back like that.",
        "StepFun, step-router-v1: https://github.com/iOfficeAI/aionrs/pull/99",
        complete=_calls(lambda call, _number, _exchange: {**call, "id": ""}),
        refuse=_ids_needed,
    ),
    _habit(
        "call-ids-twice",
        "All calls of an answer have one id, and 400 comes when they come back like that.",
        "DeepSeek, Zhipu GLM: https://github.com/HKUDS/nanobot/pull/3943",
        complete=_calls(lambda call, _number, _exchange: {**call, "id": "call_0"}),
        refuse=_unique_ids_needed,
    ),
    _habit(
        "call-ids-of-nine",
        "Ids of calls have nine letters and digits, and 400 comes for any other.",
        "Mistral: https://github.com/anomalyco/opencode/issues/1680",
        complete=_calls(_nine),
        refuse=_only_nine,
    ),
    _habit(
        "call-index-always-0",
        "In a stream every call has the index 0.",
        "Ollama 0.20: https://github.com/ollama/ollama/issues/15457",
        chunk=_deltas(lambda call: {**call, "index": 0}),
    ),
    _habit(
        "call-index-missing",
        "In a stream calls come whole and have no index.",
        "Ollama before 0.4.7: https://github.com/ollama/ollama/issues/7881",
        chunk=lambda found, exchange: with_call_deltas(_at_once(found, exchange), _without("index")),
    ),
    _habit(
        "call-index-from-1",
        "In a stream the first call has the index 1.",
        "LiteLLM, Claude on Bedrock: https://github.com/BerriAI/litellm/issues/11407",
        chunk=_deltas(lambda call: {**call, "index": call["index"] + 1}),
    ),
    _habit(
        "call-arguments-object",
        "Arguments are a JSON object, not its text.",
        "llama.cpp: https://github.com/ggml-org/llama.cpp/issues/20198",
        complete=_arguments(_loaded),
    ),
    _habit(
        "call-arguments-empty",
        "No arguments are an empty text.",
        "OpenRouter, Claude: https://github.com/simonw/llm/pull/1164",
        complete=_none_as(""),
    ),
    _habit(
        "call-arguments-null",
        "No arguments are the text `null`.",
        "vLLM 0.20.1, GLM 5.1: https://github.com/vllm-project/vllm/issues/43851",
        complete=_none_as("null"),
    ),
    _habit(
        "call-arguments-none",
        "No arguments are JSON's null.",
        "vLLM: https://github.com/langchain-ai/langchain/pull/34242",
        complete=_none_as(None),
    ),
    _habit(
        "call-arguments-encoded-twice",
        "Arguments are the JSON text of their JSON text.",
        "vLLM, Granite 4: https://github.com/vllm-project/vllm/pull/54964",
        complete=_arguments(json.dumps),
    ),
    _habit(
        "call-arguments-must-be-json",
        "The first call is malformed JSON, and 400 comes when that is sent back.",
        "DashScope, Qwen: https://github.com/JetBrains/koog/pull/2096",
        complete=_calls(_malformed_first),
        refuse=_json_needed,
    ),
    _habit(
        "call-name-in-every-chunk",
        "The name of a call comes with each of its chunks.",
        "NVIDIA NIM, MiniMax M2.7: https://github.com/NousResearch/hermes-agent/issues/8259",
        chunk=_name_always,
    ),
    _habit(
        "call-name-in-pieces",
        "The name of a call comes in two pieces.",
        "Gemini: https://github.com/continuedev/continue/pull/5849",
        chunk=_name_in_pieces,
    ),
    _habit(
        "call-id-empty-later",
        "Chunks after the first of a call have an id and a name, both empty.",
        "OpenAI-compatible gateways: https://github.com/spring-projects/spring-ai/pull/6369",
        chunk=_empty_later,
    ),
    _habit(
        "calls-at-once",
        "Whole calls come in one chunk, together with the end of the answer.",
        "halogen-flash-server: https://github.com/peonist-ai/halogen-flash-server/issues/36",
        chunk=_at_once,
    ),
    _habit(
        "call-name-with-namespace",
        "Names of tools have the namespace of the prompt in front: `functions.NAME`.",
        "gpt-oss, harmony's recipients: https://developers.openai.com/cookbook/articles/openai-harmony",
        complete=_names(prefix="functions."),
    ),
    _habit(
        "call-name-with-channel",
        "The first name of a tool has a mark of gpt-oss's channels behind it.",
        "vLLM, gpt-oss: https://github.com/vllm-project/vllm/pull/32633",
        complete=_names(suffix="<|channel|>commentary"),
    ),
    _habit(
        "function-call-legacy",
        "A call comes in the deprecated field `function_call`, and ends the answer with `function_call`.",
        "OpenAI, API reference of chat completions: https://platform.openai.com/docs/api-reference/chat/object",
        complete=_legacy,
    ),
    _habit(
        "calls-must-be-answered",
        "400 comes where the results of calls do not follow them, each of them.",
        "OpenAI, function calling: https://platform.openai.com/docs/guides/function-calling",
        refuse=_all_answered,
    ),
    _habit(
        "call-generation-failed",
        "The first call of the model is malformed, and that is answered with 400 and `failed_generation`.",
        "Groq: https://github.com/groq/groq-typescript/issues/28",
        refuse=_failed_generation,
    ),
)
