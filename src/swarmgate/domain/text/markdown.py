"""Escapes untrusted text for markdown pages, so that it makes no heading, link or markup.

An address of the web stays text too, where a viewer would make a link of it by itself.
"""

from __future__ import annotations

import re

from swarmgate.domain.text.printable import printable

_ACTIVE = r"[\\`\[\]<|~&]|(?<=\w):(?=//)|(?<=[wW]{3})\."
"""What marks something inside of a line, emphasis aside: code, links, HTML, cells, entities, addresses."""

_MARKS = re.compile(_ACTIVE)
_MARKS_AND_EMPHASIS = re.compile(rf"{_ACTIVE}|\*|(?<![^\W_])_|_(?![^\W_])")
"""An underscore inside of a word marks nothing."""

_OPENS = re.compile(r"^(\d{0,9})([#>+=-]|(?<=\d)[.)])")
"""What makes the beginning of a line a heading, a quotation, a list or a rule."""


def inert(text: str, *, emphasis: bool = False) -> str:
    """The text with what marks something inside of a line escaped; `emphasis` may stay."""
    return (_MARKS if emphasis else _MARKS_AND_EMPHASIS).sub(r"\\\g<0>", text)


def line(text: str) -> str:
    """The text on one line, harmless behind words of ours: what begins a line with it may still open something."""
    return inert(" ".join(printable(text).split()))


def inline(text: str, most: int = 300) -> str:
    """The text on one line, cut to `most` characters of its own; harmless anywhere in a page."""
    rendered = " ".join(printable(text).split())
    rendered = rendered if len(rendered) <= most else f"{rendered[: most - 3]}..."
    return _OPENS.sub(r"\1\\\2", inert(rendered))


def prose(text: str, most: int = 40) -> list[str]:
    """The text as quoted lines, at most so many, each made harmless."""
    lines = [line for line in text.splitlines() if line.strip()]
    visible = [f"> {inline(line, 1_000)}" for line in lines[:most]]
    return [*visible, f"> ... ({len(lines) - most} more lines)"] if len(lines) > most else visible


def code(text: str) -> str:
    """A path or command between as many backticks as it takes for its own to stay what they are."""
    rendered = " ".join(printable(text).split())
    longest = max((len(run) for run in re.findall(r"`+", rendered)), default=0)
    pad = " " if longest else ""
    return f"{'`' * (longest + 1)}{pad}{rendered}{pad}{'`' * (longest + 1)}"
