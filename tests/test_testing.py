"""The scripted model: its format, its choice of replies and the server as a process; faults in tests/llm."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from swarmgate.errors import UsageError
from swarmgate.testing import Script, ScriptedServer
from swarmgate.testing.script import Rule, brief_headers, filled

BRIEF = "ROLE: coder\nSTEP: code\nTASK: 1.2\nATTEMPT: 2\nFILE: a.py\nFILE: b.py\n\nTASK: 9.9\nWrite it."


def ask(server: ScriptedServer, brief: str = BRIEF, *, turn: int = 0, **fields: Any) -> dict[str, Any]:
    messages = [{"role": "system", "content": "You code."}, {"role": "user", "content": brief}]
    for _ in range(turn):
        messages += [{"role": "assistant", "content": "..."}, {"role": "user", "content": "go on"}]
    body = json.dumps({"model": "m", "messages": messages, **fields}).encode()
    request = urllib.request.Request(  # noqa: S310 - our own server
        f"{server.base_url}/chat/completions", data=body, headers={"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=60) as response:  # noqa: S310 - our own server
        answer: dict[str, Any] = json.load(response)
    return answer


def text(answer: dict[str, Any]) -> str:
    return str(answer["choices"][0]["message"]["content"])


def test_headers_end_at_the_first_line_that_is_none() -> None:
    assert brief_headers(BRIEF) == {
        "ROLE": "coder",
        "STEP": "code",
        "TASK": "1.2",
        "ATTEMPT": "2",
        "FILE": ["a.py", "b.py"],
    }
    assert brief_headers("Hello\nROLE: x") == {}


def test_the_most_specific_rule_wins_and_of_equals_the_later() -> None:
    rules = [
        {"match": {}, "replies": [{"text": "any"}]},
        {"match": {"role": "coder"}, "replies": [{"text": "first"}]},
        {"match": {"step": "code"}, "replies": [{"text": "second"}]},
        {"match": {"role": ["coder", "architect"], "task": 1.2, "attempt": 3}, "replies": [{"text": "other attempt"}]},
    ]
    with ScriptedServer(rules) as server:
        assert text(ask(server)) == "second"
        assert text(ask(server, BRIEF.replace("ATTEMPT: 2", "ATTEMPT: 3"))) == "other attempt"
        assert text(ask(server, "ROLE: sme\n\nhow?")) == "any"


def test_contains_and_model_are_matched() -> None:
    rules = [
        {"match": {"contains": "argon2"}, "replies": [{"text": "hash"}]},
        {"match": {"model": "m"}, "replies": [{"text": "m"}]},
    ]
    with ScriptedServer(rules) as server:
        assert text(ask(server)) == "m"
        assert text(ask(server, "use argon2", model="x")) == "hash"


def test_the_reply_follows_from_the_conversation_alone_and_the_last_one_repeats() -> None:
    with ScriptedServer([{"replies": [{"text": "one"}, {"text": "two"}]}]) as server:
        assert [text(ask(server, turn=turn)) for turn in (0, 1, 0, 5)] == ["one", "two", "one", "two"]


def test_a_fault_fires_so_many_times_and_then_the_following_reply_is_given_in_its_turn() -> None:
    fault = {"fault": {"kind": 500, "times": 2}}
    with ScriptedServer([{"replies": [fault, {"text": "one"}, {"text": "two"}]}]) as server:
        for _ in range(2):
            with pytest.raises(urllib.error.HTTPError) as caught:
                ask(server)
            assert caught.value.code == 500
            caught.value.close()
        assert text(ask(server)) == "one"
        assert text(ask(server, turn=1)) == "two"


def test_a_wrong_tool_takes_turns_of_its_own() -> None:
    rule = Rule.model_validate({"replies": [{"fault": {"kind": "wrong_tool", "times": 2}}, {"text": "right"}]})
    assert [[call.name for call in turn.tool_calls] for turn in rule.turns] == [["no_such_tool"], ["no_such_tool"], []]


def test_faults_in_a_row_stand_in_for_the_same_turn() -> None:
    faults = [{"fault": {"kind": kind, "times": 1}} for kind in ("429", "500")]
    rule = Rule.model_validate({"replies": [*faults, {"text": "at last"}]})
    (turn,) = rule.turns
    assert turn.then
    assert turn.then.then
    assert turn.then.then.text == "at last"


def test_placeholders_are_filled_in_text_and_arguments() -> None:
    call = {"name": "finish", "arguments": {"summary": 'did {{task}} at "{{ attempt }}" {{nothing}}', "n": 1}}
    with ScriptedServer([{"replies": [{"text": "{{phase}} {{task}}", "tool_calls": [call]}]}]) as server:
        message = ask(server, 'TASK: 1.2\nATTEMPT: 2\nPHASE: a "b"\n\n', tools=[{}])["choices"][0]["message"]
    assert message["content"] == 'a "b" 1.2'
    arguments = json.loads(message["tool_calls"][0]["function"]["arguments"])
    assert arguments == {"summary": 'did 1.2 at "2" {{nothing}}', "n": 1}
    assert filled("{{goal}}", {"GOAL": 'say "x"'}, inside_json=True) == 'say \\"x\\"'


def test_without_tools_on_offer_a_call_is_json_in_text() -> None:
    calls = [{"name": "finish", "arguments": {"summary": "s"}}, {"name": "x", "arguments": "{broken"}]
    with ScriptedServer([{"replies": [{"tool_calls": calls[:1]}, {"tool_calls": calls}]}]) as server:
        assert json.loads(text(ask(server))) == {"tool": "finish", "arguments": {"summary": "s"}}
        assert "{broken" in text(ask(server, turn=1))


def test_usage_is_stated_or_a_token_per_four_characters() -> None:
    stated = {"prompt_tokens": 7, "completion_tokens": 3, "cached_tokens": 2}
    with ScriptedServer([{"replies": [{"text": "x" * 9}, {"text": "y", "usage": stated}]}]) as server:
        assert ask(server)["usage"]["completion_tokens"] == 3
        usage = ask(server, turn=1)["usage"]
    assert (usage["prompt_tokens"], usage["prompt_tokens_details"]["cached_tokens"]) == (7, 2)


def test_no_rule_is_an_error_that_names_headers_and_rules() -> None:
    with ScriptedServer([{"match": {"role": "sme"}, "replies": [{"text": "x"}]}]) as server:
        with pytest.raises(urllib.error.HTTPError) as caught:
            ask(server)
        message = json.load(caught.value)["error"]["message"]
        caught.value.close()
    assert caught.value.code == 500
    assert '"TASK": "1.2"' in message
    assert "'role': ('sme',)" in message


def test_models_paths_and_bad_requests() -> None:
    with ScriptedServer([{"match": {"model": ["b", "a"]}, "replies": [{"text": "x"}]}]) as server:
        with urllib.request.urlopen(f"{server.base_url}/models", timeout=60) as response:  # noqa: S310 - our own server
            assert [each["id"] for each in json.load(response)["data"]] == ["a", "b"]
        for path, data, status in (("nothing", None, 404), ("nothing", b"{}", 404), ("chat/completions", b"[", 400)):
            with pytest.raises(urllib.error.HTTPError) as caught:
                urllib.request.urlopen(f"{server.base_url}/{path}", data=data, timeout=60)  # noqa: S310 - our own server
            caught.value.close()
            assert caught.value.code == status


def test_a_model_that_was_asked_for_is_listed_with_the_window() -> None:
    with ScriptedServer([{"replies": [{"text": "x"}]}], context_tokens=9_000) as server:
        assert server.models == ["scripted"]
        ask(server, model="vendor/any")
        with urllib.request.urlopen(f"{server.base_url}/models", timeout=60) as response:  # noqa: S310 - our own server
            listed = {each["id"]: each["max_model_len"] for each in json.load(response)["data"]}
    assert listed == {"vendor/any": 9_000}


def test_requests_are_kept_as_received() -> None:
    with ScriptedServer([{"replies": [{"text": "x"}]}]) as server:
        ask(server, tools=[{"type": "function", "function": {"name": "finish"}}])
    (request,) = server.requests
    assert request.headers["TASK"] == "1.2"
    assert request.tools == ("finish",)
    assert request.messages[0]["role"] == "system"
    assert request.http_headers["content-type"] == "application/json"


def test_it_starts_and_stops_fast() -> None:
    started = time.perf_counter()
    for _ in range(5):
        with ScriptedServer([{"replies": [{"text": "x"}]}]) as server:
            ask(server)
    assert time.perf_counter() - started < 30


YAML = "rules:\n- match: {role: coder, task: '1.10', attempt: 2}\n  replies:\n  - {text: hello}\n"
JSON = '[{"match": {"role": "coder", "task": "1.10", "attempt": 2}, "replies": [{"text": "hello"}]}]'
TOML = '[[rules]]\nmatch = {role = "coder", task = "1.10", attempt = 2}\nreplies = [{text = "hello"}]\n'


@pytest.mark.parametrize(("name", "content"), [("s.yaml", YAML), ("s.json", JSON), ("s.toml", TOML)])
def test_a_script_is_loaded_from_a_file(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    (rule,) = Script.load(tmp_path / name).rules
    assert (rule.match.task, rule.match.attempt, rule.replies[0].text) == (("1.10",), ("2",), "hello")
    assert Script.of(str(tmp_path / name)) == Script.of(json.loads(JSON))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("s.yaml", "rules: [", "is not valid YAML"),
        ("s.json", "{", "is not valid JSON"),
        ("s.toml", "x", "is not valid TOML"),
        ("s.txt", "x", "ends in .yaml"),
        ("s.yaml", "hello", "a list of rules"),
        ("s.yaml", "- replies: [{text: a}]\n- match: {rolle: x}\n  replies: [{text: a}]", "rule 2: `match.rolle`: unk"),
        ("s.yaml", "- replies: []", "rule 1: `replies`"),
        ("s.yaml", "- replies: [{}]", "rule 1: `replies.0`: one of text, tool_calls and fault"),
        ("s.yaml", "- replies: [{tool_calls: [{arguments: {}}]}]", "rule 1: `replies.0.tool_calls.0.name`"),
        ("s.yaml", "- replies: [{fault: {kind: flood}}]", "rule 1: `replies.0.fault.kind`"),
        ("s.yaml", "- replies: [{fault: {kind: 429}, text: a}]", "a fault has no text"),
        ("s.yaml", "- replies: [{text: a, then: {text: b}}]", "`then` belongs to a fault"),
    ],
)
def test_a_bad_script_names_file_rule_and_key(tmp_path: Path, name: str, content: str, message: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(UsageError, match=name) as caught:
        Script.load(tmp_path / name)
    assert message in caught.value.message


def test_as_a_process_it_prints_its_address_and_ends_with_stdin(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text(JSON)
    command = [sys.executable, "-m", "swarmgate.testing", "s.json", "--until-stdin-closes", "--port-file", "port"]
    with subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin
        assert process.stdout
        url = process.stdout.readline().strip()
        assert url == f"http://127.0.0.1:{(tmp_path / 'port').read_text()}/v1"
        with urllib.request.urlopen(f"{url}/models", timeout=60) as response:  # noqa: S310 - our own server
            assert response.status == 200
        process.stdin.close()
        assert process.wait(10) == 0


@pytest.mark.slow
def test_as_a_process_it_ends_on_sigterm_and_refuses_a_bad_script(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text(JSON)
    (tmp_path / "bad.json").write_text("{")
    command = [sys.executable, "-m", "swarmgate.testing"]
    with subprocess.Popen([*command, "s.json"], cwd=tmp_path, stdout=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stdout.readline()
        process.terminate()
        assert process.wait(10) == 0
    refused = subprocess.run([*command, "bad.json"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert "bad.json is not valid JSON" in refused.stderr
    assert "Traceback" not in refused.stderr


@pytest.mark.slow
def test_as_a_process_it_plays_habits_and_lists_them(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text(JSON)
    command = [sys.executable, "-m", "swarmgate.testing"]
    listed = subprocess.run([*command, "--list-habits"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "error-no-money: Status 402" in listed.stdout
    playing = [*command, "s.json", "--habit", "models-not-listed", "--habit", "gzip"]
    with subprocess.Popen(playing, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        url = process.stdout.readline().strip()
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(f"{url}/models", timeout=60)  # noqa: S310 - our own server
        assert caught.value.code == 404
        caught.value.close()
        process.terminate()
    unknown = subprocess.run(
        [*command, "s.json", "--habit", "gzi"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert unknown.returncode == 2
    assert "did you mean gzip" in unknown.stderr
