"""Starting an agent program: what it sees, where programs and modules are found, what it gets."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from tests.confined import SANDBOX, runner

from swarmgate.config import Role
from swarmgate.engine.programs import AgentProgram
from swarmgate.llm.command_model import Ran


async def ran(root: Path, command: str, *, judges: bool = False, writes: bool = False, **settings: Any) -> Ran:
    role = Role.model_validate({"model": f"command:{command}", **settings})
    return await AgentProgram(runner(root), role, os.environ, judges=judges)(command, brief="do it", writes=writes)


async def test_programs_and_modules_are_not_looked_for_in_the_repository(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("bin/judge", "json.py"):
        (repo / name).parent.mkdir(exist_ok=True)
        (repo / name).write_text("#!/bin/sh\necho planted\n" if "/" in name else "print('planted')\n")
        (repo / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{repo / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(repo))
    assert (await ran(repo, "judge")).exit_code == 127
    assert "planted" not in (await ran(repo, "python3 -m json.tool --help", judges=True)).stdout
    assert "planted" not in (await ran(repo, "python3 -c 'import json'", judges=True)).stdout


@pytest.mark.skipif(SANDBOX == "none", reason="without a sandbox nothing is hidden")
async def test_files_that_the_command_line_names_are_shown_and_others_are_not(repo: Path, isolated: Path) -> None:
    for name in ("mine/agent.sh", "mine/other.txt", "login/key.txt"):
        (isolated / name).parent.mkdir(exist_ok=True)
        (isolated / name).write_text("cat ~/mine/other.txt; cat ~/login/key.txt; echo new > ~/login/key.txt; cat\n")
    done = await ran(repo, "sh ~/mine/agent.sh")
    assert done.stdout == "do it"
    assert "other.txt" in done.stderr
    readable = await ran(repo, "sh ~/mine/agent.sh", readable=["~/mine", "~/login"])
    assert readable.stdout.count("echo new") == 2
    assert (isolated / "login/key.txt").read_text() != "new\n"
    await ran(repo, "sh ~/mine/agent.sh", writable=["~/login"])
    assert (isolated / "login/key.txt").read_text() == "new\n"
