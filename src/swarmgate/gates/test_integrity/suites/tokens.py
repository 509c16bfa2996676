"""Splits test source into tokens for comparison, without comments and layout."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Tokens = tuple[str, ...]

_STRINGS = r'(?:[rbfuRBFU]{0,2})(?:"""[\s\S]*?"""|\'\'\'[\s\S]*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')'
_SIGNS = r"===|!==|==|!=|<=|>=|&&|\|\||=>|->|::|:=|\.\.\.|\S"
_WORDS = rf"\d[\w.]*(?<=\d)[eE][+-]\d+|\d[\w]*(?:\.\d\w*)?|\w+!?(?=[(\[{{])|\w+|{_SIGNS}"
_PATTERNS = {
    "python": rf"(?P<comment>#[^\n]*)|{_STRINGS}|{_WORDS}",
    "rust":
        r'(?P<comment>//[^\n]*|/\*[\s\S]*?\*/)|b?r(#*)"[\s\S]*?"\2|b?"(?:\\.|[^"\\])*"|b?\'(?:\\[^\']+|[^\'\\])\''
        rf"|{_WORDS}",
    "": rf"(?P<comment>//[^\n]*|/\*[\s\S]*?\*/)|`(?:\\.|[^`\\])*`|{_STRINGS}|{_WORDS}",
}  # fmt: skip
_COMPILED = {language: re.compile(pattern) for language, pattern in _PATTERNS.items()}
_STRING = re.compile(r"""^[A-Za-z]{0,2}#*(["'`])""")
_NUMBER = re.compile(r"^-?\d")
_OPENING = {"(": ")", "[": "]", "{": "}"}
_CLOSING = frozenset(_OPENING.values())
_NEGLIGIBLE = frozenset({";", ","})


def tokens(text: str, language: str) -> Tokens:
    """The tokens of a text; strings in one spelling of their quotes, commas before a closing bracket left out."""
    pattern = _COMPILED.get(language, _COMPILED[""])
    found = [_plain(match[0]) for match in pattern.finditer(text) if not match["comment"]]
    return tuple(
        each
        for number, each in enumerate(found)
        if each != ";" and not (each == "," and found[number + 1 : number + 2] and found[number + 1] in _CLOSING)
    )


def _plain(token: str) -> str:
    if _STRING.match(token) and token[-1:] == "'" and '"' not in token:
        return token.replace("'", '"')
    return token


def is_text(token: str) -> bool:
    """Whether a token is a string."""
    return bool(_STRING.match(token))


def is_number(token: str) -> bool:
    """Whether a token is a number."""
    return bool(_NUMBER.match(token))


def is_literal(found: Sequence[str]) -> bool:
    """Whether tokens hold nothing but values: strings, numbers, constants, and the brackets of collections."""
    return bool(found) and all(
        is_text(each)
        or is_number(each)
        or not (each[0].isalpha() or each[0] == "_")
        or each in CONSTANTS
        for each in found
    ) and any(is_text(each) or is_number(each) or each in CONSTANTS or each in _OPENING for each in found)  # fmt: skip


CONSTANTS = frozenset(
    {"True", "False", "None", "true", "false", "null", "nil", "undefined", "NaN", "inf", "Some", "Ok", "Err"}
)


def split(found: Sequence[str], *separators: str) -> list[Tokens]:
    """The parts between separators that stand outside of every bracket."""
    parts: list[list[str]] = [[]]
    depth = 0
    for each in found:
        if each in _OPENING:
            depth += 1
        elif each in _CLOSING:
            depth -= 1
        if depth == 0 and each in separators:
            parts.append([])
        else:
            parts[-1].append(each)
    return [tuple(part) for part in parts]


def bare(found: Sequence[str]) -> Tokens:
    """The tokens without brackets around the whole."""
    inner = tuple(found)
    while len(inner) > 1 and inner[0] == "(" and closing(inner) == len(inner) - 1 and len(split(inner[1:-1], ",")) == 1:
        inner = inner[1:-1]
    return inner


def closing(found: Sequence[str], start: int = 0) -> int:
    """The index of the bracket that closes the one at `start`; the length for none."""
    depth = 0
    for number in range(start, len(found)):
        depth += (found[number] in _OPENING) - (found[number] in _CLOSING)
        if depth == 0:
            return number
    return len(found)


def calls(found: Sequence[str]) -> Iterator[tuple[str, Tokens]]:
    """Each call: its name and the tokens of its arguments."""
    for number in range(len(found) - 1):
        if found[number + 1] == "(" and re.match(r"[A-Za-z_$]", found[number]):
            end = closing(found, number + 1)
            yield found[number], tuple(found[number + 2 : end])


def words(found: Sequence[str]) -> frozenset[str]:
    """The names among tokens, and the words of their strings."""
    return frozenset(word for each in found for word in re.findall(r"[A-Za-z_]\w{2,}", each))
