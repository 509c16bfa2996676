"""Prints live progress on stderr: one line an event with time, tokens and cost, or the same as JSON lines."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from swarmgate.domain.text.printable import escaped, printable

if TYPE_CHECKING:
    from pydantic import BaseModel
    from rich.console import Console
    from rich.status import Status
    from rich.text import Text

    from swarmgate.domain.progress import Listener, Progress


@contextmanager
def listener(*, as_json: bool) -> Iterator[Listener]:
    """The listener to hand to `Swarm`; on a terminal a status line follows what is going on now."""
    if as_json:
        yield _json_line_if_read
        return
    from rich.console import Console

    class Stderr(Console):
        def on_broken_pipe(self) -> None:
            """Instead of ending the process, as rich does: nobody reads progress any more, and the work goes on."""
            _deafen()

    console = Stderr(stderr=True, highlight=False, soft_wrap=True)
    if not console.is_terminal:
        yield _Printer(console, None)
        return
    with console.status("") as status:
        yield _Printer(console, status)


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
        _deafen()


def _deafen() -> None:
    """From now on stderr leads nowhere: whoever read it went away (`swarm run 2>&1 | head`), or its disk is full."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


class _Countdown:
    """What is waited for, and how long still; drawn anew with every turn of the spinner."""

    def __init__(self, text: str, until: datetime) -> None:
        self._text = text
        self._until = until

    def __rich__(self) -> Text:
        from rich.text import Text

        left = max(0, round((self._until - datetime.now(UTC)).total_seconds()))
        return Text(f"{self._text}  {left // 3600}:{left // 60 % 60:02}:{left % 60:02}")


class _Printer:
    """Prints what is worth a line; shows the rest in the status line, where there is one.

    A `question` is put to the user by somebody else: the status line is away until the next thing happens.
    """

    def __init__(self, console: Console, status: Status | None) -> None:
        self._console = console
        self._status = status
        self._step = ""

    def __call__(self, progress: Progress) -> None:
        from rich.text import Text

        if progress.kind == "question":
            if self._status is not None:
                self._status.stop()
            return
        if self._status is not None:
            self._status.start()
        text = printable(progress.text)
        if progress.kind == "step":
            self._step = text
        if self._status is not None and progress.until:
            self._status.update(_Countdown(text, datetime.fromisoformat(progress.until)))
        elif self._status is not None:
            now = f"  {text}" if progress.kind == "answer" else ""
            status = f"{_where(progress)}{self._step}  {progress.seconds:.0f} s  {_meter(progress)}{now}"
            self._status.update(Text(status))
        if not self._worth_a_line(progress):
            return
        line = Text(f"{progress.seconds:7.1f} s ", style="dim")
        line.append(text if progress.kind == "event" else f"  {text}", style=_style(progress))
        if progress.kind == "event":
            line.append(f"  {_meter(progress)}", style="dim")
        try:
            self._console.print(line)
        except OSError:
            _deafen()

    def _worth_a_line(self, progress: Progress) -> bool:
        if progress.kind == "answer":
            return False
        if progress.kind == "step":
            return self._status is None
        return progress.kind != "gate" or not progress.text.startswith("PASS ")


def _style(progress: Progress) -> str:
    if progress.kind in ("notice", "model", "waiting"):
        return "yellow"
    if progress.kind != "event":
        return "dim"
    if "REJECTED" in progress.text:
        return "red"
    return "green" if " complete, commit " in progress.text else "none"


def _where(progress: Progress) -> str:
    return f"task {progress.task} attempt {progress.attempt}: " if progress.task else ""


def _meter(progress: Progress) -> str:
    usage = progress.usage
    cost = "cost unknown" if usage.usd is None else f"${usage.usd:.4f}"
    return f"({usage.tokens:,} tokens, {cost})" if usage.calls else ""
