from __future__ import annotations

import json
from typing import Any

import pytest

from swarmgate.agents.participant import Unread
from swarmgate.council.consensus.reading import Said, lettered, proposal, said
from swarmgate.council.consensus.request import decision_of
from swarmgate.domain.consensus import Decision, Stand

OPTIONS = ("SQLite", "Postgres 16", "none of them")


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
        ('{"agreement": 0.9}\nand\n{"decision": "agree"}', 0.9, "agree"),
        ('{"agreement": 0.9, "stand": "agree", "decision": "continue", "claims": [], "ranking": ["x"]}', 0.9, "agree"),
        ('<think>{"agreement": 0.1, "stand": "disagree"}</think>{"agreement": 0.9, "stand": "agree"}', 0.9, "agree"),
    ],
)
def test_a_stance_that_can_be_read(text: str, level: float, stand: str) -> None:
    assert said(text, asked()) == Said(agreement=level, stand=Stand(stand))


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
    ],
)
def test_hard_texts_are_never_a_stance_by_accident(text: str) -> None:
    with pytest.raises(Unread):
        said(text, asked())


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


def test_who_abstains_names_no_option() -> None:
    for strategy in ("approval", "ranked"):
        assert said('{"stand": "abstain", "agreement": "none"}', asked(strategy, OPTIONS)) == Said()


@pytest.mark.parametrize(
    "text",
    [
        "SQLite",
        "I approve of SQLite.",
        '{"agreement": 0.8, "stand": "agree"}',
        '{"KEY": "SQLite"}',
        '{"KEY": ["MySQL"]}',
        '{"KEY": ["D"]}',
        '{"KEY": [0]}',
        '{"KEY": [4]}',
        '{"KEY": [true]}',
        '{"KEY": [1.0]}',
        '{"KEY": ["SQLite", "A"]}',
        '{"KEY": ["not SQLite"]}',
        '{"KEY": [["SQLite"]]}',
        '{"KEY": {"SQLite": true}}',
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


def test_a_proposal_and_what_is_open() -> None:
    assert proposal('{"proposal": " Do it. ", "open_points": ["who", 3, ""]}') == ("Do it.", ("who",))
    assert proposal('Well.\n{"proposal": "Do it.", "openPoints": "who"}') == ("Do it.", ("who",))
    for text in ("Do it.", '{"openPoints": []}', '{"proposal": ""}', '{"proposal": ["a"]}'):
        with pytest.raises(Unread):
            proposal(text)
    assert len(proposal(json.dumps({"proposal": "x" * 9_000}))[0]) < 4_100
