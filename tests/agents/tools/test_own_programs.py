"""Commands of agents find the project's own programs, as its tests do; outside of a sandbox they do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.confined import SANDBOX, runner
from tests.misbehaviour.case import case

from swarmgate.agents.context import AgentContext
from swarmgate.agents.conversation.toolbox import Toolbox
from swarmgate.agents.prompts import Prompts
from swarmgate.agents.roles.coder import code
from swarmgate.agents.tools import arguments as args
from swarmgate.domain.plan.plan import Task
from swarmgate.llm.model import ModelReply, ModelRequest
from swarmgate.workspace.file_tools.files import FileTree
from swarmgate.workspace.sandbox.choice import choose
from swarmgate.workspace.sandbox.command_runner import CommandRunner
from swarmgate.workspace.sandbox.confinement import Confinement


class Nobody:
    """A model that is never asked."""

    name = "nobody"

    async def complete(self, request: ModelRequest) -> ModelReply:
        raise AssertionError(request)

    async def aclose(self) -> None:
        """Nothing was opened."""


def program(repo: Path, path: str, said: str) -> None:
    place = repo / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(f"#!/bin/sh\necho {said}; echo VIRTUAL_ENV=$VIRTUAL_ENV\n")
    place.chmod(0o755)


async def run(repo: Path, command: str, commands: CommandRunner) -> str:
    agent = AgentContext(model=Nobody(), files=FileTree(repo), prompts=Prompts(), commands=commands)
    return await Toolbox(agent).handlers["run_command"](args.RunCommand(command=command))


@pytest.mark.skipif(SANDBOX == "none", reason="nothing confines commands on this machine")
@pytest.mark.parametrize(
    ("path", "name"),
    [(".venv/bin/python", "python"), ("venv/bin/pytest", "pytest"), ("node_modules/.bin/jest", "jest")],
)
async def test_the_programs_of_the_project_come_first(repo: Path, path: str, name: str) -> None:
    program(repo, path, "mine")
    folder = path.partition("/")[0]
    if folder != "node_modules":
        (repo / folder / "pyvenv.cfg").touch()
    told = await run(repo, f"{name} --version", runner(repo))
    assert "\nmine\n" in told
    assert (f"VIRTUAL_ENV={repo / folder}" in told) is (folder != "node_modules")


async def test_without_any_the_path_is_the_users(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    assert "\n/usr/bin:/bin" in await run(repo, "echo $PATH", runner(repo))


@case(
    "commands",
    "leave programs in the project's .venv/bin where agents' commands find them first, and nothing confines those",
    "only a confined command finds the project's own programs by their names",
)
async def test_outside_of_a_sandbox_no_program_of_the_tree_is_found_by_its_name(repo: Path) -> None:
    program(repo, ".venv/bin/some-own-tool", "planted")
    bare = CommandRunner(choose("none"), Confinement(root=repo, home=repo))
    assert "Exit code 127" in await run(repo, "some-own-tool", bare)


async def test_the_brief_of_the_coder_names_the_test_command(make_agent: Any, say: Any, task: Task) -> None:
    async def gates() -> str:
        return "ruff: PASS"

    agent, model = make_agent(say("finish", summary=""))
    work: dict[str, Any] = {
        "task": task,
        "attempt": 1,
        "scope": task.files,
        "instructions": "x",
        "feedback": "",
        "run_gates": gates,
    }
    await code(agent, **work, test_command=".venv/bin/python -m pytest -q")
    assert "## Test command\nSwarmgate itself runs it" in model.brief
    assert ".venv/bin/python -m pytest -q" in model.brief
