"""Endpoint quirks: refused requests, for a field, role or form that OpenAI's own endpoint accepts."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from swarmgate.testing.exchange import Exchange, Response, answered, refused
from swarmgate.testing.habits.habit import Habit

Asked = Callable[[Exchange], Any]


def _when(asked: Asked, response: Response) -> Callable[[Exchange], Response | None]:
    return lambda exchange: response if asked(exchange) else None


def _has(field: str) -> Asked:
    return lambda exchange: field in exchange.body


def _flat(message: str, *, status: int = 400) -> Response:
    """VLLM's form of an error before 0.10, without the key `error`."""
    error = {"object": "error", "message": message, "type": "BadRequestError", "param": None, "code": status}
    return answered(error, status=status)


def _listed(message: str) -> Response:
    """Google's form of an error: in a list."""
    return answered([{"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}], status=400)


def _system(exchange: Exchange) -> bool:
    return any(each.get("role") == "system" for each in exchange.messages)


def _null_content(exchange: Exchange) -> bool:
    return any(each.get("content") is None for each in exchange.messages)


def _empty_content(exchange: Exchange) -> bool:
    return any(each.get("content") == "" for each in exchange.messages)


def _no_turns(exchange: Exchange) -> bool:
    """Whether user and assistant do not take turns, results of tools aside."""
    roles = [
        str(each.get("role"))
        for each in exchange.messages
        if each.get("role") in {"user", "assistant"} and not each.get("tool_calls")
    ]
    return any(before == after == "user" for before, after in pairwise(roles))


def _closed_schema(exchange: Exchange) -> bool:
    return '"additionalProperties"' in json.dumps(exchange.body.get("tools") or [])


def _temperature(exchange: Exchange) -> bool:
    return bool(exchange.body.get("temperature", 1) != 1)


def _habit(name: str, about: str, source: str, asked: Asked, response: Response) -> Habit:
    return Habit(name=name, about=about, source=source, group="refusals", refuse=_when(asked, response))


def _unsupported(field: str, message: str) -> Response:
    return refused(400, message, param=field, code="unsupported_parameter")


HABITS = (
    _habit(
        "temperature-refused",
        "Any `temperature` but 1 is refused.",
        "OpenAI, gpt-5-mini: https://github.com/QwenLM/qwen-code/issues/921",
        _temperature,
        refused(
            400,
            "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is "
            "supported.",
            param="temperature",
            code="unsupported_value",
        ),
    ),
    _habit(
        "system-refused-template",
        "System messages are refused by the model's chat template.",
        "vLLM, Gemma: https://github.com/vllm-project/vllm/pull/2964",
        _system,
        _flat("System role not supported"),
    ),
    _habit(
        "system-refused-developer",
        "System messages are refused as instructions of a developer.",
        "Gemini, image models: https://github.com/QuantumNous/new-api/issues/989",
        _system,
        refused(400, "Developer instruction is not enabled for models/gemini-2.0-flash-exp", code=400),
    ),
    _habit(
        "system-refused-value",
        "System messages are refused as a value of `messages[0].role`.",
        "OpenAI, o1-mini: https://github.com/tailcallhq/forgecode/issues/1177",
        _system,
        refused(
            400,
            "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
            param="messages[0].role",
            code="unsupported_value",
        ),
    ),
    _habit(
        "stream-options-refused",
        "`stream_options` is refused as an extra input.",
        "Azure AI: https://github.com/microsoft/semantic-kernel/issues/10510",
        _has("stream_options"),
        refused(400, "Validation error at #/stream_options: Extra inputs are not permitted"),
    ),
    _habit(
        "stream-options-refused-detail",
        "The same, told in `detail`, not in `error`.",
        "Azure AI: https://github.com/CherryHQ/cherry-studio/issues/9214",
        _has("stream_options"),
        answered(
            {
                "detail": "Extra parameters ['stream_options'] are not allowed when extra-parameters is not set or set "
                "to be 'error'. Set extra-parameters to 'pass-through' to pass to the model."
            },
            status=400,
        ),
    ),
    _habit(
        "stream-refused",
        "Streams are refused.",
        "Switchboard: https://github.com/sankalp-happy/switchboard/pull/30",
        lambda exchange: exchange.streams,
        _unsupported("stream", "Streaming is not supported by this endpoint."),
    ),
    _habit(
        "parallel-tool-calls-refused",
        "`parallel_tool_calls` is refused.",
        "OpenAI, o4-mini: https://github.com/evalstate/fast-agent/issues/279",
        _has("parallel_tool_calls"),
        _unsupported(
            "parallel_tool_calls", "Unsupported parameter: 'parallel_tool_calls' is not supported with this model."
        ),
    ),
    _habit(
        "tool-choice-refused",
        "Any `tool_choice` but `auto` is refused while the model thinks.",
        "DashScope, qwen3.5-plus: https://github.com/cloudwego/eino/issues/994",
        lambda exchange: exchange.body.get("tool_choice", "auto") not in {"auto", "none"},
        refused(
            400,
            "<400> InternalError.Algo.InvalidParameter: The tool_choice parameter does not support being set to "
            "required or object in thinking mode",
            code="invalid_parameter_error",
        ),
    ),
    _habit(
        "response-format-refused",
        "`response_format` with a schema is refused.",
        "DeepSeek, JSON output: https://api-docs.deepseek.com/guides/json_mode",
        _has("response_format"),
        refused(400, "This response_format type is unavailable now", code="invalid_request_error"),
    ),
    _habit(
        "max-tokens-refused",
        "`max_tokens` is refused, `max_completion_tokens` taken.",
        "OpenAI, gpt-5.1 on Azure: https://github.com/anomalyco/opencode/issues/37964",
        _has("max_tokens"),
        _unsupported(
            "max_tokens",
            "Unsupported parameter: 'max_tokens' is not supported with this model. "
            "Use 'max_completion_tokens' instead.",
        ),
    ),
    _habit(
        "tools-refused-model",
        "Tools are refused, the model is named.",
        "Ollama: https://github.com/cline/cline/issues/460",
        lambda exchange: exchange.offers_tools,
        refused(400, "registry.ollama.ai/library/codellama:latest does not support tools", type="api_error"),
    ),
    _habit(
        "tools-refused-flag",
        "Tools are refused with status 500: a flag of the server is missing.",
        "llama.cpp: https://github.com/defilantech/LLMKube/issues/126",
        lambda exchange: exchange.offers_tools,
        refused(500, "tools param requires --jinja flag", type="server_error", code=500),
    ),
    _habit(
        "tools-refused-parameter",
        "Tools are refused with status 500, as a parameter.",
        "llama.cpp b4369: https://github.com/ggml-org/llama.cpp/issues/10920",
        lambda exchange: exchange.offers_tools,
        answered({"code": 500, "message": "Unsupported param: tools", "type": "server_error"}, status=500),
    ),
    _habit(
        "tools-refused-parser",
        "Tools are refused: the server was started without a parser of calls.",
        "vLLM, tool calling: https://docs.vllm.ai/en/latest/features/tool_calling.html",
        lambda exchange: exchange.offers_tools,
        _flat('"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
    ),
    _habit(
        "tools-refused-routing",
        "Tools are refused with status 404: no company that serves the model takes them.",
        "OpenRouter, tool calling: https://openrouter.ai/docs/features/tool-calling",
        lambda exchange: exchange.offers_tools,
        refused(404, 'No endpoints found that support tool use. Try disabling "read_file".', code=404),
    ),
    _habit(
        "content-null-refused",
        "A message whose `content` is null is refused.",
        "LM Studio: https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/261; "
        "Ollama: https://github.com/SAIL-Research-Lab/cheetahclaws/pull/72",
        _null_content,
        refused(400, "invalid message content type: <nil>"),
    ),
    _habit(
        "content-empty-refused",
        "A message whose `content` is empty is refused.",
        "Gateways to AWS Bedrock: https://github.com/vercel/ai/pull/13538",
        _empty_content,
        refused(400, "ValidationException: messages: text content blocks must be non-empty"),
    ),
    _habit(
        "roles-must-alternate",
        "Two messages of the user in a row are refused.",
        "vLLM 0.5.3, Mistral 7B: https://github.com/vllm-project/vllm/issues/6862",
        _no_turns,
        _flat("After the optional system message, conversation roles must alternate user/assistant/user/assistant/..."),
    ),
    _habit(
        "schema-keyword-refused",
        "Schemas of tools with `additionalProperties` are refused.",
        "Gemini: https://github.com/zouwei/moraya/issues/47",
        _closed_schema,
        _listed(
            'Invalid JSON payload received. Unknown name "additionalProperties" at '
            "'tools[0].function_declarations[0].parameters': Cannot find field."
        ),
    ),
)
