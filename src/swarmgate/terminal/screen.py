"""Lays out text for the width and the colours of a stream."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, TextIO

from swarmgate.domain.text.printable import printable
from swarmgate.domain.text.screen import PIPE, Screen, wrapped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from swarmgate.domain.text.screen import Piece

_MARK = re.compile(r"(?P<indent> *)(?P<word>[A-Za-z]+)(?P<gap> {2,})")
_MARKS = {
    "ok": "green", "PASS": "green", "FAIL": "bold red", "MISS": "bold red", "ERROR": "bold magenta", "WARN": "yellow",
    "skip": "dim", "SKIP": "dim",
}  # fmt: skip
"""What a line of a check begins with, as the word and two blanks."""


def screen(stream: TextIO | None = None) -> Screen:
    """As wide as the terminal, and coloured unless NO_COLOR is set; a pipe is neither, but where FORCE_COLOR is set.

    `stream` is stdout where none is named.
    """
    stream = stream or sys.stdout
    terminal = stream.isatty()
    if not (terminal or os.environ.get("FORCE_COLOR")):
        return PIPE
    from rich.console import Console
    from rich.text import Text

    console = Console(file=stream, highlight=False)
    width = console.width if terminal else 0
    if os.environ.get("NO_COLOR"):  # rich would keep weights, which are escapes all the same
        return Screen(width)

    def painted(pieces: Sequence[Piece]) -> str:
        with console.capture() as captured:
            console.print(Text.assemble(*pieces), soft_wrap=True, end="")
        return captured.get().rstrip()

    return Screen(width, painted)


def laid_out(lines: Sequence[str], stream: TextIO | None = None) -> Iterator[str]:
    """The lines as the stream shows them: wrapped between words, and with colour where they say how a check ended.

    What steers a terminal, or turns the order of letters around, does not get through.
    """
    there = screen(stream)
    for line in (each for text in lines for each in printable(text).split("\n")):
        if there is PIPE:
            yield line
            continue
        mark = _MARK.match(line)
        style = _MARKS.get(mark["word"], "") if mark else ""
        pieces = [(mark[0], style), (line[mark.end() :], "")] if mark and style else [(line, "")]
        hang = len(mark[0]) if mark and style else len(line) - len(line.lstrip()) + 2
        yield from map(there.paint, wrapped(pieces, there.width, hang))


def deafen() -> None:
    """From now on stderr leads nowhere: whoever read it went away (`swarm run 2>&1 | head`), or its disk is full."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
