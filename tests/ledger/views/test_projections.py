from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.domain.story import blocked, delegated, passing, play, rejected, started, walk
from tests.ledger.conftest import Fill

from swarmgate.domain.events import event as ev
from swarmgate.domain.state.plan_view import view_of
from swarmgate.domain.state.state import State
from swarmgate.errors import PlanSyntaxError
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger
from swarmgate.ledger.views.plan_json import parse as parse_json
from swarmgate.ledger.views.plan_md import parse, render
from swarmgate.ledger.views.projections import Projector

PHASE_1 = [*passing("1.1"), *passing("1.2"), *rejected("1.3", 1), *passing("1.3", 2)]
CLOSED = ev.PhaseClosed(phase=1, summary="Parts are there.", decisions=("Use argon2",), lessons=("Test expiry",))


def _texts(folder: SwarmFolder) -> dict[str, bytes]:
    files = (folder.plan_md, folder.plan_json, folder.context, *folder.history.rglob("*.md"))
    return {path.relative_to(folder.path).as_posix(): path.read_bytes() for path in files if path.exists()}


# --- plan.md and plan.json ---


def test_both_files_show_the_same_plan_at_the_same_position(folder: SwarmFolder, fill: Fill) -> None:
    fill(*started(), *blocked())
    view = view_of(Ledger.read(folder).state)
    assert view is not None
    assert view.seq == 16
    assert folder.plan_md.read_text() == render(view)
    assert parse(folder.plan_md.read_text()) == view
    assert parse_json(folder.plan_json.read_text()) == view


def test_plan_json_holds_flat_tasks(folder: SwarmFolder, fill: Fill) -> None:
    fill(*started(), *rejected("1.1", 1))
    data = json.loads(folder.plan_json.read_text())
    assert (data["title"], data["seq"]) == ("Parts", 9)
    assert data["phases"][0]["status"] == "IN PROGRESS"
    assert data["phases"][0]["tasks"][0] == {
        "id": "1.1",
        "title": "Part 1.1",
        "description": "",
        "acceptance": ["part 1.1 works"],
        "files": ["src/part_1.1.py"],
        "depends": [],
        "complexity": "SMALL",
        "kind": "feature",
        "status": "in_progress",
        "attempts": [{"number": 1, "mark": "REJECTED", "stage": "reviewer", "reason": "Missing expiration claim"}],
        "note": "",
    }


def test_a_deleted_plan_comes_back_with_the_next_event(folder: SwarmFolder, fill: Fill) -> None:
    fill(*started())
    folder.plan_md.unlink()
    folder.plan_json.unlink()
    fill(delegated("1.1"))
    assert "RUNNING (coder_delegated)" in folder.plan_md.read_text()
    assert json.loads(folder.plan_json.read_text())["seq"] == 7


def test_an_edit_during_a_run_is_not_overwritten_but_left_for_the_reconcile_pass(ledger: Ledger) -> None:
    folder = ledger.folder
    ledger.append(started(), expect=0)
    edited = folder.plan_md.read_text().replace("# Parts", "# My parts")
    folder.plan_md.write_text(edited)
    ledger.append([delegated("1.1")], expect=6)
    ledger.append(passing("1.1")[1:2], expect=7)
    assert folder.plan_md.read_text() == edited
    assert json.loads(folder.plan_json.read_text())["seq"] == 8


@pytest.mark.slow
@settings(deadline=None, max_examples=8)
@given(st.integers(0, 2**32))
def test_a_projector_that_remembers_writes_what_a_fresh_one_writes(seed: int) -> None:
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        folders = SwarmFolder(Path(one)), SwarmFolder(Path(two))
        for folder in folders:
            folder.path.mkdir()
        incremental = Projector(folders[0])
        for _, _, state in walk(seed, 40):
            incremental.project(state)
            Projector(folders[1]).project(state)
            assert _texts(folders[0]) == _texts(folders[1])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "plan.json Invalid JSON: EOF while parsing a value at line 1 column 0"),
        ('{"title": "T",\n "seq": }', "line 2 column 9"),
        ("[]", "plan.json"),
        ("[" * 100_000, "recursion limit"),
        (
            '{"title": "T", "seq": 1, "phases": [{"number": 1, "name": "P", "tasks": [{"id": "1.1"}]}]}',
            "phases.0.tasks.0.title",
        ),
        ('{"title": "T", "seq": 1, "phases": [{"number": 1, "name": "P", "task": []}]}', "phases.0.task: Extra inputs"),
        ('{"title": "T", "phases": []}', "plan.json line 1, column 1: seq: Field required"),
        (
            '{"title": "T", "seq": "x", "phases": []}',
            "plan.json line 1, column 23: seq: Input should be a valid integer",
        ),
        ('{"title": "\\ud800", "seq": 1, "phases": []}', "hex escape at line 1 column 18"),
        (
            '{"title": "T", "seq": 1, "phases": [{"number": -5, "name": "P"}]}',
            "phases.0.number: is -5, but phase 1 is next",
        ),
        (
            '{"title": "T", "seq": 1, "phases": [{"number": 2, "name": "P"}]}',
            "phases.0.number: is 2, but phase 1 is next",
        ),
        ('{"title": "T", "seq": 1, "phases": [{"number": 1, "name": "P", "status": "DONE"}]}', "phases.0.status"),
    ],
)
def test_a_plan_json_that_is_none_names_line_or_key(text: str, told: str) -> None:
    with pytest.raises(PlanSyntaxError) as caught:
        parse_json(text)
    assert told in caught.value.message
    assert caught.value.message.startswith("plan.json ")


def test_a_number_of_five_thousand_digits_is_bad_input_and_no_crash() -> None:
    with pytest.raises(PlanSyntaxError):
        parse_json('{"title": "T", "seq": ' + "9" * 5000 + ', "phases": []}')


def test_a_byte_order_mark_is_read() -> None:
    assert parse_json('\ufeff{"title": "T", "seq": 1}').title == "T"


# --- history ---


def test_a_closed_phase_is_archived_with_its_failures(folder: SwarmFolder, fill: Fill) -> None:
    fill(*started(), *PHASE_1, CLOSED)
    text = (folder.history / "phase-1.md").read_text()
    assert text.startswith("# Phase 1: Stage 1\n\nParts are there.\n")
    assert "  - Task 1.3, attempt 1: Missing expiration claim\n" in text  # the whole page: test_history.py
    assert not (folder.history / "phase-2.md").exists()


# --- context.md ---


MARKS = b"<!-- swarm: derived from the ledger, do not edit -->", b"<!-- swarm: end -->"


@pytest.mark.parametrize(
    "own", [b"# Context\r\n\r\nMine.  \r\n\r\n\r\n", b"\xff\xfe not text\n\n", b"no line end", b""]
)
def test_the_users_part_of_context_md_is_kept_byte_for_byte(folder: SwarmFolder, fill: Fill, own: bytes) -> None:
    folder.context.write_bytes(own)
    fill(*started(), *PHASE_1, CLOSED)
    text = folder.context.read_bytes()
    assert text.startswith(own)
    assert b"- Use argon2 (phase 1)" in text
    assert b"- Test expiry (phase 1)" in text
    folder.context.write_bytes(text + b"More of mine.\r\n")
    fill(ev.PhaseApproved(phase=1), *rejected("2.1", 1))
    fill(ev.RejectionOverridden(task="2.1", stage="reviewer", reason="I looked"))
    text = folder.context.read_bytes()
    assert text.startswith(own)
    assert text.endswith(MARKS[1] + b"\nMore of mine.\r\n")
    assert b"- Task 2.1, reviewer: I looked (" in text
    assert text.count(MARKS[0]) == text.count(MARKS[1]) == 1


def test_marks_in_a_decision_cannot_break_out_of_the_derived_part(folder: SwarmFolder, fill: Fill) -> None:
    evil = f"x {MARKS[1].decode()} y {MARKS[0].decode()} z"
    folder.context.write_text("mine\n")
    fill(*started(), *PHASE_1, CLOSED.model_copy(update={"decisions": (evil,)}))
    first = folder.context.read_bytes()
    fill(ev.PhaseApproved(phase=1))
    assert folder.context.read_bytes() == first
    assert first.count(MARKS[0]) == first.count(MARKS[1]) == 1


def test_a_mark_that_lost_its_end_costs_the_user_nothing(folder: SwarmFolder, fill: Fill) -> None:
    own = b"mine\n" + MARKS[0] + b"\nand mine\n"
    folder.context.write_bytes(own)
    fill(*started(), *PHASE_1, CLOSED)
    fill(ev.PhaseApproved(phase=1), *rejected("2.1", 1))
    fill(ev.RejectionOverridden(task="2.1", stage="reviewer", reason="I looked"))
    text = folder.context.read_bytes()
    assert text.startswith(own)
    assert text.count(b"I looked") == 1


def test_without_decisions_context_md_stays_as_it_is(folder: SwarmFolder, fill: Fill) -> None:
    fill(*started())
    assert not folder.context.exists()


def test_a_state_without_a_plan_has_no_plan_files(folder: SwarmFolder) -> None:
    Projector(folder).project(play(State(), ev.GoalSet(goal="g")))
    assert not folder.plan_md.exists()
    with pytest.raises(ValueError, match="without a plan"):
        Projector(folder).plan_texts(State())
