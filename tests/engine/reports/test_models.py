"""The models behind the roles: refused twins, families in status, probes that steer the next run."""

from __future__ import annotations

import json

import pytest
from tests.project import Project, code, part, plain, rule

from swarmgate.engine.swarm import Swarm
from swarmgate.ledger.files import model_probes
from swarmgate.testing import ScriptedServer

pytestmark = pytest.mark.suite("unittest")


def test_a_run_of_roles_that_must_differ_and_do_not_is_refused_before_any_call(project: Project) -> None:
    project.play(models={"require_distinct": ["coder", "reviewer"]}, roles__reviewer={"model": "local/org/Junior"})
    told = plain(project.swarm("plan", "goal", exits=2).stderr)
    assert "`coder` and `reviewer` (local/junior, the same model as local/org/Junior)" in told
    assert project.requests == []
    assert "distinct models" in project.swarm("doctor", exits=6).stdout


def test_with_one_model_the_doctor_does_not_say_that_coder_and_reviewer_differ(project: Project) -> None:
    project.play(roles__coder={"model": "local/senior"})
    assert "ok    distinct models: coder, reviewer, once the roles have two models\n" in project.swarm("doctor").stdout


def test_status_shows_models_and_families_and_works_without_settings(project: Project) -> None:
    project.configure(roles__coder={"model": "local/qwen3-coder:30b"}, roles__sme={"model": "local/claude-opus-4-5"})
    told = project.swarm("status").stdout
    assert "local/qwen3-coder:30b (qwen): coder" in told
    assert "local/claude-opus-4-5 (claude): sme" in told
    assert "local/senior: architect, critic, reviewer, test_engineer" in told
    assert project.json("status")["models"]["coder"] == {"model": "local/qwen3-coder:30b", "family": "qwen"}
    project.folder.config.write_text("[roles\n")
    assert project.json("status")["models"] == {}
    assert "models:" not in project.swarm("status").stdout


def test_kin_get_a_softer_notice(project: Project) -> None:
    project.play(roles__reviewer={"model": "local/gpt-5"}, roles__coder={"model": "local/gpt-5-mini"})
    told = plain(project.swarm("plan", "goal", exits=3).stderr)
    assert "coder and reviewer are of one family (gpt: local/gpt-5-mini, local/gpt-5)" in told


def test_doctor_models_shows_and_keeps_what_each_model_can(project: Project) -> None:
    project.play()
    told = project.swarm("doctor", "--models").stdout
    assert "model         tools  parallel  stream  schema  system  window" in told
    assert "local/senior  yes    yes       yes     yes     yes     ?" in told
    assert "calls" in told
    assert "models.json" in told
    assert "coder: full; code " in told
    assert "coder: 25,600, built in" in told
    assert "reviewer: 16,384, built in" in told
    kept = json.loads((project.root / ".swarm/runtime/models.json").read_text())
    assert sorted(kept) == ["local/junior", "local/senior"]
    assert kept["local/junior"]["base_url"] == project.server.base_url  # type: ignore[union-attr]  # it plays
    assert kept["local/junior"]["asked"].endswith("+00:00")
    assert project.git("status", "--porcelain", "--", ".swarm/runtime") == ""


def test_an_endpoint_that_is_down_is_exit_5_and_the_others_are_asked(project: Project) -> None:
    project.play(
        providers__gone={"base_url": "http://127.0.0.1:9/v1"},
        providers__keyed={"base_url": "http://127.0.0.1:9/v1", "api_key_env": "NOT_SET_KEY"},
        roles__reviewer={"model": "gone/one", "fallback": ["keyed/two"]},
    )
    found = project.json("doctor", "--models", exits=5)
    by_name = {each["model"]: each for each in found["models"]}
    assert "the connection failed" in by_name["gone/one"]["error"]
    assert "NOT_SET_KEY" in by_name["keyed/two"]["error"]
    assert by_name["local/senior"]["tools"] is True
    assert found["usage"]["calls"] == 6
    assert found["usage"]["usd"] > 0
    assert sorted(model_probes.load(project.folder)) == ["local/junior", "local/senior"]


def test_where_no_model_can_be_asked_nothing_is_said_to_be_kept(project: Project) -> None:
    gone = {"model": "gone/one"}
    project.play(
        providers__gone={"base_url": "http://127.0.0.1:9/v1", "max_retries": 0}, roles__default=gone, roles__coder=gone
    )
    told = project.swarm("doctor", "--models", exits=5).stdout
    assert "no model could be asked" in told
    assert "Kept in" not in told


@pytest.mark.slow
def test_findings_steer_the_next_run(project: Project) -> None:
    project.play(code({"src/calc/part_1.1.py": part("1.1")}))
    with ScriptedServer(project.server.script, lacks=["tools", "stream"], context_tokens=12_000) as small:  # type: ignore[union-attr]  # it plays
        project.configure(providers__tiny={"base_url": small.base_url}, roles__coder={"model": "tiny/scripted"})
        found = project.json("doctor", "--models")
        assert found["prompts"]["coder"]["compact"] is True
        assert found["prompts"]["coder"]["saving"]["code"] > 100
        assert found["prompts"]["reviewer"]["compact"] is False
        small.requests.clear()
        project.swarm("plan", "goal", exits=3)
        project.swarm("approve")
        project.swarm("run", exits=3)
    first = small.requests[0]
    assert first.headers["ROLE"] == "coder"
    assert "tools" not in first.body
    assert "stream" not in first.body
    assert first.body["response_format"]["type"] == "json_schema"
    assert "[Enforcement: programmatic gates active]" in first.messages[0]["content"]
    assert "No placeholders" not in first.messages[0]["content"]
    (turn,) = [turn for turn in Swarm(project.root).state.task("1.1").turns if turn.role == "coder"]
    assert turn.prompt_tokens_saved >= found["prompts"]["coder"]["saving"]["code"]


@pytest.mark.slow
def test_what_a_run_finds_out_is_shown_once_and_known_to_the_next(project: Project) -> None:
    project.play(code({"src/calc/part_1.1.py": part("1.1")}))
    with ScriptedServer(project.server.script, lacks=["tools", "system"]) as small:  # type: ignore[union-attr]  # it plays
        project.configure(providers__local={"base_url": small.base_url})
        told = plain(project.swarm("plan", "goal", exits=3).stderr)
        assert told.count("local/senior: it does not call tools: they are described in text from here on") == 1
        assert told.count("local/senior: it takes no system message") == 1
        found = model_probes.load(project.folder)
        assert (found["local/senior"].tools, found["local/senior"].asked) == (False, "")
        project.swarm("approve")
        told = plain(project.swarm("run", exits=3).stderr)
        assert "local/senior: it" not in told
        assert told.count("local/junior: it does not call tools") == 1


def test_a_file_of_findings_that_is_broken_counts_for_nothing(project: Project) -> None:
    project.folder.models.write_text('{"local/senior": {"tools": 3}}')
    assert model_probes.load(project.folder) == {}


def test_status_says_why_the_settings_cannot_be_read(project: Project) -> None:
    project.play()
    assert project.json("status")["settings_problem"] == ""
    project.folder.config.write_text("[roles.defalt]\nmodel = 'a/b'\n")
    (line,) = [line for line in project.swarm("status").stdout.splitlines() if line.startswith("  settings")]
    assert line.startswith("  settings: cannot be read, so no command that works can begin: ")
    assert ".swarm/config.toml, line 1: `roles.defalt`" in line
    found = project.json("status")
    assert (found["models"], "defalt" in found["settings_problem"]) == ({}, True)
    assert [each.partition(":")[0] for each in found["actions"]] == ["mend the settings", "swarm doctor"]
    project.folder.config.write_text("budget = = 3\n")
    told = project.swarm("status").stdout
    assert "(at line 1, column 10) -> mend that line, then try again\n" in told
    assert told[told.index("Next:") :].startswith("Next:\n  mend the settings: ")
    assert "swarm plan" not in told


def test_a_model_that_the_endpoint_does_not_list_is_named_with_the_nearest(project: Project) -> None:
    project.play(
        rule("coder", "code", {"text": "x"}, model="junior"),
        rule("critic", "review_plan", {"text": "x"}, model="senior"),
    )
    project.configure(roles__coder={"model": "local/juniro"}, roles__reviewer={"model": "local/SENIOR"})
    found = project.json("doctor", "--models")
    assert found["unlisted"] == {"local/juniro": "junior"}
    told = project.swarm("doctor", "--models").stdout  # by now it was asked for, and the endpoint lists that
    assert "is not in the list" not in told


def test_a_server_that_takes_any_name_is_no_mistake(project: Project) -> None:
    project.play()  # it lists `scripted`, and answers as whatever it is called
    assert project.json("doctor", "--models")["unlisted"] == {}
