"""Every test runs in a home of its own, with no git configuration but the one that it writes."""

from __future__ import annotations

import contextlib
import gc
import importlib
import itertools
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from swarmgate.workspace.programs import import_path, trusted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

# A law holds or not; how long an example takes on a busy machine is no part of it. More: SWARMGATE_EXAMPLES=1000
settings.register_profile(
    "swarmgate",
    deadline=None,
    max_examples=int(os.environ.get("SWARMGATE_EXAMPLES", "40")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("swarmgate")

_HOMES = itertools.count()
_IDENTITY = {"NAME": "Ada Tester", "EMAIL": "ada@example.test", "DATE": "2024-05-01T12:00:00+00:00"}


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Two for each processor: half of the time tests wait for the disk and for processes that they started."""
    return 2 * (os.cpu_count() or 1)


def pytest_configure(config: pytest.Config) -> None:
    """A worker with nothing left to do takes over from one that has: some tests take a thousand times as long.

    Byte code is kept, whatever the shell says: each of the many Pythons that tests start would compile all of ours.
    """
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if getattr(config.option, "dist", "") == "load":  # xdist's default; there is none where it is not installed
        config.option.dist = "worksteal"


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """All that is collected is there to stay: no collector of garbage walks over it, now or during the tests."""
    gc.disable()
    try:
        _import_from_another_place(session.config)
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def _import_from_another_place(config: pytest.Config) -> None:
    """Imports all tests, each worker from a place of its own on.

    In a fresh checkout pytest compiles each file of tests, which takes half a minute of processor; workers that go
    through them side by side would all do it. What cannot be imported, collecting tells.
    """
    worker = getattr(config, "workerinput", None)
    if worker is None or config.args != config.getini("testpaths"):
        return
    files = sorted(file for part in config.args for file in (config.rootpath / part).rglob("test_*.py"))
    first = len(files) * int(worker["workerid"].removeprefix("gw")) // worker["workercount"]
    for file in files[first:] + files[:first]:
        with contextlib.suppress(Exception, pytest.skip.Exception):
            importlib.import_module(".".join(file.relative_to(config.rootpath).with_suffix("").parts))


@pytest.fixture(autouse=True)
def isolated(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh home; no variable of the developer's shell that git, swarmgate or a test runner reads."""
    home = tmp_path_factory.getbasetemp() / "homes" / str(next(_HOMES))  # mktemp looks at all that there are
    home.mkdir(parents=True)
    # Forty waits for the disk in each run of the loop; no test cuts the power, and kill -9 loses nothing written.
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)
    for name in os.environ:
        if name.startswith(("GIT_", "SWARM_", "XDG_", "PYTEST_ADDOPTS")):
            monkeypatch.delenv(name)
    # What a process knows of work trees, and what it was given before: each test is one of its own.
    for name in ("_TREES", "_ENTERED", "_LEFT"):
        monkeypatch.setattr(import_path, name, set())
    monkeypatch.setattr(trusted, "_taken", {})
    monkeypatch.setenv("GIT_TEST_FSYNC", "false")
    monkeypatch.setenv("HOME", str(home))
    for name in ("CONFIG", "CACHE", "DATA", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(home / name.lower()))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for role in ("AUTHOR", "COMMITTER"):
        for key, value in _IDENTITY.items():
            monkeypatch.setenv(f"GIT_{role}_{key}", value)
    return home


def _git(folder: Path, *args: str) -> str:
    done = subprocess.run(["git", *args], cwd=folder, check=True, capture_output=True, text=True, errors="replace")
    return done.stdout.rstrip("\n")


@pytest.fixture
def git() -> Callable[..., str]:
    """`git(folder, *args)`: run git there and return what it prints, without the last line end."""
    return _git


def _make_repo(root: Path) -> None:
    (root / "src").mkdir(parents=True)
    (root / "README.md").write_text("# Demo\n")
    (root / "src/app.py").write_text("def one():\n    return 1\n")
    _git(root, "init", "--quiet", "--initial-branch=main")
    _git(root, "config", "user.name", _IDENTITY["NAME"])
    _git(root, "config", "user.email", _IDENTITY["EMAIL"])
    _git(root, "add", "--all")
    _git(root, "commit", "--quiet", "--message=Start")
    for sample in (root / ".git/hooks").glob("*.sample"):
        sample.unlink()  # each copy has half as many files to make


@pytest.fixture(scope="session")
def _first_repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the first test that needs a repository makes it: the others work on copies."""
    return tmp_path_factory.mktemp("first") / "repo"


@pytest.fixture
def repo(_first_repo: Path, tmp_path: Path) -> Path:
    """A git repository on branch `main` with one commit: README.md and src/app.py."""
    if not _first_repo.exists():
        _make_repo(_first_repo)
    root = tmp_path.resolve() / "repo"
    shutil.copytree(_first_repo, root, symlinks=True)
    _git(root, "update-index", "--refresh")  # git knows files by their times
    return root
