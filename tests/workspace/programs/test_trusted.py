"""No program and no module of the work tree is started by swarmgate itself, wherever PATH leads."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from swarmgate.errors import MissingRequirement
from swarmgate.workspace.git.repository import Repository
from swarmgate.workspace.programs import trusted


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
    """But for those of the environment that swarmgate runs from, which agents cannot write (`unsandboxed_files`)."""
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


def test_this_process_finds_nothing_in_the_tree_and_what_runs_confined_finds_all(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {
        "PATH": f"{repo}/.venv/bin:{tmp_path}/bin::bin", "PYTHONPATH": f"{repo}/src::{tmp_path}/lib",
        "NODE_PATH": "lib", "LD_PRELOAD": f"libjemalloc.so {repo}/lib/evil.so",
        "LD_LIBRARY_PATH": f"{repo}/lib:/opt/lib",
        "NODE_OPTIONS": "--max-old-space-size=99 --require ./hook.js", "RUBYOPT": "-W0", "MY_PATH": str(repo),
    }  # fmt: skip
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "path", list(sys.path))
    trusted.keep_out(repo)
    trusted.keep_out(repo)
    clean = {
        "PATH": f"{tmp_path}/bin", "PYTHONPATH": f"{tmp_path}/lib", "NODE_PATH": "", "LD_PRELOAD": "libjemalloc.so",
        "LD_LIBRARY_PATH": "/opt/lib", "NODE_OPTIONS": "", "RUBYOPT": "-W0", "MY_PATH": str(repo),
    }  # fmt: skip
    assert {name: os.environ[name] for name in given} == clean
    assert {name: trusted.given()[name] for name in given} == given
    around = trusted.environment(repo, given)
    assert {name: around.get(name, "") for name in given} == clean
    monkeypatch.setenv("PATH", "/other")
    assert trusted.given()["PATH"] == "/other", "what was set since counts"


def test_the_trees_around_a_folder_count_and_one_that_holds_the_home_does_not(
    repo: Path, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command can make a repository where git ignores it; who works there is no less in the one around it."""
    (repo / "build/own/.git").mkdir(parents=True)
    program(repo / ".venv/bin/tool")
    program(isolated / "bin/tool")
    (isolated / ".git").mkdir()
    (isolated / ".swarm").mkdir()
    monkeypatch.setenv("PATH", f"{repo}/.venv/bin:{isolated}/bin")
    assert trusted.find("tool", repo / "build/own") == str(isolated / "bin/tool")


def test_a_tree_that_swarmgate_works_in_is_known_by_its_folder(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The environment of another project may be active."""
    other = program(tmp_path / "other/.venv/bin/tool")
    monkeypatch.setenv("PATH", str(other.parent))
    assert trusted.find("tool", repo) == str(other), "the user's own"
    (tmp_path / "other/.swarm").mkdir()
    assert trusted.find("tool", repo) is None


def test_what_runs_confined_is_the_projects_own_first(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    users, further = program(tmp_path / "bin/lint"), program(tmp_path / "more/check")
    assert trusted.located("lint", repo, "src") == str(users)
    assert trusted.located("check", repo, further=str(further.parent)) == str(further)
    own = program(repo / "node_modules/.bin/lint")
    assert trusted.located("lint", repo, "src") == str(own)
    nearer = program(repo / "src/.venv/bin/lint")
    assert trusted.located("lint", repo, "src") == str(nearer)
    assert trusted.located("src/.venv/bin/lint", repo) == str(nearer)
    assert trusted.located(str(users), repo) == str(users)
    assert trusted.located("absent", repo) is None


def test_what_the_user_names_is_not_started_from_the_tree(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(repo / ".venv/bin/edit")
    monkeypatch.setenv("PATH", f"{repo}/.venv/bin")
    for word in ("edit", ".venv/bin/edit", f"{repo}/.venv/bin/edit"):
        with pytest.raises(MissingRequirement, match="outside of the work tree"):
            trusted.named(word, repo)
    mine = program(tmp_path / "edit")
    assert trusted.named(str(mine), repo) == str(mine)
