"""Separates a model's reasoning from its answer, by the markers of models and chat templates. Pure.

Thinking is no answer: nothing is read from it, however much it looks like one. In doubt a mark is taken for one: what
is cut too much is asked again, what is cut too little is carried out. Marks that are named and not used are left alone:
between quotes or backticks, such as `<think>`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_WORD = (
    r"(?:think(?:ing)?|thoughts?|reason(?:ing)?|reflect(?:ion)?|analysis|scratch_?pad|deliberat(?:e|ion)"
    r"|brainstorm(?:ing)?|(?:inner_?)?monologue|cot(?:_\w+)?|chain[_-]of[_-]thought|rationale)"
)
_NAME = rf"(?:\w{{1,20}}[:_-])?{_WORD}(?:[_-]\w{{1,20}})?"
"""The name of a tag: `think` (Qwen, DeepSeek), `seed:think`, `antThinking`, `begin_of_thought`, and what is like it."""

_LT, _GT = r"(?:<|\uff1c|&lt;|\\u003c)", r"(?:>|\uff1e|&gt;|\\u003e)"  # escaped on the way
_BAR = "[|\uff5c\u25b7\u25c1]"
_PAIRS = (
    # <think> of nearly all, with attributes, in any case; <|begin_of_thought|> of Open-R1 and Sky-T1
    (rf"{_LT}\s?(?:ant)?{_NAME}(?:\s[^<>/]{{0,80}})?{_GT}", rf"{_LT}\s?/\s?(?:ant)?{_NAME}\s?{_GT}"),
    (
        rf"<{_BAR}\s?(?:(?:begin|start)_(?:of_)?)?{_WORD}(?:_(?:begin|start))?\s?{_BAR}>",
        rf"<{_BAR}\s?(?:(?:/|end_(?:of_)?){_WORD}|{_WORD}_end)\s?{_BAR}>",
    ),
    (rf"\[\s?(?:BEGIN )?{_WORD}\s?\]", rf"\[\s?(?:/|END )\s?{_WORD}\s?\]"),  # Magistral
    (rf"\u25c1\s?{_WORD}\s?\u25b7", rf"\u25c1\s?/\s?{_WORD}\s?\u25b7"),  # Kimi
    (r"<\|channel>\s?thought\b", r"<channel\|>"),  # Gemma 4
    (r"<unused94>", r"<unused95>"),  # MedGemma
    (r"<\|inner_prefix\|>", r"<\|inner_suffix\|>"),  # Apertus
)
_OPENING = "|".join(f"(?P<opens{n}>{opening})" for n, (opening, _) in enumerate(_PAIRS))
_CLOSING = "|".join(f"(?P<closes{n}>{closing})" for n, (_, closing) in enumerate(_PAIRS))

# Harmony (gpt-oss): `<|start|>assistant<|channel|>commentary to=functions.NAME <|constrain|>json<|message|>`. Where the
# special tokens were dropped on the way, the words of the header are left: `analysis...assistantfinal...`.
_HARMONY = (
    r"(?:<\|start\|>\s*\w*\s*(?:to=\S{1,80})?\s*)?<\|channel\|>\s*(?P<channel>\w+)"
    r"(?:[^<\n]{0,120}(?:<\|constrain\|>[^<\n]{0,40})?<\|message\|>)?"
)
_BARE_HARMONY = r"(?<=[^\s{\[(\"'])assistant(?=(?:final|commentary)(?:\s|[A-Z{<]|to=))"
MARK = re.compile(
    rf"(?P<opening>{_OPENING})|(?P<closing>{_CLOSING})|(?P<harmony>{_HARMONY})|(?P<bare>{_BARE_HARMONY})", re.IGNORECASE
)
"""Whatever opens, closes or turns away from thinking."""

_HARMONY_END = re.compile(r"<\|(?:end|return|call|start|channel)\|>")
_SPOKEN = frozenset({"final", "commentary"})
"""Channels of harmony that are said; every other one is thinking."""
_QUOTES = "`\"'"
_BARE_ANALYSIS = re.compile(r"\s*analysis(?![a-z])")


FENCE = re.compile(_WORD, re.IGNORECASE)
"""The language of a fence that holds thinking."""


class Thought(NamedTuple):
    """A stretch of thinking with its marks; it lasts to the end of the text where none ends it."""

    start: int
    end: int


def is_empty(thought: str) -> bool:
    """Whether nothing stands between the marks of a thought."""
    return not MARK.sub("", thought).strip()


def is_named(text: str, mark: re.Match[str]) -> bool:
    """Whether a mark stands between quotes or backticks, and so is spoken of and not used."""
    before, after = text[mark.start() - 1 : mark.start()], text[mark.end() : mark.end() + 1]
    return before == after and before in _QUOTES and bool(before)


def ends_thinking(text: str) -> bool:
    """Whether thinking that began before a text ends in it: the first mark that is used there closes some."""
    first = next((mark for mark in MARK.finditer(text) if not is_named(text, mark)), None)
    return first is not None and first["closing"] is not None


def closes(text: str, mark: re.Match[str]) -> bool:
    """Whether everything before a mark is thinking that the prompt opened, or whose opening was lost."""
    if mark["bare"] is not None:
        return _BARE_ANALYSIS.match(text) is not None
    return mark["closing"] is not None


def thought_at(text: str, mark: re.Match[str]) -> Thought | None:
    """The thinking that a mark opens; None where it opens none.

    Thinking within thinking is a part of it. One that is never closed reaches to the end, also where an inner one was.
    It is closed by marks of its own kind.
    """
    if mark["harmony"] is not None:
        if mark["channel"].lower() in _SPOKEN:
            return None
        ended = _HARMONY_END.search(text, mark.end())
        return Thought(mark.start(), ended.start() if ended else len(text))
    if mark["opening"] is None:
        return None
    kind = next(n for n in range(len(_PAIRS)) if mark[f"opens{n}"] is not None)
    depth = 1
    for found in MARK.finditer(text, mark.end()):
        if is_named(text, found):
            continue
        depth += (found[f"opens{kind}"] is not None) - (found[f"closes{kind}"] is not None)
        if not depth:
            return Thought(mark.start(), found.end())
    return Thought(mark.start(), len(text))


def without_thinking(text: str) -> str:
    """Arguments without thinking that stands before their JSON; what stands within it is data."""
    begins = re.match(r"\s*\{", text)
    if begins:
        return text
    mark = MARK.search(text)
    while mark is not None and (mark["closing"] is not None or not text[: mark.start()].strip()):
        thought = thought_at(text, mark)
        text = text[(thought.end if thought else mark.end()) :].lstrip()
        mark = None if text.startswith("{") else MARK.search(text)
    return text
