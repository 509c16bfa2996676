"""Requirements of the source documents that no test of one room shows, by their numbers in docs/sources.md."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.council.debate_script import debating
from tests.council.discussion_script import CONCLUDED, discussing, says
from tests.project import Project, call, code, event_lines, part, plain, plan, rule

from swarmgate.config import Config
from swarmgate.domain.state.lifecycle import TaskState
from swarmgate.testing import ScriptedServer

TALK = """id = "ID"
[[agents]]
id = "ada"
[[agents]]
id = "bob"
[initial]
from = "moderator"
to = "all"
content = "OPENING-OF-ID"
"""


def spans(server: ScriptedServer) -> list[tuple[float, float]]:
    """When each request of a model is in work, from now on; each answer takes a moment."""
    found: list[tuple[float, float]] = []
    play = server.play

    def timed(body: Mapping[str, Any], headers: Mapping[str, str]) -> Any:
        began, due = time.monotonic(), play(body, headers)
        time.sleep(0.02)
        found.append((began, time.monotonic()))
        return due

    server.play = timed  # type: ignore[method-assign,assignment]  # the server's own answers, a moment later
    return found


# --- ADR-011 ---


def test_20_a_challenger_answers_the_advocates_strongest_point(project: Project) -> None:
    project.play(*debating(last=3))
    project.swarm("debate", "Is it sound?", "--rounds", "3")
    asked = {
        each.headers["PARTICIPANT"]: each.messages
        for each in project.requests
        if (each.headers.get("STEP"), each.headers.get("ROUND")) == ("debate", "2")
    }
    system, brief = (str(message["content"]) for message in asked["challenger"][:2])
    assert "strongest point" in system
    assert "claim of advocate in round 1" in brief
    assert "claim of challenger in round 2" not in brief


def test_33_a_chat_begins_with_empty_inboxes_whatever_was_said_in_another(project: Project) -> None:
    writes = [call("send_message", to="bob", content="WORD-OF-THE-FIRST")]
    project.play(
        rule("participant", "chat", {"text": "Read."}),
        rule("participant", "chat", writes, {"text": "Sent."}, participant="ada", contains="OPENING-OF-one"),
    )
    for name in ("one", "two"):
        path = project.root.parent / f"{name}.toml"
        path.write_text(TALK.replace("ID", name))
        project.swarm("chat", str(path))
    briefs = project.briefs("participant", "chat")
    assert sum("WORD-OF-THE-FIRST" in brief for brief in briefs) >= 1  # bob's inbox
    second = [brief for brief in briefs if "OPENING-OF-two" in brief]
    assert len(second) == 2
    assert not any("OPENING-OF-one" in brief or "WORD-OF-THE-FIRST" in brief for brief in second)


def test_35_debates_and_chats_take_no_turn_of_the_user_and_a_discussion_does(project: Project) -> None:
    project.play()
    for verb in ("debate", "chat"):
        assert "No such option: --interactive" in project.swarm(verb, "x", "--interactive", exits=2).stderr
    told = project.swarm("discuss", "x", "--interactive", exits=2).stderr  # there is such an option, and no terminal
    assert "--interactive has you speak" in told


def test_44_a_debate_leaves_no_messages_of_agents(project: Project) -> None:
    project.play(*debating())
    told = project.json("debate", "Is it sound?")
    assert project.json("chat", "list") == []
    kept = (project.folder.discussions / told["id"] / "journal.jsonl").read_text()
    kinds = {json.loads(line)["event"]["type"] for line in kept.splitlines()}
    assert ("spoke" in kinds, "turn" in kinds) == (True, False)  # a turn of a chat holds messages
    project.swarm("chat", "show", told["id"], exits=2)


# --- the design rationale ---


@pytest.mark.slow
def test_70_one_agent_works_at_a_time_each_with_its_own_model(project: Project) -> None:
    project.planned(plan("1.1", "1.2"))
    assert project.server
    found = spans(project.server)
    project.swarm("run", exits=3)
    found.sort()
    assert len(found) >= 8
    assert all(ended <= began for (_, ended), (began, _) in pairwise(found))
    models = {each.headers["ROLE"]: each.model for each in project.requests}
    assert (models["coder"], models["reviewer"], models["architect"]) == ("junior", "senior", "senior")


@pytest.mark.slow
def test_84_the_gates_of_a_task_stand_before_the_reviewer_and_the_tests_behind(project: Project) -> None:
    unfinished = part("1.1") + "# TODO: the rest\n"
    project.planned(code({"src/calc/part_1.1.py": unfinished}, attempt="1"))
    done = project.swarm("run", "--json", exits=3)
    first = project.state.task("1.1").attempts[0]
    assert first.stage == "gates: placeholder_scan"
    assert project.briefs("reviewer", "review", attempt="1") == []
    steps = [each["step"] for each in event_lines(done.stderr) if (each["task"], each["attempt"]) == ("1.1", 2)]
    order = [step for at, step in enumerate(steps) if step and step != steps[at - 1]]
    wanted = ["code", "gates", "review", "test", "run_tests", "commit"]
    assert [step for step in order if step in wanted] == wanted


def test_113_the_capabilities_have_their_names(project: Project) -> None:
    assert [each["name"] for each in project.json("automation")["capabilities"]] == [
        "plan_sync",
        "phase_preflight",
        "config_doctor_on_startup",
        "config_doctor_autofix",
        "evidence_auto_summaries",
        "decision_drift_detection",
    ]


def test_134_plan_files_are_looked_at_every_two_seconds_where_no_event_comes_and_rest_for_300_ms() -> None:
    automation = Config.model_validate({}).automation
    assert (automation.poll_s, automation.debounce_s) == (2.0, 0.3)


DEFECTS = {
    "broken.py": "def f(:\n",
    "later.py": "def g() -> int:\n    # TODO: count\n    return 1\n",
    "shell.py": "import subprocess\nimport sys\n\nsubprocess.run(sys.argv[1], shell=True)\n",
    "compiled.py": "x = 1\nreturn x\n",
    "tangled.py": "def route(n: int) -> int:\n"
    + "".join(f"    if n == {at} and n % {at + 2}:\n        n += len(str(n)) * {at}\n" for at in range(20))
    + "    return n\n",
}


@pytest.mark.slow
def test_151_every_gate_judges_without_a_network(project: Project) -> None:
    cut_off = ("unshare", "--map-root-user", "--net")
    if not shutil.which("unshare") or subprocess.run([*cut_off, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine lets nobody have a network of its own")
    project.configure(gates={"skip": None}, commands={"sandbox": "none"})
    for name, text in DEFECTS.items():
        project.write(name, text)
    command = [*cut_off, sys.executable, "-m", "swarmgate", "gates", "run", "--json", "--repo", str(project.root)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 1, done.stderr
    found = {each["gate"]: each["status"] for each in json.loads(done.stdout)["results"]}
    for gate in ("syntax_check", "placeholder_scan", "sast_scan", "build_check", "quality_budget"):
        assert found[gate] == "FAIL", (gate, found)
    assert "ERROR" not in found.values()


def test_162_the_states_of_a_task_have_their_names_and_order() -> None:
    assert [state.value for state in TaskState] == [
        "idle",
        "coder_delegated",
        "pre_check_passed",
        "reviewer_run",
        "tests_run",
        "complete",
    ]


# --- the structured discussion ---


@pytest.mark.parametrize(
    ("options", "mode", "asked"),
    [
        ((), "standard", "2 to 3 experts"),
        (("--mode", "deep"), "deep", "3 to 4 experts"),
        (("--mode", "lightweight"), "lightweight", "2 experts"),
    ],
)
def test_176_a_mode_is_typed_before_its_topic(
    project: Project, options: tuple[str, ...], mode: str, asked: str
) -> None:
    project.play(*discussing())
    told = project.json("discuss", *options, "How do we keep sessions?", exits=5 if mode == "deep" else 3)
    if mode != "deep":  # two experts are too few for that, and it says so
        assert told["discussion"]["mode"] == mode
    assert asked in plain(project.briefs("participant", "experts")[0])


@pytest.mark.slow
def test_249_observations_about_the_discussion_itself_are_shown(project: Project) -> None:
    rules = [each for each in discussing() if each["match"]["step"] != "conclude"]
    project.play(*rules, says("conclude", "", {**CONCLUDED, "metaObservations": "NOBODY-SPOKE-FOR-USERS"}))
    told = project.json("discuss", "How do we keep sessions?", "--mode", "lightweight", "--yes")
    folder: Path = project.folder.discussions / told["id"]
    assert "NOBODY-SPOKE-FOR-USERS" in (folder / "artifacts/synthesis.md").read_text()
    assert "NOBODY-SPOKE-FOR-USERS" in (folder / "artifacts/synthesis.json").read_text()


@pytest.mark.slow
def test_257_nothing_of_a_discussion_works_on_when_its_command_is_over(project: Project) -> None:
    project.play(*discussing())
    before = {thread.name for thread in threading.enumerate()}
    project.swarm("discuss", "How do we keep sessions?", "--mode", "lightweight", "--yes")
    assert {thread.name for thread in threading.enumerate() if not thread.daemon} <= before
    asked = len(project.requests)
    process = project.start("discuss", "Why?", "--mode", "lightweight", "--yes")
    assert process.wait(timeout=120) == 0
    assert len(project.requests) > asked
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)  # its group is empty
