"""Shows a run at work: lines for what happened, and below them on a terminal what goes on now."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from swarmgate.domain.progress import PASSING, Progress
from swarmgate.domain.text.printable import printable
from swarmgate.domain.text.screen import Piece, wrapped
from swarmgate.domain.usage import cost_in_words
from swarmgate.terminal.screen import deafen

_CLOCK = 10
"""Columns of the time before each line."""

_DIFF, _OUTPUT, _WORDS = 24, 5, 6
"""Lines that are shown of a diff, of the output of a command and of an agent's words, unless all are asked for."""

_ANSWER = 8
"""Lines of an answer that still arrives; less on a terminal that is not three times as high."""

_REFRESHES = 8
"""A second."""

_DIFF_STYLES = {"+": "green", "-": "red", "@": "cyan"}


class PlainLines:
    """Prints a line for each event, and more where it is asked to be verbose; nothing is wrapped."""

    def __init__(self, console: Console, *, verbose: bool) -> None:
        self._console = console
        self._verbose = verbose

    def __call__(self, progress: Progress) -> None:
        """Prints what is worth a line."""
        if progress.kind in ("answer", "question") or not (self._verbose or _worth_a_line(progress)):
            return
        indent = "" if progress.kind in ("step", "event") else "  "
        lines = [f"{_clock(progress)}{indent}{line}" for line in printable(_text(progress)).splitlines()]
        if progress.kind == "event" and (used := _meter(progress)):
            lines[-1] += f"  {used}"
        if self._verbose:
            lines += [f"{'':{_CLOCK}}    {line}" for line in printable(progress.detail.expandtabs(4)).splitlines()]
        _print(self._console, [Text(line) for line in lines])


class LiveView:
    """Prints lines as wide as the terminal, and draws below them the task, the step and the answer that arrives.

    A `question` is put to the user by somebody else: nothing is drawn until the next thing happens.
    """

    def __init__(self, console: Console, *, verbose: bool = False) -> None:
        self._console = console
        self._verbose = verbose
        self._step = Progress(kind="step", text="")
        self._now = Progress(kind="step", text="")
        self._heard = time.monotonic()
        self._spinner = Spinner("dots")
        self._live = Live(get_renderable=lambda: self, console=console, transient=True, refresh_per_second=_REFRESHES)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._live.stop()

    def __call__(self, progress: Progress) -> None:
        """Takes in what happened."""
        if progress.kind == "question":
            self._live.stop()
            return
        if not self._live.is_started:
            self._live.start()
        self._now, self._heard = progress, time.monotonic()
        if progress.kind == "step":
            self._step = progress
        elif progress.kind not in PASSING and (self._verbose or _worth_a_line(progress)):
            _print(self._console, [*self._lines(progress)])

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draws what goes on now."""
        now, width = self._now, options.max_width - 1
        yield Text("\u2500" * width, style="dim")
        if now.of:
            attempt = f"attempt {now.attempt}" if now.attempt else ""
            head = f"task {now.place} of {now.of}: {now.task} {_plain(now.title)}"
            yield _one_line([(head, "bold"), (f"  {attempt}" * bool(attempt), "dim")], width)
        text = f"{_plain(now.text) if now.until else _plain(self._step.text)}  {self._time()}  {_meter(now)}"
        self._spinner.update(text=_one_line([(text, "cyan")], width - 2))
        yield self._spinner
        if now.kind in PASSING:
            yield _one_line([(f"  {_plain(now.text)}", "red" if now.failed else "dim")], width)
            most = min(_ANSWER, max(console.size.height // 3, 1))
            rows = [row for line in _plain(now.detail).splitlines()[-most:] for row in wrapped([(line, "")], width - 4)]
            yield from (_assembled([("  \u2502 ", "dim"), *row]) for row in rows[-most:])

    def _time(self) -> str:
        """How long it has been at work, or how long it still waits."""
        if self._now.until:
            left = max(0, round((datetime.fromisoformat(self._now.until) - datetime.now(UTC)).total_seconds()))
            return f"{left // 3600}:{left // 60 % 60:02}:{left % 60:02}"
        return f"{self._now.seconds + time.monotonic() - self._heard:.0f} s"

    def _lines(self, progress: Progress) -> Iterator[Text]:
        width = self._console.width - 1
        inside = progress.kind != "event"
        style = _style(progress)
        clock: list[Piece] = [(_clock(progress), "dim"), ("  " * inside, "")]
        for line in _plain(_text(progress)).splitlines():
            yield from map(_assembled, wrapped([*clock, (line, style)], width, _CLOCK + 4))
            clock = [(" " * (_CLOCK + 2 * inside), "")]
        for line, colour in _shown(progress, verbose=self._verbose):
            yield from map(_assembled, wrapped([("      ", ""), (line, colour)], width, 8))


def _shown(progress: Progress, *, verbose: bool) -> Iterator[Piece]:
    """The lines of the detail that are shown, with their styles."""
    lines = _plain(progress.detail).splitlines()
    more = "--verbose shows all"
    if progress.kind == "words":
        most = len(lines) if verbose else _WORDS
        yield from ((line, "italic") for line in lines[:most])
        if len(lines) > most:
            yield f"[{len(lines) - most} more lines; {more}]", "dim"
    elif lines and lines[0].startswith("@@"):
        most = len(lines) if verbose else _DIFF
        yield from ((line, _DIFF_STYLES.get(line[:1], "")) for line in lines[:most])
        if len(lines) > most:
            yield f"[{len(lines) - most} more lines; {more}]", "dim"
    else:
        most = len(lines) if verbose else _OUTPUT
        if len(lines) > most:
            yield f"[{len(lines) - most} lines before; {more}]", "dim"
        yield from ((line, "dim") for line in lines[-most:])


def _worth_a_line(progress: Progress) -> bool:
    return progress.kind not in ("answer", "words") and (progress.kind != "gate" or progress.failed)


def _text(progress: Progress) -> str:
    if progress.kind == "words":
        return f"{progress.text} says:"
    if progress.kind == "step" and progress.of:
        return f"task {progress.place} of {progress.of}: {progress.text}"
    return progress.text


def _style(progress: Progress) -> str:
    if progress.failed or (progress.kind == "event" and "REJECTED" in progress.text):
        return "red"
    if progress.kind in ("notice", "model", "waiting"):
        return "yellow"
    if progress.kind == "gate":
        return "green"
    return "green" if progress.kind == "event" and " complete, commit " in progress.text else ""


def _clock(progress: Progress) -> str:
    return f"{progress.seconds:7.1f} s "


def _meter(progress: Progress) -> str:
    usage = progress.usage
    return f"({usage.tokens:,} tokens, {cost_in_words(usage)})" if usage.calls else ""


def _plain(text: str) -> str:
    return printable(text.expandtabs(4))


def _one_line(pieces: list[Piece], width: int) -> Text:
    """As many whole words as fit."""
    first, *more = wrapped(pieces, width - 2)
    return _assembled([*first, ("\u2026", "dim")] if more else first)


def _assembled(pieces: list[Piece]) -> Text:
    return Text.assemble(*pieces, no_wrap=True, overflow="ignore")


def _print(console: Console, lines: list[Text]) -> None:
    try:
        for line in lines:
            console.print(line, soft_wrap=True)
    except OSError:
        deafen()
