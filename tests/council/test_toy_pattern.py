"""Tests that a new pattern needs one folder and one table line: command, resume, journal, events, replay."""

from __future__ import annotations

import json

import pytest
from tests.project import Project, rule
from typer.testing import CliRunner

from swarmgate.cli.app import app
from swarmgate.council.patterns import PATTERNS, PatternEntry, pattern
from swarmgate.domain.events.event import UsageRecorded
from swarmgate.engine import Swarm

ASKED = 'question = "Does it stand?"\nwho = ["ann", "bob", "cy"]\n'


@pytest.fixture
def polls(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setitem(PATTERNS, "poll", PatternEntry("poll", "tests.council.toy:POLL"))  # the one line
    project.write("poll.toml", ASKED)
    return project


def test_the_line_is_enough(polls: Project) -> None:
    polls.play(rule("participant", "dispatch", {"text": "{{participant}} says yes."}))
    held = polls.json("poll", str(polls.root / "poll.toml"))
    assert held["outcome"]["said"] == {who: f"{who} says yes." for who in ("ann", "bob", "cy")}
    place = polls.folder.discussions / held["id"]
    types = [json.loads(line)["event"]["type"] for line in (place / "journal.jsonl").read_text().splitlines()]
    assert types == ["begun", "resumed", "answered", "answered", "answered", "completed"]
    assert len((place / "answers.md").read_text().splitlines()) == 3
    assert [each["id"] for each in polls.json("poll", "list")] == [held["id"]]
    assert polls.json("poll", "show", held["id"]) == held
    replayed = [json.loads(line) for line in polls.swarm("poll", "show", held["id"], "--events").stdout.splitlines()]
    assert [each["event"] for each in replayed] == ["started", *["contribution"] * 3, "completed"]
    assert polls.json("poll", "resume", held["id"]) == held
    assert "  poll " in CliRunner().invoke(app, ["--help"]).stdout
    (used,) = polls.events(UsageRecorded)
    assert used.source == f"poll-{held['id']}"
    polls.swarm("verify", exits=0)


def test_what_was_not_finished_is_gone_on_with(polls: Project) -> None:
    polls.play(rule("participant", "dispatch", {"text": "Yes."}), council={"total_tokens": 1})
    stopped = polls.swarm("poll", str(polls.root / "poll.toml"), exits=4)
    (name,) = Swarm(polls.root).council.shared.records.ids("poll")
    assert f"swarm poll resume {name} --tokens N" in stopped.stderr
    before = len(polls.requests)
    again = polls.json("poll", "resume", name, "--tokens", "1000000")
    assert len(again["outcome"]["said"]) == 3
    assert len(polls.requests) == 3
    assert before >= 1


def test_a_wrong_key_is_told_with_its_line(polls: Project) -> None:
    polls.write("poll.toml", f"{ASKED}rounds = 3\n")
    assert (
        "poll.toml, line 3: `rounds`: Extra inputs are not permitted"
        in polls.swarm("poll", str(polls.root / "poll.toml"), exits=2).stderr
    )
    assert "There is no poll 'x'" in polls.swarm("poll", "show", "x", exits=2).stderr


def test_every_line_of_the_table_names_its_pattern() -> None:
    for name, place in PATTERNS.items():
        assert (pattern(name).name, pattern(name).verb) == (name, place.verb)
