"""Lexers that find the brackets of a file outside of comments and strings, one for each language.

A grammar that meets syntax newer than itself gives up on the whole file; these few lines a language still tell
whether its brackets match. Every pattern is linear: what does not end takes the rest of the line or file with it.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator


class Mark(NamedTuple):
    """A bracket, or the beginning of a string or comment that never ends."""

    offset: int
    text: bytes


class _Lexicon(NamedTuple):
    skip: tuple[bytes, ...]
    dangling: tuple[bytes, ...] = ()
    nested: tuple[bytes, bytes] | None = None
    preprocessor: bool = False


_SLASHES = rb"//(?:[^\\\n]|\\[\s\S])*+"
_SLASHES_PLAIN = rb"//[^\n]*+"
_HASH = rb"#[^\n]*+"
_STARS = rb"/\*[\s\S]*?\*/"
_STARS_OPEN = rb"/\*[\s\S]*+"
_DOUBLE = rb'"[^"\\\n]*+(?:\\[\s\S][^"\\\n]*+)*+"'
_SINGLE = rb"'[^'\\\n]*+(?:\\[\s\S][^'\\\n]*+)*+'"
_DOUBLE_OPEN, _SINGLE_OPEN = rb'"[^\n]*+', rb"'[^\n]*+"
_DOUBLE_LINES = rb'"[^"\\]*+(?:\\[\s\S][^"\\]*+)*+"'
_SINGLE_LINES = rb"'[^'\\]*+(?:\\[\s\S][^'\\]*+)*+'"
_TRIPLE_DOUBLE, _TRIPLE_SINGLE = rb'"""(?:[^\\]|\\[\s\S])*?"""', rb"'''(?:[^\\]|\\[\s\S])*?'''"
_TRIPLE_RAW = rb'"""[\s\S]*?"""+'
_TRIPLE_OPEN = rb'"""[\s\S]*+'
# A character: never more than one letter or one escape, so that apostrophes elsewhere do no harm.
_CHARACTER = rb"'(?:[^'\\\n]{1,4}|\\[^\n][^'\n]{0,10})'"
_BACKTICK = rb"`[^`\n]*+`"
_C_STRINGS = (_SLASHES, _STARS, rb'R"(?P<raw>[^()\\\s]{0,16})\([\s\S]*?\)(?P=raw)"', _DOUBLE,
              rb"(?<![0-9a-fA-F])'[^'\\\n]*+(?:\\[\s\S][^'\\\n]*+)*+'")  # fmt: skip
_CSS = (_STARS, rb"url\(\s*[^\"'()\s][^()\n]*+\)", _DOUBLE, _SINGLE)

MYSQL = "sql with backslashes"
"""A second lexer for SQL: in MySQL a backslash escapes a quote, in standard SQL it is a letter."""

_LEXICONS = {
    "c": _Lexicon(_C_STRINGS, (_STARS_OPEN,), preprocessor=True),
    "cpp": _Lexicon(_C_STRINGS, (_STARS_OPEN,), preprocessor=True),
    "csharp": _Lexicon(
        (_SLASHES_PLAIN, _STARS, rb'(?P<raw>"{3,})[\s\S]*?(?P=raw)(?!")', rb'(?:@\$?|\$@)"(?:[^"]|"")*+"', _DOUBLE,
         _CHARACTER, rb"(?m:^[ \t]*+#(?:region|endregion|error|warning|pragma)[^\n]*+)"),
        (_STARS_OPEN, _DOUBLE_OPEN), preprocessor=True),
    "css": _Lexicon(_CSS, (_STARS_OPEN, _DOUBLE_OPEN, _SINGLE_OPEN)),
    "dart": _Lexicon(
        (_SLASHES_PLAIN, rb'r"""[\s\S]*?"""', rb"r'''[\s\S]*?'''", rb'\br"[^"\n]*+"', rb"\br'[^'\n]*+'",
         _TRIPLE_DOUBLE, _TRIPLE_SINGLE, _DOUBLE, _SINGLE),
        (_TRIPLE_OPEN, rb"'''[\s\S]*+", _DOUBLE_OPEN, _SINGLE_OPEN), nested=(b"/*", b"*/")),
    "groovy": _Lexicon(
        (_SLASHES_PLAIN, _STARS, _TRIPLE_DOUBLE, _TRIPLE_SINGLE, rb"\$/[\s\S]*?/\$", _DOUBLE, _SINGLE,
         rb"(?<=[=(,~:])[ ]*+/(?![/* ])(?:[^/\\\n]|\\.)++/", rb"\A#![^\n]*+"),
        (_STARS_OPEN, _TRIPLE_OPEN, rb"'''[\s\S]*+", _DOUBLE_OPEN, _SINGLE_OPEN)),
    "haskell": _Lexicon(
        (rb"(?<![!#$%&*+./<=>?@\\^|~:-])--+(?![!#$%&*+./<=>?@\\^|~:])[^\n]*+", _DOUBLE_LINES,
         rb"(?<![\w'])'(?:[^'\\\n]{1,4}|\\[^\n][^'\n]{0,10})'", rb"\[[\w.]*+\|[\s\S]{0,20000}?\|\]",
         rb"(?m:^#[^\n]*+)"),
        (rb'"[\s\S]*+',), nested=(b"{-", b"-}")),
    "kotlin": _Lexicon(
        (_SLASHES_PLAIN, _TRIPLE_RAW, _DOUBLE, _CHARACTER, _BACKTICK, rb"\A#![^\n]*+"),
        (_TRIPLE_OPEN, _DOUBLE_OPEN), nested=(b"/*", b"*/")),
    "less": _Lexicon((_SLASHES_PLAIN, *_CSS, rb"~?`[^`]*+`"), (_STARS_OPEN, _DOUBLE_OPEN, _SINGLE_OPEN)),
    "protobuf": _Lexicon((_SLASHES_PLAIN, _STARS, _DOUBLE, _SINGLE), (_STARS_OPEN, _DOUBLE_OPEN, _SINGLE_OPEN)),
    "powershell": _Lexicon(
        (rb"<\#[\s\S]*?\#>", rb"(?<![\w`$-])\#[^\n]*+",
         rb'@"[^\S\n]*\r?\n[\s\S]*?\n"@', rb"@'[^\S\n]*\r?\n[\s\S]*?\n'@",
         rb'"(?:[^"`]|`[\s\S]|"")*+"', rb"'(?:[^']|'')*+'", rb"`[\s\S]"),
        (rb"<\#[\s\S]*+", rb"@[\"'][^\S\n]*\r?\n[\s\S]*+", rb'"[\s\S]*+', rb"'[\s\S]*+")),
    "scala": _Lexicon(
        (_SLASHES_PLAIN, _TRIPLE_RAW, _DOUBLE, _CHARACTER, _BACKTICK, rb"\A#![^\n]*+"),
        (_TRIPLE_OPEN, _DOUBLE_OPEN), nested=(b"/*", b"*/")),
    "scss": _Lexicon((_SLASHES_PLAIN, *_CSS), (_STARS_OPEN, _DOUBLE_OPEN, _SINGLE_OPEN)),
    "sql": _Lexicon(
        (rb"--[^\n]*+", rb"(?m:^\#[^\n]*+)",
         rb"(?mi:^COPY [^\n]*FROM stdin[^\n]*;\r?\n(?>(?:(?!\\\.)[^\n]*\n)*))",
         rb"[qQ]'\[[\s\S]*?\]'", _STARS, rb"\$(?P<tag>\w*+)\$[\s\S]*?\$(?P=tag)\$", rb"[eE]'(?:[^'\\]|\\[\s\S]|'')*+'",
         rb"'(?:[^']|'')*+'", rb'"(?:[^"]|"")*+"', rb"`[^`]*+`"),
        (_STARS_OPEN, rb"'[\s\S]*+", rb'"[\s\S]*+')),
    MYSQL: _Lexicon(
        (rb"--[^\n]*+", rb"\#[^\n]*+", _STARS, _SINGLE_LINES, _DOUBLE_LINES, rb"`[^`]*+`"),
        (_STARS_OPEN, rb"'[\s\S]*+", rb'"[\s\S]*+')),
    "swift": _Lexicon(
        (_SLASHES_PLAIN, rb'(?P<hash>#+)"(?:""[\s\S]*?"""|[^\n]*?")(?P=hash)', _TRIPLE_DOUBLE, _DOUBLE, _BACKTICK,
         rb"(?<=[=(,:])[ ]*+/(?![/* ])(?:[^/\\\n]|\\.)++/"),
        (_TRIPLE_OPEN, _DOUBLE_OPEN), nested=(b"/*", b"*/")),
    "zig": _Lexicon((_SLASHES_PLAIN, rb"\\\\[^\n]*+", _DOUBLE, _CHARACTER), (_DOUBLE_OPEN,)),
}  # fmt: skip


def known(language: str) -> bool:
    """Whether there is a lexer for the language."""
    return language in _LEXICONS


def languages() -> frozenset[str]:
    """Every language that has a lexer."""
    return frozenset(_LEXICONS) - {MYSQL}


def preprocessed(language: str) -> bool:
    """Whether `#if` may cut the brackets of the language."""
    return _LEXICONS[language].preprocessor


def marks(language: str, content: bytes) -> Iterator[Mark]:
    """The brackets outside of strings and comments, in order, and the strings and comments that do not end."""
    lexicon, pattern = _LEXICONS[language], _pattern(language)
    position = 0
    while match := pattern.search(content, position):
        position = match.end()
        if match.lastgroup == "nested" and lexicon.nested:
            position = _after_nested(content, match.start(), lexicon.nested)
            if position < 0:
                yield Mark(match.start(), lexicon.nested[0])
                return
        elif match["mark"] is not None:
            yield Mark(match.start(), match["mark"])
        elif match["dangling"] is not None:
            yield Mark(
                match.start(),
                match["dangling"][:3]
                if match["dangling"][:1] * 3 == match["dangling"][:3]
                else match["dangling"][:2]
                if match["dangling"][:1] in b"/<"
                else match["dangling"][:1],
            )


def _after_nested(content: bytes, start: int, pair: tuple[bytes, bytes]) -> int:
    depth, position = 0, start
    for match in _either(pair).finditer(content, start):
        depth += 1 if match[0] == pair[0] else -1
        position = match.end()
        if depth == 0:
            return position
    return -1


@cache
def _either(pair: tuple[bytes, bytes]) -> re.Pattern[bytes]:
    return re.compile(b"|".join(re.escape(each) for each in pair))


@cache
def _pattern(language: str) -> re.Pattern[bytes]:
    lexicon = _LEXICONS[language]
    parts = [b"(?P<mark>[()\\[\\]{}])"]
    if lexicon.nested:
        parts.append(b"(?P<nested>" + re.escape(lexicon.nested[0]) + b")")
    parts = [b"(?:" + b"|".join(lexicon.skip) + b")", *parts]
    parts.append(b"(?P<dangling>" + (b"|".join(lexicon.dangling) or b"(?!)") + b")")
    if lexicon.nested and lexicon.nested[0] == b"{-":  # before the bracket that it begins with
        parts[1], parts[2] = parts[2], parts[1]
    return re.compile(b"|".join(parts))
