"""`swarm init`: what it makes, what it leaves alone, and where it refuses."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.project import Project

from swarmgate import config
from swarmgate.engine.initialise import initialise
from swarmgate.errors import NotAProject, UsageError, WorkspaceError


def _git(folder: Path, *args: str) -> None:
    subprocess.run(["git", *args], cwd=folder, check=True, capture_output=True)


def test_what_is_detected_is_written_where_it_can_be_changed(repo: Path) -> None:
    (repo / "tests").mkdir()
    (repo / "tests/test_a.py").write_text("def test_a() -> None:\n    pass\n")
    made = initialise(repo)
    assert (made.root, made.branch, made.created) == (str(repo), "main", True)
    loaded = config.load(project_file=repo / ".swarm/config.toml")
    assert "python" in loaded.project.languages
    assert loaded.tests.command == made.test_command != ""


@pytest.mark.parametrize(("files", "limited"), [(10, True), (60, False)])
def test_a_project_that_was_there_before_has_no_limit_of_the_sum(repo: Path, files: int, *, limited: bool) -> None:
    for number in range(files):
        (repo / f"part{number}.py").write_text("x = 1\n")
    initialise(repo)
    quality = config.load(project_file=repo / ".swarm/config.toml").gates.quality
    assert ("max_complexity_delta" in quality.model_fields_set) is limited


def test_a_folder_of_a_repository_is_a_project_of_its_own_and_one_of_a_project_belongs_to_it(repo: Path) -> None:
    package = repo / "src"
    made = initialise(package)
    assert (made.root, made.repository, made.created) == (str(package), str(repo), True)
    assert not (repo / ".swarm").exists()
    (package / "deep").mkdir()
    again = initialise(package / "deep")
    assert (again.root, again.created) == (str(package), False)


def test_a_folder_that_git_ignores_is_no_project(repo: Path) -> None:
    (repo / ".gitignore").write_text("/build/\n")
    (repo / "build/part").mkdir(parents=True)
    with pytest.raises(WorkspaceError, match="is ignored by the repository") as caught:
        initialise(repo / "build/part")
    assert "git check-ignore -v" in caught.value.hint
    assert not (repo / "build/part/.swarm").exists()


def test_init_again_changes_nothing(project: Project) -> None:
    before = {path: path.read_bytes() for path in project.folder.path.rglob("*") if path.is_file()}
    assert "Already initialised" in project.swarm("init").stdout
    assert before == {path: path.read_bytes() for path in project.folder.path.rglob("*") if path.is_file()}


def test_traces_and_runtime_are_ignored_by_git(project: Project) -> None:
    project.planned()
    listed = project.git("status", "--porcelain", "--untracked-files=all", "--", ".swarm")
    assert ".swarm/ledger.jsonl" in listed
    assert "traces/" not in listed
    assert "runtime/" not in listed


def test_no_repository(tmp_path: Path) -> None:
    with pytest.raises(NotAProject, match="not in a git repository"):
        initialise(tmp_path)


def test_a_bare_repository(tmp_path: Path) -> None:
    _git(tmp_path, "init", "--quiet", "--bare")
    with pytest.raises(NotAProject, match="bare"):
        initialise(tmp_path)


def test_a_repository_without_a_commit(tmp_path: Path) -> None:
    _git(tmp_path, "init", "--quiet")
    with pytest.raises(WorkspaceError, match="no commit yet"):
        initialise(tmp_path)
    assert not (tmp_path / ".swarm").exists()


def test_a_link_is_refused(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (repo / ".swarm").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="symbolic link"):
        initialise(repo)
    assert not list((tmp_path / "elsewhere").iterdir())


def test_a_submodule_is_a_repository_of_its_own(repo: Path, tmp_path: Path) -> None:
    outer = tmp_path / "outer"
    outer.mkdir()
    _git(outer, "init", "--quiet")
    _git(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(repo), "inner")
    assert initialise(outer / "inner").root == str(outer / "inner")
