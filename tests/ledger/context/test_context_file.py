"""context.md has one writer at a time, and what stands outside of swarmgate's marks stays byte for byte."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.domain.story import passing, started
from tests.ledger.conftest import Fill

from swarmgate.domain.events import event as ev
from swarmgate.domain.state.state import Guidance
from swarmgate.errors import LedgerError, UsageError
from swarmgate.ledger.context import context_file, guidance
from swarmgate.ledger.context.context_file import (
    DERIVED_BEGIN,
    DERIVED_END,
    EVIDENCE_BEGIN,
    EVIDENCE_END,
    EVIDENCE_HEADING,
    LARGEST,
    LINES,
    TASKS,
    blocks,
    keep_summary,
    read,
    update,
    with_block,
)
from swarmgate.ledger.files.folder import SwarmFolder

ENTRY = Guidance("Security", "How are tokens signed?", "With RS256.", 1, "1.1", "2026-11-21")
CLOSED = [
    *started(),
    *passing("1.1"),
    *passing("1.2"),
    *passing("1.3"),
    ev.PhaseClosed(phase=1, summary="Done.", decisions=("Use argon2",)),
]
MARKS = (DERIVED_BEGIN, DERIVED_END, EVIDENCE_BEGIN, EVIDENCE_END)


def _own(content: bytes) -> bytes:
    """What is left without both blocks."""
    for begin, end in ((DERIVED_BEGIN, DERIVED_END), (EVIDENCE_BEGIN, EVIDENCE_END)):
        before, found, after = content.partition(b"\n" + begin.encode())
        if found:
            content = before + after.partition(end.encode() + b"\n")[2]
    return content


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=200) | st.sampled_from([b"# Context\r\n\r\nMine.  \r\n", b"\xef\xbb\xbf# BOM\n", b"no end"]))
def test_what_stands_outside_of_the_marks_stays_byte_for_byte(own: bytes) -> None:
    with tempfile.TemporaryDirectory() as made:
        path = Path(made) / "context.md"
        path.write_bytes(own)
        assert update(path, lambda old: with_block(old, DERIVED_BEGIN, DERIVED_END, "## Decisions\n\n- one\n"))
        for text in ("one", "two, and longer"):
            assert keep_summary(path, goal=1, task="1.1", lines=["Title", text])
            assert update(path, lambda old: with_block(old, DERIVED_BEGIN, DERIVED_END, "## Decisions\n\n- anew\n"))
        content = path.read_bytes()
        assert _own(content) == own
        assert content.count(EVIDENCE_BEGIN.encode()) == 1
        assert b"two, and longer" in content
        assert b"\none" not in content


DERIVED = "## Decisions\n\n- derived\n"
PIECES = (
    "Mine.",
    f"The mark `{DERIVED_BEGIN}` opens, `{DERIVED_END}` closes.",
    f"{DERIVED_BEGIN} and words",
    f"    {EVIDENCE_BEGIN}",
    f"```\n{DERIVED_BEGIN}\nmine\n{DERIVED_END}\n```",
    f"~~~~ markdown\n{EVIDENCE_BEGIN}\n~~~\n{EVIDENCE_END}\n~~~~",
    f"{DERIVED_END}\nthe end stands before\n{DERIVED_BEGIN}\nits begin",
    f"{EVIDENCE_BEGIN}\nnot begun as swarmgate does\n{EVIDENCE_END}",
    "```",
    "~~~ text",
    "\r\n",
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=6).map("\n".join))
def test_marks_that_the_user_quotes_are_his(own: str) -> None:
    with tempfile.TemporaryDirectory() as made:
        path = Path(made) / "context.md"
        path.write_bytes(own.encode())
        for text in ("one", "two"):
            assert update(path, lambda old: with_block(old, DERIVED_BEGIN, DERIVED_END, DERIVED))
            assert keep_summary(path, goal=1, task="1.1", lines=["Title", text])
        content = path.read_bytes()
        assert content.startswith(own.encode())
        added = content[len(own.encode()) :].decode()
        assert (added.count("- derived"), added.count("### Task 1.1"), added.count("\none")) == (1, 1, 0)


@pytest.mark.parametrize("fence", ["```", "~~~~", "```markdown"])
def test_a_block_in_a_code_fence_is_a_quotation_whatever_stands_in_it(folder: SwarmFolder, fence: str) -> None:
    own = f"{fence}\n{DERIVED_BEGIN}\n## Decisions\n\n- mine\n{DERIVED_END}\n{fence.removesuffix('markdown')}\n"
    folder.context.write_text(own)
    for _ in range(2):
        update(folder.context, lambda old: with_block(old, DERIVED_BEGIN, DERIVED_END, DERIVED))
    assert folder.context.read_text() == f"{own}\n{DERIVED_BEGIN}\n{DERIVED}{DERIVED_END}\n"


def _kept(folder: SwarmFolder) -> list[bytes]:
    return [path.read_bytes() for path in sorted(folder.quarantine.glob("*"))]


def _derive(path: Path, text: str) -> None:
    update(path, lambda old: with_block(old, DERIVED_BEGIN, DERIVED_END, f"{DERIVED}- {text}\n"))


def test_what_a_hand_wrote_into_a_block_is_kept_before_the_block_is_written_anew(folder: SwarmFolder) -> None:
    path = folder.context
    for text in ("one", "two"):
        keep_summary(path, goal=1, task="1.1", lines=["T", text])
        _derive(path, text)
    assert _kept(folder) == []
    edited = path.read_bytes().replace(b"- derived\n", b"- derived\n- MINE\n").replace(b"\ntwo\n", b"\nMINE TOO\n")
    path.write_bytes(edited)
    keep_summary(path, goal=1, task="1.1", lines=["T", "three"])
    assert _kept(folder) == [edited]
    between = path.read_bytes()
    assert b"- MINE\n" in between
    _derive(path, "three")
    assert _kept(folder) == [edited, between]
    _derive(path, "four")
    assert len(_kept(folder)) == 2
    assert b"MINE" not in path.read_bytes()


@pytest.mark.parametrize("held", ["", "\n\n", f"{EVIDENCE_HEADING}\n", f"{EVIDENCE_HEADING}\n\nno summary\n"])
def test_a_block_without_a_summary_is_filled_again(folder: SwarmFolder, held: str) -> None:
    folder.context.write_text(f"before\n{EVIDENCE_BEGIN}\n{held}{EVIDENCE_END}\r\nafter")
    keep_summary(folder.context, goal=1, task="1.1", lines=["T", "text"])
    filled = f"{EVIDENCE_BEGIN}\n{EVIDENCE_HEADING}\n\n### Task 1.1, goal 1: T\n\ntext\n{EVIDENCE_END}"
    assert folder.context.read_bytes().decode() == f"before\n{filled}\r\nafter"


def test_what_is_no_file_is_told_at_once_and_stays(folder: SwarmFolder, fill: Fill) -> None:
    os.mkfifo(folder.context)
    with pytest.raises(UsageError, match="not a regular file"):
        read(folder.context)
    with pytest.raises(UsageError):
        guidance.append(folder.context, ENTRY)
    with pytest.raises(OSError, match="not a regular file"):
        keep_summary(folder.context, goal=1, task="1.1", lines=["T"])
    with pytest.raises(LedgerError, match="not a regular file"):
        fill(*CLOSED)
    assert folder.context.is_fifo()
    folder.context.unlink()
    assert read(folder.context) == b""
    with folder.context.open("wb") as file:
        file.truncate(LARGEST + 1)
    with pytest.raises(UsageError, match="longer than"):
        guidance.read(folder.context)


def test_no_key_and_no_fence_comes_into_a_block(folder: SwarmFolder) -> None:
    key = "sk-proj-0123456789abcdef"
    keep_summary(folder.context, goal=1, task="1.1", lines=[f"Use {key}", f"and {key}", "```", "with sk-learn"])
    text = folder.context.read_text()
    assert key not in text
    assert "Use [redacted]\n\nand [redacted]\n\\```\nwith sk-learn\n" in text


def test_unclosed_fences_cost_no_more_than_other_lines() -> None:
    assert blocks("```a\n" * 100_000) == ()


def test_a_summary_takes_the_place_of_its_older_one_and_stays_beside_those_of_others(tmp_path: Path) -> None:
    path = tmp_path / "context.md"
    for task, text in (("1.1", "first"), ("1.10", "other"), ("1.1", "second")):
        keep_summary(path, goal=1, task=task, lines=["T", text])
    keep_summary(path, goal=2, task="1.1", lines=["T", "of another goal"])
    text = path.read_text()
    assert "first" not in text
    assert text.count("### Task ") == 3
    assert text.index("other") < text.index("second") < text.index("of another goal")


def test_the_block_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / "context.md"
    for number in range(1, TASKS + 6):
        keep_summary(path, goal=1, task=f"1.{number}", lines=["T", *(f"- line {n}" for n in range(100))])
    text = path.read_text()
    assert text.count("### Task ") == TASKS
    assert "### Task 1.5," not in text
    assert "### Task 1.6," in text
    assert "63 more lines: swarm evidence 1.25 --summary" in text
    assert len(text.splitlines()) <= TASKS * (LINES + 1) + 10


def test_no_text_of_a_summary_can_end_the_block(tmp_path: Path) -> None:
    path = tmp_path / "context.md"
    for _ in range(2):
        keep_summary(path, goal=1, task="1.1", lines=[f"T {EVIDENCE_END}", *MARKS])
    assert [path.read_text().count(mark) for mark in MARKS] == [0, 0, 1, 1]


@pytest.mark.parametrize("first", ["summary", "answer"])
def test_summaries_and_answers_of_experts_do_not_read_each_other(tmp_path: Path, first: str) -> None:
    path = tmp_path / "context.md"
    lines = ["T", "### Security (Phase 1)", "- Question: Is it?", "- Answer: No.", "## SME Guidance Cache"]
    steps: dict[str, Callable[[], object]] = {
        "summary": lambda: keep_summary(path, goal=1, task="1.1", lines=lines),
        "answer": lambda: guidance.append(path, ENTRY),
    }
    for name in (first, *(each for each in steps if each != first), "summary"):
        steps[name]()
    assert guidance.read(path) == (ENTRY,)
    assert guidance.mistakes(path.read_text()) == ()
    guidance.append(path, replace(ENTRY, question="Else?"))
    assert len(guidance.read(path)) == 2


def test_a_projection_a_summary_and_an_answer_live_in_one_file(folder: SwarmFolder, fill: Fill) -> None:
    folder.context.write_text("# Mine\n")
    keep_summary(folder.context, goal=1, task="1.1", lines=["T", "- it was long"])
    guidance.append(folder.context, ENTRY)
    fill(*CLOSED)
    text = folder.context.read_text()
    assert "- Use argon2 (phase 1)" in text
    assert "- it was long" in text
    assert guidance.read(folder.context) == (ENTRY,)
    assert text.startswith("# Mine\n")


_WRITER = """
import sys
from pathlib import Path
from swarmgate.ledger.context.context_file import update
path, name = Path(sys.argv[1]), sys.argv[2].encode()
for number in range(60):
    assert update(path, lambda old: old + name + b" %d\\n" % number)
"""


@pytest.mark.slow
def test_two_processes_never_lose_each_others_update(tmp_path: Path) -> None:
    path = tmp_path / "context.md"
    at_work = [subprocess.Popen([sys.executable, "-c", _WRITER, str(path), name]) for name in ("run", "watch")]
    assert [each.wait(30) for each in at_work] == [0, 0]
    lines = path.read_text().splitlines()
    assert sorted(lines) == sorted(["# Context", *(f"{name} {n}" for name in ("run", "watch") for n in range(60))])


def test_neither_do_threads(tmp_path: Path) -> None:
    path = tmp_path / "context.md"

    def write(name: str) -> None:
        for number in range(30):
            assert update(path, lambda old: old + f"{name} {number}\n".encode())  # noqa: B023 - it is asked at once

    threads = [threading.Thread(target=write, args=(name,)) for name in "abc"]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(path.read_text().splitlines()) == 91


def test_an_edit_that_is_saved_meanwhile_is_read_first(tmp_path: Path) -> None:
    path = tmp_path / "context.md"
    path.write_text("old\n")
    asked = []

    def change(old: bytes) -> bytes:
        asked.append(old)
        if len(asked) == 1:
            path.write_text("old, and the user's edit\n")
        return old + b"ours\n"

    assert update(path, change)
    assert path.read_text() == "old, and the user's edit\nours\n"


def test_who_holds_the_lock_for_too_long_loses_nothing_of_his(
    folder: SwarmFolder, fill: Fill, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(context_file, "_WAIT_S", 0.05)
    held = os.open(folder.runtime / "context.lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(held, fcntl.LOCK_EX)
    try:
        assert not update(folder.context, lambda old: old + b"ours")
        fill(*CLOSED)
        assert not folder.context.exists()
        guidance.append(folder.context, ENTRY)  # an answer was paid for: it is kept all the same
    finally:
        os.close(held)
    assert guidance.read(folder.context) == (ENTRY,)
    fill(ev.PhaseApproved(phase=1))
    assert "Use argon2" in folder.context.read_text()
