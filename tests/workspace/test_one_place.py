"""Programs are found in one place, and processes are started in few: what else would be a way out of the sandbox."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

import swarmgate

_SOURCE = Path(swarmgate.__file__).parent
_FINDING = {"shutil.which", "distutils.spawn.find_executable", "os.get_exec_path"}
_STARTING = ("subprocess.", "os.exec", "os.spawn", "os.posix_spawn", "os.system", "os.popen", "pty.spawn",
             "asyncio.create_subprocess", "webbrowser.")  # fmt: skip
STARTERS = {
    "workspace/process/supervision/connection.py", "workspace/process/supervision/program.py",
    "workspace/process/background.py",
    "workspace/process/detached.py", "workspace/git/driver.py", "workspace/git/processes.py", "workspace/detect.py",
    "workspace/sandbox/bubblewrap.py", "workspace/sandbox/seatbelt.py", "workspace/process/supervision/launcher.py",
    "cli/council/discuss_interactive.py", "workspace/git/hosting/forge.py", "workspace/programs/browser.py",
}  # fmt: skip
"""Every file that starts a process; what it starts comes from `trusted`, or is handed to it by who asked there."""


def dotted(node: ast.expr) -> str:
    """`a.b.c` of an attribute; what stands before it is left out where that is no name."""
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


@cache
def calls(path: Path) -> set[str]:
    """The dotted names that a file calls, by its imports."""
    tree = ast.parse(path.read_text())
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {each.asname or each.name: each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {each.asname or each.name: f"{node.module}.{each.name}" for each in node.names}
    found = {dotted(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return {".".join((names.get(name.split(".")[0], name.split(".")[0]), *name.split(".")[1:])) for name in found}


@pytest.mark.slow
def test_nobody_else_looks_for_programs() -> None:
    found = {
        path.relative_to(_SOURCE).as_posix(): seen for path in _SOURCE.rglob("*.py") if (seen := calls(path) & _FINDING)
    }
    assert found == {}


@pytest.mark.slow
def test_processes_are_started_where_we_know() -> None:
    found = {
        path.relative_to(_SOURCE).as_posix()
        for path in _SOURCE.rglob("*.py")
        if any(name.startswith(_STARTING) or name.endswith(".subprocess_exec") for name in calls(path))
    }
    assert found == STARTERS
