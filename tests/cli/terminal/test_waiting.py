"""Tests the output of a wait at a terminal: one line, and a countdown in the status line."""

from __future__ import annotations

import io
import re
from datetime import UTC, datetime, timedelta

from rich.console import Console

from swarmgate.cli.terminal.progress import _Printer
from swarmgate.domain.progress import Progress


def test_a_wait_is_a_line_and_a_countdown_until_something_goes_on() -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=120, color_system=None)
    until = (datetime.now(UTC) + timedelta(hours=1, minutes=2, seconds=3)).isoformat()
    with console.status("") as status:
        tell = _Printer(console, status)
        tell(Progress(kind="waiting", text="rate limit of a/b: waiting until 14:00:05, 62 min", until=until))
        shown = io.StringIO()
        Console(file=shown, width=120).print(status.renderable)
        assert re.search(r"rate limit of a/b: .*  1:02:0[1-4]", shown.getvalue())
        tell(Progress(kind="model", text="the wait for the rate limit of a/b is over"))
        later = io.StringIO()
        Console(file=later, width=120).print(status.renderable)
    assert "1:02" not in later.getvalue()
    assert out.getvalue().count("62 min\n") == 1


def test_tokens_of_an_answer_are_in_the_live_line_and_nowhere_else() -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=120, color_system=None)
    with console.status("") as status:
        tell = _Printer(console, status)
        tell(Progress(kind="step", text="code"))
        tell(Progress(kind="answer", text="a/b: 1,234 tokens of the answer"))
        shown = io.StringIO()
        Console(file=shown, width=120).print(status.renderable)
        assert "1,234 tokens of the answer" in shown.getvalue()
    piped = io.StringIO()
    _Printer(Console(file=piped), None)(Progress(kind="answer", text="a/b: 1,234 tokens of the answer"))
    assert piped.getvalue() == ""
