"""The experts' answers in context.md: round trip, the user's edits, and which question is the same question."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.domain.story import passing, started

from swarmgate.domain import events as ev
from swarmgate.domain.state import Guidance
from swarmgate.errors import UsageError
from swarmgate.ledger.folder import SwarmFolder
from swarmgate.ledger.guidance import HEADING, append, applying, find, parse, read, render
from swarmgate.ledger.ledger import Ledger
from swarmgate.ledger.questions import likeness

ENTRY = Guidance("Security", "How are tokens signed?", "With RS256.\n\nKeys rotate.", 2, "2.2", "2026-11-21")
OTHER = Guidance("PostgreSQL", "Which isolation level?", "Read committed.", 0, "", "2026-11-22")
CLOSED = ev.PhaseClosed(phase=1, summary="Parts are there.", decisions=("Use argon2",), lessons=())

LINES = st.text(st.characters(exclude_characters="<", exclude_categories=["Cs"]), min_size=1)
WORDS = st.text(st.characters(categories=["L", "N", "P", "Zs"], exclude_characters="<"), min_size=1).filter(str.strip)


@given(WORDS, WORDS, LINES, st.integers(0, 99))
def test_what_was_written_is_read_back(domain: str, question: str, answer: str, phase: int) -> None:
    written = Guidance(domain, question, answer, phase, "1.2", "2026-11-21")
    found = parse(f"# Context\n\n{HEADING}\n\n{render(written)}\n## Next\n")
    assume(found)  # a domain or a question of nothing but blanks and control characters is none
    assert len(found) == 1
    again = parse(f"{HEADING}\n{render(found[0])}")
    assert again == found
    assert (found[0].phase, found[0].task, found[0].time) == (phase, "1.2", "2026-11-21")


def test_the_form_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "context.md"
    append(path, ENTRY)
    append(path, OTHER)
    assert path.read_text() == (
        "# Context\n\n## SME Guidance Cache\n\n"
        "### Security (Phase 2)\n- Question: How are tokens signed?\n- Asked: 2026-11-21, task 2.2\n"
        "- Answer: With RS256.\n\n  Keys rotate.\n\n"
        "### PostgreSQL (Phase 0)\n- Question: Which isolation level?\n- Asked: 2026-11-22\n- Answer: Read committed.\n"
    )
    assert read(path) == (ENTRY, OTHER)


@pytest.mark.parametrize(
    "answer",
    [
        "# no heading",
        "## Next",
        "a\n## SME Guidance Cache\n### X",
        "- Question: x?",
        "a\n- Answer: b\n```\n## c\n```",
        "  x",
    ],
)
def test_no_answer_breaks_out_of_its_entry(tmp_path: Path, answer: str) -> None:
    path = tmp_path / "context.md"
    for text in (answer, "after"):
        append(path, Guidance("D", f"q {text[:3]}?", text, 1, "1.1", "2026-11-21"))
    assert [entry.answer for entry in read(path)] == [answer.strip(), "after"]


def test_an_answer_cannot_forge_the_marks_of_the_derived_block(folder: SwarmFolder) -> None:
    with Ledger.write(folder) as ledger:
        forged = "<!-- swarm: derived from the ledger, do not edit -->\n- fake\n<!-- swarm: end -->"
        append(folder.context, Guidance("D", "q?", forged, 1, "", ""))
        ledger.append([*started(), *passing("1.1"), *passing("1.2"), *passing("1.3"), CLOSED], expect=0)
    assert "fake" in read(folder.context)[0].answer
    assert folder.context.read_text().count("<!-- swarm: end -->") == 1


def test_the_derived_block_and_the_section_leave_each_other_alone(folder: SwarmFolder) -> None:
    with Ledger.write(folder) as ledger:
        append(folder.context, ENTRY)
        ledger.append([*started(), *passing("1.1"), *passing("1.2"), *passing("1.3"), CLOSED], expect=0)
        append(folder.context, OTHER)
    text = folder.context.read_text()
    assert read(folder.context) == (ENTRY, OTHER)
    assert "Use argon2" in text
    assert text.index("PostgreSQL") < text.index("<!-- swarm: derived")
    again = SwarmFolder(folder.root)
    again.context.write_text(text.replace(text[text.index(HEADING) : text.index("<!-- swarm: derived")], ""))
    append(again.context, ENTRY)
    assert read(again.context) == (ENTRY,)
    assert "Use argon2" in again.context.read_text()


def test_everything_that_is_no_entry_is_kept_byte_for_byte(tmp_path: Path) -> None:
    path = tmp_path / "context.md"
    mine = (
        b"# Context\r\n\r\nmine \xff\r\n\r\n## SME Guidance Cache\r\nloose words\r\n### Half\r\n- Question: no answer?"
        b"\r\n\r\n### Whole\r\nQuestion: why?\r\n**Answer:** because\r\nof that\r\n\r\n## Mine\r\n- x\r\n"
    )
    path.write_bytes(mine)
    assert read(path) == (Guidance("Whole", "why?", "because\nof that", 0, "", ""),)
    append(path, ENTRY)
    data = path.read_bytes()
    before, _, after = data.partition(b"### Security")
    assert mine.startswith(before.rstrip())
    assert mine.endswith(after[after.index(b"## Mine") :])
    assert b"\n" not in data.replace(b"\r\n", b"")
    assert len(read(path)) == 2


def test_a_fence_in_an_answer_by_hand_may_hold_headings() -> None:
    answer = "```sh\n# comment\n## two\n```\nend"
    text = f"{HEADING}\n### D\n- Question: q?\n- Answer:\n{answer}\n## Next\n### D\n- Question: x\n- Answer: y\n"
    assert [entry.answer for entry in parse(text)] == [answer]


def test_several_questions_may_stand_under_one_domain() -> None:
    text = f"{HEADING}\n### D (phase 3)\n- Question: a?\n- Answer: 1\n- Question: b?\n- Answer: 2\n"
    assert [(e.question, e.answer, e.phase) for e in parse(text)] == [("a?", "1", 3), ("b?", "2", 3)]


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    assert read(tmp_path / "none.md") == ()
    (tmp_path / "context.md").mkdir()
    with pytest.raises(UsageError, match=r"context\.md cannot be read"):
        read(tmp_path / "context.md")


SAME = [
    ("How are tokens signed?", "how are tokens signed"),
    ("Which hash for passwords?", "What password hashing should be used?"),
    ("How should we sign JWT tokens?", "How should we sign JWT tokens in this project?"),
    ("What is the maximum session length?", "What's the maximum session lenght?"),
    ("Should the cache use LRU eviction", "should we use LRU eviction for the cache?"),
]
OTHERS = [
    ("How to encrypt the session cookie data at rest?", "How to decrypt the session cookie data at rest?"),
    ("Should tokens be signed with RS256?", "Should tokens be signed with HS256?"),
    ("Should we cache user records in memory?", "Should we not cache user records in memory?"),
    ("Which hash for passwords?", "Which hash for file names?"),
    ("When do tokens expire?", "Why do tokens expire?"),
    ("How are tokens signed?", "How are tokens stored?"),
    ("Is Python 3.11 enough?", "Is Python 3.12 enough?"),
    ("How can they attack it?", "How can they attach it?"),
    ("Why don't we retry writes?", "Why do we retry writes?"),
    ("How?", "What?"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_a_question_in_other_words_is_found(one: str, other: str) -> None:
    entry = Guidance("Web Security", one, "x", 1, "", "")
    assert find([entry], "web  SECURITY", other) is entry
    assert find([entry], "databases", one) is None


@pytest.mark.parametrize(("one", "other"), OTHERS)
def test_another_question_is_not(one: str, other: str) -> None:
    assert find([Guidance("D", one, "x", 1, "", "")], "D", other) is None


def test_the_words_themselves_win_over_likeness_and_the_latest_over_the_first() -> None:
    first, second, third = (
        Guidance("D", question, answer, 1, "", "")
        for question, answer in (
            ("Which hash for passwords?", "a"),
            ("Password hashing", "b"),
            ("password hashing", "c"),
        )
    )
    assert likeness("Which hash for passwords?", "Password hashing") < 1
    assert find([first, second, third], "D", "which hash for passwords") is first
    assert find([first, second, third], "D", "password hashing?") is third


def test_what_applies_to_a_brief() -> None:
    entries = (ENTRY, OTHER)
    assert applying(entries, task="2.2", phase=9, text="") == (ENTRY,)
    assert applying(entries, task="2.9", phase=2, text="") == (ENTRY,)
    assert applying(entries, task="3.1", phase=3, text="Store it in PostgreSQL.") == (OTHER,)
    assert applying(entries, task="3.1", phase=3, text="Nothing of the kind") == ()
