"""Tests `swarm decide`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.project import Project, event_lines, plain, rule, until

from swarmgate.council.decision.steps import DECISION
from swarmgate.council.shared import Shared
from swarmgate.engine import Swarm

FACILITATES = rule("participant", "facilitate", {"text": '{"proposal": "We do it.", "openPoints": ["who pays"]}'})


def says(body: Any, **match: str) -> dict[str, Any]:
    return rule("participant", "contribute", {"text": json.dumps(body)}, **match)


YES = says({"agreement": 0.8, "stand": "agree"})


def the_id(project: Project) -> str:
    (found,) = Swarm(project.root).council.decisions()
    return found.id


def test_the_exit_code_is_the_consensus_and_stdout_says_who_stood_where(project: Project) -> None:
    project.play(YES, says({"agreement": 0.2, "stand": "disagree"}, participant="operator"), FACILITATES)
    done = project.swarm("decide", "Do we do it?")
    assert done.stdout.splitlines()[:9] == [
        "CONSENSUS  (1 round; ended because there is a consensus)",
        "- builder: agrees, 0.80",
        "- operator: disagrees, 0.20",
        "- user: agrees, 0.80",
        "  2 of 3 agree; it takes more than half",
        "Decided:",
        "  We do it.",
        "Open:",
        "  - who pays",
    ]
    assert f"All of it: swarm decide show {the_id(project)}" in done.stdout
    assert "round 1, contribute: operator disagrees, 0.20" in plain(done.stderr)
    none = project.swarm("decide", "Do we do it?", "--strategy", "unanimous", "--rounds", "1", exits=1)
    assert none.stdout.startswith("NO CONSENSUS  (1 round; ended because the last round was over)")
    assert "Proposed last, and not decided:" in none.stdout


def test_every_option_reaches_the_decision(project: Project) -> None:
    project.play(says({"ranking": ["B"]}), says({"ranking": ["MySQL"]}, participant="cy"), FACILITATES)
    seats = ["--participant", "ann=local/one", "--participant", "bob", "--participant", "cy"]
    options = ["--strategy", "ranked", "--option", "SQLite", "--option", "Postgres", "--facilitator", "ann"]
    more = ["--weight", "bob=0.5", "--rounds", "2", "--file", "AGENTS.md", "--timeout", "30", "--tokens", "90000"]
    told = project.json("decide", "Which store?", *seats, *options, *more, "--usd", "2", "--no-cache")
    assert (told["consensus"], told["choice"], told["count"]["excluded"]) == (True, "Postgres", 1)
    assert "is none of the options" in told["excluded"]["cy"]
    assert [each["ranking"] for each in told["stands"]] == [["Postgres"], ["Postgres"], []]
    decision = Swarm(project.root).council.decision_record(told["id"]).decision
    assert [(seat.id, seat.model, seat.weight) for seat in decision.participants] == [
        ("ann", "local/one", 1.0),
        ("bob", "", 0.5),
        ("cy", "", 1.0),
    ]
    assert (decision.rounds, decision.timeout_s, decision.facilitator) == (2, 30, "ann")
    assert "HOUSE-RULE" in decision.material
    standing = Shared(Swarm(project.root).project).record(DECISION, told["id"]).standing
    assert (standing.allowance.usd, standing.allowance.tokens) == (2.0, 90_000)
    assert standing.request_hash == ""  # somebody did not count: the same request asks everybody anew


@pytest.mark.slow
def test_show_and_list(project: Project) -> None:
    project.play(YES, FACILITATES)
    assert project.swarm("decide", "list").stdout.strip() == "There is no decision here yet."
    project.swarm("decide", "hold", "list", "--participant", "ann")
    asked = len(project.requests)
    again = project.swarm("decide", "hold", "list", "--participant", "ann")
    assert (len(project.requests), "from the record of" in plain(again.stderr)) == (asked, False)
    assert again.stdout.startswith("Answered from the record of")
    assert "Spent then: 2 calls, " in again.stdout
    assert project.json("decide", "hold", "list", "--participant", "ann")["cached"] is True
    (row,) = project.json("decide", "list")
    assert (row["status"], row["strategy"], row["question"]) == ("consensus", "majority", "list")
    shown = project.swarm("decide", "show", row["id"]).stdout
    assert ("# list" in shown, "## Round 1" in shown, "- ann: agrees, 0.80" in shown) == (True, True, True)
    told = project.json("decide", "show", row["id"])
    assert (told["id"], told["status"], told["outcome"]["consensus"]) == (row["id"], "complete", True)
    assert "There is no decision" in project.swarm("decide", "show", "nope", exits=2).stderr
    begun = project.swarm("decide", "Do we do it?", "--json")
    assert [line["kind"] for line in event_lines(begun.stderr)][:2] == ["event", "step"]


# --- a file ---

FILE = """# all of it
question = "Do we do it?"
strategy = "weighted"
threshold = 0.6
rounds = 2
files = ["AGENTS.md"]
facilitator = "chair=local/junior"
id = "from-a-file"

[[participants]]
id = "ann"
role = "builder"
perspective = "You build it."
system = "SYS-ANN"

[[participants]]
id = "bob"
weight = 0.5
model = "local/junior"
"""


def test_a_file_describes_all_of_it_and_options_win(project: Project, tmp_path: Path) -> None:
    project.play(YES, FACILITATES)
    path = tmp_path / "decision.toml"
    path.write_text(FILE)
    told = project.json("decide", str(path), "--rounds", "1", "--weight", "ann=0.25")
    assert (told["id"], told["consensus"], told["bar"]) == ("from-a-file", True, 0.6)
    decision = Swarm(project.root).council.decision_record("from-a-file").decision
    ann, bob = decision.participants
    assert (ann.role, ann.perspective, ann.system, ann.weight) == ("builder", "You build it.", "SYS-ANN", 0.25)
    assert (bob.weight, bob.model, decision.rounds) == (0.5, "local/junior", 1)
    assert (decision.facilitator, decision.facilitator_model) == ("chair", "local/junior")


def test_the_example_is_a_decision(project: Project) -> None:
    project.play(says({"ranking": ["B", "A"]}), FACILITATES)
    told = project.json("decide", str(Path(__file__).parents[3] / "examples/decision.toml"))
    assert (told["choice"], told["count"]["agree"]) == ("in the database that we have", 3)


MISTAKES = [
    ("rounds = 2", "rounds = 0", "line 5: `rounds` is 0: the limit is 1 to 10"),
    ("rounds = 2", f"rounds = {10**401}", "line 5: `rounds` is about 10^401: the limit is 1 to 10"),
    ("rounds = 2", "rounds = 2\nweights = {an = 0.5}", "line 6: `weights` names 'an', who does not take part"),
    ("rounds = 2", 'rounds = "2"', "line 5: `rounds`: must be a valid integer"),
    ("rounds = 2", "rouns = 2", "line 5: `rouns`: unknown key `rouns`; did you mean `rounds`?"),
    ('"weighted"', '"wieghted"', "line 3: `strategy` is 'wieghted', and there is none of that name"),
    ("threshold = 0.6", "threshold = 1.6", "line 4: `threshold` is 1.6: the limit is 0 to 1"),
    ('"weighted"', '"majority"', "line 4: `threshold` is 0.6, and the strategy majority reads none"),
    ('"weighted"', '"facilitator"', "`facilitator` is 'chair'"),
    ("weight = 0.5", "weight = 5", "line 18: `participants.2.weight` is 5.0: the limit is 0 to 1"),
    ('id = "bob"', 'id = "ann"', "line 17: `participants.2.id`: ann takes part already"),
    ('id = "bob"', 'id = "b b"', "line 17: `participants.2.id`: letters, digits"),
    ('id = "bob"\n', "", "line 16: `participants.2`: the key `id` is missing"),
    (
        "weight = 0.5",
        'wieght = "x"',
        "line 18: `participants.2.wieght`: unknown key `wieght`; did you mean `weight`?",
    ),
    ("weight = 0.5", 'discussion = "deeep"', "line 18: `participants.2.discussion`: there is no such mode"),
    ("weight = 0.5", "participants = []", "line 16: `participants.2` would nest further: the limit is 2 deep"),
    ('question = "Do we do it?"', "", "the key `question` is missing"),
    ('"AGENTS.md"', '"nope.md"', "line 6: There is no file 'nope.md'"),
    ('model = "local/junior"', 'model = "nope/x"', "line 19: bob: "),
    ("rounds = 2", "rounds = = 2", "is not valid TOML"),
]


def test_a_mistake_in_a_file_is_named_with_line_and_key(project: Project, tmp_path: Path) -> None:
    project.play(YES, FACILITATES)
    path = tmp_path / "decision.toml"
    for old, new, told in MISTAKES:
        assert old in FILE
        path.write_text(FILE.replace(old, new))
        said = project.swarm("decide", str(path), exits=2).stderr
        assert str(path) in said, new
        assert told in said, new
    assert project.requests == []


BAD = [
    (["nowhere.toml"], "cannot be read: No such file"),
    (["Well?", "--strategy", "majorty"], "Did you mean majority?"),
    (["Well?", "--weight", "ann"], "is not of the form ID=X"),
    (["Well?", "--weight", "ann=x"], "is not of the form ID=X"),
    (["Well?", "--option", "A"], "has no vote on options"),
    (["Well?", "--strategy", "facilitator"], "needs --facilitator, who decides: one of builder, operator, user"),
    (["Well?", "--strategy", "ranked", "--option", "A"], "--option is 1: the limit is 2 to 10 -> Change --option"),
    (["Well?", "--weight", "user=2"], "--weight is 2.0: the limit is 0 to 1"),
    (["Well?", "--participant", "a b"], "--participant 1: letters, digits"),
    (["Well?", "--human", "Ada L"], "--human: letters, digits"),
    (["Well?", "--human", "user"], "--human: user takes part already"),
    (["Well?", "--human", "ada", "--human", "ada"], "--human: ada takes part already"),
    (["  "], "the value is empty"),
    (["shwo"], "did you mean `show`?"),
]


def test_bad_input_is_told_and_costs_nothing(project: Project) -> None:
    project.play(YES, FACILITATES)
    for args, told in BAD:
        assert told in plain(project.swarm("decide", *args, exits=2).stderr)
    assert project.requests == []


@pytest.mark.slow
def test_what_cannot_be_paid_or_heard_says_how_it_goes_on(project: Project) -> None:
    project.play(YES, FACILITATES)
    told = project.json("decide", "Well?", "--tokens", "10", exits=4)
    assert (project.requests, "the first round (its prompts alone) takes about" in told["message"]) == ([], True)
    assert f"swarm decide resume {the_id(project)} --tokens N" in told["hint"]
    assert project.json("decide", "resume", the_id(project), "--tokens", "90000")["consensus"] is True
    weighed = project.swarm("decide", "That?", "--participant", "ann", "--weight", "ann=0.5")
    assert "the weight of ann does not count: the strategy majority reads none" in plain(weighed.stderr)
    project.play(says("no"), FACILITATES)
    told = project.json("decide", "This?", exits=5)
    assert f"Go on with: swarm decide resume {Swarm(project.root).council.decisions()[0].id}" in told["hint"]


@pytest.mark.slow
def test_a_kill_costs_the_words_in_flight_alone(project: Project) -> None:
    hangs = rule("participant", "contribute", {"fault": {"kind": "hang"}}, participant="bob", round="2")
    project.play(YES, says({"agreement": 0.2, "stand": "disagree"}, round="1"), hangs, FACILITATES)
    seats = ["--participant", "ann", "--participant", "bob"]
    process = project.start("decide", "Do we do it?", *seats)
    until(lambda: bool([*project.folder.discussions.glob("*/journal.jsonl")]) and bool(heard(project, 2)))
    process.kill()
    process.communicate()
    assert heard(project, 2) == ["ann"]
    project.play(YES, FACILITATES)
    before = len(project.requests)
    told = project.json("decide", "resume", the_id(project))
    assert (told["consensus"], told["rounds"], len(project.requests) - before) == (True, 2, 2)


def heard(project: Project, number: int) -> list[str]:
    """Who has spoken in a round, by the record."""
    (path,) = project.folder.discussions.glob("*/journal.jsonl")
    events = [json.loads(each)["event"] for each in path.read_text().splitlines(keepends=True) if each.endswith("\n")]
    return [each["participant"] for each in events if each["type"] == "spoke" and each["round"] == number]
