"""Tests the validation of critique requests; each refusal names the parameter and the limit."""

from __future__ import annotations

from typing import Any

import pytest

from swarmgate.council.critique.model import Criterion
from swarmgate.council.critique.request import critique_of
from swarmgate.errors import CouncilRefused

GATES = ("syntax_check", "lint_check")


def made(**fields: Any) -> Any:
    return critique_of(**{"id": "c1", "task": "Write it.", "gates": GATES, **fields})


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"criteria": []}, "`criteria` is 0: the limit is 1 to 10"),
        ({"criteria": [f"c{n}=x" for n in range(11)]}, "`criteria` is 11: the limit is 1 to 10"),
        ({"criteria": ["a=x", "A=y"]}, "`criteria.2.name`: 'A' and 'a' read as one name"),
        ({"criteria": ["a:1.5=x"]}, "`criteria.1.weight` is 1.5: the limit is 0 to 1"),
        ({"criteria": ["a:-1=x"]}, "`criteria.1.weight` is -1.0: the limit is 0 to 1"),
        ({"criteria": ["a:nan=x"]}, "`criteria.1.weight` is nan: the limit is 0 to 1"),
        ({"criteria": ["a:1:2=x"]}, "`criteria.1.threshold` is 2.0: the limit is 0 to 1"),
        ({"criteria": ["a:high=x"]}, "`criteria.1.weight`: 'high' is no number"),
        ({"criteria": ["clarity"]}, "`criteria.1`: 'clarity' is no criterion"),
        ({"criteria": ["a b=x"]}, "`criteria.1.name`: letters, digits"),
        ({"criteria": ["a:0=x", "b:0=x"]}, "the weights of `criteria` sum to 0: the limit is more than 0"),
        ({"criteria": [{"name": "a", "rubric": "x" * 8_001}]}, "`criteria.1.rubric` has 8,001 characters: the limit"),
        ({"criteria": [{"name": "a", "wait": 1}]}, "`criteria.1.wait`"),
        (
            {"criteria": [{"name": "a", "command": "true", "gate": "lint_check"}], "target": "a.py"},
            "has a `command` and a `gate`",
        ),
        ({"criteria": [{"name": "a", "gate": "lint_chek"}], "target": "a.py"}, "there is no gate 'lint_chek'"),
        ({"criteria": [{"name": "a", "gate": "lint_check"}]}, "`target` is empty: a is judged by a gate"),
        ({"criteria": [{"name": "a", "command": "true"}]}, "`target` is empty: a is judged by a command"),
        ({"iterations": 0}, "`iterations` is 0: the limit is 1 to 10"),
        ({"iterations": 11}, "`iterations` is 11: the limit is 1 to 10"),
        ({"stop": 1.1}, "`stop` is 1.1: the limit is 0 to 1"),
        ({"timeout_s": 901}, "`timeout_s` is 901: the limit is 1 to 900 s"),
        ({"whole_s": 1801}, "`whole_s` is 1801: the limit is 1 to 1800 s"),
        ({"task": " "}, "`task` is empty: the limit is 1 to 100000 characters"),
        ({"task": "x" * 1_000_000}, "`task` has 1,000,000 characters: the limit is 100,000"),
        ({"draft": "x" * 400_001}, "`draft` has 400,001 characters: the limit is 400,000"),
        ({"adaptive": True}, "`adaptive` needs a `name`"),
    ],
)
def test_a_refusal_names_parameter_and_limit(fields: dict[str, Any], told: str) -> None:
    with pytest.raises(CouncilRefused) as raised:
        made(**fields)
    assert told in raised.value.message


def test_the_nearest_gate_is_named_and_messages_begin_where_the_key_stands() -> None:
    wrong = [{"name": "a"}, {"name": "b", "gate": "lint_chek"}]
    with pytest.raises(CouncilRefused) as raised:
        made(criteria=wrong, target="a.py", where=lambda place: f"at {place}: ")
    assert raised.value.message.startswith("at ('criteria', 1, 'gate'): `criteria.2.gate`")
    assert raised.value.hint == "Did you mean lint_check?"


def test_the_forms_of_a_criterion_and_the_threshold_that_is_not_named() -> None:
    given = ["a:0.5=say: x=y", "b:1:0=z", {"name": "c", "threshold": 0.1}, Criterion(name="d", weight=0.2)]
    found = made(criteria=given, threshold=0.6).criteria
    assert [(each.name, each.weight, each.threshold, each.description) for each in found] == [
        ("a", 0.5, 0.6, "say: x=y"),
        ("b", 1.0, 0.0, "z"),
        ("c", 1.0, 0.1, ""),
        ("d", 0.2, 0.6, ""),
    ]
    defaults = made(threshold=0.6).criteria
    assert [(each.name, each.threshold) for each in defaults] == [
        ("correctness", 0.6),
        ("completeness", 0.6),
        ("clarity", 0.6),
    ]
