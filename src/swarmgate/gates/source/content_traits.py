"""Recognises binary, generated and minified files by their content."""

from __future__ import annotations

import re

from swarmgate.gates.project.files import Trait

_PROBE = 8000
"""Bytes in which git looks for a NUL (xdiff-interface.c, FIRST_FEW_BYTES)."""

_HEAD = 2000
"""Bytes at the beginning of a file in which a generator leaves its mark."""

_CONTROLS = bytes(set(range(32)) - {9, 10, 12, 13, 27})
_HIGH = bytes(range(128, 256))
_FEW = 0.05
_MOST = 0.9
_BYTE_ORDER_MARKS = (b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")

# The forms that generators agree on: Go's rule (go.dev/s/generatedcode), Meta's @generated, and the usual sentences.
_GENERATED = re.compile(
    rb"^[^\w\n]{0,10}(?:\bCode generated\b.{0,200}\bDO NOT EDIT\b"
    rb"|@generated\b"
    rb"|.{0,20}\bthis (?:file|code) (?:is|was) auto-?(?:matically )?generated\b"
    rb"|.{0,80}\b(?:auto-?(?:matically )?generated|generated (?:by|from|with))\b"
    rb".{0,200}\bdo not (?:edit|modify|change)\b)",
    re.IGNORECASE | re.MULTILINE,
)
_MINIFIABLE = {"javascript", "css", "html", "json", "xml"}
_MINIFIED_BYTES = 2000
_MINIFIED_WIDTH = 500
_CODE_MARKS = 0.03
_ORDINARY_WIDTH = 200
_ORDINARY_SHARE = 0.02
"""So much of a minified file may stand in ordinary lines that are no comments: a wrapper, a last line."""
_SMALL_BYTES = 20_000
_COMMENTS = re.compile(rb"^[ \t]*(?:/\*.*?\*/|<!--.*?-->|//[^\n]*|<[!?][^\n]*)", re.DOTALL | re.MULTILINE)


def traits(language: str, content: bytes) -> frozenset[Trait]:
    """The traits that a content shows, none for an empty one."""
    found = {
        Trait.GENERATED: bool(_GENERATED.search(content[:_HEAD])),
        Trait.MINIFIED: language in _MINIFIABLE and _minified(content),
    }
    kind = _binary(language, content)
    return frozenset({trait for trait, holds in found.items() if holds} | ({kind} if kind else set()))


def _binary(language: str, content: bytes) -> Trait | None:
    """Binary by git's rule, told apart from text into which NULs were put, or of two bytes a character.

    A file that is code or configuration by its name is run or read as that, whatever its bytes are.
    """
    if b"\0" not in content[:_PROBE]:
        return None
    if language or content.startswith(_BYTE_ORDER_MARKS) or two_bytes_each(content):
        return Trait.NUL
    return Trait.NUL if mostly_text(content) else Trait.BINARY


def two_bytes_each(content: bytes) -> str:
    """The byte order (as Python names it) of a text that looks like UTF-16; empty for none."""
    half = len(content) // 2
    nuls = {"utf-16-le": content[1::2].count(0), "utf-16-be": content[::2].count(0)}
    return next((order for order, count in nuls.items() if half > 1 and count > half * _MOST), "")


def mostly_text(content: bytes) -> bool:
    """Whether a content is text but for its NULs, however many these are."""
    text = content.replace(b"\0", b"")
    controls = len(text) - len(text.translate(None, _CONTROLS))
    return bool(text) and controls <= len(text) * _FEW and _is_text(text)


def _is_text(text: bytes) -> bool:
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        return len(text) - len(text.translate(None, _HIGH)) <= len(text) * _FEW
    return True


def _minified(content: bytes) -> bool:
    """Long lines full of code marks, and hardly any other: prose and data in one long line is not minified.

    One long line beside ordinary ones proves nothing, or it would hide them: in a small file, none may be there.
    """
    if len(content) < _MINIFIED_BYTES or len(content) / (content.count(b"\n") + 1) <= _MINIFIED_WIDTH:
        return False
    marks = len(content) - len(content.translate(None, b"{}();,:="))
    if marks <= len(content) * _CODE_MARKS:
        return False
    ordinary = sum(len(line.strip()) for line in _ordinary(content).split(b"\n"))
    return ordinary <= (0 if len(content) < _SMALL_BYTES else len(content) * _ORDINARY_SHARE)


def _ordinary(content: bytes) -> bytes:
    """The lines of ordinary width without the comments in them."""
    short = b"\n".join(line if len(line) <= _ORDINARY_WIDTH else b"" for line in content.split(b"\n"))
    return _COMMENTS.sub(b"", short)
