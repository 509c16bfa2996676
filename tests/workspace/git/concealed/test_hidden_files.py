"""What hides behind a rule that the commit does not have is found; what the project ignores is left alone."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from swarmgate.workspace.git.concealed.hidden_files import hidden
from swarmgate.workspace.git.repository import Repository

Git = Callable[..., str]


@pytest.fixture
def project(repo: Path, git: Git) -> Path:
    """Ignores `*_pb2.py`, `local/` and, in `pkg`, `gen.py`, less `local/keep.py`."""
    (repo / "pkg").mkdir()
    (repo / ".gitignore").write_text("*_pb2.py\nlocal/*\n!local/keep.py\n")
    (repo / "pkg/.gitignore").write_text("gen.py\n")
    git(repo, "add", "--all")
    git(repo, "commit", "--quiet", "--message=rules")
    return repo


def write(root: Path, *names: str, text: str = "x = 1\n") -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def found(root: Path) -> set[str]:
    repository = Repository.discover(root)
    return set(hidden(repository, repository.head_tree(), lambda path: path.endswith((".py", ".ini"))))


def test_what_the_rules_of_the_commit_ignore_is_not_hidden(project: Path) -> None:
    write(project, "a_pb2.py", "only/b_pb2.py", "local/x.py", "pkg/gen.py", "pkg/seen.py", "local/keep.py")
    assert found(project) == set()


def test_nor_is_what_the_user_ignores_outside_of_the_tree(project: Path, git: Git, tmp_path: Path) -> None:
    (project / ".git/info/exclude").write_text("mine.py\n")
    (tmp_path / "global").write_text("own/\n")
    git(project, "config", "core.excludesFile", str(tmp_path / "global"))
    write(project, "mine.py", "own/x.py")
    assert found(project) == set()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rules", "text", "files"),
    [
        ("core/.gitignore", "*\n", {"core/__init__.py", "core/deep/x.py"}),
        ("core/.gitignore", "__init__.py\n.gitignore\ndeep\n", {"core/__init__.py", "core/deep/x.py"}),
        (".gitignore", "*_pb2.py\nlocal/*\n!local/keep.py\ncore/\n", {"core/__init__.py", "core/deep/x.py"}),
        (".gitignore", "*_pb2.py\nlocal/*\n", {"local/keep.py"}),
        ("pkg/.gitignore", "gen.py\n*.ini \n", {"pkg/pytest.ini"}),
    ],
)
def test_what_a_new_rule_ignores_is(project: Path, rules: str, text: str, files: set[str]) -> None:
    write(project, "a_pb2.py", "pkg/gen.py", "core/notes.txt", *files)
    write(project, rules, text=text)
    assert found(project) >= files
    assert "pkg/gen.py" not in found(project)
    assert "core/notes.txt" not in found(project)


def test_folders_of_tools_may_ignore_themselves(project: Path) -> None:
    for folder in (".venv", "venv", "htmlcov", "a/.pytest_cache", "node_modules/x", ".tox/py"):
        write(project, f"{folder}/lib/x.py")
        write(project, f"{folder}/.gitignore", text="*\n")
    assert found(project) == set()


def test_names_in_any_bytes_are_found(project: Path) -> None:
    folder = project / "sp ace\u00e9\n"
    folder.mkdir()
    (folder / ".gitignore").write_text("*\n")
    (folder / "x.py").write_text("")
    assert found(project) == {"sp ace\u00e9\n/x.py"}
    subprocess.run(["git", "check-ignore", "-q", "sp ace\u00e9\n/x.py"], cwd=project, check=True)
