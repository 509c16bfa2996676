"""`swarm chat`: from the file to the record, over HTTP."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.project import Project, Rule, call, event_lines, plain, rule, until

ROOT = Path(__file__).parents[3]
TALK = """id = "talk"
messages = 20
[[agents]]
id = "ada"
model = "local/senior"
system = "PERSONA-OF-ADA"
[[agents]]
id = "bob"
[initial]
from = "moderator"
to = "all"
content = "Is it safe?"
"""


def participant(name: str, *replies: Any, **match: Any) -> Rule:
    return rule("participant", "chat", *replies, participant=name, **match)


READ = rule("participant", "chat", {"text": "Read."})
ASKS = participant("ada", [call("send_message", to="bob", content="What do you think?")], {"text": "Asked."})
ENDS = participant("bob", [call("synthesize", summary="It is safe.")], contains="What do you think?")


@pytest.fixture
def file(project: Project) -> Path:
    path = project.root.parent / "talk.toml"
    path.write_text(TALK)
    return path


def test_a_chat_is_held_shown_and_listed(project: Project, file: Path) -> None:
    project.play(READ, ASKS, ENDS)
    told = project.swarm("chat", str(file)).stdout
    assert "bob ended it with a synthesis:\n  It is safe.\n" in told
    assert "1 messages in " in told
    personas = {request.headers["PARTICIPANT"]: request.messages[0]["content"] for request in project.requests}
    assert {name: "PERSONA-OF-ADA" in text for name, text in personas.items()} == {"ada": True, "bob": False}
    shown = plain(project.swarm("chat", "show", "talk").stdout)
    assert "ada -> bob What do you think? (read by bob at 20" in shown
    record = project.json("chat", "show", "talk")
    assert (record["result"]["end"], record["result"]["by"]) == ("synthesis", "bob")
    assert project.swarm("chat", "list").stdout.startswith("talk  synthesis")
    assert project.json("chat", "list")[0]["id"] == "talk"


def test_what_it_used_is_on_record(project: Project, file: Path) -> None:
    project.play(READ, ASKS, ENDS)
    used = project.json("chat", str(file))["usage"]
    assert used["calls"] >= 3
    assert project.state.usage.prompt_tokens == used["prompt_tokens"]
    project.swarm("verify")


def test_progress_is_live_on_stderr(project: Project, file: Path) -> None:
    project.play(READ, ASKS, ENDS)
    lines = event_lines(project.swarm("chat", str(file), "--json").stderr)
    texts = [line["text"] for line in lines]
    assert "msg-000002 ada -> bob: What do you think?" in texts
    assert "bob ends the chat: It is safe." in texts
    assert texts.count("bob read 1 and has nothing to say") == 1  # the opening
    assert "the chat is over: synthesis" in texts


def test_all_count_messages_alike(project: Project, file: Path) -> None:
    project.play(READ, ASKS, ENDS)
    held = project.json("chat", str(file))
    assert held["messages"] == project.json("chat", "list")[0]["messages"] == 1
    assert held["turns"] == len(project.json("chat", "show", "talk")["turns"])


def test_one_changed_chat_does_not_hide_the_others(project: Project, file: Path) -> None:
    project.play(READ)
    for name in ("talk", "other"):
        file.write_text(TALK.replace('"talk"', f'"{name}"'))
        project.swarm("chat", str(file))
    journal = project.folder.discussions / "talk/journal.jsonl"
    journal.write_text(journal.read_text().replace("Is it safe?", "Is it save?"))
    listed = project.swarm("chat", "list").stdout
    assert "other  quiet" in listed
    assert "talk  damaged" in listed
    told = project.json("chat", "show", "talk", exits=2)["message"]
    assert told == ".swarm/discussions/talk/journal.jsonl line 1 does not match its own hash."
    assert "talk/journal.jsonl line 1" in project.swarm("verify", exits=1).stdout


def test_a_chat_that_is_over_is_read_only(project: Project, file: Path) -> None:
    project.play(READ)
    project.swarm("chat", str(file))
    before = project.json("chat", "show", "talk")
    for arguments in (("chat", str(file)), ("chat", "resume", "talk")):
        told = project.json(*arguments, exits=2)
        assert (told["error"], "over" in told["message"]) == ("ARCHIVED", True)
    assert project.json("chat", "show", "talk") == before


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "is not a chat file: it has no [[agents]] tables"),
        ("[[agents]]\nid = 'a'\n", "it has no [initial] table"),
        ("agents = [", "is not valid TOML"),
        (TALK.replace("messages", "mesages"), "talk.toml, line 2: unknown key `mesages`; did you mean `messages`?"),
        (TALK.replace("messages = 20", "ttl_s = 0"), "talk.toml, line 2: `ttl_s` is '0'"),
        (TALK.replace("messages = 20", "ttl_s = 604801"), "above 0, at most 604,800"),
        (TALK.replace('"bob"', '"ada"'), "talk.toml, line 3: `agents` names ada twice"),
        (TALK.replace('"bob"', '"b b"'), "talk.toml, line 8: `agents[1].id`"),
        (TALK.replace("model =", "modell ="), "talk.toml, line 5: `agents[0]`: unknown key `modell`"),
        (TALK.replace("from =", "form ="), "talk.toml, line 10: `initial`: unknown key `form`"),
        (TALK.replace('"all"', '"eve"'), "talk.toml, line 11: `initial.to`: there is no 'eve'"),
        (TALK.replace("local/senior", "nowhere/x"), "nowhere"),
        (TALK.replace("Is it safe?", "x" * 2**20), "1,048,576 characters"),
    ],
)
def test_bad_files_are_told_with_what_is_wrong(project: Project, file: Path, text: str, told: str) -> None:
    file.write_text(text)
    assert told in project.swarm("chat", str(file), exits=2).stderr
    assert project.json("chat", "list") == []


def test_no_file_no_text_and_no_chat_are_told(project: Project, file: Path) -> None:
    assert "No such file" in project.swarm("chat", "nowhere.toml", exits=2).stderr
    assert "not a regular file" in project.swarm("chat", str(project.root), exits=2).stderr
    file.write_bytes(b"\xff\xfe")
    assert "not UTF-8" in project.swarm("chat", str(file), exits=2).stderr
    for verb in ("show", "resume"):
        assert "'../x' is no id of a chat" in project.swarm("chat", verb, "../x", exits=2).stderr
    assert "There is no chat here yet." in project.swarm("chat", "list").stdout


def test_a_near_id_is_named(project: Project, file: Path) -> None:
    project.play(READ)
    project.swarm("chat", str(file))
    assert "Did you mean talk?" in project.swarm("chat", "show", "talks", exits=2).stderr


def test_chats_of_an_earlier_swarmgate_are_said_to_be_such_and_left_alone(project: Project) -> None:
    project.folder.chats.parent.mkdir(exist_ok=True)
    project.folder.chats.write_bytes(b"of an earlier swarmgate")
    for verb in ("show", "resume"):
        told = project.json("chat", verb, "talk", exits=2)
        assert told["message"] == "There is no chat 'talk'."
        assert "Chats of an earlier swarmgate are in .swarm/runtime/chats.sqlite3" in told["hint"]
    assert project.folder.chats.read_bytes() == b"of an earlier swarmgate"


def test_the_id_of_another_record_is_not_given_to_a_chat(project: Project, file: Path) -> None:
    project.play(READ)
    (project.folder.discussions / "talk").mkdir(parents=True)
    (project.folder.discussions / "talk/manifest.json").write_text("{}")
    assert "is a record of an earlier swarmgate" in project.swarm("chat", str(file), exits=2).stderr


def test_all_agents_failing_is_exit_code_5(project: Project, file: Path) -> None:
    project.play(rule("participant", "chat", {"tool_calls": [call("nonsense")]}))
    told = project.json("chat", str(file), exits=5)
    assert (told["error"], told["hint"]) == ("COUNCIL_FAILED", "Why each turn failed: swarm chat show talk")
    shown = project.swarm("chat", "show", "talk").stdout
    assert "It failed: ada, bob failed." in shown
    assert "ada failed: " in shown


@pytest.mark.slow
def test_an_endpoint_that_is_down_leaves_the_chat_to_be_resumed(project: Project, file: Path) -> None:
    project.play(rule("participant", "chat", {"fault": {"kind": "500"}}), providers__local={"max_retries": 0})
    told = project.json("chat", str(file), exits=5)
    assert told["error"] == "ENDPOINT_FAILED"
    assert "swarm chat resume talk" in told["hint"]
    assert "It is not over." in project.swarm("chat", "show", "talk").stdout
    project.play(READ, ASKS, ENDS)
    assert "It is safe." in project.swarm("chat", "resume", "talk").stdout


@pytest.mark.slow
def test_time_that_runs_out_before_anybody_answers_is_an_end(project: Project, file: Path) -> None:
    file.write_text(TALK.replace("messages = 20", "ttl_s = 2"))
    project.play(rule("participant", "chat", {"fault": {"kind": "hang"}}))
    told = project.swarm("chat", str(file)).stdout
    assert "It ended after its 2 s, without a synthesis. Nobody had sent anything by then." in told
    assert "0 messages in 2 turns" in told


@pytest.mark.slow
def test_unsent_words_are_shown(project: Project, file: Path) -> None:
    file.write_text(TALK.replace("messages = 20", "ttl_s = 1"))
    project.play(
        READ, participant("ada", [call("send_message", to="bob", content="UNSENT")], {"fault": {"kind": "hang"}})
    )
    project.swarm("chat", str(file))
    shown = project.swarm("chat", "show", "talk").stdout
    assert "ada was cut off: the time of the chat was up\n  unsent, to bob:\n    UNSENT\n" in shown


def test_a_bound_without_a_synthesis_is_an_end_and_the_projects_budget_is_none(project: Project, file: Path) -> None:
    file.write_text(TALK.replace("messages = 20", "messages = 1"))
    project.play(READ, ASKS)
    assert "used up, without a synthesis" in project.swarm("chat", str(file)).stdout
    file.write_text(TALK.replace('"talk"', '"other"'))
    project.configure(budget={"tokens": 1})
    assert "swarm chat resume other" in project.swarm("chat", str(file), exits=4).stderr
    project.configure()
    assert "It fell quiet" in project.swarm("chat", "resume", "other").stdout


@pytest.mark.slow
def test_ctrl_c_keeps_what_was_said_and_nobody_else_may_go_on_meanwhile(project: Project, file: Path) -> None:
    hangs = participant("bob", {"fault": {"kind": "hang"}}, contains="What do you think?")
    project.play(READ, ASKS, hangs)
    process = project.start("chat", str(file), "--json")
    until(lambda: any("What do you think?" in request.messages[1]["content"] for request in project.requests))
    assert "another process" in project.swarm("chat", "resume", "talk", exits=2).stderr
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=20)
    assert (process.returncode, json.loads(out)["hint"]) == (130, "Go on with: swarm chat resume talk")
    assert "It is not over." in project.swarm("chat", "show", "talk").stdout
    project.play(READ, ASKS, ENDS)
    assert "It is safe." in project.swarm("chat", "resume", "talk").stdout


def test_the_example_is_held_as_it_stands(project: Project) -> None:
    lead = participant("lead", [call("synthesize", summary="SQLite.")], contains="from storage")
    storage = participant("storage", [call("send_message", to="all", content="SQLite, for its locks.")], {"text": "."})
    project.play(READ, lead, storage)
    assert (
        "lead ended it with a synthesis:\n  SQLite." in project.swarm("chat", str(ROOT / "examples/chat.toml")).stdout
    )


@pytest.mark.slow
def test_killed_at_random_moments_every_chat_resumes_whole() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks/chat_crash.py", "3"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 of 3 whole" in done.stdout


def test_chats_lie_in_sqlite_where_the_settings_say_so(project: Project, file: Path) -> None:
    project.play(READ, ASKS, ENDS, council={"store": "sqlite"})
    assert "It is safe." in project.swarm("chat", str(file)).stdout
    assert project.json("chat", "show", "talk")["result"]["end"] == "synthesis"
    assert project.swarm("chat", "list").stdout.startswith("talk  synthesis")
    assert not (project.folder.discussions / "talk").exists()
    project.swarm("verify")
