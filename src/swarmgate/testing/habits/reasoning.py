"""Endpoint quirks: reasoning in the text or in extra fields, and what of it must be sent back.

What is thought always spells a call that must not be carried out: whoever reads calls out of thinking is found out.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

from swarmgate.testing.exchange import Exchange, Response, answered, refused
from swarmgate.testing.habits.habit import Habit, message_of, with_calls, with_message

THOUGHT = 'Tempting: {"tool": "finish", "arguments": {"summary": "only thought of"}} But no, I look first.'

_VLLM = "https://github.com/vllm-project/vllm/blob/main/vllm/reasoning"


def _around(opening: str, closing: str) -> Callable[[dict[str, Any], Exchange], dict[str, Any]]:
    """The thought in front of the text, between two marks."""

    def changed(whole: dict[str, Any], _exchange: Exchange) -> dict[str, Any]:
        message = message_of(whole)
        text = f"{opening}{THOUGHT}{closing}{message.get('content') or ''}"
        return with_message(whole, {**message, "content": text})

    return changed


def _unclosed(whole: dict[str, Any], exchange: Exchange) -> dict[str, Any]:
    if exchange.number > 1:
        return whole
    return with_message(whole, {"role": "assistant", "content": f"<think>\n{THOUGHT}"}, finish="length")


def _in_field(name: str) -> Callable[[dict[str, Any], Exchange], dict[str, Any]]:
    def changed(whole: dict[str, Any], _exchange: Exchange) -> dict[str, Any]:
        return with_message(whole, {"role": "assistant", name: THOUGHT, **message_of(whole)})

    return changed


def _in_parts(whole: dict[str, Any], _exchange: Exchange) -> dict[str, Any]:
    message = message_of(whole)
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": THOUGHT}]}
    parts = [{"type": "text", "text": message["content"]}] if message.get("content") else []
    return with_message(whole, {**message, "content": [thinking, *parts]})


def _must_return(exchange: Exchange) -> Response | None:
    lacking = [each for each in exchange.spoken if each.get("tool_calls") and each.get("reasoning_content") != THOUGHT]
    if not lacking:
        return None
    return refused(
        400,
        "The `reasoning_content` in the thinking mode must be passed back to the API.",
        code="invalid_request_error",
    )


def _must_not_return(exchange: Exchange) -> Response | None:
    for number, each in enumerate(exchange.messages):
        if "reasoning_content" in each:
            name = f"messages.{number}.assistant.reasoning_content"
            error = {"message": f"{name}: property '{name}' is unsupported", "type": "invalid_request_error"}
            return answered({**error, "param": "validation_error", "code": "wrong_api_format"}, status=400)
    return None


def _details(exchange: Exchange) -> list[dict[str, Any]]:
    data = base64.b64encode(f"thought {len(exchange.spoken)}".encode()).decode()
    return [{"type": "reasoning.encrypted", "data": data, "format": "google-gemini-v1", "index": 0}]


def _with_details(whole: dict[str, Any], exchange: Exchange) -> dict[str, Any]:
    message = {"role": "assistant", "reasoning": THOUGHT, "reasoning_details": _details(exchange)}
    return with_message(whole, {**message, **message_of(whole)})


def _details_must_return(exchange: Exchange) -> Response | None:
    for number, each in enumerate(exchange.spoken):
        wanted = [base64.b64encode(f"thought {number}".encode()).decode()]
        if each.get("tool_calls") and [part.get("data") for part in each.get("reasoning_details") or ()] != wanted:
            return refused(400, "Provider returned error: Corrupted thought signature.", code=400)
    return None


def _signature(turn: int, number: int) -> str:
    return base64.b64encode(f"signature {turn} {number}".encode()).decode()


def _signed(whole: dict[str, Any], exchange: Exchange) -> dict[str, Any]:
    """The first call of an answer is signed, as Gemini does it."""

    def change(call: dict[str, Any], number: int) -> dict[str, Any]:
        extra = {"google": {"thought_signature": _signature(len(exchange.spoken), number)}}
        return {**call, "extra_content": extra} if number == 0 else call

    return with_calls(whole, change)


def _must_be_signed(exchange: Exchange) -> Response | None:
    for turn, message in enumerate(exchange.spoken):
        for call in (message.get("tool_calls") or ())[:1]:
            extra = call.get("extra_content") or {}
            if (extra.get("google") or {}).get("thought_signature") != _signature(turn, 0):
                name = call.get("function", {}).get("name")
                text = (
                    "Function call is missing a thought_signature in functionCall parts. This is required for tools to "
                    "work correctly, and missing thought_signature may lead to degraded model performance. Additional "
                    f"data, function call `default_api:{name}`, position {turn + 2}."
                )
                return answered([{"error": {"code": 400, "message": text, "status": "INVALID_ARGUMENT"}}], status=400)
    return None


def _channels(whole: dict[str, Any], _exchange: Exchange) -> dict[str, Any]:
    message = message_of(whole)
    text = f"<|channel|>analysis<|message|>{THOUGHT}<|end|>"
    if message.get("content"):
        text += f"<|start|>assistant<|channel|>final<|message|>{message['content']}<|return|>"
    return with_message(whole, {**message, "content": text})


def _bare_channels(whole: dict[str, Any], _exchange: Exchange) -> dict[str, Any]:
    message = message_of(whole)
    return with_message(whole, {**message, "content": f"analysis{THOUGHT}assistantfinal{message.get('content') or ''}"})


def _think(name: str, opening: str, closing: str, about: str, source: str) -> Habit:
    return Habit(name=name, about=about, source=source, group="reasoning", complete=_around(opening, closing))


HABITS = (
    _think(
        "think-tags",
        "<think>\n",
        "\n</think>\n\n",
        "The text begins with `<think>...</think>`.",
        "vLLM 0.15.1, MiniMax M2.5: https://github.com/vllm-project/vllm/issues/34625",
    ),
    _think(
        "think-closing-only",
        "",
        "\n</think>\n\n",
        "`</think>` comes without its opening tag, which stands in the prompt.",
        "vLLM, Qwen3-235B-A22B-Thinking: https://github.com/vllm-project/vllm/issues/31045",
    ),
    Habit(
        name="think-unclosed",
        about="The first answer is cut off inside of `<think>`.",
        source=f"Qwen3, as vLLM's parser has to take it: {_VLLM}/qwen3_reasoning_parser.py",
        group="reasoning",
        complete=_unclosed,
    ),
    _think(
        "think-thought-tags",
        "<thought>\n",
        "\n</thought>\n",
        "The text begins with `<thought>...</thought>`.",
        "Gemini's OpenAI endpoint with include_thoughts: https://ai.google.dev/gemini-api/docs/openai",
    ),
    _think(
        "think-thinking-tags",
        "<thinking>\n",
        "\n</thinking>\n",
        "The text begins with `<thinking>...</thinking>`.",
        "Anthropic, prompting for chain of thought: "
        "https://docs.anthropic.com/en/docs/build-with-claude/prompt-engineering/chain-of-thought",
    ),
    _think(
        "think-square-brackets",
        "[THINK]",
        "[/THINK]",
        "The text begins with `[THINK]...[/THINK]`.",
        f"Magistral without its parser, vLLM: {_VLLM}/mistral_reasoning_parser.py",
    ),
    _think(
        "think-seed-tags",
        "<seed:think>",
        "</seed:think>",
        "The text begins with `<seed:think>...</seed:think>`.",
        f"Seed-OSS without its parser, vLLM: {_VLLM}/seedoss_reasoning_parser.py",
    ),
    _think(
        "think-cohere-marks",
        "<|START_THINKING|>",
        "<|END_THINKING|>",
        "The text begins with `<|START_THINKING|>...<|END_THINKING|>`.",
        f"Command A Reasoning without its parser, vLLM: {_VLLM}/cohere_command_reasoning_parser.py",
    ),
    Habit(
        name="reasoning-content-field",
        about="Reasoning comes in the field `reasoning_content`, streamed before the text.",
        source="DeepSeek, vLLM, llama.cpp: https://api-docs.deepseek.com/guides/thinking_mode",
        group="reasoning",
        complete=_in_field("reasoning_content"),
    ),
    Habit(
        name="reasoning-field",
        about="Reasoning comes in the field `reasoning`.",
        source="OpenRouter: https://github.com/Aider-AI/aider/issues/3086; "
        "Ollama Cloud: https://github.com/leookun/cursor-byok/pull/363",
        group="reasoning",
        complete=_in_field("reasoning"),
    ),
    Habit(
        name="thinking-in-parts",
        about="The content is a list: a part of type `thinking`, then the text.",
        source="Mistral, reasoning models: https://github.com/microsoft/agent-framework/issues/6978",
        group="reasoning",
        complete=_in_parts,
    ),
    Habit(
        name="deepseek-reasoning-must-return",
        about="`reasoning_content` of a message with calls has to be sent back, else 400.",
        source="DeepSeek V4: https://github.com/earendil-works/pi/issues/3636",
        group="reasoning",
        complete=_in_field("reasoning_content"),
        refuse=_must_return,
    ),
    Habit(
        name="reasoning-must-not-return",
        about="Reasoning comes in `reasoning_content`, and 400 comes when that is sent back.",
        source="Cerebras: https://github.com/anomalyco/opencode/issues/33413; "
        "Groq: https://github.com/SimonSchubert/Kai/issues/265",
        group="reasoning",
        complete=_in_field("reasoning_content"),
        refuse=_must_not_return,
    ),
    Habit(
        name="openrouter-reasoning-details-must-return",
        about="The encrypted `reasoning_details` of a message with calls have to be sent back as they came, else 400.",
        source="OpenRouter, Gemini models: https://github.com/agentjido/req_llm/pull/300",
        group="reasoning",
        complete=_with_details,
        refuse=_details_must_return,
    ),
    Habit(
        name="gemini-signature-must-return",
        about="`extra_content.google.thought_signature` of the first call has to be sent back, else 400.",
        source="Gemini's OpenAI endpoint: https://github.com/securo-finance/securo/issues/884",
        group="reasoning",
        complete=_signed,
        refuse=_must_be_signed,
    ),
    Habit(
        name="harmony-channels",
        about="The channels of gpt-oss stand in the text with their marks, the analysis too.",
        source="TensorRT-LLM, gpt-oss-120b: https://github.com/NVIDIA/TensorRT-LLM/issues/9256",
        group="reasoning",
        complete=_channels,
    ),
    Habit(
        name="harmony-channels-bare",
        about="The marks of the channels are cut, their names and the analysis stay: `analysis...assistantfinal...`.",
        source="macprovider, gpt-oss-20b: https://github.com/Augustas11/macprovider/issues/743",
        group="reasoning",
        complete=_bare_channels,
    ),
)
