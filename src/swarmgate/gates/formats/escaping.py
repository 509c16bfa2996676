"""Escapes control characters in text from outside, so that it cannot act on a terminal, a log or a CI runner."""

from __future__ import annotations

import re

_ACTIVE = re.compile("[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
_OLD_COMMAND = "##["
"""GitHub's runner takes `##[error]` for a command wherever it stands in a line, and `::error::` at its beginning."""


def flat(text: str) -> str:
    """The text on one line: control characters as their escapes, and nothing that a CI runner takes for a command."""
    line = visible(text)
    start = len(line) - len(line.lstrip())
    return rf"{line[:start]}\x3a{line[start + 1 :]}" if line.startswith("::", start) else line


def visible(text: str) -> str:
    """The text as a later part of a line: as `flat`, but for what only the beginning of a line means."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text).replace(_OLD_COMMAND, r"##\[")


def in_json(document: str) -> str:
    """A JSON document with the same meaning, in which no string acts on a terminal or a CI runner."""
    escaped = _ACTIVE.sub(lambda match: f"\\u{ord(match[0]):04x}", document)
    return escaped.replace(_OLD_COMMAND, r"##\u005b")
