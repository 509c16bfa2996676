"""`swarm agents`: the programs that are known, and the tiny task that says what is wrong with one, by name."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from tests.confined import SANDBOX
from typer.testing import CliRunner

from swarmgate.agents.agent_programs import AgentProgram
from swarmgate.cli.app import app
from swarmgate.config import Role
from swarmgate.gates import confinement
from swarmgate.llm.model import CallFailed, Message, ModelRequest
from swarmgate.llm.programs.acp_model import AcpModel
from swarmgate.llm.programs.recipes import RECIPES

pytestmark = pytest.mark.skipif(SANDBOX == "none", reason="programs are tried in the sandbox, and here is none")

WORKS = "cat > brief.tmp; grep -q 'ready.txt' brief.tmp && rm brief.tmp && echo ready > ready.txt"
AGENTS = {
    "works": f"{WORKS}; git rev-parse HEAD > commit.txt; echo done",
    "is-silent": "cat > /dev/null; echo 'I did it all.'",
    "asks": "cat > /dev/null; echo 'I need your approval to write ready.txt'",
    "may-run-nothing": f"{WORKS}; echo 'I was denied permission to run git'",
    "runs-nothing": f"{WORKS}; echo done",
    "guesses": f"{WORKS}; echo 1234567 > commit.txt",
    "writes-more": f"{WORKS}; git rev-parse HEAD > commit.txt; echo x > .agent.history",
    "writes-other": "cat > /dev/null; echo red > ready.txt",
    "waits": "cat > /dev/null; echo 'Run this command? [y/N]'; sleep 600",
    "hangs": "cat > /dev/null; sleep 600",
    "has-no-login": "cat > /dev/null; echo 'Invalid API key. Please run /login' >&2; exit 1",
    "has-no-network": "cat > /dev/null; echo 'getaddrinfo ENOTFOUND api.example' >&2; exit 1",
    "commits": "cat > /dev/null; git commit --allow-empty -m x",
    "crashes": "cat > /dev/null; kill -SEGV $$",
}


@pytest.fixture
def agent(isolated: Path) -> Path:
    """A program that does what its name says, by the mode that it is given."""
    place = isolated / "agents/agent.sh"
    place.parent.mkdir()
    cases = "\n".join(f"{name}) {line} ;;" for name, line in AGENTS.items())
    place.write_text(f"case $1 in\n{cases}\nesac\n")
    return place


def tried(*arguments: str) -> dict[str, Any]:
    done = CliRunner().invoke(app, ["agents", "test", *arguments, "--json"])
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["exit_code"] == done.exit_code, done.stdout
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "problem", "exits"),
    [
        ("works", "", 0),
        ("is-silent", "wrote-nothing", 1),
        ("writes-other", "wrote-nothing", 1),
        ("asks", "permission-asked", 1),
        ("may-run-nothing", "permission-asked", 1),
        ("runs-nothing", "ran-no-command", 1),
        ("guesses", "ran-no-command", 1),
        ("writes-more", "wrote-outside", 1),
        ("waits", "permission-asked", 1),
        ("hangs", "timed-out", 5),
        ("has-no-login", "not-logged-in", 6),
        ("has-no-network", "network-needed", 6),
        ("commits", "read-only", 1),
        ("crashes", "failed", 5),
    ],
)
def test_what_is_wrong_is_said_by_name(agent: Path, mode: str, problem: str, exits: int) -> None:
    found = tried("--model", f"command:sh {agent} {mode}", "--timeout", "2" if mode in {"waits", "hangs"} else "60")
    assert (found["problem"], found["exit_code"]) == (problem, exits), found
    assert bool(found["told"]) == bool(found["hint"]) == bool(problem)


@pytest.mark.slow
def test_a_program_that_works_and_one_that_only_says_so(agent: Path) -> None:
    assert tried("--model", f"command:sh {agent} works")["problem"] == ""
    silent = tried("--model", f"command:sh {agent} is-silent")
    assert silent["problem"] == "wrote-nothing"
    assert "I did it all." in silent["told"]


def test_a_program_that_is_not_there_and_a_variable_that_is_not_set(agent: Path) -> None:
    missing = tried("--model", "acp:claude-agent-acp-that-nobody-has")
    assert (missing["problem"], missing["exit_code"]) == ("not-found", 6)
    unset = tried("--model", f"command:sh {agent} works", "--env", "NO_SUCH_KEY")
    assert (unset["problem"], unset["exit_code"]) == ("variable-not-set", 6)
    assert "NO_SUCH_KEY" in unset["told"]


@pytest.mark.slow
def test_hints_name_what_there_is_here(agent: Path) -> None:
    hung = tried("--model", f"command:sh {agent} hangs", "--timeout", "2")
    assert "--timeout SECONDS" in hung["hint"]
    assert "timeout_s" not in hung["told"] + hung["hint"]
    lacking = tried("--model", "command:sh agents/not-here.sh")
    assert lacking["problem"] == "lacks-file"
    assert lacking["hint"].startswith("it was tried in a temporary repository with a README.md alone")


def test_the_version_does_not_read_as_an_argument() -> None:
    done = CliRunner().invoke(app, ["agents", "test", "--model", "command:sleep 0"])
    assert re.match(r"sleep \(version \S+\): wrote-nothing", done.stdout), done.stdout


def test_nothing_is_left_and_nothing_of_the_folder_is_touched(agent: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    assert not tried("--model", f"command:sh {agent} works", "--repo", str(tmp_path))["problem"]
    assert [each.name for each in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "name a role or a program"),
        (["nobody"], "known: claude-code"),
        (["codex", "--way", "acp"], "it speaks events, plain"),
        (["--model", "local/m"], "is no agent program"),
        (["--model", "acp:"], "write acp:PROGRAM ARGUMENTS"),
        (["--model", "command:   "], "write acp:PROGRAM ARGUMENTS"),
        (["--model", "acp:'unclosed"], "no closing quotation -> write acp:PROGRAM ARGUMENTS"),
        (["--model", "command:A=1"], "names no program -> write acp:PROGRAM ARGUMENTS"),
        (["--model", "acp:'' x"], "names no program -> write acp:PROGRAM ARGUMENTS"),
        (["--model", "command:true", "--env", "A B"], "`env` must be the NAME"),
        (["--model", "command:true", "--timeout", "inf"], "`timeout_s`"),
    ],
)
def test_wrong_use_is_refused(arguments: list[str], told: str) -> None:
    done = CliRunner().invoke(app, ["agents", "test", *arguments])
    assert done.exit_code == 2
    assert told in " ".join(done.stderr.split())


@pytest.mark.slow
def test_known_programs_are_listed_with_what_is_here(isolated: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = isolated / "bin/codex"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho codex-cli 9.8.7\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("CODEX_API_KEY", "the-key-itself")
    done = CliRunner().invoke(app, ["agents", "list", "--json"])
    found = json.loads(done.stdout)
    assert list(found) == [each.name for each in RECIPES]
    assert found["codex"]["version"] == "9.8.7"
    assert found["codex"]["ways"]["events"]["found"] == str(program)
    assert found["codex"]["env"]["CODEX_API_KEY"] is True
    assert "the-key-itself" not in done.stdout
    text = CliRunner().invoke(app, ["agents", "list"]).stdout
    assert "codex: Codex, 9.8.7 found" in text
    assert "CODEX_API_KEY (set)" in text
    assert '[roles.coder]\n  model = "acp:opencode acp"' in text


def test_every_table_can_be_pasted_into_the_settings(tmp_path: Path) -> None:
    from swarmgate.config import load

    for each in RECIPES:
        for way in each.ways:
            place = tmp_path / f"{each.name}-{way}.toml"
            place.write_text(each.table(way))
            assert load(project_file=place).role("coder").model == each.ways[way]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "told"), [("sleep 600", "never spoke"), ("sh -c 'echo hello >&2; cat >/dev/null'", "it said: hello")]
)
async def test_a_program_that_does_not_speak_the_protocol_is_told_so_early(
    tmp_path: Path, line: str, told: str
) -> None:
    name = f"acp:{line}"
    program = AgentProgram(confinement.by_hand(tmp_path), Role(model=name), {})
    model = AcpModel(name, program, timeout_s=600, initialize_s=1.5)
    with pytest.raises(CallFailed, match=told) as caught:
        await model.complete(ModelRequest(messages=(Message(role="system", content="x"),)))
    assert "is it started with the right arguments?" in caught.value.hint
    assert "timeout_s" not in str(caught.value)


@pytest.mark.slow
def test_a_trial_of_such_a_program_says_so() -> None:
    done = CliRunner().invoke(app, ["agents", "test", "--model", "acp:sleep 600", "--timeout", "2"])
    assert done.exit_code == 5
    assert "failed: the agent `sleep 600` never spoke the Agent Client Protocol, within 2 s" in done.stdout
    assert "a program that does not speak it: `command:`" in done.stdout
    echo = CliRunner().invoke(app, ["agents", "test", "--model", "acp:cat", "--timeout", "20"])
    assert "is it started with the right arguments?" in echo.stdout
