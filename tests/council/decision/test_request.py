"""Tests the validation of decision requests."""

from __future__ import annotations

from typing import Any

import pytest

from swarmgate.council.decision.request import decision_of
from swarmgate.errors import CouncilRefused

TWO = [{"id": "ann"}, {"id": "bob"}]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"strategy": "majorty"}, "`strategy` is 'majorty', and there is none of that name"),
        ({"question": " \n"}, "`question` is empty: the limit is 1 to 10000 characters"),
        ({"question": "x" * 1_000_000}, "`question` has 1,000,000 characters: the limit is 10,000"),
        ({"material": "x" * 400_001}, "`material` has 400,001 characters: the limit is 400,000"),
        ({"participants": []}, "`participants` is 0: the limit is 1 to 10"),
        ({"participants": [{"id": f"p{n}"} for n in range(11)]}, "`participants` is 11: the limit is 1 to 10"),
        ({"participants": [*TWO, {"id": "ann"}]}, "`participants.3.id`: ann takes part already"),
        ({"participants": [{"id": "a b"}]}, "`participants.1.id`: letters, digits"),
        ({"participants": [{"id": "a", "wieght": 1}]}, "unknown key `wieght`; did you mean `weight`?"),
        ({"participants": [{"id": "a", "weight": 1.5}]}, "`participants.1.weight` is 1.5: the limit is 0 to 1"),
        ({"participants": [{"id": "a", "weight": float("nan")}]}, "`participants.1.weight` is nan"),
        ({"participants": [{"id": "a", "critique": 11}]}, "`participants.1.critique` is 11: the limit is 0 to 10"),
        ({"participants": [{"id": "a", "discussion": "deeep"}]}, "there is no such mode; they are: deep"),
        ({"participants": [{"id": "a", "discussion": "deep", "critique": 1}]}, "one of the two prepares it"),
        ({"participants": [{"id": "a", "participants": []}]}, "would nest further: the limit is 2 deep"),
        ({"participants": [{"id": "a", "discussion": {"mode": "deep"}}]}, "the limit is 2 deep"),
        ({"participants": [{"id": "a", "system": "x" * 8_001}]}, "`participants.1.system` has 8,001 characters"),
        (
            {"strategy": "weighted", "participants": [{"id": "a", "weight": 0}]},
            "the weights of `participants` sum to 0",
        ),
        ({"strategy": "facilitator", "facilitator": "bo"}, "lets a participant decide: ann, bob"),
        ({"strategy": "facilitator"}, "the strategy facilitator needs `facilitator`, who decides: one of ann, bob"),
        ({"facilitator": "a b"}, "`facilitator`: letters, digits"),
        ({"rounds": 0}, "`rounds` is 0: the limit is 1 to 10"),
        ({"rounds": 11}, "`rounds` is 11: the limit is 1 to 10"),
        ({"rounds": 2.0}, "`rounds` is 2.0: the limit is 1 to 10"),
        ({"strategy": "weighted", "threshold": 0}, "`threshold` is 0: the limit is above 0, to 1"),
        ({"strategy": "weighted", "threshold": 1.1}, "`threshold` is 1.1: the limit is 0 to 1"),
        ({"strategy": "weighted", "threshold": "0.5"}, "`threshold` is '0.5'"),
        ({"threshold": 0.5}, "`threshold` is 0.5, and the strategy majority reads none"),
        ({"strategy": "ranked", "threshold": 0.5, "options": ["a", "b"]}, "the strategy ranked reads none"),
        ({"options": ["a", "b"]}, "`options` are given, and the strategy majority has no vote on options"),
        ({"strategy": "approval"}, "`options` is 0: the limit is 2 to 10"),
        ({"strategy": "approval", "options": ["a"]}, "`options` is 1: the limit is 2 to 10"),
        ({"strategy": "ranked", "options": [str(n) for n in range(11)]}, "`options` is 11: the limit is 2 to 10"),
        ({"strategy": "ranked", "options": ["a b", "AB"]}, "`options` has 'ab' twice"),
        ({"strategy": "ranked", "options": ["a", " "]}, "`options.2` is empty"),
        ({"timeout_s": 901}, "`timeout_s` is 901: the limit is 1 to 900 s"),
        ({"timeout_s": 0.5}, "`timeout_s` is 0.5: the limit is 1 to 900 s"),
        ({"whole_s": 1801}, "`whole_s` is 1801: the limit is 1 to 1800 s"),
    ],
)
def test_a_refusal_names_the_parameter_and_its_limit(given: dict[str, Any], told: str) -> None:
    with pytest.raises(CouncilRefused) as refused:
        decision_of(**{"id": "d", "question": "Well?", "participants": TWO, **given})
    assert told in refused.value.message


def test_a_strategy_that_is_nearly_one_is_named() -> None:
    with pytest.raises(CouncilRefused) as refused:
        decision_of(id="d", question="Well?", participants=TWO, strategy="unanimus")
    assert refused.value.hint.startswith("Did you mean unanimous? They are: ")
