"""Tests that every kind of change in the environment changes the cache key."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from swarmgate.gates.cache import environment

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PATHS = ("src/app.py",)


@pytest.fixture
def differs(repo: Path) -> Callable[[], bool]:
    """Whether the hash is another one than at the call before."""
    seen = [environment.digest(repo, PATHS)]

    def look() -> bool:
        seen.append(environment.digest(repo, PATHS))
        return seen[-1] != seen[-2]

    return look


def test_nothing_changed_is_the_same_hash(differs: Callable[[], bool], repo: Path) -> None:
    (repo / "src" / "app.py").write_text("x = 2\n")  # the change itself is in other parts of a key
    assert not differs()


def test_another_version_of_an_installed_package(
    differs: Callable[[], bool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages = tmp_path / "packages"
    (packages / "ruff-0.1.0.dist-info").mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [*sys.path, str(packages)])
    assert differs()
    (packages / "ruff-0.1.0.dist-info").rename(packages / "ruff-0.2.0.dist-info")
    assert differs()
    assert not differs()


def test_a_program_that_appears_on_the_path(
    differs: Callable[[], bool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    os.utime(tools, (1, 1))
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    assert differs()
    (tools / "shellcheck").write_text("#!/bin/sh\n")
    assert differs()


@pytest.mark.parametrize(
    "name", ["pyproject.toml", "src/ruff.toml", "../pyproject.toml", "src/package.json", "mypy.ini"]
)
def test_a_tools_configuration_that_git_may_not_see(differs: Callable[[], bool], repo: Path, name: str) -> None:
    (repo / name).write_text("[tool.ruff]\n")
    assert differs()
    (repo / name).write_text("[tool.mypy]\n")
    assert differs()
    os.utime(repo / name, (1, 1))  # a checkout that only touches files loses nothing
    assert not differs()


def test_the_projects_installed_packages(differs: Callable[[], bool], repo: Path) -> None:
    site = repo / ".venv" / "lib" / "python3.12" / "site-packages"
    site.mkdir(parents=True)
    (repo / ".venv" / "pyvenv.cfg").write_text("home = /usr/bin\n")
    assert differs()
    os.utime(site, (1, 1))
    assert differs()
    (site / "requests").mkdir()
    assert differs()
    (repo / "src" / "node_modules").mkdir()
    assert differs()
    (repo / "src" / "node_modules" / ".package-lock.json").write_text("{}")
    assert differs()


def test_a_variable_that_tools_listen_to(differs: Callable[[], bool], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUFF_CONFIG", "/elsewhere.toml")
    assert differs()
    monkeypatch.setenv("UNRELATED", "1")
    assert not differs()


def test_an_edit_of_the_rules_or_of_the_code_itself(tmp_path: Path) -> None:
    (tmp_path / "rules").mkdir()
    place = tmp_path / "rules" / "secrets.toml"
    place.write_text("a = 1\n")
    before = list(environment._files(tmp_path))
    place.write_text("a = 2\n")
    os.utime(place, ns=(1, 1))
    assert list(environment._files(tmp_path)) != before
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "rules" / "more.toml").write_text("")
    assert len(list(environment._files(tmp_path))) == 2
