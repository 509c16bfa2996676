"""Repositories and disguised git folders in the work tree are put away, and nothing else is."""

from __future__ import annotations

import subprocess
from pathlib import Path

from swarmgate.workspace.git.repository import Repository


def git(folder: Path, *args: str) -> None:
    subprocess.run(["git", *args], cwd=folder, check=True, capture_output=True)


def test_what_no_tree_may_hold_is_moved_and_the_rest_stays(repo: Path, tmp_path: Path) -> None:
    for name in ("born", "deep/unborn", "ignored"):
        (repo / name).mkdir(parents=True)
        git(repo / name, "init", "--quiet")
        (repo / name / "f.txt").write_text("x")
    git(repo / "born", "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "--quiet", "--allow-empty", "-m", "x")
    for place in (".GIT/hooks/x", "a/.Git/config", ".Swarm/y", "a/.github/z", "deep/kept.txt", ".swarm/own"):
        (repo / place).parent.mkdir(parents=True, exist_ok=True)
        (repo / place).write_text("x")
    (repo / ".gitignore").write_text("ignored/\n")
    quarantine = tmp_path / "quarantine"
    moved = Repository(repo).put_away_foreign(quarantine)
    assert moved == (".GIT", ".Swarm", "a/.Git", "born", "deep/unborn")
    assert (quarantine / "born/f.txt").read_text() == "x"
    assert (quarantine / "a/.Git/config").exists()
    assert all((repo / kept).exists() for kept in ("a/.github/z", "deep/kept.txt", "ignored/f.txt", ".swarm/own"))
    assert Repository(repo).snapshot()
    assert Repository(repo).put_away_foreign(quarantine) == ()


def test_where_there_is_nothing_no_quarantine_is_made(repo: Path, tmp_path: Path) -> None:
    assert Repository(repo).put_away_foreign(tmp_path / "quarantine") == ()
    assert not (tmp_path / "quarantine").exists()
