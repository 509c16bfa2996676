"""The real programs, from the registry, headless against the scripted server: a bad change is held, a good one ends.

They run where the programs are on PATH (`.ci/run` installs them by npm), each in a home of its own.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

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


def test_claude_takes_the_plugin() -> None:
    if not shutil.which("claude"):
        pytest.skip("claude is not on PATH; .ci/run installs it by npm")
    for each in (ROOT / "integrations/claude", ROOT / "integrations/claude/.claude-plugin/plugin.json"):
        done = subprocess.run(["claude", "plugin", "validate", str(each)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
