"""Shows the newest words of an answer that still arrives: what was said, or the call that is being written."""

from __future__ import annotations

import re
from collections.abc import Sequence

_CHARACTERS = 4_000
"""As many are shown: more than fits on a screen."""

_ESCAPES = {"\\n": "\n", "\\t": "    ", '\\"': '"'}
"""What JSON makes of characters that arguments are full of."""

_CUT_WORD = re.compile(r"\A\S*\s")


def newest_words(parts: Sequence[str]) -> str:
    """The end of a text that arrived in parts, in whole words: half of a key would not be known for one."""
    found: list[str] = []
    size = 0
    for part in reversed(parts):
        if size > _CHARACTERS:
            break
        found.append(part)
        size += len(part)
    text = "".join(reversed(found))
    if size > _CHARACTERS:
        text = _CUT_WORD.sub("", text[-_CHARACTERS:])
    return text[: len(text) - len(text.split()[-1])] if text.strip() and not text[-1].isspace() else text


def newest_of_call(name: str, arguments: Sequence[str]) -> str:
    """The same of a call: its name, and its arguments as they would be read."""
    written = newest_words(arguments)
    for escape, meant in _ESCAPES.items():
        written = written.replace(escape, meant)
    return f"{name} {written}"
