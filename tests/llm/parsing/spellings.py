"""How models write calls in text, by the templates that they were trained with: for tests that read them again."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Call = tuple[str, Mapping[str, Any]]
Spelling = Callable[[Sequence[Call]], str]

BAR, DASH = "\uff5c", "\u2581"
"""What DeepSeek's tokens are made of."""


def each(
    one: Callable[[str, Mapping[str, Any]], str], *, before: str = "", after: str = "", between: str = "\n"
) -> Spelling:
    """A spelling that writes one call behind the other."""
    return lambda calls: before + between.join(one(*call) for call in calls) + after


def listed(by: str, given: str, *, before: str = "", after: str = "") -> Spelling:
    """A list of JSON objects with these keys."""
    return lambda calls: before + json.dumps([{by: name, given: args} for name, args in calls]) + after


def _valued(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _tags(head: str, key: str, closing: str, end: str, wrap: str = "") -> Callable[[str, Mapping[str, Any]], str]:
    """A call with a tag for each argument; NAME and KEY stand for theirs, `wrap` around each value."""

    def spelt(name: str, args: Mapping[str, Any]) -> str:
        inner = "".join(
            key.replace("KEY", each) + wrap + _valued(value) + wrap + closing.replace("KEY", each) + "\n"
            for each, value in args.items()
        )
        return f"{head}\n{inner}{end}".replace("NAME", name)

    return spelt


def _invoked(space: str = "", more: str = "") -> Callable[[str, Mapping[str, Any]], str]:
    tag, argument = f"{space}invoke", f"{space}parameter"
    return _tags(f'<{tag} name="NAME">', f'<{argument} name="KEY"{more}>', f"</{argument}>", f"</{tag}>")


def _dsml(name: str, args: Mapping[str, Any]) -> str:
    space = f"{BAR}DSML{BAR}"
    head, end = f"<{space}parameter name=", f"</{space}parameter>\n"
    kinds = {True: "true", False: "false"}
    inner = "".join(
        f'{head}"{key}" string="{kinds[isinstance(value, str)]}">{_valued(value)}{end}' for key, value in args.items()
    )
    return f'<{space}invoke name="{name}">\n{inner}</{space}invoke>'


def _token(words: str) -> str:
    return f"<{BAR}{words.replace(' ', DASH)}{BAR}>"


def _python(name: str, args: Mapping[str, Any]) -> str:
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in args.items())})"


def _json(call: Callable[[str, str], str]) -> Callable[[str, Mapping[str, Any]], str]:
    return lambda name, args: call(name, json.dumps(args))


def _harmony(name: str, args: str) -> str:
    head = f"<|start|>assistant<|channel|>commentary to=functions.{name} <|constrain|>json<|message|>"
    return f"{head}{args}<|call|>"


def _deepseek_v3(name: str, args: Mapping[str, Any]) -> str:
    head = f"{_token('tool call begin')}function{_token('tool sep')}{name}"
    return f"{head}\n```json\n{json.dumps(args)}\n```{_token('tool call end')}"


def _deepseek_v31(name: str, args: Mapping[str, Any]) -> str:
    return f"{_token('tool call begin')}{name}{_token('tool sep')}{json.dumps(args)}{_token('tool call end')}"


_QWEN = _tags("<function=NAME>", "<parameter=KEY>", "</parameter>", "</function>", "\n")
_GLM = _tags("<tool_call>NAME", "<arg_key>KEY</arg_key>\n<arg_value>", "</arg_value>", "</tool_call>")

SPELLINGS: Mapping[str, Spelling] = {
    "our own": listed("tool", "arguments"),
    "our own, one by one": each(_json(lambda name, args: f'{{"tool": "{name}", "arguments": {args}}}')),
    "fenced": listed("tool", "arguments", before="```json\n", after="\n```"),
    "Hermes": each(_json(lambda n, args: f'<tool_call>\n{{"name": "{n}", "arguments": {args}}}\n</tool_call>')),
    "Hermes, fenced": each(_json(lambda n, a: f'```\n<tool_call>{{"name": "{n}", "arguments": {a}}}</tool_call>\n```')),
    "Qwen3-Coder": each(lambda name, args: f"<tool_call>\n{_QWEN(name, args)}\n</tool_call>"),
    "Qwen3-Coder without its wrapper": each(_QWEN),
    "Seed-OSS": each(_QWEN, before="<seed:tool_call>\n", after="\n</seed:tool_call>"),
    "Anthropic": each(_invoked(), before="<function_calls>\n", after="\n</function_calls>"),
    "Anthropic with its name space": each(_invoked("antml:")),
    "MiniMax": each(_invoked(), before="<minimax:tool_call>\n", after="\n</minimax:tool_call>"),
    "DeepSeek V3.2": each(
        _dsml, before=f"<{BAR}DSML{BAR}function_calls>\n", after=f"\n</{BAR}DSML{BAR}function_calls>"
    ),
    "GLM": each(_GLM),
    "LongCat": each(
        lambda name, args: _GLM(name, args).replace("tool_call>", "longcat_tool_call>").replace("arg_", "longcat_arg_")
    ),
    "Llama 3": each(_json(lambda name, args: f'{{"name": "{name}", "parameters": {args}}}'), between="; "),
    "Llama 3 with its tag": each(
        _json(
            lambda name, args: f'<|python_tag|>{{"type": "function", "name": "{name}", "parameters": {args}}}<|eom_id|>'
        )
    ),
    "Llama 3, user defined": each(_json(lambda name, args: f"<function={name}>{args}</function>")),
    "Llama 4": lambda calls: f"[{', '.join(_python(*call) for call in calls)}]",
    "LFM2": lambda calls: f"<|tool_call_start|>[{', '.join(_python(*call) for call in calls)}]<|tool_call_end|>",
    "Olmo": each(_python, before="<function_calls>\n", after="\n</function_calls>"),
    "Gemma": each(_python, before="```tool_code\n", after="\n```"),
    "Mistral": listed("name", "arguments", before="[TOOL_CALLS] "),
    "Mistral from version 11 on": each(_json(lambda name, args: f"[TOOL_CALLS]{name}[ARGS]{args}"), between=""),
    "Mistral with ids": each(_json(lambda name, args: f"[TOOL_CALLS]{name}[CALL_ID]x1y2z3abc[ARGS]{args}"), between=""),
    "DeepSeek V3": each(_deepseek_v3, before=_token("tool calls begin"), after=_token("tool calls end")),
    "DeepSeek V3.1": each(_deepseek_v31, before=_token("tool calls begin"), after=_token("tool calls end")),
    "Kimi": each(
        _json(lambda n, a: f"<|tool_call_begin|>functions.{n}:0<|tool_call_argument_begin|>{a}<|tool_call_end|>"),
        before="<|tool_calls_section_begin|>",
        after="<|tool_calls_section_end|>",
        between="",
    ),
    "harmony": each(_json(_harmony), between=""),
    "Granite": listed("name", "arguments", before="<|tool_call|>"),
    "Hunyuan": listed("name", "arguments", before="<tool_calls>", after="</tool_calls>"),
    "Nemotron": listed("name", "arguments", before="<TOOLCALL>", after="</TOOLCALL>"),
    "Phi": listed("name", "arguments", before="functools"),
    "Command R": listed("tool_name", "parameters", before="<|START_ACTION|>", after="<|END_ACTION|>"),
    "functions.NAME": each(_json(lambda name, args: f"functions.{name}({args})")),
    "ReAct": each(_json(lambda name, args: f"Action: {name}\nAction Input: {args}")),
    "OpenAI's objects": lambda calls: json.dumps(
        {
            "tool_calls": [
                {"type": "function", "function": {"name": name, "arguments": json.dumps(args)}} for name, args in calls
            ]
        }
    ),
    "function objects": each(lambda name, args: json.dumps({"function": {"name": name, "arguments": args}})),
    "the name as a tag": each(_json(lambda name, args: f"<{name}>{args}</{name}>")),
    "trailing commas": each(_json(lambda name, args: f'{{"tool": "{name}", "arguments": {args},}}')),
    "arguments encoded twice": each(lambda name, args: json.dumps({"tool": name, "arguments": json.dumps(args)})),
    "arguments in a fence": each(
        lambda n, args: json.dumps({"tool": n, "arguments": f"```json\n{json.dumps(args)}\n```"})
    ),
}
"""Every spelling that has one reading for whatever it spells, by name."""

THOUGHTS: Mapping[str, tuple[str, str]] = {
    "think": ("<think>", "</think>"),
    "in capitals": ("<Think>", "</THINK>"),
    "thinking": ("<thinking>", "</thinking>"),
    "with attributes": ('<thinking effort="high">', "</thinking>"),
    "reasoning": ("<reasoning>", "</reasoning>"),
    "thought": ("<thought>", "</thought>"),
    "reflection": ("<reflection>", "</reflection>"),
    "scratchpad": ("<scratchpad>", "</scratchpad>"),
    "a name space": ("<thinking>", "</thinking>"),
    "antThinking": ("<antThinking>", "</antThinking>"),
    "Open-R1": ("<|begin_of_thought|>", "<|end_of_thought|>"),
    "Magistral": ("[THINK]", "[/THINK]"),
    "Seed": ("<seed:think>", "</seed:think>"),
    "Kimi": ("\u25c1think\u25b7", "\u25c1/think\u25b7"),
    "Gemma": ("<|channel>thought\n", "<channel|>"),
    "MedGemma": ("<unused94>", "<unused95>"),
    "Apertus": ("<|inner_prefix|>", "<|inner_suffix|>"),
    "Command A": ("<|START_THINKING|>", "<|END_THINKING|>"),
    "harmony": ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
}
"""How models mark what they think: what opens it, and what closes it."""
