"""Tests the reader of labelled items for the debate experiment."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from swarmgate.errors import UsageError
from swarmgate.evaluation.debate.fixtures import load


def record(name: str = "a", **more: Any) -> dict[str, Any]:
    return {
        "id": name,
        "kind": "design",
        "text": f"Keep {name} in a table.",
        "label": "good",
        "reason": "A table holds it.",
        "category": "data",
        "source": "written for the test",
        **more,
    }


def written(folder: Path, *records: Any) -> Path:
    path = folder / "items.jsonl"
    path.write_text("\n".join(each if isinstance(each, str) else json.dumps(each) for each in records))
    return path


def test_items_are_read_in_their_order_and_blank_lines_are_nothing(tmp_path: Path) -> None:
    path = written(tmp_path, record("b", context="A shop."), "", record("a", label="bad", reason="Who locks it?"))
    found = load(path)
    assert [(item.id, item.label, item.context) for item in found.items] == [("b", "good", "A shop."), ("a", "bad", "")]
    assert found.warnings == ()


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", "not JSON"),
        ("[]", "an item is a JSON object"),
        (record(label="fine"), "key 'label': Input should be 'good' or 'bad' (it is 'fine')"),
        (record(kind="poem"), "key 'kind'"),
        (record(text=""), "key 'text'"),
        (record(text=" \n "), "key 'text': empty"),
        (record(reason="  "), "key 'reason': empty"),
        (record(id="a b"), "key 'id'"),
        (record(text=7), "key 'text'"),
        (record(verdict="good"), "key 'verdict': Extra inputs are not permitted"),
        ({key: value for key, value in record().items() if key != "reason"}, "key 'reason': Field required"),
        (record("first"), "key 'id': 'first' is already the id of line 1"),
        (record("First"), "key 'id': 'First' is already the id of line 1"),
        (record(text="\u200b\ufeff \u3164\u0301"), "key 'text': empty"),
        (record(reason="\u2060"), "key 'reason': empty"),
        ('{"id":' + "[" * 200_000, "nested too deep"),
        (json.dumps(record())[:-1] + ', "label": "bad"}', "key 'label' stands there twice"),
        ('{"id": 1' + "0" * 5_000 + "}", "not JSON"),
        ({"name": "x", "spec": "s", "buggy": "", "correct": "x"}, "keys 'name', 'spec', 'buggy' and 'correct'"),
        ({"name": "x", "spec": "s", "buggy": "def", "correct": "x"}, "key 'buggy': not Python"),
        ({"name": "x", "spec": "s", "buggy": "a = 1", "correct": "a = 1  # fixed"}, "the programs are the same"),
    ],
)
def test_a_line_that_is_no_item_is_told_with_file_and_line(tmp_path: Path, line: Any, told: str) -> None:
    path = written(tmp_path, record("first"), line)
    with pytest.raises(UsageError) as refused:
        load(path)
    assert refused.value.message.startswith(f"{path}:2: ")
    assert told in refused.value.message


def test_a_file_without_items_or_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no items are in it"):
        load(written(tmp_path, ""))
    with pytest.raises(UsageError, match=r"nothing\.jsonl: cannot be read"):
        load(tmp_path / "nothing.jsonl")
    (tmp_path / "latin.jsonl").write_bytes(b"\xe4")
    with pytest.raises(UsageError, match="cannot be read"):
        load(tmp_path / "latin.jsonl")


def test_a_byte_order_mark_is_no_part_of_the_first_item(tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(record("a")).encode() + b"\r\n" + json.dumps(record("b")).encode())
    found = load(path)
    assert [item.id for item in found.items] == ["a", "b"]
    assert found.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_what_makes_the_numbers_doubtful_is_a_warning(tmp_path: Path) -> None:
    path = written(tmp_path, record("a"), record("b"), record("c", text="Keep a in a table.", label="bad"))
    unbalanced, repeated = load(path).warnings
    assert "unbalanced: 2 good and 1 bad" in unbalanced
    assert "1 texts stand in it more than once" in repeated


def test_a_program_of_quixbugs_is_two_items_and_neither_tells_its_label(tmp_path: Path) -> None:
    line = {
        "name": "double",
        "spec": "Twice n",
        "buggy": 'def double(n):\n    """Broken."""\n    return n + n + 1  # BUG\n\n"""\nThe bug: + 1\n"""\n',
        "correct": "def double(n):\n    return (n + n)\n",
        "tests": "assert double(2) == 4",
        "extra_files": {"node.py": "class Node: ..."},
    }
    bad, good = load(written(tmp_path, line)).items
    assert (bad.id, bad.label, bad.kind, bad.category) == ("double.bad", "bad", "patch", "algorithm")
    assert (good.id, good.label) == ("double.good", "good")
    assert bad.text == "def double(n):\n    return n + n + 1"
    assert good.text == "def double(n):\n    return n + n"
    assert bad.context == good.context
    assert "Twice n" in bad.context
    assert "class Node" in bad.context
    assert "-    return n + n + 1\n+    return n + n" in bad.reason


def test_a_body_of_nothing_but_a_docstring_stays_a_program(tmp_path: Path) -> None:
    line = {"name": "f", "spec": "s", "buggy": 'def f():\n    "x"', "correct": "def f():\n    return 1"}
    bad, _ = load(written(tmp_path, line)).items
    assert bad.text == "def f():\n    pass"


SHIPPED = sorted((Path(__file__).parents[3] / "examples/eval").glob("*.jsonl"))


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_the_shipped_fixtures_can_be_read_and_are_balanced(path: Path) -> None:
    found = load(path)
    assert found.warnings == ()
    labels = Counter(item.label for item in found.items)
    assert labels["good"] == labels["bad"] >= 20
