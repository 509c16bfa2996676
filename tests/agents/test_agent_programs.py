"""Starting an agent program: what it sees, where programs and modules are found, what it gets."""

from __future__ import annotations

import os
import shutil
import sys
import venv
from pathlib import Path
from typing import Any

import pytest
from tests.confined import SANDBOX, runner

from swarmgate.agents.agent_programs import AgentProgram
from swarmgate.config import Role
from swarmgate.llm.programs.command_model import Ran
from swarmgate.workspace.agent_programs.files import visible


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


NODE = pytest.mark.skipif(SANDBOX == "none" or shutil.which("node") is None, reason="needs a sandbox and node")
"""Without a sandbox nothing is hidden."""
NODE_PROGRAM = os.path.realpath(shutil.which("node") or "")


def npm_program(prefix: Path, *, depends: str = "node_modules/@x/agent/node_modules/dep") -> Path:
    """An agent as `npm install --global --prefix PREFIX` leaves it: a link into `lib/node_modules`."""
    package = prefix / "lib/node_modules/@x/agent"
    dep = prefix / "lib" / depends
    for place, text in (
        (package / "package.json", '{"name": "@x/agent", "type": "module"}'),
        (package / "cli.js", "#!/usr/bin/env node\nimport says from 'dep'\nconsole.log(says)\n"),
        (dep / "package.json", '{"name": "dep", "main": "index.cjs"}'),
        (dep / "index.cjs", "module.exports = 'found its modules'\n"),
        (prefix / "secret.txt", "the user's\n"),
    ):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    (package / "cli.js").chmod(0o755)
    (prefix / "bin").mkdir()
    (prefix / "bin/agent").symlink_to("../lib/node_modules/@x/agent/cli.js")
    return prefix / "bin/agent"


@pytest.mark.slow
@NODE
@pytest.mark.parametrize("how", ["path", "on PATH", "hoisted", "wrapper", "node", "node beside"])
async def test_an_npm_program_finds_its_modules(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    prefix = tmp_path / "elsewhere/npm"
    agent = npm_program(prefix, **({"depends": "node_modules/dep"} if how == "hoisted" else {}))
    command = str(agent)
    if how == "on PATH":
        monkeypatch.setenv("PATH", f"{agent.parent}:{os.environ['PATH']}")
        command = "agent"
    elif how == "wrapper":  # as pnpm writes it
        agent.unlink()
        script = 'basedir=$(dirname "$(echo "$0")")\nexec node "$basedir/../lib/node_modules/@x/agent/cli.js" "$@"\n'
        agent.write_text(f"#!/bin/sh\n{script}")
        agent.chmod(0o755)
    elif how == "node":
        command = f"node {agent}"
    elif how == "node beside":
        (prefix / "lib/start.mjs").write_text("import '@x/agent/cli.js'\n")
        command = f"node {prefix}/lib/start.mjs"
    done = await ran(repo, command)
    assert done.stdout == "found its modules\n", done.stderr
    hidden = await ran(repo, f"{command}; cat {prefix}/secre*")
    assert "the user's" not in hidden.stdout


@NODE
async def test_a_node_of_its_own_is_found_beside_the_program(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in the archive of nodejs.org: `bin/node` stands beside `bin/agent`."""
    agent = npm_program(tmp_path / "node-v22")
    (agent.parent / "node").symlink_to(NODE_PROGRAM)
    monkeypatch.setenv("PATH", f"{agent.parent}:/bin")
    done = await ran(repo, str(agent))
    assert done.stdout == "found its modules\n", done.stderr


@pytest.mark.skipif(SANDBOX == "none", reason="without a sandbox nothing is hidden")
async def test_a_program_of_a_python_environment_finds_its_modules(repo: Path, tmp_path: Path) -> None:
    place = tmp_path / "elsewhere/env"
    venv.create(place, symlinks=True)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    (place / f"lib/{version}/site-packages/dep.py").write_text("SAYS = 'found its modules'\n")
    agent = place / "bin/agent"
    agent.write_text(f"#!{place}/bin/python\nimport dep\nprint(dep.SAYS)\n")
    agent.chmod(0o755)
    done = await ran(repo, str(agent))
    assert done.stdout == "found its modules\n", done.stderr


async def test_what_a_program_is_loaded_with_never_holds_the_repository(tmp_path: Path) -> None:
    """A project inside of `node_modules`, as in a link of a workspace, would lose its guards."""
    agent = npm_program(tmp_path)
    inside = tmp_path / "lib/node_modules/mine"
    inside.mkdir()
    found = visible(str(agent), inside)
    assert agent in found
    assert not [place for place in found if inside.is_relative_to(place)]
