"""Tests the parsing of the author's and the evaluator's answers in a critique."""

from __future__ import annotations

import json
from typing import Any

import pytest

from swarmgate.agents.tools.answer_text import Unread
from swarmgate.council.critique.answers import evaluation_of, version_in
from swarmgate.council.critique.model import Criterion

CRITERIA = (Criterion(name="clarity"), Criterion(name="test-coverage"))


@pytest.mark.parametrize(
    ("answer", "version"),
    [
        ("  def f():\n    pass  \n\n", "  def f():\n    pass  "),
        ("```python\nx = 1\n```", "x = 1"),
        ("\n~~~\nx\n~~~ \n", "x"),
        ("````md\n# T\n```sh\nls\n```\n````", "# T\n```sh\nls\n```"),
        ("```sh\na\n```\nthen\n```sh\nb\n```", "```sh\na\n```\nthen\n```sh\nb\n```"),
        ("Here it is:\n```\nx\n```", "Here it is:\n```\nx\n```"),
        ("```\nnever closed", "```\nnever closed"),
    ],
)
def test_the_whole_answer_is_the_version(answer: str, version: str) -> None:
    assert version_in(answer) == version


@pytest.mark.parametrize("answer", ["", " \n", "```\n\n```", "x" * 400_001])
def test_nothing_and_too_much_are_no_version(answer: str) -> None:
    with pytest.raises(Unread):
        version_in(answer)


@pytest.mark.parametrize(
    "scores",
    [
        [{"criterion": "clarity", "score": 0.5, "reason": "a"}, {"criterion": "Test Coverage", "score": 1}],
        [{"name": "clarity", "score": 0.5, "reason": "a"}, {"name": "test_coverage", "score": 1, "x": 2}, "noise"],
        {"clarity": {"score": 0.5, "reason": "a"}, "testCoverage": 1, "other": "none of ours"},
    ],
)
def test_the_forms_of_scores(scores: Any) -> None:
    answer = f"Well, 1/10.\n```json\n{json.dumps({'scores': scores, 'suggestions': ['b', {'text': 'c'}, 7]})}\n```"
    found, suggestions = evaluation_of(CRITERIA).read(answer)
    assert [(each.criterion, each.score, each.reason) for each in found] == [
        ("clarity", 0.5, "a"),
        ("test-coverage", 1.0, ""),
    ]
    assert suggestions == ("b", "c")


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("clarity: 0.9, test-coverage: 85%, (1-10): 8", "no JSON object"),
        ('{"suggestions": []}', "no score for the criterion `clarity`"),
        ('{"scores": {"clarity": 1, "test-coverage": 1}, "ratings": {"clarity": 0.5}}', "two scores for `clarity`"),
        ('{"scores": {"clarity": 1, "test-coverage": 1}, "clarity": 0.5}', "two scores for `clarity`"),
        ('{"scores": [{"id": "clarity", "score": 1, "value": 0}, {"id": "test-coverage", "score": 1}]}', "two scores"),
        ('{"scores": {"clarity": 1, "test-coverage": 1}} So I would take 0.2 off.', "ends your answer"),
        ('{"clarity": "fine", "feedback": "test-coverage: 1"}', "`clarity` is no number"),
        ('{"evaluation": 0.9}', "no score for the criterion `clarity`"),
        ('{"scores": {"clarity": 1e999, "test-coverage": 1}}', "`clarity` is no number"),
        (f'{{"scores": {{"clarity": {"9" * 5_000}, "test-coverage": 1}}}}', "no JSON object"),
        ('{"scores": ' * 700 + "1" + "}" * 700, "deep"),
        ('{"scores": ' * 40_000 + "1" + "}" * 40_000, "no JSON object"),
        (f'{{"scores": {{"clarity": {"[" * 700 + "]" * 700}, "test-coverage": 1}}}}', "deep"),
        (r'{"scores": {"clarity": "\ud800", "test-coverage": 1}}', "`clarity` is no number"),
        ('{"scores": {"clarity": 1}}', "no score for the criterion `test-coverage`"),
        ('{"scores": {"clarity": "0.9", "test-coverage": 1}}', "`clarity` is no number"),
        ('{"scores": {"clarity": true, "test-coverage": 1}}', "`clarity` is no number"),
        ('{"scores": {"clarity": null, "test-coverage": 1}}', "`clarity` is no number"),
        ('{"scores": {"clarity": NaN, "test-coverage": 1}}', "`clarity` is no number"),
        (f'{{"scores": {{"clarity": 1{"0" * 400}, "test-coverage": 1}}}}', "`clarity` is no number"),
        ('{"scores": [{"criterion": "clarity", "score": 1}, {"criterion": "clarity", "score": 0}]}', "two scores"),
        ('{"scores": {"clarity": 1, "test-coverage": 1}} {"scores": {"clarity": 0}}', "two different things"),
        ('{"scores": 3}', "no score for the criterion `clarity`"),
    ],
)
def test_what_is_no_evaluation_is_told(answer: str, told: str) -> None:
    with pytest.raises(Unread, match=r".*") as raised:
        evaluation_of(CRITERIA).read(answer)
    assert told in raised.value.problem


@pytest.mark.parametrize(
    "answer",
    [
        {
            "evaluations": [
                {"id": "clarity", "value": 0.5, "comment": "a"},
                {"criterionName": "TestCoverage", "rating": 1},
            ]
        },
        {"ratings": {"clarity": {"rating": 0.5, "rationale": "a"}, "test coverage": {"value": 1, "score": 1.0}}},
        {"criteria": [{"criteria": "clarity", "score": 0.5, "feedback": ["a", "more"]}, {"test-coverage": 1}]},
        {"clarity": {"score": 0.5, "reason": {"text": "a"}}, "testCoverage": 1, "overall": 0.1},
        {
            "evaluation": {
                "scores": [{"name": "clarity", "score": 0.5, "reason": "a"}, {"name": "test_coverage", "score": 1}]
            }
        },
        {"evaluation": [{"name": "clarity", "score": 0.5, "reason": "a"}, {"name": "test_coverage", "score": 1}]},
        {"iteration 1": {"result": {"clarity": {"score": 0.5, "reason": "a"}, "test_coverage": 1}}},
        {"scores": {"clarity": 0.5, "test_coverage": 1}, "ratings": [{"id": "clarity", "score": 0.5, "reason": "a"}]},
        {
            "criteria": [{"name": "clarity", "weight": 1}],
            "scores": {"clarity": {"value": 0.5, "comment": "a"}, "test-coverage": 1},
        },
    ],
)
def test_the_names_that_outsiders_give(answer: dict[str, Any]) -> None:
    found, _ = evaluation_of(CRITERIA).read(f"So:\n{json.dumps(answer)}")
    assert [(each.score, each.reason) for each in found] == [(0.5, "a"), (1.0, "")]


def test_a_criterion_may_have_the_name_of_one_of_our_keys() -> None:
    criteria = (Criterion(name="feedback"), Criterion(name="result"))
    found, suggestions = evaluation_of(criteria).read('{"feedback": 0.5, "result": {"score": 1}, "improvements": "b"}')
    assert ([each.score for each in found], suggestions) == ([0.5, 1.0], ("b",))


def test_suggestions_by_any_name_are_put_together() -> None:
    more = {
        "suggestions": ["a", {"description": "b"}, {"change": "c"}, {"priority": 1}],
        "improvements": {"suggestion": "d"},
        "recommendations": [{"text": "a"}, ["x"], None],
        "feedback": "e \ud800",
    }
    found, suggestions = evaluation_of(CRITERIA).read(
        json.dumps({"scores": {"clarity": -0.0, "testCoverage": 1}, **more})
    )
    assert suggestions == ("a", "b", "c", "d", "e \ufffd")
    assert (f"{found[0].score:.2f}", found[0].clamped) == ("0.00", None)


def test_scores_outside_are_clamped_with_a_note() -> None:
    found, _ = evaluation_of(CRITERIA).read('{"scores": {"clarity": 8, "test-coverage": -0.5}}')
    assert [(each.score, each.clamped) for each in found] == [(1.0, 8.0), (0.0, -0.5)]
