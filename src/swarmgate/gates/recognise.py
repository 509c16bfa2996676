"""What the content of a file tells of it: binary, generated, minified."""

from __future__ import annotations

import re

from swarmgate.gates.files import Trait

_PROBE = 8000
"""Bytes in which git looks for a NUL (xdiff-interface.c, FIRST_FEW_BYTES)."""

_HEAD = 2000
"""Bytes at the beginning of a file in which a generator leaves its mark."""

_CONTROLS = bytes(set(range(32)) - {9, 10, 12, 13, 27})
_HIGH = bytes(range(128, 256))
_FEW = 0.05
_TEXT = 0.7
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


def traits(language: str, content: bytes) -> frozenset[Trait]:
    """The traits that a content shows, none for an empty one."""
    found = {
        Trait.GENERATED: bool(_GENERATED.search(content[:_HEAD])),
        Trait.MINIFIED: language in _MINIFIABLE and _minified(content),
    }
    kind = _binary(content[:_PROBE])
    return frozenset({trait for trait, holds in found.items() if holds} | ({kind} if kind else set()))


def _binary(head: bytes) -> Trait | None:
    """Binary by git's rule, told apart from text into which a NUL was put, or of two bytes a character."""
    if b"\0" not in head:
        return None
    if head.startswith(_BYTE_ORDER_MARKS) or _two_bytes_each(head):
        return Trait.NUL
    text = head.replace(b"\0", b"")
    controls = len(text) - len(text.translate(None, _CONTROLS))
    likely = len(text) > len(head) * _TEXT and controls <= len(text) * _FEW and _is_text(text)
    return Trait.NUL if likely else Trait.BINARY


def _two_bytes_each(head: bytes) -> bool:
    """Whether every other byte is NUL, as in UTF-16 of a western language."""
    half = len(head) // 2
    return half > 1 and max(head[::2].count(0), head[1::2].count(0)) > half * 0.9


def _is_text(text: bytes) -> bool:
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        return len(text) - len(text.translate(None, _HIGH)) <= len(text) * _FEW
    return True


def _minified(content: bytes) -> bool:
    """Long lines full of code marks: prose and data in one long line is not minified."""
    if len(content) < _MINIFIED_BYTES:
        return False
    head = content[:200_000]
    marks = len(head) - len(head.translate(None, b"{}();,:="))
    return len(head) / (head.count(b"\n") + 1) > _MINIFIED_WIDTH and marks > len(head) * _CODE_MARKS
