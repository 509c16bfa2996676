"""Extracts the comments of a source file with a small lexer that knows strings from comments."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_SLASH = (
    "c cpp csharp css dart go groovy java javascript jsonc kotlin less php protobuf rust scala scss swift "
    "typescript zig"
)
_HASH = "bash cmake dockerfile elixir ini makefile perl php powershell r ruby terraform toml yaml"
_DASH = "sql lua haskell"
_MARKUP = "html xml vue svelte"

# Bounded and possessive: a lexer must stay linear on whatever a file holds.
_DOUBLE, _SINGLE = r'"(?:\\.|[^"\\\n]){0,1000}+"', r"'(?:\\.|[^'\\\n]){0,1000}+'"
# Python's end at the line's end if nothing else ends them: every start is used up, so this is linear too.
_DOUBLE_LINES, _SINGLE_LINES = r'"(?:\\[\s\S]|[^"\\\n])*+(?:"|$|\Z)', r"'(?:\\[\s\S]|[^'\\\n])*+(?:'|$|\Z)"
_TRIPLE = r"(?P<triple>\"{3}|'{3})(?:\\[\s\S]|[^\\])*?(?:(?P=triple)|\Z)"
_BACKTICK = r"`(?:\\.|[^`\\]){0,5000}+`"
_CHARACTER = r"'(?:\\.|[^'\\\n])'"  # Rust's lifetimes and Haskell's primes are no strings


@dataclass(frozen=True, slots=True)
class Remark:
    """One line of a comment or docstring.

    `whole` when nothing but comment stands on the line, `alone` when its neighbours are not such lines either.
    """

    line: int
    text: str
    docstring: bool = False
    alone: bool = False
    whole: bool = False


def languages() -> frozenset[str]:
    """The languages whose comments this module can extract."""
    return frozenset(f"python {_SLASH} {_HASH} {_DASH} {_MARKUP}".split())


def of(language: str, text: str) -> list[Remark]:
    """The comments of a text in one of `languages()`, line by line."""
    return remarks(_lexed(language, text), text)


def without(language: str, text: str) -> str:
    """The text with its comments replaced by blanks; unchanged for unknown languages."""
    if language not in languages():
        return text
    parts, position = [], 0
    for match in _lexer(language).finditer(text):
        if match.lastgroup == "comment":
            parts += [text[position : match.start()], re.sub(r"[^\n]", " ", match.group())]
            position = match.end()
    return "".join([*parts, text[position:]])


def remarks(spans: Iterable[tuple[int, str]], text: str) -> list[Remark]:
    """Comments, each with its first line and its marks, as they stand in a text; line by line, without the marks."""
    lines = text.split("\n")
    found = [
        (line, body, lines[line - 1].strip(" \t{}") == raw.strip(" \t{}"))
        for first, comment in spans
        for line, (raw, body) in enumerate(_split(comment), first)
    ]
    whole = {line for line, _, alone in found if alone}
    return [
        Remark(line, body, alone=alone and not {line - 1, line + 1} & whole, whole=alone)
        for line, body, alone in found
        if body
    ]


def paragraphs(remarks: Iterable[Remark]) -> Iterator[list[Remark]]:
    """Group remarks on consecutive lines of their own into paragraphs."""
    block: list[Remark] = []
    for remark in remarks:
        follows = block and remark.line == block[-1].line + 1 and remark.docstring == block[-1].docstring
        if not (follows and (remark.docstring or (remark.whole and block[-1].whole))):
            if block:
                yield block
            block = []
        block.append(remark)
    if block:
        yield block


def _lexed(language: str, text: str) -> Iterator[tuple[int, str]]:
    line, position = 1, 0
    for match in _lexer(language).finditer(text):
        line += text.count("\n", position, match.start())
        position = match.start()
        if match.lastgroup == "comment":
            yield line, match.group()


def _split(comment: str) -> Iterator[tuple[str, str]]:
    for raw in comment.split("\n"):
        yield (
            raw,
            raw.strip().lstrip("#/*<!-").removesuffix("*/").removesuffix("-->").strip().removesuffix("]]").strip(),
        )


@functools.cache
def _lexer(language: str) -> re.Pattern[str]:
    if language == "python":
        # `tokenize` reads the same comments, at five times the cost of parsing the file.
        return re.compile(rf"(?P<comment>#[^\n]*)|{_TRIPLE}|{_DOUBLE_LINES}|{_SINGLE_LINES}", re.MULTILINE)
    strings, marks = [_DOUBLE], []
    if language in _SLASH.split():
        marks += [r"/\*[\s\S]*?(?:\*/|\Z)"] + ([r"//[^\n]*"] if language != "css" else [])
        strings.append(_CHARACTER if language in {"rust", "zig"} else _SINGLE)
        strings += [_BACKTICK] if language in {"javascript", "typescript", "go"} else []
    if language in _HASH.split():
        marks.append(r"(?<![^\s;])#[^\n]*")
        strings.append(_SINGLE)
    if language in _DASH.split():
        marks += [r"--\[\[[\s\S]*?(?:\]\]|\Z)"] if language == "lua" else []
        marks += [r"--[^\n]*"] + ([r"/\*[\s\S]*?(?:\*/|\Z)"] if language == "sql" else [])
        strings.append(_CHARACTER if language == "haskell" else _SINGLE)
    if language in _MARKUP.split():
        marks, strings = [r"<!--[\s\S]*?(?:-->|\Z)"], []
    return re.compile("|".join([f"(?P<comment>{'|'.join(marks)})", *strings]))
