"""Converts repository paths between git's bytes and a `str` that JSON can hold, without loss.

A path that is valid UTF-8 is itself. Any other (and one that starts with a double quote, which would be ambiguous) is
written as git prints it by default: in double quotes, bytes beyond printable ASCII as three octal digits.
"""

from __future__ import annotations

import re

_ESCAPED = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_PLAIN = frozenset(range(0x20, 0x7F)) - {ord('"'), ord("\\")}


def decode(raw: bytes) -> str:
    """The text form of a path as git gives it."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        text = ""
    if text and not text.startswith('"'):
        return text
    return '"' + "".join(chr(byte) if byte in _PLAIN else f"\\{byte:03o}" for byte in raw) + '"'


def encode(path: str) -> bytes:
    """The bytes of a path in text form; the inverse of `decode`."""
    raw = path.encode(errors="surrogateescape")
    if not (len(raw) > 1 and raw.startswith(b'"') and raw.endswith(b'"')):
        return raw
    return _ESCAPED.sub(lambda m: bytes([int(m[1], 8)]) if m[1].isdigit() else m[1], raw[1:-1])
