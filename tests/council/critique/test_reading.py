"""What is read of the author's and the evaluator's answers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from swarmgate.agents.participant import Unread
from swarmgate.council.critique.reading import evaluation_in, version_in
from swarmgate.domain.critique import Criterion

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
        ("<think>\nhm ```\n</think>\n```\nx\n```", "x"),
        ("```\nnever closed", "```\nnever closed"),
    ],
)
def test_the_whole_answer_is_the_version(answer: str, version: str) -> None:
    assert version_in(answer) == version


@pytest.mark.parametrize("answer", ["", " \n", "```\n\n```", "<think>only</think>", "x" * 400_001])
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
    found, suggestions = evaluation_in(answer, CRITERIA)
    assert [(each.criterion, each.score, each.reason) for each in found] == [
        ("clarity", 0.5, "a"),
        ("test-coverage", 1.0, ""),
    ]
    assert suggestions == ("b", "c")


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("clarity: 0.9, test-coverage: 85%, (1-10): 8", "no JSON object"),
        ('{"suggestions": []}', "`scores` is missing"),
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
        evaluation_in(answer, CRITERIA)
    assert told in raised.value.problem


def test_scores_outside_are_clamped_with_a_note() -> None:
    found, _ = evaluation_in('{"scores": {"clarity": 8, "test-coverage": -0.5}}', CRITERIA)
    assert [(each.score, each.clamped) for each in found] == [(1.0, 8.0), (0.0, -0.5)]
