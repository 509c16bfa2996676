"""swarmgate is imported, and what only reads and writes works, where nothing of POSIX is there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from swarmgate.errors import MissingRequirement
from swarmgate.workspace import system
from swarmgate.workspace.files import exclusive

IMPORTS = """
import asyncio, getpass, importlib, os, platform, select, shutil, signal, socket, subprocess, sys, tempfile, uuid

import git, pydantic, rich.console, typer, watchdog.observers  # other people's packages know Windows themselves
import platformdirs; platformdirs.user_config_path()
"""
MODULES = """
for name in ("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog"):
    sys.modules[name] = None
"""
NAMES = """
for module, names in {
    os: ("fork", "getuid", "geteuid", "uname", "killpg", "setsid", "register_at_fork", "O_NOFOLLOW", "O_NONBLOCK",
         "O_CLOEXEC", "O_DIRECTORY", "sysconf", "pidfd_open", "getpgid", "getsid", "mkfifo", "pread", "pwrite",
         "fchmod", "sched_getaffinity"),
    signal: ("SIGKILL", "SIGHUP", "SIGALRM", "SIGBUS", "SIGSYS", "SIGXCPU", "SIGXFSZ", "SIGURG", "SIGWINCH", "SIGTSTP",
             "SIGCONT", "pidfd_send_signal"),
}.items():
    for name in names:
        if hasattr(module, name):
            delattr(module, name)
"""
"""What Python on Windows lacks. It does not make the system Windows: paths and processes are still those of POSIX."""

USER = {**os.environ, "USERNAME": "ada"}
"""Windows names the user so."""


def python(*program: str, args: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-c", "".join(program), *args]
    return subprocess.run(command, env=USER, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_every_module_of_the_command_is_imported() -> None:
    done = python(
        IMPORTS,
        MODULES,
        NAMES,
        """
from swarmgate.cli.verbs import VERBS
for name, verb in VERBS.items():
    if verb.face == "cli":
        importlib.import_module(verb.module(name))
import swarmgate
swarmgate.Swarm
for name in ("engine.build", "engine.loop", "gates.pipeline.pipeline", "automation.facade", "ledger.audit.audit",
             "ledger.audit.attestations", "workspace.git.repository", "workspace.process.process"):
    importlib.import_module(f"swarmgate.{name}")
""",
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_the_ledger_is_written_and_read_and_programs_are_refused_with_the_way_to_wsl(repo: Path) -> None:
    done = python(
        IMPORTS,
        NAMES,  # with locks: those of Windows are Windows' own
        """
from pathlib import Path
from swarmgate.domain.events.event import GoalSet
from swarmgate.engine import Swarm
from swarmgate.engine.initialise import initialise
from swarmgate.errors import MissingRequirement
from swarmgate.workspace.process.process import run

root = Path(sys.argv[1])
initialise(root)
swarm = Swarm(root)
with swarm.project.writing() as ledger:
    ledger.append([GoalSet(goal="Read and write")], expect=ledger.state.seq, actor="user")
assert swarm.status().goal == "Read and write"
assert all(check.passed for check in swarm.verify()), swarm.verify()
try:
    asyncio.run(run(["true"], cwd=root, timeout_s=60))
except MissingRequirement as error:
    print(error.message, error.hint)
""",
        args=(str(repo),),
    )
    assert done.returncode == 0, done.stderr
    assert "does not work on Windows itself" in done.stdout
    assert "wsl --install" in done.stdout


def test_a_lock_is_held_by_one_and_given_back_with_the_file(tmp_path: Path) -> None:
    place = tmp_path / "lock"
    with place.open("w") as first, place.open("w") as second:
        exclusive.take(first.fileno())
        with pytest.raises(BlockingIOError):
            exclusive.take(second.fileno(), wait=False)
        with pytest.raises(BlockingIOError):
            exclusive.take(second.fileno(), shared=True, wait=False)
        first.close()
        exclusive.take(second.fileno(), wait=False)
    with exclusive.folder(tmp_path):
        pass


def test_what_windows_cannot_do_is_refused_there_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    system.require_posix("To fork")
    monkeypatch.delattr("os.fork")
    with pytest.raises(MissingRequirement, match="does not work on Windows itself") as refused:
        system.require_posix("To fork")
    assert "swarm docs windows" in refused.value.hint


@pytest.mark.slow
def test_what_only_posix_has_is_imported_in_these_places_alone() -> None:
    source = Path(system.__file__).parents[1]
    word = re.compile(r"^\s*(?:import|from) (fcntl|resource|pwd|grp|termios|tty|pty)\b", re.MULTILINE)
    found = {str(path.relative_to(source)) for path in source.rglob("*.py") if word.search(path.read_text("utf-8"))}
    assert found == {
        "ledger/views/plan_file.py",  # leases of Linux, late
        "workspace/files/exclusive.py",
        "workspace/process/supervision/connection.py",  # late, after `require_posix`
        "workspace/process/supervision/launcher.py",
    }
