"""Tests what is shown of a run at a terminal of any width, and the lines of a pipe."""

from __future__ import annotations

import io
import re
from datetime import UTC, datetime, timedelta

import pytest
from rich.cells import cell_len
from rich.console import Console

from swarmgate.domain.progress import Progress
from swarmgate.domain.usage import Usage
from swarmgate.terminal.live_view import LiveView, PlainLines

WORK = {
    "task": "1.2",
    "title": "検索を速くする without a word of it being broken at the edge of a narrow terminal",
    "place": 2,
    "of": 7,
    "attempt": 1,
    "usage": Usage(prompt_tokens=1200, calls=3, usd=0.0123),
}
DIFF = """@@ -1 +1,2 @@
-VALUE = 'a'
+VALUE = '日本語の長い文字列'  # と 😀
+OTHER = 'several words that do not fit into sixty columns'"""
OUTPUT = "--- stdout\n" + "\n".join(f"line {number} of the output" for number in range(9))


def _console(width: int, *, colours: bool = False) -> tuple[Console, io.StringIO]:
    out = io.StringIO()
    shown = Console(file=out, force_terminal=True, width=width, height=40, color_system="standard", _environ={})
    return (
        shown if colours else Console(file=out, force_terminal=True, width=width, height=40, color_system=None)
    ), out


def _progress(kind: str, text: str, **more: object) -> Progress:
    return Progress.model_validate({"kind": kind, "text": text, **WORK, **more})


def _drawn(view: LiveView, width: int = 80) -> str:
    out = io.StringIO()
    Console(file=out, width=width, height=40, color_system=None).print(view)
    return out.getvalue()


def _lines(view: LiveView, out: io.StringIO, progress: Progress) -> list[str]:
    """The lines that a message adds; drawing is left out."""
    before = len(out.getvalue())
    view(progress)
    return out.getvalue()[before:].splitlines()


def test_the_step_the_task_and_the_answer_are_drawn_as_they_come() -> None:
    console, _ = _console(80)
    view = LiveView(console)
    view(_progress("step", "the coder works"))
    view(_progress("answer", "a/b: 1,234 tokens of the answer", detail="first line\nnow I write the store"))
    shown = _drawn(view)
    view.__exit__(None, None, None)
    assert "task 2 of 7: 1.2 検索を速くする" in shown
    assert "the coder works" in shown
    assert "$0.0123" in shown
    assert "1,234 tokens of the answer" in shown
    assert "now I write the store" in shown
    view(_progress("event", "task 1.2: gates passed"))
    assert "now I write" not in _drawn(view)
    view(_progress("tests", "12 of 340 tests, 1 failed, about 2:10 left", failed=True))
    assert "12 of 340 tests, 1 failed, about 2:10 left" in _drawn(view)
    view.__exit__(None, None, None)


@pytest.mark.parametrize("width", [60, 80, 200])
def test_no_word_is_broken_and_no_line_is_wider_than_the_terminal(width: int) -> None:
    console, out = _console(width)
    view = LiveView(console)
    said = "I look at the files first, und dann schreibe ich die übrigen Prüfungen; " * 4
    messages = (
        _progress("notice", said),
        _progress("tool", "coder: edit_file a.py (+2 -1)", detail=DIFF),
        _progress("tool", "coder: run_command pytest (exit code 1 after 2.0 s)", detail=OUTPUT, failed=True),
        _progress("event", f"task 1.2: reviewer APPROVED - {said}"),
    )
    lines = {each.kind: [line.plain for line in view._lines(each)] for each in messages}
    shown = [*_drawn(view, width).splitlines(), *(line for each in lines.values() for line in each)]
    assert max(map(cell_len, shown)) <= width
    assert len(lines["notice"]) > 1
    for each in (messages[0], messages[-1]):
        assert " ".join(lines[each.kind]).split()[2:] == each.text.split()
    assert out.getvalue() == ""


def test_an_edit_is_a_coloured_diff_and_a_command_has_its_end() -> None:
    console, out = _console(80, colours=True)
    view = LiveView(console)
    edit = _lines(view, out, _progress("tool", "coder: edit_file a.py (+2 -1)", detail=DIFF))
    assert any("\x1b[31m-VALUE = 'a'" in line for line in edit)
    assert any("\x1b[32m+VALUE" in line for line in edit)
    ended = "coder: run_command pytest (exit code 1 after 2.0 s)"
    command = "\n".join(_lines(view, out, _progress("tool", ended, detail=OUTPUT, failed=True)))
    assert f"\x1b[31m{ended}" in command
    assert "line 8 of the output" in command
    assert "line 0 of the output" not in command
    assert "5 lines before; --verbose shows all" in command
    view.__exit__(None, None, None)


def test_what_steers_a_terminal_does_not_reach_it() -> None:
    console, out = _console(80)
    view = LiveView(console)
    evil = "\x1b]0;owned\x07 \x1b[2J \u202eback [bold]no markup[/bold]"
    view(_progress("tool", evil, detail=f"@@ {evil}\n+{evil}"))
    view(_progress("answer", evil, detail=evil))
    shown = out.getvalue() + _drawn(view)
    view.__exit__(None, None, None)
    assert "[bold]no markup[/bold]" in shown
    assert "owned" in shown
    assert not [each for each in ("\x1b]", "\x07", "\x1b[2J", "\u202e") if each in shown]
    plain = io.StringIO()
    PlainLines(Console(file=plain, highlight=False, markup=False), verbose=True)(_progress("tool", evil, detail=evil))
    assert "\x1b" not in plain.getvalue()


def test_a_wait_is_a_line_and_a_countdown_until_something_goes_on() -> None:
    console, out = _console(120)
    view = LiveView(console)
    until = (datetime.now(UTC) + timedelta(hours=1, minutes=2, seconds=3)).isoformat()
    view(Progress(kind="waiting", text="rate limit of a/b: waiting until 14:00:05, 62 min", until=until))
    assert re.search(r"rate limit of a/b: .*  1:02:0[1-4]", _drawn(view, 120))
    view(Progress(kind="model", text="the wait for the rate limit of a/b is over"))
    assert "1:02" not in _drawn(view, 120)
    view.__exit__(None, None, None)
    assert len(re.findall(r"\d s {3}rate limit", out.getvalue())) == 1


def test_a_pipe_gets_lines_and_all_of_it_where_it_is_asked_for() -> None:
    messages = (
        _progress("step", "the coder works"),
        _progress("answer", "a/b: 1,234 tokens of the answer", detail="I think"),
        _progress("tests", "12 of 340 tests"),
        _progress("words", "coder", detail="First I read."),
        _progress("gate", "PASS   sast_scan"),
        _progress("tool", "coder: edit_file a.py (+2 -1)", detail=DIFF),
    )
    told = []
    for verbose in (False, True):
        out = io.StringIO()
        tell = PlainLines(Console(file=out, width=80, highlight=False), verbose=verbose)
        for each in messages:
            tell(each)
        told.append(out.getvalue())
    assert [line[10:] for line in told[0].splitlines()] == [
        "task 2 of 7: the coder works",
        "  12 of 340 tests",
        "  coder: edit_file a.py (+2 -1)",
    ]
    assert all(text in told[1] for text in ("First I read.", "PASS   sast_scan", "-VALUE = 'a'"))
    assert "1,234 tokens" not in told[1]
