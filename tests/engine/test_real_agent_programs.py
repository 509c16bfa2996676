"""Real agent programs of the npm registry, at scripted endpoints: one speaks ACP, the others print their events.

They are installed anew; where npm or its registry is out of reach, the tests say so and are skipped.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.confined import SANDBOX
from tests.programs.agent_wires import AgentWires
from tests.project import Project, call

from swarmgate.evaluation import agent_trials
from swarmgate.testing import ScriptedServer

pytestmark = [pytest.mark.slow, pytest.mark.suite("unittest")]

_READY, _COMMIT = "echo ready > ready.txt", "git rev-parse HEAD > commit.txt"


@pytest.fixture(scope="session")
def bin_of(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder with `opencode` and `claude`, installed by npm."""
    if SANDBOX == "none" or shutil.which("npm") is None:
        pytest.skip("there is no sandbox, or no npm")
    place = tmp_path_factory.mktemp("npm")
    packages = ("opencode-ai@1.18.33", "@anthropic-ai/claude-code@2.1.197")
    line = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(place), *packages]
    done = subprocess.run(line, check=False, capture_output=True, text=True, timeout=540)
    if done.returncode:
        pytest.skip(f"npm could not install the agent programs: {done.stderr[-300:]}")
    yield place / "node_modules/.bin"
    shutil.rmtree(place, ignore_errors=True)


def opencode_settings(base_url: str) -> str:
    """Its configuration: one provider, that endpoint."""
    options = {"baseURL": base_url, "apiKey": "none"}
    provider = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"m": {}}}
    return json.dumps({"provider": {"mine": provider}, "model": "mine/m", "small_model": "mine/m"})


def writing(*lines: str) -> ScriptedServer:
    """An endpoint whose model has these command lines run, and is done."""
    turns = [{"tool_calls": [call("bash", command=line, description="Work")]} for line in lines]
    return ScriptedServer([{"match": {}, "replies": [*turns, {"text": "done"}]}])


@pytest.mark.parametrize("way", ["acp", "events"])
def test_opencode_does_a_task(bin_of: Path, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    with writing(_READY, _COMMIT) as server:
        monkeypatch.setenv("PATH", str(bin_of), prepend=":")
        monkeypatch.setenv("OPENCODE_CONFIG_CONTENT", opencode_settings(server.base_url))
        found = agent_trials.trial(None, "opencode", way=way)
    assert not found.problem, found
    assert any("git rev-parse HEAD" in use for use in found.uses)
    assert found.usage.tokens > 1_000


def test_claude_code_does_a_task_and_says_what_it_cost(bin_of: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [("Bash", {"command": line, "description": "Work"}) for line in (_READY, _COMMIT)]
    with AgentWires([*lines, "done"]) as server:
        monkeypatch.setenv("PATH", str(bin_of), prepend=":")
        monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.base_url)
        found = agent_trials.trial(None, "claude-code", way="events", env=("ANTHROPIC_BASE_URL",))
    assert not found.problem, found
    assert [use.split(" (")[0] for use in found.uses] == [f"coder: Bash {_READY}", f"coder: Bash {_COMMIT}"]
    assert found.usage.usd


def test_a_program_without_its_login_is_named_so(bin_of: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(bin_of), prepend=":")
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    assert agent_trials.trial(None, "claude-code", way="events").problem == "not-logged-in"


def test_opencode_is_the_coder_of_a_run_by_acp(project: Project, bin_of: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = 'printf \'"""A part."""\\n\\nVALUE = "1.1"\\n\' > src/calc/part_1.1.py'
    with writing(line) as server:
        monkeypatch.setenv("OPENCODE_CONFIG_CONTENT", opencode_settings(server.base_url))
        model = f"acp:{bin_of / 'opencode'} acp"
        project.planned(roles__coder={"model": model, "fallback": [], "env": ["OPENCODE_CONFIG_CONTENT"]})
        result = project.swarm("run", exits=3)
    assert project.git("show", "HEAD:src/calc/part_1.1.py").endswith('VALUE = "1.1"')
    assert project.state.task("1.1").attempts[0].summary == "done"
    assert "coder: execute printf" in result.stderr
