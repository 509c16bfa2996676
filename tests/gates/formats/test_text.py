"""Tests the text report: whole renderings, and how it fits a terminal."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from swarmgate.domain.review.finding import Finding, GateReport, GateResult, GateStatus, Severity, Unchecked
from swarmgate.domain.text.screen import Screen
from swarmgate.gates.formats.text import PATCH_LINES, lines, rejection

if TYPE_CHECKING:
    from pathlib import Path

SHELL = Finding(
    rule="S602", path="src/app.py", line=12, column=5, severity=Severity.HIGH, message="a shell runs what users send",
    suggestion="pass a list", also=("lint_check",), code="    run(command, shell=True)",
)  # fmt: skip
TODO = Finding(rule="marker", path="src/app.py", line=3, message="TODO left in a comment", code="x = 1  # TODO")
LINK = Finding(rule="cycle", path="", message="a new cycle of imports", severity=Severity.LOW)
OLD = Finding(rule="F401", path="b.py", line=1, message="unused", new=False, code="import os")
LIVED = Finding(rule="F401", path="c.py", line=1, message="unused", accepted="until we move")
ABOVE = "new at or above medium"
UNBUILT = Unchecked(what="types", why="mypy is not installed")

PASSING = GateReport(
    tree="0123456789abcdef", seconds=0.25,
    results=(
        GateResult(gate="lint_fix", status=GateStatus.PASS, files=2, fixed=("a.py",)),
        GateResult(gate="diff", status=GateStatus.PASS, files=2, reason="2 modified (+3 -1)"),
        GateResult(gate="syntax_check", status=GateStatus.PASS, files=2, cached=True),
        GateResult(gate="secret_scan", status=GateStatus.PASS, files=2),
        GateResult(gate="imports", status=GateStatus.SKIP, reason="no file of its kind was changed"),
        GateResult(gate="sbom_generate", status=GateStatus.SKIP, reason="no file of its kind was changed"),
        GateResult(gate="build_check", status=GateStatus.SKIP, reason="mypy is not installed (mypy.ini asks for it)",
                   unchecked=(UNBUILT,)),
        GateResult(gate="other", status=GateStatus.SKIP, reason="not selected"),
    ),
)  # fmt: skip
FAILING = GateReport(
    tree="0123456789abcdef", seconds=0.5, notes=("this change edits ruff.toml, by which it is judged",),
    results=(
        GateResult(gate="sast_scan", status=GateStatus.FAIL, findings=(SHELL,), files=1, reason=ABOVE),
        GateResult(gate="lint_check", status=GateStatus.FAIL, files=1, reason=f"{ABOVE}; 1 told by sast_scan"),
    ),
)  # fmt: skip
MIXED = GateReport(
    tree="0123456789abcdef", seconds=1.5,
    results=(
        GateResult(gate="imports", status=GateStatus.PASS, files=2, findings=(LINK,)),
        GateResult(gate="lint_check", status=GateStatus.PASS, files=2, findings=(OLD, LIVED)),
        GateResult(gate="placeholder_scan", status=GateStatus.FAIL, files=2, findings=(TODO,), reason=ABOVE),
        GateResult(gate="mine", status=GateStatus.ERROR, reason="no-such-tool was not found", required=False),
        GateResult(gate="build_check", status=GateStatus.ERROR, reason="make ended with exit code 3"),
    ),
)  # fmt: skip
EMPTY = GateReport(tree="0123456789abcdef", results=())

GOLDEN = {
    "passing": (PASSING, """\
judged: a change

PASS   lint_fix     fixed 1: a.py
PASS   diff         2 modified (+3 -1)
SKIP   build_check  mypy is not installed (mypy.ini asks for it)
PASS   syntax_check, secret_scan
SKIP   imports, sbom_generate  no file of its kind was changed

no findings (2 files looked at, 250 ms, 1 of 8 gates cached, tree 0123456789ab)
passed; not checked: types (mypy is not installed)"""),
    "failing": (FAILING, """\
judged: a change

src/app.py
  12:5 high S602: a shell runs what users send [sast_scan; also seen by lint_check]
     |
  12 |     run(command, shell=True)
     |     ^^^
     = fix: pass a list

FAIL   sast_scan   1 blocking; new at or above medium
FAIL   lint_check  new at or above medium; 1 told by sast_scan

note: this change edits ruff.toml, by which it is judged

1 finding: 1 blocking (1 file looked at, 500 ms, tree 0123456789ab)
rejected: src/app.py:12:5 S602: a shell runs what users send"""),
    "mixed": (MIXED, """\
judged: a change

src/app.py
  3 medium marker: TODO left in a comment [placeholder_scan]
     |
   3 | x = 1  # TODO
     | ^^^^^^^^^^^^^

These inform, and do not block:

the change as a whole
  low cycle: a new cycle of imports [imports]

PASS   imports           1 informing
PASS   lint_check        1 accepted, 1 old
FAIL   placeholder_scan  1 blocking; new at or above medium
ERROR  mine              no-such-tool was not found  optional
ERROR  build_check       make ended with exit code 3

4 findings: 1 blocking, 1 informing, 1 accepted, 1 old (2 files looked at, 1500 ms, tree 0123456789ab)
rejected: src/app.py:3 marker: TODO left in a comment; not checked: mine (no-such-tool was not found)"""),
    "empty": (EMPTY, """\
judged: a change

no findings (0 files looked at, 0 ms, tree 0123456789ab)
nothing judged: no gate looked at anything"""),
}  # fmt: skip
"""Whole renderings of a run that passes, one that fails, one of all sorts, and one without gates."""


@pytest.mark.parametrize("name", GOLDEN)
def test_whole_renderings(name: str) -> None:
    report, expected = GOLDEN[name]
    assert "\n".join(lines(report, "a change")) == expected


@pytest.mark.parametrize("name", GOLDEN)
@pytest.mark.parametrize("width", [60, 80])
def test_no_line_is_wider_than_the_terminal_and_no_word_is_broken(name: str, width: int) -> None:
    report = GOLDEN[name][0]
    narrow = lines(report, "a change", Screen(width))
    assert max(map(len, narrow)) <= width
    assert " ".join(narrow).split() == " ".join(lines(report, "a change")).split()


def test_what_is_wrapped_is_indented_and_a_long_word_stays_whole() -> None:
    word = "x" * 70
    finding = TODO.model_copy(update={"message": f"one two three {word} four", "code": ""})
    result = GateResult(gate="g", status=GateStatus.FAIL, findings=(finding,), files=1)
    assert rejection((result,), Screen(40))[1:4] == ["  3 medium marker: one two three", f"    {word}", "    four [g]"]


def test_long_code_is_cut_around_what_the_caret_points_at() -> None:
    code = "call(" + "argument, " * 30 + "wanted)" + " # tail" * 20
    finding = SHELL.model_copy(update={"code": code, "column": code.index("wanted") + 1})
    result = GateResult(gate="g", status=GateStatus.FAIL, findings=(finding,), files=1)
    source, caret = rejection((result,), Screen(60))[-5:-3]
    assert max(len(source), len(caret)) <= 60
    assert source[caret.index("^") : caret.rindex("^") + 1] == "wanted"


@pytest.mark.parametrize(
    ("code", "column"), [("\tif x:", 2), ("名前 = x", 6), ("a" * 400, 500), ("x", 0), ("é = 1", 1), ("f(x", 4)]
)
def test_the_caret_stands_below_its_word(code: str, column: int) -> None:
    finding = SHELL.model_copy(update={"code": code, "column": column})
    result = GateResult(gate="g", status=GateStatus.FAIL, findings=(finding,), files=1)
    source, caret = rejection((result,), Screen(60))[-5:-3]
    assert set(caret.strip().removeprefix("|").strip()) == {"^"}
    if column == len(code) + 1:
        assert caret.endswith("^")
        assert caret.index("^") == len(source)
    if code.startswith("\t"):
        assert source[caret.index("^") :].startswith("if")


def test_code_is_shown_as_it_is() -> None:
    for code, column in (("::std::vector<int> x;", 3), ("use std::fs;", 5)):
        finding = SHELL.model_copy(update={"code": code, "column": column})
        result = GateResult(gate="g", status=GateStatus.FAIL, findings=(finding,), files=1)
        source, caret = rejection((result,))[-5:-3]
        assert source == f"  12 | {code}"
        assert source[caret.index("^") : caret.rindex("^") + 1] == "std"
    finding = SHELL.model_copy(update={"code": "# ##[error]", "column": 3})
    result = GateResult(gate="g", status=GateStatus.FAIL, findings=(finding,), files=1)
    assert "##[" not in "\n".join(rejection((result,)))


def test_wide_characters_fit_the_terminal() -> None:
    finding = SHELL.model_copy(update={"code": "名前" * 60, "column": 0})
    result = GateResult(gate="g", status=GateStatus.FAIL, findings=(finding,), files=1)
    source, caret = rejection((result,), Screen(60))[-5:-3]
    assert 58 <= sum(1 + (ord(char) > 0x3000) for char in source) <= 60
    assert len(caret) <= 60


def test_pieces_are_painted_and_say_the_same() -> None:
    finding = lines(
        MIXED, "a change", Screen(0, lambda pieces: "".join(f"<{style}>{text}</>" for text, style in pieces))
    )
    assert any("<bold red>FAIL </>" in line for line in finding)
    assert [re.sub(r"<[^>]*>", "", line).rstrip() for line in finding] == lines(MIXED, "a change")


def test_names_and_code_cannot_act_on_a_terminal() -> None:
    bad = SHELL.model_copy(update={"path": "a\n\x1b[31m.py", "code": "x\x1b[2J = 1", "column": 1, "message": "\x9b1m"})
    text = "\n".join(lines(GateReport(tree="0", results=(
        GateResult(gate="g", status=GateStatus.FAIL, findings=(bad,), reason="\x1b", files=1),
    ))))  # fmt: skip
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", text)
    assert "a\\n\\x1b[31m.py" in text


def test_counts_add_up_for_each_gate_and_all() -> None:
    assert sum(MIXED.counts.values()) == sum(len(result.findings) for result in MIXED.results)


def test_what_was_fixed_is_shown_and_bounded() -> None:
    patch = "diff --git a/x b/x\nindex 1..2\n--- a/x\n+++ b/x\n" + "+\tline\x1b\n" * 100
    result = GateResult(gate="fix", status=GateStatus.PASS, files=1, fixed=("x",), patch=patch)
    text = lines(GateReport(tree="0", results=(result,)))
    start = text.index("fix changed:")
    assert text[start + 1 : start + 4] == ["--- a/x", "+++ b/x", "+   line\\x1b"]
    assert text[start + PATCH_LINES + 1] == "[... 42 more lines; all of it: --format json ...]"


def test_many_of_a_kind_are_counted_and_not_shown() -> None:
    low = [TODO.model_copy(update={"path": f"m{n}.py", "severity": Severity.LOW}) for n in range(12)]
    high = [TODO.model_copy(update={"line": n}) for n in range(1, 61)]
    first = GateResult(gate="a", status=GateStatus.PASS, findings=tuple(low), files=1)
    second = GateResult(gate="b", status=GateStatus.FAIL, findings=(*high, SHELL), files=1)
    text = lines(GateReport(tree="0", results=(first, second)))
    assert sum("marker" in line and "[b]" in line for line in text) == 50
    assert text.index("and 10 more that block: --format json lists them") < text.index("m0.py")
    assert any("S602" in line for line in text), "one rule's many hide no other"
    assert sum(re.fullmatch(r"m\d+\.py", line) is not None for line in text) == 10
    assert "and 2 more that inform: --format json lists them" in text
    assert "73 findings: 61 blocking, 12 informing (1 file looked at, 0 ms, tree 0)" in text


@pytest.mark.skipif(sys.platform == "win32", reason="there is no pseudo-terminal")
@pytest.mark.parametrize("plain", [True, False])
def test_a_terminal_gets_colours_unless_it_wants_none(repo: Path, *, plain: bool) -> None:
    import pty

    (repo / "a.py").write_text("x = 1  # TODO: later\n")
    ours, theirs = pty.openpty()
    known = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "FORCE_COLOR", "COLUMNS"}}
    variables = {**known, "TERM": "xterm-256color", **({"NO_COLOR": "1"} if plain else {})}
    argv = [sys.executable, "-m", "swarmgate", "gates", "run", "--only", "placeholder_scan", "--no-fix"]
    done = subprocess.Popen(argv, cwd=repo, env=variables, stdout=theirs, stderr=theirs)
    os.close(theirs)
    said = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:
            break
        if not part:
            break
        said += part
    os.close(ours)
    assert done.wait(60) == 1
    assert b"TODO left in a comment" in said
    assert (b"\x1b[" in said) is not plain
