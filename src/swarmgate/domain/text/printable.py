"""Replaces control and bidirectional characters in untrusted text for terminals and pages."""

from __future__ import annotations

import re

# C0 less tab and newline, DEL and C1: they drive a terminal. U+202A-U+202E and U+2066-U+2069 turn the order of what
# is read around ("Trojan Source", CVE-2021-42574). U+2028 and U+2029 end a line where none ends. Halves of characters
# come from names that are no UTF-8: no stream takes them.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """The text with U+FFFD in the place of each such character."""
    return _UNPRINTABLE.sub("\ufffd", text)


def escaped(text: str) -> str:
    """JSON with each such character written as an escape of four digits: the same value, and harmless to look at.

    Half of a character is no value that JSON can pass on, and becomes U+FFFD.
    """
    return _UNPRINTABLE.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    half = "\ud800" <= match[0] <= "\udfff"
    return "\\ufffd" if half else f"\\u{ord(match[0]):04x}"
