"""Endpoint quirks: answers in unusual forms, such as content parts, filtered, empty or endlessly repeated ones."""

from __future__ import annotations

from typing import Any

from swarmgate.testing.exchange import Exchange
from swarmgate.testing.habits.habit import Chunks, Habit, message_of, with_message

_LINE = "Let me check the file again to be sure about it.\n"
_TIMES = 4_000
"""How often a line is said by a model that does not end: some 200,000 characters, more than most windows hold."""


def _in_parts(whole: dict[str, Any], _exchange: Exchange) -> dict[str, Any]:
    message = message_of(whole)
    text = message.get("content")
    if not text:
        return whole
    half = -(-len(text) // 2)
    parts = [{"type": "text", "text": piece} for piece in (text[:half], text[half:]) if piece]
    return with_message(whole, {**message, "content": parts})


def _empty_first(whole: dict[str, Any], exchange: Exchange) -> dict[str, Any]:
    if exchange.number > 1:
        return whole
    return with_message(whole, {"role": "assistant", "content": None}, finish="stop")


def _filtered(whole: dict[str, Any], _exchange: Exchange) -> dict[str, Any]:
    return with_message(whole, {"role": "assistant", "content": ""}, finish="content_filter")


def _declined(whole: dict[str, Any], _exchange: Exchange) -> dict[str, Any]:
    refusal = "I'm sorry, but I cannot assist with that request."
    return with_message(whole, {"role": "assistant", "content": None, "refusal": refusal}, finish="stop")


def _endless(whole: dict[str, Any], _exchange: Exchange) -> dict[str, Any]:
    return with_message(whole, {"role": "assistant", "content": _LINE * _TIMES}, finish="length")


def _cut_off(whole: dict[str, Any], _exchange: Exchange) -> dict[str, Any]:
    """In the middle of the last call, or of the text."""
    message = message_of(whole)
    calls = [dict(each) for each in message.get("tool_calls") or ()]
    if calls:
        arguments = str(calls[-1]["function"]["arguments"])
        calls[-1]["function"] = {**calls[-1]["function"], "arguments": arguments[: len(arguments) // 2]}
        return with_message(whole, {**message, "tool_calls": calls}, finish="length")
    text = str(message.get("content") or "")
    return with_message(whole, {**message, "content": text[: len(text) // 2]}, finish="length")


def _halves(whole: dict[str, Any], _exchange: Exchange) -> dict[str, Any]:
    message = message_of(whole)
    return with_message(whole, {**message, "content": f"{message.get('content') or ''}\ud83d"})


def _other_end(reason: str | None) -> Any:
    def changed(whole: dict[str, Any], _exchange: Exchange) -> dict[str, Any]:
        return with_message(whole, message_of(whole), finish=reason)

    return changed


def _stop_with_calls(whole: dict[str, Any], exchange: Exchange) -> dict[str, Any]:
    return with_message(whole, message_of(whole), finish="stop") if exchange.streams else whole


def _null_fields(whole: dict[str, Any], _exchange: Exchange) -> dict[str, Any]:
    empty = {"refusal": None, "annotations": None, "audio": None, "function_call": None, "reasoning_content": None}
    message = {**empty, "tool_calls": None, **message_of(whole)}
    return {**with_message(whole, message), "service_tier": None, "system_fingerprint": None, "prompt_logprobs": None}


def _null_deltas(found: Chunks, _exchange: Exchange) -> Chunks:
    """The same in a stream: every delta names every field."""
    empty = {"content": None, "tool_calls": None, "function_call": None, "refusal": None, "reasoning_content": None}
    return [
        {
            **chunk,
            "choices": [{**each, "delta": {**empty, **each["delta"]}, "logprobs": None} for each in chunk["choices"]],
        }
        for chunk in found
    ]


HABITS = (
    Habit(
        name="text-in-parts",
        about="The text is a list of several text parts.",
        source="Mistral, magistral-medium-latest: https://github.com/mistralai/client-python/issues/252",
        group="answers",
        complete=_in_parts,
    ),
    Habit(
        name="null-fields",
        about="Every field that has nothing to say is there as null, `tool_calls` too.",
        source="vLLM 0.10.0: https://github.com/vllm-project/vllm/issues/21718; "
        "llama.cpp: https://github.com/ggml-org/llama.cpp/issues/11847",
        group="answers",
        complete=_null_fields,
        chunk=_null_deltas,
    ),
    Habit(
        name="finish-reason-missing",
        about="The answer ends without any `finish_reason`.",
        source="Evolink, deepseek-v4-pro: https://github.com/openclaw/openclaw/pull/98575",
        group="answers",
        complete=_other_end(None),
    ),
    Habit(
        name="finish-reason-stop-with-calls",
        about="A streamed answer with tool calls ends with `stop`.",
        source="Gemini's OpenAI endpoint: https://github.com/googleapis/python-genai/issues/2868",
        group="answers",
        complete=_stop_with_calls,
    ),
    Habit(
        name="finish-reason-eos",
        about="`finish_reason` is `eos`.",
        source="Together AI, API reference of chat completions: https://docs.together.ai/reference/chat-completions",
        group="answers",
        complete=_other_end("eos"),
    ),
    Habit(
        name="empty-answer",
        about="The first answer has neither text nor calls, and ends with `stop`.",
        source="Gemini 2.5 flash-lite: https://github.com/BerriAI/litellm/pull/24462",
        group="answers",
        complete=_empty_first,
    ),
    Habit(
        name="content-filter",
        about="The answer is withheld: empty, `finish_reason` is `content_filter`.",
        source="Azure OpenAI, content filtering: https://github.com/langchain-ai/langchain/issues/18977",
        group="answers",
        complete=_filtered,
    ),
    Habit(
        name="refusal-field",
        about="The model declines, in the field `refusal`; `content` is null.",
        source="OpenAI, structured outputs: https://platform.openai.com/docs/guides/structured-outputs",
        group="answers",
        complete=_declined,
    ),
    Habit(
        name="repeats-without-end",
        about="The same line comes over and over, until the window is full.",
        source="Ollama, MLX runner: https://github.com/ollama/ollama/issues/16179",
        group="answers",
        complete=_endless,
    ),
    Habit(
        name="cut-off-by-length",
        about="The answer ends in the middle of its last call, with `length`.",
        source="Copilot API, max_tokens 8,000: https://github.com/github/copilot-cli/issues/4286",
        group="answers",
        complete=_cut_off,
    ),
    Habit(
        name="lone-surrogate",
        about="The text ends in half of a character, `\\ud83d`.",
        source="elizaOS: https://github.com/elizaOS/eliza/issues/30904",
        group="answers",
        complete=_halves,
    ),
)
