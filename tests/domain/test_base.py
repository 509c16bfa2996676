from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from swarmgate.domain.base import Frozen, Line, Text


class Note(Frozen):
    line: Line = ""
    text: Text = ""


ANY = st.text(st.characters(codec=None))


@given(ANY)
def test_a_line_is_one_line_that_utf8_can_hold_and_normalising_it_again_changes_nothing(text: str) -> None:
    line = Note(line=text).line
    assert line.encode().decode().splitlines() == ([line] if line else [])
    assert Note(line=line).line == line
    assert line == line.strip()


@given(ANY)
def test_a_text_has_unix_lines_that_utf8_can_hold_and_normalising_it_again_changes_nothing(text: str) -> None:
    kept = Note(text=text).text
    assert kept.encode().decode().splitlines() == (kept.split("\n") if kept else [])
    assert Note(text=kept).text == kept
    assert Note.model_validate_json(Note(text=text).model_dump_json()).text == kept


def test_a_text_keeps_blank_lines_and_indentation_inside() -> None:
    assert Note(text="  first \r\n\r\n    deep\rlast\x00\n\n").text == "first\n\n    deep\nlast"


def test_a_record_never_changes_and_knows_its_fields() -> None:
    note = Note(line="a")
    with pytest.raises(ValidationError, match="frozen"):
        note.line = "b"  # type: ignore[misc]  # the point of the test
    with pytest.raises(ValidationError, match="Extra inputs"):
        Note.model_validate({"lines": "a"})
