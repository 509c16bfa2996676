"""Prints progress on stderr: a live view on a terminal, a line for each event elsewhere, or JSON lines."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from swarmgate.domain.text.printable import escaped
from swarmgate.terminal.screen import deafen

if TYPE_CHECKING:
    from pydantic import BaseModel

    from swarmgate.domain.progress import Listener, Progress


@contextmanager
def listener(*, as_json: bool, plain: bool = False, verbose: bool = False) -> Iterator[Listener]:
    """The listener to hand to `Swarm`; on a terminal a view below the lines shows what is going on now.

    Args:
        as_json: lines of JSON, which have everything.
        plain: nothing is drawn, coloured or wrapped, as where there is no terminal.
        verbose: whole diffs, the output of commands, the words of agents, and gates that passed.
    """
    if as_json:
        yield _json_line_if_read
        return
    from rich.console import Console

    from swarmgate.terminal.live_view import LiveView, PlainLines

    class Stderr(Console):
        def on_broken_pipe(self) -> None:
            """Instead of ending the process, as rich does: nobody reads progress any more, and the work goes on."""
            deafen()

    bare = plain or bool(os.environ.get("NO_COLOR"))
    console = Stderr(stderr=True, highlight=False, markup=False, emoji=False, color_system=None if bare else "auto")
    if plain or not console.is_terminal or console.is_dumb_terminal:
        yield PlainLines(console, verbose=verbose)
        return
    with LiveView(console, verbose=verbose) as view:
        yield view


def json_line(record: BaseModel) -> None:
    """Writes a record to stderr as one line of JSON: progress, or an event of a council's stream."""
    sys.stderr.write(escaped(record.model_dump_json()) + "\n")
    sys.stderr.flush()


def _json_line_if_read(record: Progress) -> None:
    if record.kind == "answer":  # for a live display; the line of the next event has the tokens
        return
    try:
        json_line(record)
    except OSError:
        deafen()
