"""Joins or replaces lone surrogates in text, which UTF-8 cannot encode."""

from __future__ import annotations

import re

REPLACEMENT = "\ufffd"
"""What stands where no character was, as Unicode has it (U+FFFD)."""

_ESCAPE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # both halves of one character
    r"|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
    r"|\\.",  # `\\ud800` is a backslash and five letters
    re.DOTALL,
)


def whole(text: str) -> str:
    """The text with two halves of a character joined, and U+FFFD in the place of each half that stands alone."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def whole_json(text: str) -> str:
    """The same of a text that is JSON: of its characters, and of those that its escapes spell."""
    text = whole(text)
    if "\\u" not in text:
        return text
    return _ESCAPE.sub(lambda match: "\\ufffd" if match["half"] else match[0], text)
