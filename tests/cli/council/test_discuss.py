"""Tests `swarm discuss`: to its end, waiting for the user, at the terminal, and with wrong input."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.council.discussion_script import CAST, PERSONAS, discussing, without_models
from tests.project import Project, event_lines, plain

from swarmgate.council.discussion.model import DiscussionRecord
from swarmgate.council.views.stream import PATTERN_EVENT, Completed, Contributed
from swarmgate.engine import Swarm

TOPIC = "How often do keys rotate?"
SHORT = ("--mode", "lightweight")


@pytest.fixture
def ready(project: Project) -> Project:
    project.play(*discussing())
    return project


def record(project: Project, name: str) -> DiscussionRecord:
    return Swarm(project.root).council.discussion_record(name)


def prepared(project: Project, *options: str) -> str:
    return str(project.json("discuss", TOPIC, *SHORT, *options, exits=3)["id"])


# --- to the end ---


@pytest.mark.slow
def test_a_discussion_is_told_as_it_goes_and_ends_in_a_synthesis(ready: Project, tmp_path: Path) -> None:
    done = ready.swarm("discuss", TOPIC, *SHORT, "--yes", "--file", "AGENTS.md", "--tokens", "90000", "--timeout", "60")
    told = plain(done.stderr)
    assert "round 1, argue: security, operations" in told
    assert "round 1, argue: security counters r1-msg-002 (r1-msg-004): Rotate." in told
    assert "round 1, respond: operations responds_to r1-msg-006, moved: minor (r1-msg-009): So be it." in told
    assert "frame: moderator 1 fault line, budget 4 of 10" in told
    assert re.search(r"on record: . counters, 0 supports, . shifts?; disagreement of the whole round [0-9.]+ of", told)
    assert "conclude: moderator: Rotate the keys, by a machine." in told
    for line in (
        "  Rotate the keys, by a machine.",
        "Agreements, resolved by majority:",
        "Minority report:",
        "  - What does a rotation cost?",
    ):
        assert line in done.stdout.splitlines()
    assert "Measured in round 1: counters 3 (3 with a steel-man)" in done.stdout
    (row,) = ready.json("discuss", "list")
    assert (row["status"], row["topic"]) == ("complete", TOPIC)
    assert f"All of it: swarm discuss show {row['id']}" in done.stdout
    held = record(ready, row["id"])
    assert "HOUSE-RULE" in held.discussion.material
    assert (held.discussion.timeout_s, held.usage.calls) == (60, 12)
    begun = json.loads((ready.folder.discussions / row["id"] / "journal.jsonl").read_text().splitlines()[0])
    assert begun["event"]["allowance"]["tokens"] == 90_000

    page, folder = tmp_path / "page.html", tmp_path / "all"
    shown = ready.swarm("discuss", "show", row["id"], "--html", str(page), "--export", str(folder)).stdout
    assert shown == f"The page is {page}\nThe files are in {folder}\n"
    assert f"<h1>{TOPIC}</h1>" in page.read_text("utf-8")
    assert f"Discussion {row['id']}: lightweight" in page.read_text("utf-8")
    without_models(ready)
    assert "r1-msg-006 contrarian (local/senior), attack" in ready.swarm("discuss", "show", row["id"]).stdout
    for options, said in (
        (("--html", str(tmp_path)), "this is a folder"),
        (("--html", str(tmp_path / "no/page.html")), "there is no folder"),
        (("--export", str(page)), "this is a file"),
    ):
        assert said in ready.swarm("discuss", "show", row["id"], *options, exits=2).stderr
    kept = ready.folder.discussions / row["id"]
    files = {path.relative_to(kept).as_posix() for path in kept.rglob("*") if path.is_file()}
    assert {"journal.jsonl", "artifacts/synthesis.md", "personas/security.json", "progress.md"} <= files
    assert {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} == files


@pytest.mark.slow
def test_the_same_again_is_answered_from_its_record_and_asks_nobody(ready: Project) -> None:
    first = ready.json("discuss", TOPIC, *SHORT, "--yes")
    asked = len(ready.requests)
    done = ready.swarm("discuss", TOPIC, *SHORT, "--yes")
    assert f"answered from the record of {first['id']}" in plain(done.stderr)
    lines = done.stdout.splitlines()
    assert lines[0] == f"Answered from the record of {first['id']}, at no cost; --no-cache holds it anew"
    assert any(line.startswith("Spent then: 12 calls, ") for line in lines)
    assert first["cached"] is False
    assert ready.json("discuss", TOPIC, *SHORT, "--yes") == {**first, "cached": True}
    assert len(ready.requests) == asked
    assert ready.json("discuss", TOPIC, *SHORT, "--yes", "--no-cache")["id"] != first["id"]
    other = ready.json("discuss", TOPIC, *SHORT, "--yes", "--rounds", "1")
    assert len({other["id"], first["id"]}) == 2


def test_json_is_the_record_with_its_files_and_events_are_one_line_each(ready: Project) -> None:
    done = ready.swarm("discuss", TOPIC, *SHORT, "--yes", "--json", "--events")
    told = json.loads(done.stdout)
    assert told["cast"]["experts"][0]["thinkingStyle"] == "step by step"
    assert told["conclusion"]["minorityReport"][0]["cites"] == ["r1-msg-005"]
    assert "r1-msg-004" in Path(told["artifacts"]["artifacts/synthesis.md"]).read_text("utf-8")
    assert (told["cached"], told["not_reached"]) == (False, [])
    rest = {key: value for key, value in told.items() if key not in ("id", "artifacts", "cached", "not_reached")}
    assert DiscussionRecord.model_validate(rest) == record(ready, told["id"])
    events = [PATTERN_EVENT.validate_python(line) for line in event_lines(done.stderr)]
    kinds = [each.event for each in events]
    assert [kinds.count(each) for each in ("started", "round", "round_completed", "completed")] == [1, 1, 1, 1]
    assert isinstance(events[-1], Completed)
    said = [each.message for each in events if isinstance(each, Contributed) and each.message]
    assert sorted(said) == [each["id"] for each in told["rounds"][0]["messages"]], "in the order of arrival"


def test_in_the_database_it_is_the_same(ready: Project, tmp_path: Path) -> None:
    ready.configure(council={"store": "sqlite"})
    told = ready.json("discuss", TOPIC, *SHORT, "--yes")
    assert not (ready.folder.discussions / told["id"]).exists()
    ready.swarm("discuss", "show", told["id"], "--export", str(tmp_path / "all"))
    assert "Rotate the keys" in (tmp_path / "all/artifacts/synthesis.md").read_text("utf-8")


# --- it waits ---


@pytest.mark.slow
def test_without_a_terminal_the_cast_waits_and_may_be_edited(ready: Project) -> None:
    done = ready.swarm("discuss", TOPIC, *SHORT, exits=3)
    (row,) = ready.json("discuss", "list")
    assert row["status"] == "prepared"
    assert f"swarm discuss resume {row['id']} --yes" in done.stdout
    assert "- security <-> operations (safety against speed): who waits" in done.stdout
    place = ready.folder.discussions / row["id"] / "personas/proposed.json"
    assert str(place) in done.stdout
    assert len(ready.requests) == 1
    whole = place.read_text("utf-8")
    for old, new, told in (
        (
            '"stakes"',
            '"stake"',
            "personas/proposed.json: `experts.1.stake`: unknown key `stake`; did you mean `stakes`?",
        ),
        ('"id": "operations"', '"id": "security"', "there is another expert 'security'"),
        ("{", "", "personas/proposed.json is not valid JSON"),
    ):
        assert old in whole
        place.write_text(whole.replace(old, new), "utf-8")
        assert told in ready.swarm("discuss", "resume", row["id"], "--yes", exits=2).stderr
    place.write_text(whole.replace("the pager", "the audit"), "utf-8")
    ready.swarm("discuss", "resume", row["id"], exits=3)
    assert len(ready.requests) == 1, "a cast that waits costs nothing"
    told = ready.json("discuss", "resume", row["id"], "--yes")
    assert [each["stakes"] for each in told["cast"]["experts"]] == ["the audit", "the audit"]
    assert ready.json("discuss", "resume", row["id"]) == told
    again = ready.json("discuss", TOPIC, *SHORT, "--yes")
    assert again["id"] != row["id"], "what was edited answers no other request"


@pytest.mark.slow
def test_resuming_takes_another_mode_personas_and_choices(ready: Project, tmp_path: Path) -> None:
    name = prepared(ready)
    path = tmp_path / "personas.toml"
    path.write_text(PERSONAS)
    options = ["--mode", "standard", "--personas", str(path), "--constraint", "No new service.", "--choose", "pause"]
    paused = ready.json("discuss", "resume", name, *options, "--yes", exits=3)
    assert (paused["status"], len(paused["rounds"])) == ("paused", 2)
    assert (paused["discussion"]["mode"], paused["cast"]["experts"][0]["bias"]) == ("standard", "")
    assert paused["rounds"][1]["constraints"] == ["No new service."]
    assert any("No new service." in brief for brief in ready.briefs("participant", "argue", round="2"))
    assert ready.swarm("discuss", "show", name).stdout.splitlines()[-1] == f"Go on with: swarm discuss resume {name}"
    other = ready.swarm("discuss", TOPIC, "--name", name, "--timeout", "7", "--problem", "Keys leak.", exits=2).stderr
    assert "--problem" in other
    assert "--timeout" in other
    late = ready.swarm("discuss", "resume", name, "--mode", "deep", exits=2).stderr
    assert "the cast is confirmed" in late
    told = ready.json("discuss", "resume", name, "--choose", "deep-dive=the cost", "--choose", "synthesize")
    assert [each["kind"] for each in told["choices"]] == ["inject", "deep-dive", "synthesize"]
    assert "Go deeper into: the cost" in ready.briefs("participant", "argue", round="3")[0]
    assert "there is nothing to choose" in ready.swarm("discuss", "resume", name, "--choose", "follow", exits=2).stderr
    options = ["--constraint", "By May.", "--choose", "deep-dive=time", "--choose", "pause", "--choose", "follow"]
    held = ready.json("discuss", TOPIC, "--personas", str(path), "--yes", *options, exits=3)
    assert [(each["kind"], each["constraint"]) for each in held["choices"]] == [("deep-dive", "By May.")]
    assert (held["rounds"][1]["direction"], held["rounds"][1]["constraints"]) == ("Go deeper into: time", ["By May."])
    assert held["not_reached"] == ["--choose follow"]
    done = ready.swarm("discuss", "resume", held["id"], "--choose", "synthesize", "--choose", "pause")
    assert "Not reached: --choose pause" in done.stdout.splitlines()
    anew = ready.json("discuss", TOPIC, *SHORT, "--yes")
    assert anew["id"] != name, "what a user steered answers no other request"


# --- at the terminal ---


@pytest.mark.slow
def test_a_person_at_a_terminal_edits_confirms_speaks_and_chooses(ready: Project, tmp_path: Path) -> None:
    editor = tmp_path / "editor.sh"
    editor.write_text(
        '#!/bin/sh\ncase "$(cat "$1")" in *stakess*) sed -i.b "s/stakess/stakes/" "$1";; '
        '*) sed -i.b "s/^stakes = .*/stakess = \\"the audit\\"/" "$1";; esac\n'
    )
    editor.chmod(0o755)
    argv = [sys.executable, "-m", "swarmgate", "discuss", TOPIC, *SHORT, "--interactive", "--repo", str(ready.root)]
    told = at_terminal(
        argv,
        {"EDITOR": str(editor)},
        [
            ("[p]ause: ", "x"),
            ("[p]ause: ", "e"),
            ("[d]rop the changes: ", "e"),
            ("after position (Enter: nothing, /pause): ", "Look at cost."),
            ("after frame (Enter: nothing, /pause): ", ""),
            ("after argue (Enter: nothing, /pause): ", "\x04"),
        ],
        exits=3,
    )
    assert "x is none of these: y, e, m, p" in told
    assert "- disagreement budget: 4 of 10 - fault line: security: speed" in told
    assert told.count("paused by the user, in round 1") == 1
    assert "line 8: `experts.1.stakess`: unknown key `stakess`; did you mean `stakes`?" in told
    (row,) = ready.json("discuss", "list")
    again = [*argv[:4], "Why?", *argv[5:]]
    told_once = at_terminal(again, {}, [("[p]ause: ", "\x04")], exits=3)
    assert told_once.count("Tensions:") == told_once.count("It waits for you.") == 1
    held = record(ready, row["id"])
    assert held.cast is not None
    assert [each.stakes for each in held.cast.experts] == ["the audit", "the audit"]
    assert held.partial is not None
    assert [each.text for each in held.partial.messages if each.human] == ["Look at cost."]
    assert any("Look at cost." in brief for brief in ready.briefs("participant", "argue"))
    assert f"Go on with: swarm discuss resume {row['id']}" in told


def at_terminal(argv: list[str], environ: dict[str, str], talk: list[tuple[str, str]], *, exits: int) -> str:
    """Runs a program in a terminal of its own and answers what it asks; what it showed."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        argv, stdin=theirs, stdout=theirs, stderr=theirs, env={**os.environ, **environ, "TERM": "xterm"}, close_fds=True
    )
    os.close(theirs)
    shown, seen, end = "", 0, time.monotonic() + 120
    try:
        while time.monotonic() < end:
            try:
                shown += os.read(ours, 65_536).decode("utf-8", "replace")
            except OSError:  # the other end is closed: the program is over
                break
            if talk and talk[0][0] in shown[seen:]:
                seen = len(shown)
                said = talk.pop(0)[1]
                os.write(ours, said.encode() if said == "\x04" else f"{said}\n".encode())
        assert process.wait(timeout=60) == exits, shown
        assert talk == [], shown
        return plain(shown).replace("\r\n", "\n")
    finally:
        process.kill()
        process.wait()
        os.close(ours)


# --- what is wrong ---


MISTAKES: list[tuple[list[str], str]] = [
    (["x" * 1_000_000], "TOPIC has 1,000,000 characters: the limit is 10,000"),
    ([TOPIC, "--rounds", "11"], "--rounds is 11: the limit is 1 to 10"),
    ([TOPIC, "--timeout", "901"], "--timeout is 901.0: the limit is 1 to 900 s"),
    ([TOPIC, "--mode", "standart"], "--mode is 'standart': there is no such mode; did you mean `standard`?"),
    ([TOPIC, "--model", "moderater=local/x"], "--model names 'moderater', who does not take part; did you mean"),
    ([TOPIC, "--model", "moderator="], "is not of the form ROLE=MODEL"),
    ([TOPIC, "--model", "contrarian=nowhere/x"], "contrarian: unknown provider `nowhere`"),
    ([TOPIC, "--interactive"], "--interactive has you speak, and that needs a terminal"),
    ([TOPIC, "--personas", "nowhere.toml"], "nowhere.toml cannot be read: No such file or directory"),
    (["AGENTS.md"], 'swarm discuss "TOPIC" --file AGENTS.md'),
    (["resume", "20261122-000000-aaaa"], "There is no discussion here yet."),
    (["resume", "x", "--choose", "deepdive"], "there is no such choice; did you mean deep-dive?"),
]


def test_what_is_wrong_is_named_before_anybody_is_asked(ready: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ready.root)
    for options, told in MISTAKES:
        done = ready.swarm("discuss", *options, exits=2)
        assert told in done.stderr, options
        assert "Traceback" not in done.stderr
    assert ready.requests == []
    assert ready.json("discuss", "list") == []


def test_an_endpoint_that_does_not_answer_is_named_once_with_the_line_that_resumes(ready: Project) -> None:
    ready.configure(providers__local={"base_url": "http://127.0.0.1:9/v1", "max_retries": 0})
    done = ready.swarm("discuss", TOPIC, *SHORT, "--yes", exits=5)
    (row,) = ready.json("discuss", "list")
    told = plain(done.stderr)
    assert told.count("its endpoint does not answer: local/senior: the connection failed: http://127.0.0.1:9/v1") == 1
    assert f"swarm discuss resume {row['id']}" in told


def test_an_empty_topic_and_a_verb_nearly_meant_are_refused(ready: Project) -> None:
    assert "the value is empty" in plain(ready.swarm("discuss", " ", exits=2).stderr)
    assert "did you mean `resume`?" in ready.json("discuss", "resum", exits=2)["message"]


@pytest.mark.slow
def test_a_round_changed_by_hand_and_a_model_that_went_away_are_named(ready: Project) -> None:
    url = ready.server.base_url if ready.server else ""
    ready.configure(providers__other={"base_url": url})
    name = prepared(ready, "--model", "contrarian=other/senior")
    ready.configure()
    assert "contrarian: unknown provider `other`" in ready.swarm("discuss", "resume", name, "--yes", exits=2).stderr
    ready.configure(providers__other={"base_url": url})
    ready.swarm("discuss", "resume", name, "--yes")
    path = ready.folder.discussions / name / "journal.jsonl"
    path.write_text(path.read_text("utf-8").replace("Who looks?", "Nobody looks."), "utf-8")
    for verb in ("resume", "show"):
        assert f"discussions/{name}/journal.jsonl" in ready.swarm("discuss", verb, name, exits=2).stderr
    (row,) = ready.json("discuss", "list")
    assert row["status"] == "damaged"
    assert "Did you mean" in ready.swarm("discuss", "show", f"{name[:-1]}z", exits=2).stderr
    assert f"{name} is a discussion, not a debate." in ready.swarm("debate", "show", name, exits=2).stderr


def test_a_used_up_budget_says_how_it_goes_on(ready: Project) -> None:
    done = ready.swarm("discuss", TOPIC, *SHORT, "--yes", "--tokens", "5000", exits=4)
    (row,) = ready.json("discuss", "list")
    assert f"swarm discuss resume {row['id']} --tokens N" in done.stderr
    asked = len(ready.requests)
    told = ready.json("discuss", "resume", row["id"], "--tokens", "90000")
    assert told["status"] == "complete"
    assert len(ready.requests) - asked < told["usage"]["calls"]


def test_personas_are_taken_with_their_tensions_and_models(ready: Project, tmp_path: Path) -> None:
    path = tmp_path / "personas.json"
    path.write_text(json.dumps({**CAST, "experts": [{**each, "model": ""} for each in CAST["experts"]]}))
    told = ready.json(
        "discuss", TOPIC, *SHORT, "--yes", "--personas", str(path), "--model", "security=local/junior", "--rounds", "1"
    )
    assert [each["model"] for each in told["cast"]["experts"]] == ["local/junior", ""]
    assert not ready.briefs("participant", "experts")
    assert {each["model"] for each in told["rounds"][0]["messages"] if each["author"] == "security"} == {"local/junior"}
