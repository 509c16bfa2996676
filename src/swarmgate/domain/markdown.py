"""Words of people and models inside of our own markdown pages: they stay words, and make no heading, link or mark."""

from __future__ import annotations

import re

from swarmgate.domain.printable import printable

_ACTIVE = re.compile(r"[\\`*\[\]<|~]|(?<![^\W_])_|_(?![^\W_])")
"""What marks something inside of a line; an underscore inside of a word marks nothing."""

_OPENS = re.compile(r"^(\d{0,9})([#>+=-]|(?<=\d)[.)])")
"""What makes the beginning of a line a heading, a quotation, a list or a rule."""


def inline(text: str, most: int = 300) -> str:
    """The text on one line, cut to `most` characters of its own; harmless anywhere in a page."""
    line = " ".join(printable(text).split())
    line = line if len(line) <= most else f"{line[: most - 3]}..."
    return _OPENS.sub(r"\1\\\2", _ACTIVE.sub(r"\\\g<0>", line))


def prose(text: str, most: int = 40) -> list[str]:
    """The text as quoted lines, at most so many, each made harmless."""
    lines = [line for line in text.splitlines() if line.strip()]
    shown = [f"> {inline(line, 1_000)}" for line in lines[:most]]
    return [*shown, f"> ... ({len(lines) - most} more lines)"] if len(lines) > most else shown


def code(text: str) -> str:
    """A path or command between as many backticks as it takes for its own to stay what they are."""
    line = " ".join(printable(text).split())
    longest = max((len(run) for run in re.findall(r"`+", line)), default=0)
    pad = " " if longest else ""
    return f"{'`' * (longest + 1)}{pad}{line}{pad}{'`' * (longest + 1)}"
