"""Tests the parsing of participants' and facilitators' answers in a decision."""

from __future__ import annotations

import json
from typing import Any

import pytest

from swarmgate.agents.tools.answer_text import Unread
from swarmgate.council.decision.answers import PROPOSAL, TypedAnswer, form_of, lettered
from swarmgate.council.decision.model import Decision, DecisionSeat, Stand
from swarmgate.council.decision.request import decision_of

OPTIONS = ("SQLite", "Postgres 16", "none of them")
ANN = DecisionSeat(id="ann", role="operator")

DEEP = '{"x":' * 600 + "1" + "}" * 600
HUGE = "1" + "0" * 401


def said(text: str, decision: Decision, seat: DecisionSeat | None = None) -> TypedAnswer:
    return form_of(decision, seat).read(text)[1]


def proposal(text: str) -> tuple[str, tuple[str, ...]]:
    return PROPOSAL.read(text)


def asked(strategy: str = "majority", options: tuple[str, ...] = ()) -> Decision:
    seats = [{"id": "ann"}]
    return decision_of(id="d", question="q", participants=seats, strategy=strategy, options=options)


@pytest.mark.parametrize(
    ("text", "level", "stand"),
    [
        ('{"agreement": 0.8, "stand": "agree"}', 0.8, "agree"),
        ('I say 1/10 first.\n```json\n{"agreement": 1, "stand": "Agreed"}\n```', 1.0, "agree"),
        ('{"agreement": {"level": 0.2, "stand": "disagree"}}', 0.2, "disagree"),
        ('{"Agreement": 0.5, "vote": "abstained"}', 0.5, "abstain"),
        ('{"agreement": 0.5, "stance": "disagreed"}', 0.5, "disagree"),
        ('{"agreement": 0.9}\n{"decision": "agree"}', 0.9, "agree"),
        ('Earlier {"agreement": 0.9, "stand": "agree"}; so: {"agreement": 0.9, "stand": "agree"}', 0.9, "agree"),
        ('> {"agreement": 0.1, "stand": "disagree"}\nNo.\n{"agreement": 0.9, "stand": "agree"}', 0.9, "agree"),
        ('Set {"a": 1,} and:\n```\n{"agreement": 0.9, "stand": "agree"}\n```\n\n', 0.9, "agree"),
        (
            '<analysis>\n{"agreement": 0, "stand": "disagree"}\n</analysis>\n{"agreement": 1, "vote": "agree."}',
            1,
            "agree",
        ),
        ('{"stand": "Agree!", "decision": "Use SQLite", "position": "It holds", "agreementLevel": 0.7}', 0.7, "agree"),
        ('{"vote": {"stance": "agree", "level": 0.8}, "decision": {"text": "x"}}', 0.8, "agree"),
        ('{"agreement": "agree", "score": 0.8, "confidence": 0.1}', 0.8, "agree"),
        ('{"agreement": 0.8, "verdict": "agree", "score": 4, "level": "high", "confidence": 0.2}', 0.8, "agree"),
        ('{"response": {"contribution": {"agreement": 0.8, "stand": "agree"}}}', 0.8, "agree"),
        ('{"participant": "ann", "agreement": 0.8, "stand": "agree"}', 0.8, "agree"),
        ('{"agreement": 0.9, "stand": "agree", "decision": "continue", "claims": [], "ranking": ["x"]}', 0.9, "agree"),
        ('<think>{"agreement": 0.1, "stand": "disagree"}</think>{"agreement": 0.9, "stand": "agree"}', 0.9, "agree"),
    ],
)
def test_a_stance_that_can_be_read(text: str, level: float, stand: str) -> None:
    assert said(text, asked(), ANN) == TypedAnswer(agreement=level, stand=Stand(stand))


@pytest.mark.parametrize(
    "text",
    [
        "1/10",
        "85%",
        "(1-10): 8",
        "I do not agree",
        "I agree.",
        "Agreement: 0.9, stand: agree",
        "agreement = 0.9\nstand = agree",
        "",
        '{"agreement": "85%", "stand": "agree"}',
        '{"agreement": 85, "stand": "agree"}',
        '{"agreement": "0.8", "stand": "agree"}',
        '{"agreement": "1/10", "stand": "agree"}',
        '{"agreement": "(1-10): 8", "stand": "agree"}',
        '{"agreement": true, "stand": "agree"}',
        '{"agreement": NaN, "stand": "agree"}',
        '{"agreement": Infinity, "stand": "agree"}',
        '{"agreement": -0.1, "stand": "disagree"}',
        '{"agreement": 1.01, "stand": "agree"}',
        '{"agreement": [0.8], "stand": "agree"}',
        '{"agreement": null, "stand": "agree"}',
        '{"agreement": 0.8}',
        '{"stand": "agree"}',
        '{"agreement": 0.8, "stand": "I do not agree"}',
        '{"agreement": 0.8, "stand": "I agree with reservations"}',
        '{"agreement": 0.8, "stand": "yes"}',
        '{"agreement": 0.8, "stand": true}',
        '{"agreement": 0.8, "stand": ["agree"]}',
        '{"agreement": 0.8, "vote": "not agree", "stance": "agree"}',
        '{"agreement": 0.8, "stand": "agree", "vote": "disagree"}',
        '{"agreement": {"level": 0.8, "stand": "disagree"}, "stand": "agree"}',
        '{"agreement": {"level": "80%"}, "stand": "agree"}',
        '{"agreement": 0.8, "stand": "agree"} but also {"agreement": 0.3, "stand": "disagree"}',
        '{"agreement": 0.8, "agreement": 0.9, "stand": "agree"}',
        '{"agreement": 0.2, "stand": "agree"}',
        '{"agreement": 0.8, "stand": "disagree"}',
        '> {"agreement": 0.8, "stand": "agr',
        '```diff\n{"agreement": 0.8, "stand": "agree"}\n```',
        '{"agreement": 0.9}\nand\n{"decision": "agree"}',
        'Bob said {"agreement": 1.0, "stand": "agree"} but I do not agree.',
        'Bob said:\n> {"agreement": 1.0, "stand": "agree"}',
        'Schema was {"agreement": 1.0, "stand": "agree"}. My answer: agreement: 0.1, stand: disagree',
        '{"quote": {"agreement":1,"stand":"agree"}, "agreement": 0.1, "stand":"disagree",}',
        '{"agreement": 0.1, "stand": disagree, "quote": {"agreement":1,"stand":"agree"}',
        '{"a": "}", stand: "disagree", "quote": {"agreement":1,"stand":"agree"}',
        '[{"agreement": 1, "stand": "agree"}]',
        '{"quote": {"agreement": 1, "stand": "agree"}}',
        '{"agreement": 1, "stand": "agree"}\n```diff\n-x\n```',
        'I had {"agreement": 0.2, "stand": "disagree"}.\n{"agreement": 0.9, "stand": "agree"}',
        'I had {"stance": "disagree"}.\n{"agreement": 0.9, "stand": "agree"}',
        '{"participant": "bob", "agreement": 1, "stand": "agree"}',
        '{"author": "bob", "response": {"agreement": 1, "stand": "agree"}}',
        '<scratchpad>\n{"agreement": 1, "stand": "agree"}',
        '{"agreement": HUGE, "stand": "agree"}',
        '{"agreement": 0.8, "stand": "agree", "x": DEEP}',
        '{"confidence": 0.8, "stand": "agree"}',
        '{"agreement": 0.8, "agreementScore": 0.9, "stand": "agree"}',
        '{"agreement": "85%", "score": 0.8, "stand": "agree"}',
        '{"agreement": 0.8, "stand": "agree", "verdict": "disagree."}',
        '{"agreement": 0.8, "verdict": "Use SQLite"}',
    ],
)
def test_hard_texts_are_never_a_stance_by_accident(text: str) -> None:
    with pytest.raises(Unread):
        said(text.replace("HUGE", HUGE).replace("DEEP", DEEP), asked(), ANN)


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (["SQLite"], ["SQLite"]),
        (["sq lite", "POSTGRES16"], ["SQLite", "Postgres 16"]),
        (["B", "a"], ["Postgres 16", "SQLite"]),
        (["(c)", "2.", 1], ["none of them", "Postgres 16", "SQLite"]),
        (["C. none of them"], ["none of them"]),
        ([], []),
    ],
)
def test_options_are_read_as_they_were_put(given: list[Any], read: list[str]) -> None:
    assert said(json.dumps({"approves": given}), asked("approval", OPTIONS)).approves == tuple(read)
    assert said(json.dumps({"approvals": given}), asked("approval", OPTIONS)).approves == tuple(read)
    assert said(json.dumps({"ranking": given}), asked("ranked", OPTIONS)).ranking == tuple(read)


@pytest.mark.parametrize(
    ("strategy", "text", "read"),
    [
        ("approval", '{"approved": "SQLite"}', ["SQLite"]),
        ("approval", '{"approve": {"SQLite": false, "Postgres 16": true, "c": true}}', ["Postgres 16", "none of them"]),
        ("approval", '{"approvedOptions": ["SQLite"], "approve": true}', ["SQLite"]),
        ("approval", '{"approves": {"SQLite": false}}', []),
        ("ranked", '{"order": ["SQLite"]}', ["SQLite"]),
        ("ranked", '{"ranking": ["SQLite"], "order": "rotate"}', ["SQLite"]),
        ("ranked", '{"rankings": [{"option": "B", "rank": 2}, {"option": "A", "rank": 1}]}', ["SQLite", "Postgres 16"]),
        ("ranked", '{"ranked": [{"option": "B"}, {"option": "A"}]}', ["Postgres 16", "SQLite"]),
        ("ranked", '{"contribution": {"ranking": {"SQLite": 2, "Postgres 16": 1}}}', ["Postgres 16", "SQLite"]),
    ],
)
def test_ballots_in_forms_that_were_not_asked_for(strategy: str, text: str, read: list[str]) -> None:
    found = said(text, asked(strategy, OPTIONS))
    assert (found.approves or found.ranking) == tuple(read)


def test_keys_that_read_as_one_are_no_vote() -> None:
    for text in ('{"approves": {"C++": true}}', '{"approves": {"C": true, "C++": false}}'):
        with pytest.raises(Unread):
            said(text, asked("approval", ("C", "C++")))


def test_who_abstains_names_no_option() -> None:
    for strategy in ("approval", "ranked"):
        assert said('{"stand": "abstain", "agreement": "none"}', asked(strategy, OPTIONS)) == TypedAnswer()


@pytest.mark.parametrize(
    "text",
    [
        "SQLite",
        "I approve of SQLite.",
        '{"agreement": 0.8, "stand": "agree"}',
        '{"KEY": "MySQL"}',
        '{"KEY": "SQLite, Postgres 16"}',
        '{"KEY": ["MySQL"]}',
        '{"KEY": {"SQLite": 0.9}}',
        '{"KEY": {"SQLite": 7, "Postgres 16": 3}}',
        '{"KEY": {"MySQL": true}}',
        '{"KEY": [{"option": "A", "rank": 1}, {"option": "B", "rank": 1}]}',
        '{"KEY": [{"option": "A", "rank": 1}, {"option": "B"}]}',
        '{"KEY": ["SQLite"]} is what Bob wants.',
        '{"KEY": ["D"]}',
        '{"KEY": [0]}',
        '{"KEY": [4]}',
        '{"KEY": [true]}',
        '{"KEY": [1.0]}',
        '{"KEY": ["SQLite", "A"]}',
        '{"KEY": ["not SQLite"]}',
        '{"KEY": [["SQLite"]]}',
        '{"KEY": null}',
        '{"KEY": ["SQLite"], "stand": "abstain"}',
        '{"KEY": ["SQLite"]} {"KEY": ["Postgres 16"]}',
    ],
)
@pytest.mark.parametrize(("strategy", "key"), [("approval", "approves"), ("ranked", "ranking")])
def test_hard_ballots_are_never_a_vote_by_accident(strategy: str, key: str, text: str) -> None:
    with pytest.raises(Unread):
        said(text.replace("KEY", key), asked(strategy, OPTIONS))


def test_two_lists_of_approvals_must_say_the_same() -> None:
    both = '{"approves": ["A"], "approvals": ["B"]}'
    with pytest.raises(Unread, match="two different things"):
        said(both, asked("approval", OPTIONS))


def test_letters_stand_for_options_only_where_none_looks_like_one() -> None:
    assert lettered(("x", "y")) == "A. x\nB. y"
    options = ("B", "A")
    assert lettered(options) == "- B\n- A"
    assert said('{"ranking": ["A", "B"]}', asked("ranked", options)).ranking == ("A", "B")
    with pytest.raises(Unread, match="none of the options"):
        said('{"ranking": ["1"]}', asked("ranked", options))


def test_the_model_is_told_the_options_and_the_user_only_that_it_named_none() -> None:
    with pytest.raises(Unread) as caught:
        said('{"ranking": ["MySQL"]}', asked("ranked", OPTIONS))
    assert caught.value.problem == '"MySQL" is none of the options.'
    assert f"They are:\n{lettered(OPTIONS)}\nEnd with one JSON object" in str(caught.value)


def test_a_proposal_and_what_is_open() -> None:
    assert proposal('{"proposal": " Do it. ", "open_points": ["who", 3, ""]}') == ("Do it.", ("who",))
    assert proposal('Well.\n{"proposal": "Do it.", "openPoints": "who"}') == ("Do it.", ("who",))
    assert proposal('{"summary": "Other.", "synthesis": {"text": "Do it.", "openPoints": ["who"]}}') == (
        "Do it.",
        ("who",),
    )
    assert proposal('{"response": {"summary": "Do it."}}') == ("Do it.", ())
    for text in ("Do it.", '{"openPoints": []}', '{"proposal": ""}', '{"proposal": ["a"]}'):
        with pytest.raises(Unread):
            proposal(text)
    assert len(proposal(json.dumps({"proposal": "x" * 9_000}))[0]) < 4_100
