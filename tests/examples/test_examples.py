"""Every file of `examples/` runs as it stands, by the command that it names itself."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.council.debate_script import debating
from tests.council.discussion_script import discussing
from tests.project import BARE_PYTEST, Project, call, rule
from typer.testing import CliRunner

from swarmgate.cli.app import app

FOLDER = Path(__file__).parents[2] / "examples"
NAMES = sorted(path.name for path in FOLDER.iterdir() if path.is_file())


def read(name: str) -> str:
    return (FOLDER / name).read_text("utf-8")


def said(role: str, step: str, body: Any) -> dict[str, Any]:
    return rule(role, step, {"text": body if isinstance(body, str) else json.dumps(body)})


SCORES = [{"criterion": name, "score": 0.95, "reason": "it is so"} for name in ("accuracy", "usefulness", "length")]
LOOKED = said("participant", "dispatch", "{{participant}} has looked.")
TALKED = [
    rule("participant", "chat", [call("synthesize", summary="It is settled.")]),
    *(  # where one of them leads, nobody else ends it
        rule(
            "participant", "chat", [call("send_message", to="lead", content="SQLite.")], {"text": "."}, participant=name
        )
        for name in ("storage", "operations")
    ),
]
ANSWERS: dict[str, list[dict[str, Any]]] = {
    "swarm dispatch": [LOOKED, *debating(last=3)],
    "swarm orchestrate": [LOOKED, *debating()],
    "swarm debate": [*debating(last=3)],
    "swarm chat": TALKED,
    "swarm discuss": [*discussing()],
    "swarm decide": [said("participant", "contribute", {"ranking": ["B", "A"]})],
    "swarm critique": [
        said("participant", "generate", "All is new."),
        said("participant", "evaluate", {"scores": SCORES, "suggestions": []}),
    ],
}
"""What models say, by the verb that asks them."""


def commands(name: str) -> list[str]:
    """The commands in the comment or docstring at the top of a file that name the file."""
    head = re.split(r"^(?!#|\"\"\")[^\n]*=", read(name), maxsplit=1, flags=re.MULTILINE)[0]
    found = re.findall(rf"(?:swarm [a-z]+ |python |jupyter execute )[^\n`]*?examples/{re.escape(name)}", head)
    return [line[line.rindex("swarm ") :] if "swarm " in line else line for line in found]


def executed(name: str) -> None:
    """Has a kernel execute a notebook, as `jupyter execute` does; each of its plots is there."""
    import nbformat
    from nbclient import NotebookClient

    notebook: Any = nbformat.reads(read(name), as_version=4)  # type: ignore[no-untyped-call]  # nbformat has no types
    NotebookClient(notebook, timeout=500, resources={"metadata": {"path": str(FOLDER)}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    plotted = [output for output in outputs if "image/png" in output.get("data", {})]
    assert len(plotted) == sum("plt.subplots" in cell.source for cell in notebook.cells) > 0


@pytest.mark.parametrize("name", [name for name in NAMES if name != "hooks.toml"])
def test_every_file_says_how_it_is_run(name: str) -> None:
    assert len(commands(name)) == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in NAMES if name != "hooks.toml"])
def test_it_runs_by_the_command_that_it_names(name: str, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    program, *words = shlex.split(commands(name)[0])
    if program == "jupyter":
        # Half a second of every judgement, as in `tests.project`.
        for key, value in {**BARE_PYTEST, "SWARM_GATES__SKIP": '["sast_scan"]'}.items():
            monkeypatch.setenv(key, value)
        executed(name)
        return
    if program == "python":
        done = subprocess.run([sys.executable, *words], cwd=FOLDER.parent, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout.strip() != "") == (0, True), done.stderr
        return
    project.write(f"examples/{name}", read(name))
    project.write("README.md", "# A link shortener\n")
    project.play(*ANSWERS[f"swarm {words[0]}"])
    monkeypatch.chdir(project.root)
    done_here = CliRunner().invoke(app, [*words, *(["--yes"] if words[0] == "discuss" else [])])
    assert done_here.exit_code == 0, done_here.output
    assert project.requests


@pytest.mark.slow
@pytest.mark.parametrize("event", tomllib.loads(read("hooks.toml"))["hooks"])
def test_its_hooks_run_in_the_settings_of_a_project(event: str, project: Project) -> None:
    project.play()
    config = project.folder.config
    config.write_text(config.read_text("utf-8").replace("[hooks]", "# [hooks]") + read("hooks.toml"), "utf-8")
    (hook,) = project.json("hooks", "try", event)["hooks"]
    assert hook["last"]["exit_code"] == 0, hook
