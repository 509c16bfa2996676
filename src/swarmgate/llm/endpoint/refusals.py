"""Parses an endpoint's error: which field, token limit or context window it complains about. Pure.

A feature is something of a request that it can do without. What a complaint does not name is looked for among the
features that no answer was given to so far, one after the other.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from itertools import pairwise
from typing import Any

from swarmgate.domain.base import Frozen
from swarmgate.llm.endpoint import opaque_fields
from swarmgate.llm.endpoint.schema_keywords import beyond
from swarmgate.llm.endpoint.web_pages import loaded

_FLAGS = re.IGNORECASE | re.DOTALL
_NOT = (
    r"(support|unrecogni[sz]ed|unsupported|unknown (field|name|param|arg)|not (enabled|available|permitted|allowed|"
    r"accepted|implemented)|extra (input|field)|extra_forbidden|disabled|deprecated|incompatible|--enable|--jinja)"
)
"""How complaints say that something is not taken; a value that is merely invalid says nothing of the feature."""
_WANTED = re.compile(r"missing|must be (passed|provided|included|sent)|\brequired|should be (passed|included)", _FLAGS)
"""How an endpoint says that a field is not there; what it names then is no refusal."""
_FINAL = re.compile(
    r"api[_ -]?key|auth|credential|billing|quota|credit|balance|polic(y|ies)|moderat|safety|filter|flagged|"
    r"model.{0,60}(not found|not exist|unknown)|(no such|unknown|invalid) model|not a valid model|"
    r"context|prompt is too long|rate.?limit|too many requests|\A\s*<",
    _FLAGS,
)
"""What no other form of a request would mend; a page is no word of the endpoint's, but of what stands before it."""

_MISLEADING = re.compile(
    r"tool_use_failed|failed_generation|output_parse_failed|failed to (call a function|generate|parse)|"
    r"(model|generated).{0,40}(malformed|could not be parsed|invalid json)",
    _FLAGS,
)
"""What refuses the answer of the model, and not the request."""


def _near_refusal(words: str) -> re.Pattern[str]:
    """A pattern that finds these words near to a word of refusal."""
    return re.compile(rf"({words}).{{0,200}}?{_NOT}|{_NOT}.{{0,200}}?({words})", _FLAGS)


_SCHEMA = re.compile(
    r"additional_?properties|\$(ref|defs|schema)|(any|all|one)_?of\b|exclusive_?m|\bkeyword|invalid (json )?schema|"
    r"unknown name.{0,80}\b(tools|function|parameters|schema|properties)|\.parameters\b|function_declarations|"
    r"(json|input|parameters?|tool|function)[ _.'\"]*schema|schema.{0,40}(invalid|unsupported|not supported)|"
    r"too many states|\"?default\"?.{0,40}not supported",
    _FLAGS,
)
_IDS = re.compile(
    r"tool[ _]?call[ _]?id\b.*(must be|length|pattern|too long|match|format)|\.id\b.*(too long|length|pattern|match)",
    _FLAGS,
)
_ALTERNATE = re.compile(r"\balternat|consecutive|same role|roles? (twice|in a row)", _FLAGS)
_ROLES = re.compile(
    rf"\broles?\b.*({_NOT}|only|invalid|unexpected)|({_NOT}|only|invalid|unexpected).*\broles?\b", _FLAGS
)
_CONTENT = re.compile(r"content|message|text|parts?\b|NoneType", _FLAGS)
_NULL = re.compile(
    r"\bnull\b|\bnil\b|\bnone\b|NoneType|valid string|(be|expect\w+) a? ?string|required|missing", _FLAGS
)
_EMPTY = re.compile(r"empty|blank|whitespace|at least (1|one)|too[_ ]short|must have|not specified|min_?length", _FLAGS)
_TOO_LARGE = re.compile(
    r"too (large|high|big|long|many)|at most|maximum|less than|<=|range|exceed|greater|larger|>|up to", _FLAGS
)
_LIMITS = re.compile(r"max_(completion_|output_|new_)?tokens", _FLAGS)
_WINDOW = re.compile(
    r"context.{0,20}(length|window|size|limit)|maximum context|prompt is too long|too many (input )?tokens|"
    r"inputs?`? tokens \+|n_ctx",
    _FLAGS,
)
_WINDOW_SIZE = re.compile(
    r"context[ _](?:length|window|size|limit)[^\d]{0,30}([\d,]{3,})(?![\d,]| \+)|[>=] ?([\d,]{3,})|n_ctx\W+([\d,]{3,})",
    _FLAGS,
)
_INPUT = re.compile(
    r"([\d,]+) (?:in the messages|input tokens|of text input|`?inputs`? tokens)|: ([\d,]+) \+ [\d,]+ >|"
    r"(?:resulted in|prompt contains(?: at least)?|prompt is too long:|request \() ?([\d,]+)|"
    r"n_prompt_tokens\W+([\d,]+)",
    _FLAGS,
)

_FIELDS: dict[str, re.Pattern[str]] = {
    "stream_options": re.compile(r"stream_options|include_usage", _FLAGS),
    "temperature": re.compile(r"\btemperature\b", _FLAGS),
    "max_tokens": re.compile(rf"\bmax_completion_tokens\b|\bmax_tokens\b.*{_NOT}|{_NOT}.*\bmax_tokens\b", _FLAGS),
    "max_completion_tokens": _near_refusal(r"max_completion_tokens|max_tokens"),
    "response_format": re.compile(r"response_format|json_schema|structured|grammar", _FLAGS),
}
"""Fields of a request, and what the words of a complaint say that means one of them."""
_FORMS: dict[str, re.Pattern[str]] = {
    # gemma: "System role not supported", "Developer instruction is not enabled for models/gemma-3-27b-it"
    "system": _near_refusal(
        r"\b(system|developer)[ _'\"`]*(role|message|prompt|instruction)|role[^.]{0,30}\b(system|developer)"
    ),
    # ollama: "does not support tools"; OpenRouter: "No endpoints found that support tool use"; vLLM: '"auto" tool
    # choice requires --enable-auto-tool-choice'; llama.cpp: "tools param requires --jinja flag"
    "tools": _near_refusal(r"\b(tools?|functions?|function[ _-]call\w*|tool_choice)\b"),
    "stream": _near_refusal(r"\bstream(ing|ed)?\b"),
}
"""The same of what is more than a field. What was taken once is not given up for a few words."""

_OTHERWISE = {
    "stream_options": "it takes no stream_options: without them from here on",
    "temperature": "it takes no temperature: its own from here on",
    "max_tokens": "it takes no max_tokens: max_completion_tokens from here on",
    "max_completion_tokens": "it takes no limit of an answer: without max_tokens from here on",
    "response_format": "it holds no answer to a schema: JSON in plain text from here on",
    "schema_keywords": "it takes no such schemas of tools: with fewer keywords from here on",
    "neighbours": "it wants roles to take turns: neighbouring messages are one from here on",
    "call_ids": "it takes no such ids of calls: ids of nine letters and digits from here on",
    "null_content": "it takes no message without a text: an empty one from here on",
    "empty_content": "it takes no empty text: a word stands there from here on",
    "tools": "it does not call tools: they are described in text from here on, and calls are read there",
    "stream": "it does not stream: answers are asked for whole from here on",
    "system": "it takes no system message: the instructions stand in the first user message from here on",
}

_SUSPECTS = (
    "stream_options", "temperature", "schema_keywords", "max_tokens", "null_content", "empty_content",
    "call_ids", "response_format", "neighbours", "system", "stream", "tools",
)  # fmt: skip
"""In this order features are left out for once where a complaint names none: what matters least, first."""


def otherwise(feature: str) -> str:
    """Describes what changes without a feature, for people."""
    place, _, name = feature.partition(".")
    return _OTHERWISE.get(feature) or f"it does not take its own {name} back ({place}): left out from here on"


_TURNS = ("user", "assistant")
"""Roles that some endpoints want to alternate."""


class Complaint(Frozen):
    """The error of an endpoint about a refused call; `param` and `code` are empty where it has none."""

    text: str
    param: str = ""
    code: str = ""

    @property
    def summary(self) -> str:
        """The error on one line, at most 300 characters."""
        return re.sub(r"\s+", " ", self.text)[:300]


def read(body: Any, message: str) -> Complaint:
    """The complaint in the body of a refusal, of whichever form; `message` where it has none.

    Forms: OpenAI's `{"message", "param", "code"}`, also in a list (Google); FastAPI's `{"detail": [{"loc", "msg"}]}`.
    """
    while isinstance(body, list) and body:
        body = body[0]
    if isinstance(body, dict) and isinstance(body.get("error"), dict | list):
        return read(body["error"], message)
    if not isinstance(body, dict):
        return Complaint(text=str(body or message)[:4000])
    detail = body.get("detail")
    first = detail[0] if isinstance(detail, list) and detail and isinstance(detail[0], dict) else {}
    place = ".".join(str(each) for each in first.get("loc", ()) if each != "body") if first else ""
    if isinstance(body.get("errors"), list | dict) and body["errors"] and not body.get("message"):
        return read(body["errors"], message)
    text = body.get("message") or body.get("error") or body.get("msg") or body.get("error_msg") or detail or body
    if isinstance(text, str) and text.lstrip().startswith("{") and isinstance(inner := loaded(text.encode()), dict):
        return read(inner, message)  # a gateway quotes the complaint of who stands behind it
    metadata = body.get("metadata")
    if isinstance(metadata, dict) and isinstance(raw := metadata.get("raw"), str) and raw.strip():
        behind = read(loaded(raw.encode()) or raw, message)  # OpenRouter says "Provider returned error", and no more
        return behind.model_copy(update={"text": f"{text}: {behind.text}"[:4000]})
    return Complaint(text=str(text)[:4000], param=str(body.get("param") or place), code=str(body.get("code") or ""))


def sent(body: dict[str, Any]) -> set[str]:
    """The features of a request, by name."""
    messages = body["messages"]
    roles = [each["role"] for each in messages]
    contents = [each["content"] for each in messages]
    there = {
        "system": "system" in roles,
        "neighbours": any(each in _TURNS and each == after for each, after in pairwise(roles)),
        "null_content": None in contents,
        "empty_content": any(each is not None and not each.strip() for each in contents),
        "call_ids": any(each.get("tool_calls") for each in messages),
        "schema_keywords": beyond(body.get("tools", ())),
    }
    found = {each for each in (*_FIELDS, *_FORMS) if each in body} | {
        each for each, is_there in there.items() if is_there
    }
    return found | {f"{place}.{name}" for place, name in opaque_fields.names(messages)}


def named(complaint: Complaint, there: Collection[str], accepted: Collection[str]) -> str:
    """The feature that a complaint is about; empty: none of them, as far as it says.

    Args:
        complaint: what the endpoint says.
        there: the features that were sent.
        accepted: those of earlier requests that were answered.
    """
    return next((each for each in _meant(complaint, there, accepted) if each in there), "")


def wanted(complaint: Complaint, left_out: frozenset[str]) -> str:
    """The field that was left out and that an endpoint asks for after all; empty: none."""
    if not _WANTED.search(complaint.text):
        return ""
    fields = (each for each in sorted(left_out) if "." in each or each in _FIELDS)
    return next((each for each in fields if _names(complaint.text, each.rpartition(".")[2])), "")


def most_tokens(complaint: Complaint, asked: int) -> int | None:
    """The longest answer that a complaint allows, in tokens; None: it is about something else.

    Where it says that the one asked for is too long and names no number, that is half of it.
    """
    text = f"{complaint.param} {complaint.text}"
    if not (_LIMITS.search(text) and _TOO_LARGE.search(complaint.text)) or re.search("unsupported param", text, _FLAGS):
        return None
    numbers = re.findall(r"(?<![\w.])(?:\d{1,3}(?:,\d{3})+|\d+)", complaint.text)
    below = [number for each in numbers if 1 < (number := int(each.replace(",", ""))) < asked]
    return max(below, default=asked // 2) or None


def window(complaint: Complaint, prompt: int) -> tuple[int, int] | None:
    """The window that a complaint names, and how much of it a prompt leaves, in tokens; None: it is about none.

    Args:
        complaint: what the endpoint says.
        prompt: an estimate, where the complaint does not say how many tokens the prompt has.
    """
    if not _WINDOW.search(complaint.text):
        return None
    size, given = (_first_number(each, complaint.text) for each in (_WINDOW_SIZE, _INPUT))
    return (size, size - (given or prompt)) if size else None


def is_misleading(complaint: Complaint) -> bool:
    """Whether an endpoint refuses what the model answered: another answer to the same request may do."""
    return _MISLEADING.search(f"{complaint.code} {complaint.text}") is not None


def suspects(complaint: Complaint, there: set[str], accepted: set[str]) -> list[str]:
    """What to leave out for once, in this order, of a request that was refused without a word of why."""
    if _FINAL.search(f"{complaint.code} {complaint.text}") or is_misleading(complaint):
        return []
    new = there - accepted
    return [*sorted(each for each in new if "." in each), *(each for each in _SUSPECTS if each in new)]


def _meant(complaint: Complaint, there: Collection[str], accepted: Collection[str]) -> Iterator[str]:
    """The features that a complaint may mean, the likeliest first."""
    text = f"{complaint.param} {complaint.code} {complaint.text}"

    def fitting(patterns: Mapping[str, re.Pattern[str]]) -> Iterator[str]:
        return (each for each, words in patterns.items() if words.search(text))

    if not _WANTED.search(complaint.text):
        yield from (each for each in sorted(there) if "." in each and _names(text, each.rpartition(".")[2]))
    yield complaint.param
    yield from fitting({"call_ids": _IDS})
    yield from fitting(_FIELDS)
    yield from fitting({"schema_keywords": _SCHEMA})
    if _ALTERNATE.search(text):
        yield from ("neighbours", "system", "tools")
    if _CONTENT.search(text):
        yield from fitting({"null_content": _NULL, "empty_content": _EMPTY})
    yield from (each for each in fitting(_FORMS) if each not in accepted)
    if _ROLES.search(text):
        yield from ("system", "tools")


def _names(text: str, name: str) -> bool:
    """Whether a name stands in a text, and not only as a part of another one."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _first_number(words: re.Pattern[str], text: str) -> int:
    """The number that the words name; 0: none."""
    found = words.search(text)
    return int(next(each for each in found.groups() if each).replace(",", "")) if found else 0
