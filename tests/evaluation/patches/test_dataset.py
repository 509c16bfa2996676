"""Tests what is read as patches: predictions with instances and labels, patches of one's own, and malformed lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from swarmgate.errors import UsageError
from swarmgate.evaluation.patches.dataset import HUMAN, load

BASE = "1" * 40
PATCH = "--- a/lib.py\n+++ b/lib.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n"
OWN = {"id": "a-1", "repo": "o/r", "base": BASE, "patch": PATCH, "label": "right"}
INSTANCE = {"instance_id": "a-1", "repo": "o/r", "base_commit": BASE, "patch": PATCH, "problem_statement": "It is 1."}
PREDICTION = {"instance_id": "a-1", "model_patch": PATCH, "model_name_or_path": "m"}


def _lines(path: Path, *rows: object) -> Path:
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def test_predictions_are_joined_with_instances_and_labels(tmp_path: Path) -> None:
    empty = {**PREDICTION, "instance_id": "a-3", "model_patch": ""}
    other = {**PREDICTION, "instance_id": "a-2", "cost": 1}
    data = _lines(tmp_path / "preds.jsonl", PREDICTION, other, empty)
    instances = [{**INSTANCE, "instance_id": f"a-{number}", "version": "1"} for number in (1, 2, 3)]
    (tmp_path / "instances.json").write_text(json.dumps(instances), encoding="utf-8")
    (tmp_path / "report.json").write_text('{"deep": {"er": {"resolved_ids": ["a-1"]}}}', encoding="utf-8")
    found = load(data, instances=tmp_path / "instances.json", labels=f"{tmp_path / 'report.json'}#deep.er", fixes=True)
    assert [(each.id, each.model, each.label) for each in found] == [
        ("a-1", "m", "right"), ("a-2", "m", "wrong"), ("a-1", HUMAN, "right"), ("a-2", HUMAN, "right"),
    ]  # fmt: skip
    assert found[0].statement == "It is 1."
    assert found[0].files == ("lib.py",)
    assert {each.half for each in found if each.id == "a-1"} == {found[0].half}


def test_patches_of_ones_own_need_no_other_file(tmp_path: Path) -> None:
    found = load(_lines(tmp_path / "own.jsonl", OWN, {**OWN, "id": "a-2", "label": "wrong", "model": "m"}))
    assert [(each.label, each.model) for each in found] == [("right", "unnamed"), ("wrong", "m")]


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({key: value for key, value in OWN.items() if key != "base"}, "own.jsonl:2: key 'base': is missing"),
        ({**OWN, "id": "a-2", "label": "good"}, "own.jsonl:2: key 'label'"),
        ({**OWN, "id": "a-2", "base": "HEAD"}, "own.jsonl:2: key 'base'"),
        ({**OWN, "id": "a-2", "pach": ""}, "own.jsonl:2: key 'pach': is unknown"),
        (OWN, "own.jsonl:2: a-1 of unnamed stands in line 1"),
        ([1], "own.jsonl:2: a JSON object is due"),
    ],
)
def test_a_malformed_line_is_named_with_its_key(tmp_path: Path, row: object, told: str) -> None:
    with pytest.raises(UsageError) as caught:
        load(_lines(tmp_path / "own.jsonl", OWN, row))
    assert told in caught.value.message


def test_what_is_missing_beside_predictions_is_named(tmp_path: Path) -> None:
    data = _lines(tmp_path / "preds.jsonl", PREDICTION)
    instances = _lines(tmp_path / "instances.jsonl", {**INSTANCE, "instance_id": "b-1"})
    labels = _lines(tmp_path / "labels.json", {"resolved_ids": 3})
    with pytest.raises(UsageError) as caught:
        load(data)
    assert "--instances" in caught.value.hint
    with pytest.raises(UsageError, match="resolved_ids"):
        load(data, instances=instances, labels=str(labels))
    labels.write_text("[]", encoding="utf-8")
    with pytest.raises(UsageError, match=r"preds.jsonl:1: key 'instance_id': a-1 is not in"):
        load(data, instances=instances, labels=str(labels))
    data.write_text("{", encoding="utf-8")
    with pytest.raises(UsageError, match=r"preds.jsonl:1: not JSON"):
        load(data)
    data.write_text("", encoding="utf-8")
    with pytest.raises(UsageError, match="no patch is in it"):
        load(data)
