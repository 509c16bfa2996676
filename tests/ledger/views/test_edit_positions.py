"""The line that a message about a hand edit names."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swarmgate.ledger.views.edit_positions import Place, about, in_json, in_markdown, position, second_key

MARKDOWN = """\
# T
<!-- swarm plan: seq 1 -->

## Phase 1: P [1 task, SMALL] PENDING
- [ ] Task 1.1: A [SMALL] (independent)
  - File: a
  - File: b
  - Attempt 1: REJECTED
  - Attempt 2: RUNNING
"""
JSON = """\
{"title": "T", "seq": 1, "phases": [
{"number": 1, "name": "P", "status": "PENDING",
 "tasks": [
  {"id": "1.1", "title": "A",
   "files": ["a",
             "b"],
   "status": "pending"}]}]}
"""


@pytest.mark.parametrize(
    ("place", "markdown", "as_json"),
    [
        (("title",), 1, 1),
        (("phase", 1, "status"), 4, 2),
        (("1.1",), 5, 4),
        (("1.1", "status"), 5, 7),
        (("1.1", "files", 1), 7, 6),
        (("1.1", "attempts", 1), 9, 4),
        (("1.1", "attempts", 7), 8, 4),
        (("9.9",), 0, 0),
        (("phase", 7), 0, 0),
    ],
)
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_place_has_its_line_or_that_of_what_is_around_it(
    place: Place, markdown: int, as_json: int, mark: str
) -> None:
    assert in_markdown(mark + MARKDOWN, place) == markdown
    assert in_json(mark + JSON, place) == as_json


@pytest.mark.parametrize(
    ("problem", "place"),
    [
        ("Task 1.3 has no title.", ("1.3",)),
        ("Task '1.x': the id must be", ("1.x",)),
        ("Task 1.3, title: a wants", ("1.3",)),
        ("Phase 2 is approved", ("phase", 2)),
        ("The plan has no title.", ()),
    ],
)
def test_a_problem_names_its_place(problem: str, place: Place) -> None:
    assert about(problem) == place


_JSON = st.recursive(
    st.none() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)


@settings(max_examples=80)
@given(_JSON, st.sampled_from([None, 0, 2]), st.data())
def test_the_value_at_a_position_is_the_value_at_the_path(
    data: object, indent: int | None, draw: st.DataObject
) -> None:
    text, path, value = json.dumps(data, indent=indent), [], data
    while isinstance(value, (list, dict)) and value:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        path.append(draw.draw(st.sampled_from(keys)))
        value = value[path[-1]]
    line, column = position(text, tuple(path))
    rest = "\n".join(text.split("\n")[line - 1 :])[column - 1 :]
    assert json.JSONDecoder().raw_decode(rest)[0] == value


def test_the_second_of_two_keys_is_found_where_it_stands() -> None:
    text = '{"a": [{"b": "a, {\\"b\\": ["}, {"b": 1}],\n "c": {"a": 1},\n  "a": 2}'
    assert second_key(text) == (3, 3, "a")
    assert second_key('[{"x": 1, "y": {"x": "y"}, "\\u0078": 2}]') == (1, 28, "x")
    with pytest.raises(ValueError, match="no key"):
        second_key('{"a": ["a", "a"], "b": "a"}')


def test_the_ledger_position_has_a_place() -> None:
    assert in_markdown("# T\n<!-- swarm plan: seq 3 -->\n", ("seq",)) == 2
    assert in_json('{"title": "T",\n "seq": 3, "phases": []}', ("seq",)) == 2
