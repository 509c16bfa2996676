"""Parses tool calls in the markup of chat templates: a name before JSON, or a tag for each argument. Pure.

The forms are those of the templates and of the parsers that vLLM, SGLang and llama.cpp have for them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from swarmgate.domain.text.json_text import loaded
from swarmgate.llm.model import ToolSpec
from swarmgate.llm.parsing.call_shapes import Entry, Tools, own_name
from swarmgate.llm.parsing.relaxed_json import CUT, Unreadable, relaxed_at
from swarmgate.llm.parsing.thinking import ends_thinking

_NAME = r"\s*[\"']?(?P<name>[A-Za-z_][\w.:-]{0,80}?)[\"']?\s*"
_B = "[|\uff5c]"  # DeepSeek's bars are full-width
_TOKEN = rf"<{_B}tool[\u2581_ ](?:call|calls|sep|outputs?)(?:[\u2581_ ]\w+){{0,3}}{_B}>"
_NS = rf"(?:\w{{1,20}}:|{_B}DSML{_B})?"  # antml: of Anthropic, DSML of DeepSeek
_JSON = r"(?:json|code)?\s*(?:```\w*\s*)?(?=\{)"

_BEGIN = rf"<{_B}tool[\u2581_ ]call[\u2581_ ]begin{_B}>\s*"

_HEADS = (
    # DeepSeek `function<sep>NAME` and `NAME<sep>`, Kimi `functions.NAME:0<argument_begin>`
    rf"{_BEGIN}(?:function\s*{_TOKEN})?{_NAME}(?::\d+\s*)?(?:{_TOKEN})?\s*{_JSON}",
    # Mistral, from version 11 on; the token itself may have been dropped
    rf"(?:\[TOOL_CALLS\])?{_NAME}(?:\[CALL_ID\][^\[{{]{{0,80}})?\[ARGS\]\s*{_JSON}",
    rf"\[TOOL_CALLS\]{_NAME}{_JSON}",
    rf"<(?:\|tool_call|start_function_call)>\s*call:{_NAME}(?=\{{)",  # Gemma 4; FunctionGemma
    rf"(?:commentary\s+)?(?:to=)?\bfunctions\.{_NAME}(?::\d+\s*)?\(?\s*(?:<\|constrain\|>)?{_JSON}",
    rf"Action\s*:{_NAME}\n\s*Action[ _]Input\s*:\s*{_JSON}",  # ReAct
    rf"<function\s*={_NAME}>?\s*{_JSON}",  # Llama 3, Functionary
    rf"<(?:tool_call|function_call|function|tool|invoke)\s+name\s*={_NAME}>\s*{_JSON}",
    rf"<(?:tool_call|function_call)>{_NAME}\n\s*{_JSON}",  # GLM and others, with JSON behind the name
)
_TAG_HEAD = rf"<(?P<name>[A-Za-z_][\w.-]{{0,80}})>\s*{_JSON}"  # the tool's own name as a tag; of a tool on offer
_AFTER_JSON = (
    r"\s*(?:\)|`{3,}|</?(?:function|tool_call|function_call|tool|invoke)>|</CLOSED>|<(?:tool_call\||end_function_call)>"
    rf"|<\|call\|>|<{_B}tool[\u2581_ ]calls?[\u2581_ ]end{_B}>)"
)
"""What ends a call whose arguments are JSON."""


@dataclass(frozen=True)
class _Form:
    """A form with a tag for each argument: how the call begins, an argument begins and ends, and the call ends.

    In `value_end`, KEY stands for the argument's name.
    """

    notation: str
    head: re.Pattern[str]
    key: re.Pattern[str]
    value_end: str
    end: re.Pattern[str]


def _form(notation: str, head: str, key: str, closing: str, end: str) -> _Form:
    """A form of these patterns. What closes an argument stands before another one or before the end of the call."""
    value_end = rf"(?:{closing})(?=\s*(?:{key}|{end}))"
    return _Form(notation, re.compile(head), re.compile(rf"\s*{key}"), value_end, re.compile(rf"\s*(?:{end})"))


_FORMS = (
    _form(  # Qwen3-Coder, Seed-OSS, Step 3.5, MiniCPM
        "<function=...>",
        rf"<function\s*=\s*{_NAME}>|<function\s+name\s*={_NAME.replace('<name>', '<name2>')}>",
        r"<param(?:eter)?(?:\s*=\s*|\s+name\s*=\s*[\"'])(?P<key>[\w.-]{1,80})[\"']?\s*>",
        r"</param(?:eter)?>",
        r"</function>",
    ),
    _form(  # Anthropic, MiniMax, DeepSeek from V3.2 on
        "<invoke>",
        rf"<{_NS}invoke\s+name\s*={_NAME}>",
        rf"<{_NS}parameter\s+name\s*=\s*[\"'](?P<key>[\w.-]{{1,80}})[\"'](?:\s+string\s*=\s*[\"'](?P<string>\w+)[\"'])?\s*>",
        rf"</{_NS}parameter>",
        rf"</{_NS}invoke>",
    ),
    _form(  # GLM, LongCat
        "<arg_key>",
        rf"<(?:longcat_)?tool_call>{_NAME}(?=<(?:longcat_)?arg_key>|</(?:longcat_)?tool_call>)",
        r"<(?:longcat_)?arg_key>\s*(?P<key>[\w.-]{1,80})\s*</(?:longcat_)?arg_key>\s*<(?:longcat_)?arg_value>",
        r"</(?:longcat_)?arg_value>",
        r"</(?:longcat_)?tool_call>",
    ),
)

HEAD = (
    rf"<{_B}tool[\u2581_ ]call[\u2581_ ]begin|\[TOOL_CALLS\]|\b[\w.-]{{1,80}}\[(?:ARGS|CALL_ID)\]|<\|tool_call>|"
    rf"<start_function_call>|(?:commentary\s+)?(?:to=)?\bfunctions\.|\bAction\s*:|<function\b|<{_NS}invoke\b|"
    r"<(?:longcat_)?(?:tool_call|function_call|tool)\b|<\|tool_call_start\|>|<\|python_tag\|>|<function_calls>"
)
"""Where one of the forms may begin."""

NOISE = re.compile(
    rf"</?(?:{_NS}|longcat_)(?:tool_calls?|function_calls?|function_call|tools?|TOOLCALL)>|{_TOKEN}|\[/?TOOL_CALLS\]|<\|/?tool_calls?\|>"
    rf"|<\|tool_call_(?:start|end)\|>|<{_B}(?:tool_calls?_section_\w+|tool_call_(?:begin|end|argument_begin)){_B}>"
    r"|<\|python_tag\|>|<\|(?:eom_id|eot_id|im_end|end|call|return|start|message|endoftext|END_OF_TURN_TOKEN)\|>|\bfunctools(?=\s*$)"
    r"|<\|(?:START|END)_(?:ACTION|RESPONSE)\|>|<tool_call\|>|<(?:start|end)_function_call>|<\|tools_(?:prefix|suffix)\|>"
    r"|<\|(?:action_start|action_end|plugin)\|>|<\|/?(?:begin|end)_of_\w{1,20}\|>|</?(?:tool_use|xml|answer|response|output|final|final_answer|result|json|verdict)>|</function>",
)
"""Marks that stand around calls and say nothing by themselves."""

PYTHON = re.compile(
    r"(?:<\|tool_call_start\|>|<\|python_tag\|>|<function_calls>|<tool_call>)(.*?)"
    r"(?:<\|tool_call_end\|>|<\|eo[mt]_id\|>|</function_calls>|</tool_call>|\Z)",
    re.DOTALL,
)
"""Marks between which some models write calls of Python: LFM2, Llama, Olmo, Qwen."""

ORPHAN = r"</(?:\w{1,20}:)?(?:param(?:eter)?|invoke|(?:longcat_)?arg_value)>|<(?:parameter\s*=|(?:longcat_)?arg_key>)"
"""A mark of an argument outside of any call: one that came before it was not whole."""


_CDATA = re.compile(r"\s*<!\[CDATA\[((?>(?:(?!\]\]>).)*))\]\]>\s*", re.DOTALL)
_OPENS_CALL = re.compile(rf"<function\s*=|<{_NS}invoke\s|<(?:longcat_)?(?:tool_call|arg_key)>|<parameter\s*=")


class Marked(NamedTuple):
    """A call in a text: what it is, where it ends; `raw` is what stands for its arguments where they are not clear."""

    entry: Entry
    end: int
    raw: str = ""


def marked_at(text: str, start: int, tools: Tools, lost: set[str]) -> Marked | None:
    """The call whose form begins at a place of a text; None where none does, or it is not whole.

    Args:
        text: the text.
        start: the place.
        tools: those on offer.
        lost: the endings that stand nowhere behind a place that was looked at before; added to.
    """
    properties = tuple((name, tuple(spec.parameters.get("properties", ()))) for name, spec in tools.items())
    for form in (*_FORMS, *_tags(properties)):
        if (head := form.head.match(text, start)) and (found := _tagged(text, head, form, tools, lost)):
            return found
    for pattern in _compiled():
        if (head := pattern.match(text, start)) and (found := _before_json(text, head)):
            return found
    head = re.compile(_TAG_HEAD).match(text, start)
    return _before_json(text, head) if head and head["name"] in tools else None


@lru_cache(maxsize=1)
def _compiled() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(head) for head in _HEADS)


@lru_cache(maxsize=64)
def _tags(tools: tuple[tuple[str, tuple[str, ...]], ...]) -> tuple[_Form, ...]:
    """Tags that are named as the tools and their arguments, `<read_file><path>a.py</path></read_file>`: Cline, Roo."""
    forms = []
    for name, properties in tools:
        key = f"<(?P<key>{'|'.join(map(re.escape, properties))})>" if properties else r"(?P<key>)(?!)"
        tag = re.escape(name)
        forms.append(_form(f"<{name}>", f"<(?P<name>{tag})>", key, "</KEY>", f"</{tag}>"))
    return tuple(forms)


def _before_json(text: str, head: re.Match[str]) -> Marked | None:
    try:
        found = relaxed_at(text, head.end())
    except Unreadable:
        return None
    if CUT in found.repairs:
        return None
    end = found.end
    closing = re.compile(_AFTER_JSON.replace("CLOSED", re.escape(head["name"])))
    while after := closing.match(text, end):
        end = after.end()
    name = own_name(head["name"])
    notation = "marks of its template" if text[head.start()] in "<[" else "its name before JSON"
    entry = Entry(name, found.value, (f"written with {notation}", *found.repairs), found.doubled)
    return Marked(entry, end, text[head.end() : found.end])


def _tagged(text: str, head: re.Match[str], form: _Form, tools: Tools, lost: set[str]) -> Marked | None:
    """A call with a tag for each argument; None where it is not whole."""
    name = own_name(head["name"] or head.groupdict().get("name2") or "")
    pairs: list[tuple[str, Any]] = []
    at = head.end()
    while key := form.key.match(text, at):
        ending = form.value_end.replace("KEY", re.escape(key["key"]))
        closing = None if ending in lost else re.compile(ending).search(text, key.end())
        if closing is None:
            lost.add(ending)
            return None
        string = key.groupdict().get("string")
        inner = text[key.end() : closing.start()]
        if ends_thinking(inner) and _OPENS_CALL.search(inner):
            return None  # it began in thinking, and what ends it belongs to a later call
        pairs.append((key["key"], _value(inner, _type(tools.get(name), key["key"]), string)))
        at = closing.end()
    end = form.end.match(text, at)
    if end is None:
        return None
    arguments = dict(pairs)
    doubled = len(arguments) != len(pairs)
    entry = Entry(name, arguments, (f"written as {form.notation}",), doubled)
    return Marked(entry, end.end(), _spelt(pairs))


def _spelt(pairs: list[tuple[str, Any]]) -> str:
    """The arguments as JSON, what was said twice being said twice."""
    return "{" + ", ".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in pairs) + "}"


def _type(spec: ToolSpec | None, key: str) -> str:
    """The type of an argument by the tool's schema: `string` where it names none, `any` where it does not know it."""
    if spec is None:
        return "any"
    properties: Mapping[str, Any] = spec.parameters.get("properties", {})
    declared = properties.get(key, {"type": "any"}).get("type", "string")
    return declared if isinstance(declared, str) else "any"


def _value(text: str, kind: str, string: str | None) -> Any:
    """What the text in a tag means: as it stands where a text is due, else JSON where it is that.

    A line break at both ends belongs to the tags, and so does CDATA around all of it.
    """
    if cdata := _CDATA.fullmatch(text):
        text = cdata[1]
    if text.startswith("\n") and text.endswith("\n") and len(text) > 1:
        text = text[1:-1]
    if string == "true" or (kind == "string" and string is None):
        return text
    try:
        return loaded(text.strip())
    except ValueError:
        pass
    start = len(text) - len(text.lstrip())
    try:
        found = relaxed_at(text, start)
    except Unreadable:
        return text
    whole = not found.doubled and CUT not in found.repairs and not text[found.end :].strip()
    return found.value if whole else text
