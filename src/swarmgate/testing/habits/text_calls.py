"""Endpoint quirks: tool calls that arrive as text, in the model's own notation.

Only calls of requests that offer tools are spelled so: without tools on offer the scripted server has its own way.
"""

# ruff: noqa: RUF001 - the marks of DeepSeek hold other bars than ASCII's

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from swarmgate.testing.exchange import Exchange
from swarmgate.testing.habits.habit import Habit, message_of, with_message

Call = tuple[str, dict[str, Any]]
_PARSERS = "https://github.com/vllm-project/vllm/blob/main/vllm/entrypoints/openai/tool_parsers"


def _spelled(spell: Callable[[list[Call]], str]) -> Callable[[dict[str, Any], Exchange], dict[str, Any]]:
    """The calls of an answer as text behind what it says."""

    def changed(whole: dict[str, Any], _exchange: Exchange) -> dict[str, Any]:
        message = message_of(whole)
        if not message.get("tool_calls"):
            return whole
        calls = [
            (each["function"]["name"], json.loads(each["function"]["arguments"])) for each in message["tool_calls"]
        ]
        text = "\n\n".join(filter(None, (message.get("content"), spell(calls))))
        return with_message(whole, {"role": "assistant", "content": text}, finish="stop")

    return changed


def _each(spell: Callable[[str, dict[str, Any]], str], *, opening: str = "", closing: str = "") -> Any:
    def changed(calls: list[Call]) -> str:
        return opening + "\n".join(spell(name, arguments) for name, arguments in calls) + closing

    return _spelled(changed)


def _value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _qwen(name: str, arguments: dict[str, Any]) -> str:
    given = "".join(f"<parameter={key}>\n{_value(value)}\n</parameter>\n" for key, value in arguments.items())
    return f"<tool_call>\n<function={name}>\n{given}</function>\n</tool_call>"


def _qwen_open(name: str, arguments: dict[str, Any]) -> str:
    """As Ollama let it through: nothing is closed."""
    return f"<function={name}>\n" + "\n".join(f"<parameter={key}> {_value(value)}" for key, value in arguments.items())


def _glm(name: str, arguments: dict[str, Any]) -> str:
    given = "".join(
        f"<arg_key>{key}</arg_key>\n<arg_value>{_value(value)}</arg_value>\n" for key, value in arguments.items()
    )
    return f"<tool_call>{name}\n{given}</tool_call>"


def _invoke(name: str, arguments: dict[str, Any]) -> str:
    given = "".join(f'<parameter name="{key}">{_value(value)}</parameter>\n' for key, value in arguments.items())
    return f'<invoke name="{name}">\n{given}</invoke>'


def _dsml(name: str, arguments: dict[str, Any]) -> str:
    given = "".join(
        f'<｜DSML｜parameter name="{key}" string="{str(isinstance(value, str)).lower()}">{_value(value)}'
        "</｜DSML｜parameter>\n"
        for key, value in arguments.items()
    )
    return f'<｜DSML｜invoke name="{name}">\n{given}</｜DSML｜invoke>'


def _objects(calls: list[Call], key: str = "arguments") -> list[dict[str, Any]]:
    return [{"name": name, key: arguments} for name, arguments in calls]


def _deepseek(name: str, arguments: dict[str, Any]) -> str:
    return (
        f"<｜tool▁call▁begin｜>function<｜tool▁sep｜>{name}\n```json\n{json.dumps(arguments)}\n```<｜tool▁call▁end｜>"
    )


def _kimi(calls: list[Call]) -> str:
    each = "".join(
        f"<|tool_call_begin|>functions.{name}:{number}<|tool_call_argument_begin|>{json.dumps(arguments)}"
        "<|tool_call_end|>"
        for number, (name, arguments) in enumerate(calls)
    )
    return f"<|tool_calls_section_begin|>{each}<|tool_calls_section_end|>"


def _loose(name: str, arguments: dict[str, Any]) -> str:
    """JSON with a comma behind each last entry."""
    given = ", ".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in arguments.items())
    comma = "," if given else ""
    return f'{{"name": {json.dumps(name)}, "arguments": {{{given}{comma}}},}}'


def _python(name: str, arguments: dict[str, Any]) -> str:
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"


def _promised(whole: dict[str, Any], exchange: Exchange) -> dict[str, Any]:
    """Tools were on offer, the model never heard of them: it says what it would do."""
    message = message_of(whole)
    if not (exchange.offers_tools and message.get("tool_calls")):
        return whole
    text = "I will look at the files first and then write the code that you asked for."
    return with_message(whole, {"role": "assistant", "content": text}, finish="stop")


def _habit(name: str, about: str, source: str, complete: Any) -> Habit:
    return Habit(name=name, about=about, source=source, group="tool calls", complete=complete)


HABITS = (
    _habit(
        "calls-hermes",
        "Calls are text, as Hermes and Qwen spell them: `<tool_call>{JSON}</tool_call>`.",
        f"vLLM: {_PARSERS}/hermes_tool_parser.py",
        _each(lambda name, given: f"<tool_call>\n{json.dumps({'name': name, 'arguments': given})}\n</tool_call>"),
    ),
    _habit(
        "calls-qwen3-coder",
        "Calls are text, as Qwen3-Coder spells them: `<function=NAME><parameter=KEY>`.",
        "LM Studio: https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/825",
        _each(_qwen),
    ),
    _habit(
        "calls-qwen3-coder-unclosed",
        "The same, and no tag is closed.",
        "Ollama 0.32.5, qwen3-coder:30b: https://github.com/continuedev/continue/issues/13057",
        _each(_qwen_open),
    ),
    _habit(
        "calls-glm",
        "Calls are text, as GLM spells them: `<tool_call>NAME<arg_key>`.",
        f"vLLM: {_PARSERS}/glm4_moe_tool_parser.py",
        _each(_glm),
    ),
    _habit(
        "calls-invoke",
        'Calls are text, as Claude and MiniMax spell them: `<invoke name="NAME">`.',
        f"vLLM: {_PARSERS}/minimax_m2_tool_parser.py",
        _each(_invoke, opening="<minimax:tool_call>\n", closing="\n</minimax:tool_call>"),
    ),
    _habit(
        "calls-dsml",
        'Calls are text, as DeepSeek 3.2 spells them: `<｜DSML｜invoke name="NAME">`.',
        "DeepSeek 3.2: https://github.com/XNet-NGO/aiope/issues/119",
        _each(_dsml, opening="<｜DSML｜function_calls>\n", closing="\n</｜DSML｜function_calls>"),
    ),
    _habit(
        "calls-llama",
        'Calls are text, as Llama 3 spells them: `{"name": ..., "parameters": {...}}`.',
        "Rapid-MLX, Llama 3.1: https://github.com/raullenchai/Rapid-MLX/pull/703",
        _each(lambda name, given: json.dumps({"name": name, "parameters": given})),
    ),
    _habit(
        "calls-python-tag",
        "The same behind `<|python_tag|>`.",
        "Llama 3.1: https://github.com/meta-llama/llama-models/issues/266",
        _each(
            lambda name, given: f"<|python_tag|>{json.dumps({'type': 'function', 'name': name, 'parameters': given})}"
        ),
    ),
    _habit(
        "calls-pythonic",
        "Calls are text, as Llama 4 and LFM2 spell them: `[NAME(key='value')]`.",
        "mlx-lm, LFM2.5: https://github.com/ml-explore/mlx-lm/pull/1796",
        _spelled(lambda calls: f"[{', '.join(_python(*each) for each in calls)}]"),
    ),
    _habit(
        "calls-python-in-tags",
        "Calls are text in Python, inside of Hermes's tags.",
        "Qwen3: https://github.com/Augustas11/macprovider/pull/160",
        _each(lambda name, given: f"<tool_call>\n{_python(name, given)}\n</tool_call>"),
    ),
    _habit(
        "calls-mistral",
        "Calls are text, as Mistral spells them: `[TOOL_CALLS][{JSON}]`.",
        "vLLM 0.8.1, Mistral Small 3.1: https://github.com/vllm-project/vllm/issues/15549",
        _spelled(lambda calls: f"[TOOL_CALLS]{json.dumps(_objects(calls))}"),
    ),
    _habit(
        "calls-mistral-named",
        "Calls are text, as Mistral's newer tokenizers spell them: `[TOOL_CALLS]NAME{JSON}`.",
        f"vLLM: {_PARSERS}/mistral_tool_parser.py",
        _each(lambda name, given: f"[TOOL_CALLS]{name}{json.dumps(given)}"),
    ),
    _habit(
        "calls-deepseek",
        "Calls are text, between DeepSeek's own marks.",
        f"vLLM: {_PARSERS}/deepseekv3_tool_parser.py",
        _each(_deepseek, opening="<｜tool▁calls▁begin｜>", closing="<｜tool▁calls▁end｜>"),
    ),
    _habit(
        "calls-kimi",
        "Calls are text, between Kimi's own marks.",
        f"vLLM: {_PARSERS}/kimi_k2_tool_parser.py",
        _spelled(_kimi),
    ),
    _habit(
        "calls-granite",
        "Calls are text, as Granite spells them: `<|tool_call|>[{JSON}]`.",
        f"vLLM: {_PARSERS}/granite_tool_parser.py",
        _spelled(lambda calls: f"<|tool_call|>{json.dumps(_objects(calls))}"),
    ),
    _habit(
        "calls-lm-studio",
        "Calls are text, as LM Studio asks for them: `[TOOL_REQUEST]{JSON}[END_TOOL_REQUEST]`.",
        "LM Studio: https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/825",
        _each(lambda name, given: f"[TOOL_REQUEST]{json.dumps({'name': name, 'arguments': given})}[END_TOOL_REQUEST]"),
    ),
    _habit(
        "calls-functools",
        "Calls are text, as Phi-4-mini spells them: `functools[{JSON}]`.",
        f"vLLM: {_PARSERS}/phi4mini_tool_parser.py",
        _spelled(lambda calls: f"functools{json.dumps(_objects(calls))}"),
    ),
    _habit(
        "calls-fenced",
        "Calls are JSON in a fence, below a `tool_calls` key.",
        "Groq, llama3-70b: https://github.com/groq/groq-typescript/issues/28",
        _spelled(lambda calls: f"```json\n{json.dumps({'tool_calls': _objects(calls)}, indent=2)}\n```"),
    ),
    _habit(
        "calls-namespaced",
        "Calls are text in gpt-oss's namespace: `functions.NAME({JSON})`.",
        "gpt-oss, harmony's namespace: https://developers.openai.com/cookbook/articles/openai-harmony",
        _each(lambda name, given: f"functions.{name}({json.dumps(given)})"),
    ),
    _habit(
        "calls-trailing-commas",
        "Calls are JSON in text, with a comma behind each last entry.",
        "gpt-5.6 Luna, and others: https://github.com/ducroo/SICTIC-AI/pull/37",
        _each(_loose),
    ),
    _habit(
        "calls-single-quotes",
        "Calls are a Python dict in Hermes's tags, quotes single.",
        "Hermes: https://github.com/NousResearch/atropos/issues/478",
        _each(lambda name, given: f"<tool_call>\n{ {'name': name, 'arguments': given}!r}\n</tool_call>"),
    ),
    _habit(
        "tools-dropped-in-silence",
        "Tools are taken and never shown to the model, which says what it would do.",
        "llama.cpp b10423: https://github.com/ggml-org/llama.cpp/issues/27129",
        _promised,
    ),
)
