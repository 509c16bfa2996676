from __future__ import annotations

import json

import pytest

from swarmgate.agents.tools.answer_text import Unread, fields_of, objects_of, squeezed
from swarmgate.council.critique.answers import evaluation_of
from swarmgate.council.critique.model import Criterion
from swarmgate.council.discussion.answers.values import number_of

DEEP = '{"x":' * 600 + "1" + "}" * 600


def test_an_object_anywhere_counts_where_nothing_is_decided() -> None:
    text = 'First {"Key One": 1}.\n> {"keyOne": 2}\n```json\n{"other": {"Key": 3}}\n```\nThat is all.'
    assert objects_of(text) == ({"keyone": 1}, {"other": {"key": 3}})
    assert fields_of(text, ("key_one", "other")) == {"keyone": 1, "other": {"key": 3}}
    assert fields_of('{"response": {"keyOne": 1}}', ("key_one",)) == {"keyone": 1}
    assert (squeezed("Would_change If"), squeezed("+")) == ("wouldchangeif", "+")


def test_what_decides_ends_the_answer() -> None:
    for text in ('{"a": 1}', 'So:\n~~~\n{"a": 1}\n~~~\n', 'So ```json {"a": 1}```', '{"a": 1} {"b": 2}\n\n'):
        assert fields_of(text, ("a", "b"), closing=True)["a"] == 1
    for text in ('{"a": 1}.', '{"a": 1} {"a": 2}', '{"a": 1} or {"b": 2}', '{"a": 1, "A!": 2}', '{"x": {"a": 1},,}'):
        with pytest.raises(Unread):
            fields_of(text, ("a", "b"), closing=True)


def test_what_nests_too_deep_or_is_too_large_is_no_answer_and_no_crash() -> None:
    for closing in (True, False):
        with pytest.raises(Unread, match="nests more than 50 deep"):
            fields_of(DEEP, ("x",), closing=closing)
    with pytest.raises(Unread, match="no JSON object"):
        fields_of('{"x":' * 9_000, ("x",), closing=True)
    assert number_of(10**401) is None


def test_objects_without_end_are_read_in_time() -> None:
    assert fields_of('{"x": 1} ' * 1_500 + '{"a": 1}', ("a",), closing=True) == {"a": 1}
    with pytest.raises(Unread):
        fields_of('{"a": 1} ' * 2_500 + '{"a": 2}', ("a",), closing=True)


def test_scores_that_are_quoted_are_no_judgement() -> None:
    criteria = (Criterion(name="clarity"),)
    scores = json.dumps({"scores": [{"criterion": "clarity", "score": 1.0, "reason": "-"}]})
    assert evaluation_of(criteria).read(scores)[0][0].score == 1
    for text in (f"The author wrote {scores} itself, which is no judgement.", f"> {scores}", f"{scores}\nI give 0.1."):
        with pytest.raises(Unread):
            evaluation_of(criteria).read(text)
