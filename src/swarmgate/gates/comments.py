"""Comments of a source file: Python by `tokenize`, others by a small lexer that knows strings from comments."""

from __future__ import annotations

import ast
import functools
import io
import re
import tokenize
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_SLASH = (
    "c cpp csharp css dart go groovy java javascript jsonc kotlin less php protobuf rust scala scss swift "
    "typescript zig"
)
_HASH = "bash cmake dockerfile elixir ini makefile perl php powershell r ruby terraform toml yaml"
_DASH = "sql lua haskell"
_MARKUP = "html xml vue svelte"

# Bounded and possessive: a lexer must stay linear on whatever a file holds.
_DOUBLE, _SINGLE = r'"(?:\\.|[^"\\\n]){0,1000}+"', r"'(?:\\.|[^'\\\n]){0,1000}+'"
_BACKTICK = r"`(?:\\.|[^`\\]){0,5000}+`"
_CHARACTER = r"'(?:\\.|[^'\\\n])'"  # Rust's lifetimes and Haskell's primes are no strings


@dataclass(frozen=True, slots=True)
class Remark:
    """One line of a comment or docstring. `alone` when nothing but comment stands on the line and on its neighbours."""

    line: int
    text: str
    docstring: bool = False
    alone: bool = False


def languages() -> frozenset[str]:
    """The languages whose comments are known here."""
    return frozenset(f"python {_SLASH} {_HASH} {_DASH} {_MARKUP}".split())


def of(language: str, text: str) -> list[Remark]:
    """The comments of a text in one of `languages()`, line by line. Python's docstrings: see `docstrings`."""
    spans = _python(text) if language == "python" else _lexed(language, text)
    lines = text.split("\n")
    remarks = [
        (line, body, lines[line - 1].strip() == raw.strip())
        for first, comment in spans
        for line, (raw, body) in enumerate(_split(comment), first)
    ]
    whole = {line for line, _, alone in remarks if alone}
    return [
        Remark(line, body, alone=alone and not {line - 1, line + 1} & whole) for line, body, alone in remarks if body
    ]


def docstrings(tree: ast.Module) -> list[Remark]:
    """The lines of every docstring."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            first = node.body[0]
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                # A continued or escaped line break shifts later lines by one: near enough for a place.
                lines = enumerate(first.value.value.split("\n"), first.lineno)
                found += [Remark(line, text.strip(), docstring=True) for line, text in lines if text.strip()]
    return found


def _python(text: str) -> Iterator[tuple[int, str]]:
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string
    except (tokenize.TokenError, SyntaxError):
        return  # what stood before the break counts; the syntax gate names the break


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
