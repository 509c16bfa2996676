"""How a brief shows the files of a task."""

from __future__ import annotations

from pathlib import Path

from swarmgate.agents.briefs.scope_files import scope_text
from swarmgate.domain.review.evidence import Remark
from swarmgate.domain.review.finding import Severity
from swarmgate.workspace.file_tools.files import FileTree


def test_a_small_file_is_shown_whole_and_a_missing_one_is_said_to_be_missing(repo: Path) -> None:
    text = scope_text(FileTree(repo), ("src/app.py", "src/new.py", "src/app.py"))
    assert text == "### src/app.py, 2 lines, whole\ndef one():\n    return 1\n\n### src/new.py: does not exist yet"


def test_a_big_file_is_shown_by_its_definitions_and_where_the_rejection_points(repo: Path) -> None:
    functions = [f"def f{number}(a: int) -> int:\n    b = a\n    return b\n" for number in range(30)]
    (repo / "src/big.py").write_text("\n".join(functions))
    remarks = (
        Remark(severity=Severity.HIGH, message="wrong", file="src/big.py", line=6),
        Remark(severity=Severity.HIGH, message="elsewhere", file="src/app.py", line=1),
        Remark(severity=Severity.HIGH, message="nowhere"),
    )
    head, *lines = scope_text(FileTree(repo), ("src/big.py",), remarks).splitlines()
    assert head == "### src/big.py, 119 lines, by what it defines (read_file shows the lines)"
    assert lines[0] == "1-3  def f0(a: int) -> int"
    assert lines[1] == "5-7  def f1(a: int) -> int  <- rejected at line 6"
    assert len(lines) == 30


def test_a_file_with_very_many_definitions_keeps_the_place_that_matters(repo: Path) -> None:
    (repo / "src/big.py").write_text("".join(f"def f{number}(): ...\n" for number in range(500)))
    remark = Remark(severity=Severity.HIGH, message="wrong", file="src/big.py", line=400)
    text = scope_text(FileTree(repo), ("src/big.py",), (remark,))
    assert "400-400  def f399()  <- rejected at line 400" in text
    assert text.endswith("and 440 more")


def test_a_file_without_known_definitions_says_so(repo: Path) -> None:
    (repo / "notes.txt").write_text("x\n" * 100)
    assert scope_text(FileTree(repo), ("notes.txt",)).endswith("(what it defines is not known)")


def test_what_cannot_be_shown_is_named_with_the_reason(repo: Path) -> None:
    (repo / "data.bin").write_bytes(b"\0\1")
    text = scope_text(FileTree(repo), ("data.bin", "../x", ".swarm/plan.md"))
    assert "### data.bin: `data.bin` is a binary file" in text
    assert "### ../x: " in text
    assert "### .swarm/plan.md: " in text


def test_the_whole_is_bounded_however_many_files_are_declared(repo: Path) -> None:
    names = [f"src/m{number}.py" for number in range(40)]
    for name in names:
        (repo / name).write_text("#" * 3_000 + "\n")
    text = scope_text(FileTree(repo), names)
    assert len(text) < 20_000
    assert "### src/m0.py, 1 lines, whole" in text
    assert "no room left to show it" in text
    assert "- src/m39.py" in text
