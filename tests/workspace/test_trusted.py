"""No program and no module of the work tree is started by swarmgate itself, wherever PATH leads."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from swarmgate.errors import MissingRequirement
from swarmgate.workspace import trusted
from swarmgate.workspace.repository import Repository


def program(place: Path, text: str = "exit 0") -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(f"#!/bin/sh\n{text}\n")
    place.chmod(0o755)
    return place


def test_a_git_of_the_projects_own_environment_is_passed_over(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fired = tmp_path / "fired"
    for folder in (repo / ".venv/bin", repo / "src"):
        program(folder / "git", f'touch {fired}; exec {shutil.which("git")} "$@"')
    (tmp_path / "link").symlink_to(repo / ".venv/bin")
    monkeypatch.chdir(repo / "src")
    monkeypatch.setenv("PATH", os.pathsep.join([f"{repo}/.venv/bin", f"{tmp_path}/link", "", ".", os.environ["PATH"]]))
    (repo / "src/app.py").write_text("changed\n")
    repository = Repository.discover(repo / "src")
    assert repository.changes(repository.head_tree(), repository.snapshot()).paths == (
        ".venv/bin/git",
        "src/app.py",
        "src/git",
    )
    assert not fired.exists()


def test_hooks_and_filters_find_their_programs_on_the_same_path(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fired = tmp_path / "fired"
    program(repo / ".venv/bin/cat", f'touch {fired}; exec /bin/cat "$@"')
    monkeypatch.setenv("PATH", f"{repo}/.venv/bin{os.pathsep}{os.environ['PATH']}")
    with (repo / ".git/config").open("a") as config:
        config.write('[filter "p"]\n\tclean = cat\n')
    (repo / ".gitattributes").write_text("*.py filter=p\n")
    (repo / "src/app.py").write_text("changed\n")
    assert Repository.discover(repo).snapshot()
    assert not fired.exists()


def test_a_link_from_outside_into_the_tree_is_passed_over(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(repo / "tool")
    other = program(tmp_path / "second/tool")
    (tmp_path / "first").mkdir()
    (tmp_path / "first/tool").symlink_to(repo / "tool")
    monkeypatch.setenv("PATH", f"{tmp_path}/first{os.pathsep}{tmp_path}/second")
    assert trusted.find("tool", repo) == str(other)
    other.unlink()
    assert trusted.find("tool", repo) is None
    with pytest.raises(MissingRequirement, match="git was not found outside of the work tree"):
        Repository.discover(repo)


def test_modules_are_no_longer_imported_from_the_tree(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But for those of the environment that swarmgate runs from, which agents cannot write (`own_rights`)."""
    kept = [str(tmp_path), str(repo / ".venv/lib")]
    monkeypatch.setattr(sys, "path", ["", "src", str(repo), str(repo / "src"), str(repo / "other/lib"), *kept])
    monkeypatch.setattr(sys, "prefix", str(repo / ".venv"))
    monkeypatch.chdir(repo)
    trusted.keep_out(repo)
    assert sys.path == kept


def test_what_confines_lies_in_no_work_tree(repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(repo / ".venv/bin/bwrap")
    (tmp_path / "link").symlink_to(repo / ".venv/bin")
    (repo / "tools").symlink_to("/usr/bin")
    (repo / "tools2").mkdir()
    (repo / "tools2/bwrap").symlink_to("/bin/true")
    folders = (repo / ".venv/bin", tmp_path / "link", repo / "tools", repo / "tools2")
    monkeypatch.setenv("PATH", os.pathsep.join([*map(str, folders), "bin"]))
    assert trusted.installed("bwrap") is None
    good = program(tmp_path / "bin/bwrap")
    monkeypatch.chdir(tmp_path)
    assert trusted.installed("bwrap") is None
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}{os.pathsep}{tmp_path}/bin")
    assert trusted.installed("bwrap") == str(good)


def test_where_there_is_no_work_tree_only_relative_entries_count_for_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"bin::{tmp_path}/bin")
    assert trusted.search_path(tmp_path) == f"{tmp_path}/bin"
    assert trusted.search_path(Path("/")) == f"{tmp_path}/bin"
