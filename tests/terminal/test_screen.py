"""Tests how results are laid out: as wide as the terminal, coloured where a check says how it ended, bare in a pipe."""

from __future__ import annotations

import io
import re

import pytest
from tests.project import Project
from tests.pseudo_terminal import at_terminal

from swarmgate.domain.text.screen import columns
from swarmgate.terminal.screen import laid_out

CHECKS = (
    "ok    tests: 23 tests found by the command that is in the settings, and none of them was skipped by any marker",
    "FAIL  endpoints: 検索を速くする nothing answers at 127.0.0.1 port 43415 -> start it 😀 or mend the file",
    "  WARN  task 1.1, reviewer: low: src/calc/part_1.1.py a name could be shorter than it is at the moment",
    "failed to say ok and FAIL in the middle of a sentence is no mark, however long that sentence goes on to be",
)
_ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _xterm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("width", [60, 80, 200])
@pytest.mark.parametrize("no_color", ["", "1"])
def test_lines_are_wrapped_between_words_at_any_width(
    width: int, no_color: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("NO_COLOR", no_color)
    for line in CHECKS:
        shown = [*laid_out([line], Terminal())]
        assert bool(_ESCAPE.search("".join(shown))) is (not no_color and "middle of a sentence" not in line)
        bare = [_ESCAPE.sub("", each) for each in shown]
        assert max(map(columns, bare)) <= width
        assert "".join("".join(bare).split()) == "".join(line.split())
        assert [word for word in " ".join(bare).split() if word.isascii()] == [
            word for word in line.split() if word.isascii()
        ]


def test_a_check_has_the_colour_of_its_end() -> None:
    ok, fail, warn, none = ("".join(laid_out([line], Terminal())) for line in CHECKS)
    assert ok.startswith("\x1b[32mok ")
    assert fail.startswith("\x1b[1;31mFAIL ")
    assert warn.startswith("\x1b[33m  WARN ")
    assert "\x1b" not in none


def test_a_pipe_gets_each_line_as_it_is_and_nothing_steers_a_terminal() -> None:
    assert [*laid_out(CHECKS, io.StringIO())] == [*CHECKS]
    for stream in (io.StringIO(), Terminal()):
        assert "\x1b]" not in "".join(laid_out(["ok  \x1b]0;owned\x07\u202eback"], stream))


@pytest.mark.slow
@pytest.mark.suite("unittest")
def test_doctor_gates_and_a_run_at_a_terminal_of_sixty_columns(project: Project) -> None:
    project.planned()
    project.write("src/calc/bad.py", '"""Bad."""\n\n\ndef total() -> int:\n    raise NotImplementedError\n')
    doctor, _ = at_terminal(project.root, "doctor", columns=60)
    gates, exits = at_terminal(project.root, "gates", "run", columns=60)
    assert exits == 1
    assert "\x1b[32mok " in doctor
    assert "\x1b[1;31mFAIL" in gates
    for shown in (doctor, gates):
        for line in _ESCAPE.sub("", shown).splitlines():
            assert columns(line) <= 60 or len(line.split()) == 1, line
    bare, _ = at_terminal(project.root, "doctor", NO_COLOR="1")
    (project.root / "src/calc/bad.py").unlink()
    plain, exits = at_terminal(project.root, "run", "--plain", "--until", "phase")
    assert exits == 3
    assert "task 1 of 1: the coder works" in plain
    assert "\x1b" not in bare + plain.partition("Phase 1 is done")[0]
