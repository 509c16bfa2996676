"""The real programs, from the registry, headless against the scripted server: a bad change is held, a good one ends.

They run where the programs are on PATH (`.ci/run` installs them by npm), each in a home of its own.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from tests.agent_hooks.asking import BAD, GOOD, end_warm

from swarmgate.agent_hooks.programs import installing
from swarmgate.testing import ScriptedServer

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
PATCH = "*** Begin Patch\n*** {verb} File: src/two.py\n{lines}*** End Patch"
CODEX = """\
model = "gpt-5.5"
model_provider = "scripted"
[model_providers.scripted]
name = "scripted"
base_url = "URL/v1"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
"""


class Run(NamedTuple):
    """How a program is started, what it reads in its home, and how its tools are called."""

    argv: list[str]
    environ: dict[str, str]
    files: dict[str, str]
    shell: tuple[str, dict[str, Any]]
    write: tuple[str, str]


RUNS = {
    "claude": Run(
        ["claude", "-p", "Add two().", "--model", "scripted", "--allowedTools", "Bash", "Write"],
        {"ANTHROPIC_BASE_URL": "URL", "ANTHROPIC_API_KEY": "k", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"},
        {},
        ("Bash", {"command": "rm -rf src", "description": "Removes src"}),
        ("Write", "file_path"),
    ),
    "codex": Run(
        ["codex", "exec", "--dangerously-bypass-hook-trust", "-s", "danger-full-access", "Add two()."],
        {},
        {".codex/config.toml": CODEX},
        ("exec_command", {"cmd": "rm -rf src"}),
        ("apply_patch", ""),
    ),
    "gemini": Run(
        ["gemini", "-p", "Add two().", "-m", "gemini-2.5-pro", "--yolo"],
        {"GOOGLE_GEMINI_BASE_URL": "URL", "GEMINI_API_KEY": "k", "GEMINI_CLI_TRUST_WORKSPACE": "true"},
        {".gemini/settings.json": json.dumps({"security": {"auth": {"selectedType": "gemini-api-key"}}})},
        ("run_shell_command", {"command": "rm -rf src"}),
        ("write_file", "file_path"),
    ),
}


def write(run: Run, place: Path, text: str, *, new: bool) -> dict[str, Any]:
    name, key = run.write
    if key:
        return {"name": name, "arguments": {key: str(place), "content": text}}
    lines = "".join(f"+{line}\n" for line in text.splitlines())
    gone = "" if new else PATCH.format(verb="Delete", lines="")
    return {"name": name, "arguments": gone or PATCH.format(verb="Add", lines=lines)}


@pytest.mark.parametrize("name", RUNS)
def test_a_bad_change_is_held_a_good_one_ends_and_what_destroys_is_refused(
    name: str, repo: Path, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not shutil.which(name):
        pytest.skip(f"{name} is not on PATH; .ci/run installs it by npm")
    run, place = RUNS[name], repo / "src/two.py"
    shell, arguments = run.shell
    script = [
        {"tool_calls": [{"name": shell, "arguments": arguments}]},
        {"tool_calls": [write(run, place, BAD, new=True)]},
        {"text": "It is done."},
        {"tool_calls": [write(run, place, GOOD, new=False)]},
        {"text": "Now it is."},
        {"text": "One turn too many."},
    ]
    (repo / ".swarm").mkdir()
    (repo / ".swarm/config.toml").write_text('[gates]\nskip = ["sast_scan", "build_check"]\n')  # seconds each
    monkeypatch.setenv("CODEX_HOME", str(isolated / ".codex"))
    with ScriptedServer([{"match": {}, "replies": script}]) as server:
        url = server.base_url.removesuffix("/v1")
        for path, text in run.files.items():
            (isolated / path).parent.mkdir(parents=True, exist_ok=True)
            (isolated / path).write_text(text.replace("URL", url))
        installing.apply(installing.installing(name, None, f"{shutil.which('swarm')}"), keep=True)
        done = subprocess.run(
            run.argv,
            cwd=repo,
            env={**os.environ, **{key: value.replace("URL", url) for key, value in run.environ.items()}},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
        )
        asked = [json.dumps(each.body) for each in server.requests]
    end_warm(isolated / "state")
    seen = f"{done.stdout}\n{done.stderr}"
    assert done.returncode == 0, seen
    assert (repo / "src/app.py").exists(), "the command was run"
    assert any("delete-source" in each for each in asked), "the model was not told why it was refused"
    assert any("F401" in each and "swarmgate holds this session (1 of 3)" in each for each in asked), seen
    again = [each for each in asked if "(2 of 3)" in each or "One turn too many." in each]
    assert not again, again[-1][-3000:]
    assert "Now it is." in seen
    assert not place.exists() or place.read_text() == GOOD


def test_opencode_refuses_what_destroys_and_is_asked_to_go_on_after_a_bad_change(
    repo: Path, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not shutil.which("opencode"):
        pytest.skip("opencode is not on PATH: npm install -g opencode-ai")
    place = repo / "src/two.py"
    script = [
        {"tool_calls": [{"name": "bash", "arguments": {"command": "rm -rf src", "description": "Removes src"}}]},
        {"tool_calls": [{"name": "write", "arguments": {"filePath": str(place), "content": BAD}}]},
        {"text": "It is done."},
        {"tool_calls": [{"name": "write", "arguments": {"filePath": str(place), "content": GOOD}}]},
        {"text": "Now it is."},
    ]
    (repo / ".swarm").mkdir()
    (repo / ".swarm/config.toml").write_text('[gates]\nskip = ["sast_scan", "build_check"]\n')  # seconds each
    installing.apply(installing.installing("opencode", None, f"{shutil.which('swarm')}"), keep=True)
    with ScriptedServer([{"match": {}, "replies": script}]) as server:
        for key, value in opencode(server.base_url).items():
            monkeypatch.setenv(key, value)
        with served(repo) as url:
            session = httpx.post(f"{url}/session", json={}, timeout=60).raise_for_status().json()["id"]
            asked = {"parts": [{"type": "text", "text": "Add two()."}]}
            httpx.post(f"{url}/session/{session}/message", json=asked, timeout=120).raise_for_status()

            for _ in range(120):  # it is asked to go on after the answer to that request
                time.sleep(0.5)
                seen = httpx.get(f"{url}/session/{session}/message", timeout=60).text
                if "Now it is." in seen:
                    break
    end_warm(isolated / "state")
    assert (repo / "src/app.py").exists(), "the command was run"
    assert "delete-source" in seen, "the model was not told why it was refused"
    assert "swarmgate holds this session (1 of 3)" in seen
    assert "F401" in seen
    assert "Now it is." in seen
    assert place.read_text() == GOOD


def opencode(endpoint: str) -> dict[str, str]:
    """The variables of an OpenCode that reaches that endpoint and nothing else."""
    options = {"baseURL": endpoint, "apiKey": "none"}
    provider = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"m": {}}}
    settings = {"provider": {"mine": provider}, "model": "mine/m", "small_model": "mine/m"}
    off = ("AUTOUPDATE", "MODELS_FETCH", "EXTERNAL_SKILLS", "SHARE")
    return {"OPENCODE_CONFIG_CONTENT": json.dumps(settings), **{f"OPENCODE_DISABLE_{each}": "1" for each in off}}


@contextmanager
def served(repo: Path) -> Iterator[str]:
    """OpenCode without its terminal; gives its address."""
    argv = ["opencode", "serve", "--port", "0", "--hostname", "127.0.0.1"]
    with subprocess.Popen(argv, cwd=repo, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            assert process.stdout
            lines = iter(process.stdout.readline, "")
            yield next(found[0] for line in lines if (found := re.search(r"http://127\.0\.0\.1:\d+", line)))
        finally:
            process.kill()


def test_claude_takes_the_plugin() -> None:
    if not shutil.which("claude"):
        pytest.skip("claude is not on PATH; .ci/run installs it by npm")
    for each in (ROOT / "integrations/claude", ROOT / "integrations/claude/.claude-plugin/plugin.json"):
        done = subprocess.run(["claude", "plugin", "validate", str(each)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
