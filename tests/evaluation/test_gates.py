"""Tests `swarm eval gates`: selection of sets and location of their data."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from swarmgate.errors import UsageError
from swarmgate.evaluation import generated_sets
from swarmgate.evaluation.gates import evaluate, known

if TYPE_CHECKING:
    from pathlib import Path


def _labels(tmp_path: Path, count: int = 3) -> str:
    rows = [
        {"gate": "syntax_check", "expected": n % 2 == 0, "path": "a.py", "content": "(\n" if n % 2 == 0 else "1\n"}
        for n in range(count)
    ]
    (tmp_path / "set.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return f"labels={tmp_path / 'set.jsonl'}"


def test_a_set_of_ones_own_is_judged_whole(tmp_path: Path) -> None:
    report = evaluate((_labels(tmp_path),))
    (table,) = report.sets
    assert (table.total.score.tp, table.total.score.tn) == (2, 1)
    assert not report.not_measured


def test_a_sample_and_a_choice_of_gates(tmp_path: Path) -> None:
    assert evaluate((_labels(tmp_path, 9),), sample=4).sets[0].total.score.cases == 4
    assert evaluate((_labels(tmp_path),), gates=("diff",)).sets[0].total.score.cases == 0


@pytest.mark.slow
def test_without_a_set_those_are_measured_that_need_no_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = generated_sets.LIBRARY / "textwrap.py"
    (tmp_path / "textwrap.py").write_bytes(source.read_bytes())
    monkeypatch.setattr(generated_sets, "LIBRARY", tmp_path)
    report = evaluate()
    assert [table.name for table in report.sets] == sorted(generated_sets.SETS)
    assert any(each.startswith("owasp=PATH") for each in report.not_measured)


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ("nope", "no labelled set 'nope'"),
        ("owasp", "named as `owasp=PATH`"),
        ("stubs=/tmp", "named as `stubs` alone"),
        ("owasp=/nowhere/at/all", "no such file or folder"),
    ],
)
def test_a_wrong_set_is_refused_in_words(wanted: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        evaluate((wanted,))


def test_every_set_can_be_listed() -> None:
    assert {"stubs", "owasp=PATH", "releases=PATH"} <= set(known())
