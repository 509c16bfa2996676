"""Renders Markdown in which text from models is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from swarmgate.domain.text.markdown import inert, line
from swarmgate.domain.text.printable import printable

_OPENS = re.compile(r"^(\d*)([#>+=-]|(?<=\d)[.)])(?=[\s#>+=-]|$)")
"""What makes the beginning of an item a heading, a quotation, a list or a rule."""

_HEADING = re.compile(r"^#|^([-=*_])(?=[ \t]*(?:\1[ \t]*)+$)|^=")


def quote(text: str) -> str:
    """A text of several lines as a quotation. Paragraphs, lists and emphasis stay, headings and rules do not."""
    return "\n".join(f"> {each}".rstrip() for each in map(_quoted_line, printable(text).splitlines()))


def _quoted_line(text: str) -> str:
    body = text.lstrip()
    indent = " " * min(len(text) - len(body), 3)
    return indent + _HEADING.sub(r"\\\g<0>", inert(body.rstrip(), emphasis=True))


def _closed(found: re.Match[str]) -> str:
    return rf"{found[1]}\{found[2]}"


def item(text: str, cites: Sequence[str] = (), *more: str) -> str:
    """An item of a list with the ids that it rests on; `more` are items below it, markdown already."""
    rests_on = f" [{line(', '.join(cites))}]" if cites else ""
    return "\n".join((f"- {_OPENS.sub(_closed, line(text))}{rests_on}", *(f"  - {each}" for each in more)))


def section(title: str, lines: Iterable[str], *, level: int = 2) -> Iterator[str]:
    """A heading of ours with what is below it; nothing where there is nothing."""
    body = list(filter(None, lines))
    if body:
        yield f"{'#' * level} {title}\n"
        yield "\n".join(body) + "\n"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table; cells are texts or numbers, escaped here."""
    text_rows = [head, ["---"] * len(head), *([line(str(cell)) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(row)} |" for row in text_rows)
