"""ADR 0007 from end to end: what it draws and lists, typed as commands. Its discussion is `swarm decide` here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.project import Project, Rule, event_lines, plain, rule

COUNCIL = {"participant", "architect"}
DOWN = {"fault": {"kind": "500"}}
PROPOSES = rule("participant", "facilitate", {"text": json.dumps({"proposal": "Plan {{round}}.", "openPoints": []})})


def calls(project: Project) -> int:
    return sum(each.headers.get("ROLE") in COUNCIL for each in project.requests)


# --- self-critique: generate, evaluate, suggest, improve, until it is good enough or the iterations are over ---


def scores(number: int, brevity: float, truth: float) -> Rule:
    listed = {"brevity": {"score": brevity, "reason": "B"}, "truth": {"score": truth, "reason": "T"}}
    told = {"scores": listed, "suggestions": [f"SUGGESTION-{number}"]}
    return rule("participant", "evaluate", {"text": json.dumps(told)}, round=str(number))


CRITERIA = ("--criterion", "brevity:0.25:0.5=Short", "--criterion", "truth:0.75:0.8=All of it is so")
WRITES = (
    rule("participant", "generate", {"text": "version 1"}),
    rule("participant", "improve", {"text": "version {{round}}"}),
)


@pytest.mark.parametrize(
    ("judged", "iterations", "ended_by", "best", "mean"),
    [
        ([(0.9, 0.4), (0.6, 0.9)], 5, "passed", 2, 0.825),
        ([(0.9, 0.4), (0.4, 0.6), (0.1, 0.1)], 3, "iterations", 2, 0.55),
    ],
    ids=["the threshold ends it", "the iterations end it"],
)
def test_self_critique(
    project: Project, judged: list[tuple[float, float]], iterations: int, ended_by: str, best: int, mean: float
) -> None:
    project.play(*WRITES, *(scores(number, *each) for number, each in enumerate(judged, start=1)))
    options = (*CRITERIA, "--iterations", str(iterations), "--stop", "0.8")
    told = project.json("critique", "Say what it does.", *options, exits=0 if ended_by == "passed" else 1)
    assert (told["ended_by"], told["best"], told["version"]) == (ended_by, best, f"version {best}")
    assert told["mean"] == pytest.approx(mean)  # by weight
    assert calls(project) == 2 * len(judged)
    kept = project.json("critique", "show", told["id"])["iterations"]
    found = [[score["score"] for score in each["evaluation"]["scores"]] for each in kept]
    assert found == [list(each) for each in judged]
    (asked,) = project.briefs("participant", "improve", round="2")
    assert ("version 1" in asked, "SUGGESTION-1" in asked) == (True, True)


# --- discussion: contribute, synthesise, evaluate the consensus, until there is one or the rounds are over ---


def stands(who: str, level: float, **match: str) -> Rule:
    stand = "agree" if level >= 0.5 else "disagree"
    return rule(
        "participant",
        "contribute",
        {"text": json.dumps({"agreement": level, "stand": stand})},
        participant=who,
        **match,
    )


SEATS = ("--participant", "ops", "--participant", "dev", "--participant", "law")


@pytest.mark.parametrize(
    ("options", "consensus"),
    [
        (("--strategy", "unanimous"), False),
        (("--strategy", "majority"), True),
        (("--strategy", "weighted"), False),
        (("--strategy", "weighted", "--weight", "dev=0.2", "--weight", "law=0.2"), True),
        (("--strategy", "facilitator", "--facilitator", "ops"), True),
        (("--strategy", "facilitator", "--facilitator", "law"), False),
    ],
)
def test_discussion_strategies(project: Project, options: tuple[str, ...], *, consensus: bool) -> None:
    """The levels are 0.9, 0.6 and 0.3: all do not agree, more than half do, the mean is below 0.7 by equal weights."""
    project.play(stands("ops", 0.9), stands("dev", 0.6), stands("law", 0.3), PROPOSES)
    given = ("Do we move?", *SEATS, *options, "--rounds", "1")
    assert project.json("decide", *given, exits=0 if consensus else 1)["consensus"] is consensus


def test_discussion_rounds(project: Project) -> None:
    """Participants x rounds calls and one synthesis a round; the role and the system prompt reach their participant."""
    project.play(stands("ops", 0.2), stands("ops", 0.8, round="2"), stands("dev", 0.9), PROPOSES)
    project.write(
        "decision.toml",
        'question = "Do we move?"\nstrategy = "unanimous"\nrounds = 4\n'
        '[[participants]]\nid = "ops"\nrole = "on call"\nsystem = "SYSTEM-OF-OPS"\n[[participants]]\nid = "dev"\n',
    )
    told = project.json("decide", str(project.root / "decision.toml"))
    assert (told["consensus"], told["ended_by"], told["rounds"], told["decided"]) == (True, "consensus", 2, "Plan 2.")
    assert calls(project) == 2 * 2 + 2
    first, second = project.briefs("participant", "contribute", participant="ops")
    assert ("on call" in first, "Plan 1." in first, "Plan 1." in second) == (True, False, True)
    systems = {each.headers["PARTICIPANT"]: each.messages[0]["content"] for each in project.requests}
    assert {who for who, text in systems.items() if "SYSTEM-OF-OPS" in text} == {"ops"}
    kept = project.json("decide", "show", told["id"])["rounds"]
    assert [len(each["contributions"]) for each in kept] == [2, 2]


# --- the orchestration service: both patterns beside the ones that there were ---

PIPELINE = """
title = "Move"
[[steps]]
id = "facts"
kind = "ask"
participant = "clerk"
text = "State the facts."
[[steps]]
id = "views"
kind = "parallel"
[[steps.steps]]
id = "cost"
kind = "ask"
participant = "cost"
text = "What does it cost, by {facts}?"
[[steps.steps]]
id = "risk"
kind = "ask"
participant = "risk"
text = "What is the risk?"
[[steps]]
id = "cases"
kind = "map"
items = ["an outage", "a refund"]
[steps.step]
kind = "ask"
participant = "case"
text = "What of {item}?"
[steps.reduce]
kind = "ask"
participant = "sum"
text = "Sum it up."
[[steps]]
id = "note"
kind = "critique"
task = "Write the note on {cases}."
criteria = [{name = "truth", description = "so"}]
[[steps]]
id = "vote"
kind = "decide"
question = "Do we move, by {note}?"
participants = ["ops", "dev"]
when = { step = "note", field = "passed", equals = true }
[[steps.otherwise]]
id = "stop"
kind = "ask"
participant = "clerk"
text = "Say why not."
"""


@pytest.mark.slow
@pytest.mark.parametrize("good", [True, False])
def test_orchestration(project: Project, *, good: bool) -> None:
    """Sequential, parallel, conditional and map-reduce in one description; the aggregate counts each call once."""
    judged = {"scores": {"truth": {"score": 0.9 if good else 0.1, "reason": "r"}}, "suggestions": []}
    speaks = [
        rule("participant", "dispatch", {"text": f"SAID-BY-{who}."}, participant=who)
        for who in ("clerk", "cost", "risk", "case", "sum")
    ]
    evaluates = rule("participant", "evaluate", {"text": json.dumps(judged)})
    project.play(*speaks, *WRITES, evaluates, stands("ops", 0.9), stands("dev", 0.9), PROPOSES)
    path = project.write("pipeline.toml", PIPELINE)
    told = project.json("orchestrate", str(path))
    done = {step["id"]: step["status"] for step in told["steps"]}
    last = "done" if good else "skipped"
    assert list(done.items()) == [*dict.fromkeys(("facts", "views", "cases", "note"), "done").items(), ("vote", last)]
    spoke = [each.headers["PARTICIPANT"] for each in project.requests if each.headers.get("STEP") == "dispatch"]
    assert spoke.count("case") == 2
    assert (spoke[0], "clerk" in spoke[1:]) == ("clerk", not good)
    (summed,) = [each for each in project.requests if each.headers.get("PARTICIPANT") == "sum"]
    assert str(summed.messages).count("SAID-BY-case") == 2
    assert told["usage"]["calls"] == calls(project)
    rows = {row["pattern"]: row for row in project.json("metrics")}
    assert rows["total"]["usage"]["calls"] == rows["orchestration"]["usage"]["calls"] == calls(project)
    assert ("decision" in rows, rows["critique"]["executions"]) == (good, 1)


# --- state, history, metrics, cache, events ---


@pytest.mark.slow
def test_state_history_metrics_and_cache(project: Project) -> None:
    project.play(stands("ops", 0.9), PROPOSES)
    given = ("decide", "Do we move?", "--participant", "ops")
    first = project.json(*given)
    asked = calls(project)
    again = project.json(*given)
    assert (again["id"], again["cached"], calls(project)) == (first["id"], True, asked)
    project.play(rule("participant", "contribute", DOWN), providers__local={"max_retries": 0})
    assert project.json("decide", "Another?", "--participant", "ops", exits=5)["error"] == "COUNCIL_FAILED"
    assert [row["status"] for row in project.json("decide", "list")] == ["failed", "consensus"]
    assert project.json("decide", "show", first["id"])["status"] == "complete"
    total = next(row for row in project.json("metrics") if row["pattern"] == "decision")
    assert (total["executions"], total["complete"], total["failed"], total["convergence_rate"]) == (2, 1, 1, 1.0)
    assert total["usage"]["usd"] > 0
    assert total["seconds"] > 0


@pytest.mark.slow
def test_events(project: Project) -> None:
    """Progress, the end and an error arrive as lines of JSON while it goes on, each with what it cost so far."""
    project.play(stands("ops", 0.9), stands("dev", 0.2), PROPOSES, providers__local={"max_retries": 0})
    done = project.swarm("decide", "Do we move?", "--participant", "ops", "--json")
    told = event_lines(done.stderr)
    marks = [
        "begins with ops",
        "round 1 of at most 3",
        "ops agrees, 0.90",
        "on record: 1 of 1 agree",
        "ends early",
        "the decision is over",
    ]
    places = [next(at for at, each in enumerate(told) if mark in each["text"]) for mark in marks]
    assert places == sorted(places)
    assert [told[at]["usage"]["calls"] for at in places] == [0, 0, 1, 2, 2, 2]
    project.play(rule("participant", "contribute", DOWN, participant="dev"), stands("ops", 0.9), PROPOSES)
    failed = project.swarm("decide", "Do we stay?", "--participant", "ops", "--participant", "dev", "--json")
    assert any(each["kind"] == "notice" and "dev failed" in each["text"] for each in event_lines(failed.stderr))


# --- defaults of the environment, overrides of the request, hard limits ---


@pytest.mark.slow
def test_settings_request_limits(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def rounds(*options: str) -> int:
        told = project.json("decide", "Do we move?", *SEATS, "--strategy", "unanimous", "--no-cache", *options, exits=1)
        return int(project.json("decide", "show", told["id"])["decision"]["rounds"])

    project.play(stands("ops", 0.9), stands("dev", 0.9), stands("law", 0.1), PROPOSES)
    assert rounds() == 3
    monkeypatch.setenv("SWARM_COUNCIL__DECISION__ROUNDS", "2")
    assert rounds() == 2
    assert rounds("--rounds", "1") == 1
    monkeypatch.setenv("SWARM_COUNCIL__DECISION__ROUNDS", "11")
    before = calls(project)
    assert "rounds" in plain(project.swarm("decide", "Do we move?", exits=2).stderr)
    monkeypatch.delenv("SWARM_COUNCIL__DECISION__ROUNDS")
    many = [word for number in range(11) for word in ("--participant", f"p{number}")]
    for wrong, limit in (
        (("decide", "?", "--rounds", "11"), "--rounds is 11: the limit is 1 to 10"),
        (("decide", "?", *many), "--participant is 11: the limit is 1 to 10"),
        (("decide", "?", "--timeout", "901"), "--timeout is 901: the limit is 1 to 900 s"),
        (("critique", "?", "--iterations", "11"), "--iterations is 11: the limit is 1 to 10"),
    ):
        assert limit in plain(project.swarm(*wrong, exits=2).stderr).replace(".0", "")
    assert calls(project) == before


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"question": "?", "strategy": "majorety"}, "Did you mean majority?"),
        ({"question": "?", "participants": [{"id": "a", "wieght": 1}]}, "did you mean `weight`?"),
        ({"question": "?", "participants": [{"id": "a", "weight": "much"}]}, "participants.1.weight"),
    ],
)
def test_input_validation(project: Project, tmp_path: Path, body: dict[str, Any], told: str) -> None:
    project.play()
    path = tmp_path / "request.toml"
    seats = "".join(
        "[[participants]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in seat.items())
        for seat in body.pop("participants", [])
    )
    path.write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in body.items()) + seats)
    said = plain(project.swarm("decide", str(path), exits=2).stderr)
    assert (str(path) in said, told in said) == (True, True), said
    assert calls(project) == 0
