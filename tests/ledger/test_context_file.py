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

from swarmgate.domain import events as ev
from swarmgate.domain.state import Guidance
from swarmgate.ledger import context_file, guidance
from swarmgate.ledger.context_file import (
    DERIVED_BEGIN,
    DERIVED_END,
    EVIDENCE_BEGIN,
    EVIDENCE_END,
    LINES,
    TASKS,
    keep_summary,
    update,
    with_block,
)
from swarmgate.ledger.folder import SwarmFolder

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
        assert update(path, lambda old: with_block(old, DERIVED_BEGIN, DERIVED_END, "derived\n"))
        for text in ("one", "two, and longer"):
            assert keep_summary(path, goal=1, task="1.1", lines=["Title", text])
            assert update(path, lambda old: with_block(old, DERIVED_BEGIN, DERIVED_END, "derived anew\n"))
        content = path.read_bytes()
        assert _own(content) == own
        assert content.count(EVIDENCE_BEGIN.encode()) == 1
        assert b"two, and longer" in content
        assert b"\none" not in content


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
from swarmgate.ledger.context_file import update
path, name = Path(sys.argv[1]), sys.argv[2].encode()
for number in range(60):
    assert update(path, lambda old: old + name + b" %d\\n" % number)
"""


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
