"""`swarm verify` in a repository in which everything is planted that git would start a program by."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.ledger.audit.test_audit import _begin, _complete
from tests.project import Project

from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.workspace.git.repository import Repository

Git = Callable[..., str]
HOOKS = (
    "applypatch-msg", "commit-msg", "fsmonitor-watchman", "post-applypatch", "post-checkout", "post-commit",
    "post-index-change", "post-merge", "post-rewrite", "pre-applypatch", "pre-auto-gc", "pre-commit", "pre-push",
    "pre-rebase", "prepare-commit-msg", "reference-transaction", "sendemail-validate",
)  # fmt: skip
PROGRAMS = (
    "core.fsmonitor", "core.sshCommand", "core.askPass", "core.pager", "core.editor", "core.gitProxy",
    "core.alternateRefsCommand", "diff.external", "diff.evil.textconv", "diff.evil.command", "filter.evil.clean",
    "filter.evil.smudge", "filter.evil.process", "gpg.program", "gpg.ssh.program", "pager.log", "pager.rev-list",
    "pager.for-each-ref", "interactive.diffFilter", "sequence.editor", "uploadpack.packObjectsHook",
    "trailer.Swarm-Task.command", "trailer.Swarm-Task.cmd", "merge.evil.driver", "remote.origin.uploadpack",
)  # fmt: skip
VARIABLES = (
    "GIT_SSH", "GIT_SSH_COMMAND", "GIT_ASKPASS", "SSH_ASKPASS", "GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_EDITOR",
    "GIT_PROXY_COMMAND", "GIT_PYTHON_GIT_EXECUTABLE",
)  # fmt: skip


def recorded(root: Path) -> Project:
    """Two tasks on record, with their commits and anchors."""
    folder, repository = SwarmFolder(root), Repository.discover(root)
    folder.create()
    _begin(folder, repository)
    for task in ("1.1", "1.2"):
        _complete(folder, repository, task)
    return Project(root)


@pytest.fixture
def verified(repo: Path) -> Project:
    return recorded(repo)


def plant(project: Project, git: Git, place: Path) -> Path:
    """Hooks, settings and attributes that all lead to one program; returns the file in which it says that it ran."""
    ran = place / "ran"
    program = place / "program"
    program.write_text(f'#!/bin/sh\necho "$0 $*" >> {ran}\nexit 0\n')
    program.chmod(0o755)
    hooks = place / "hooks"
    hooks.mkdir()
    for name in HOOKS:
        for folder in (hooks, project.root / ".git/hooks"):
            (folder / name).unlink(missing_ok=True)
            (folder / name).symlink_to(program)
    for key in PROGRAMS:
        git(project.root, "config", key, str(program))
    git(project.root, "config", "core.hooksPath", str(hooks))
    git(project.root, "config", "credential.helper", f"!{program}")
    git(project.root, "config", "log.showSignature", "true")
    (project.root / ".git/info/attributes").write_text("* diff=evil filter=evil merge=evil\n")
    return ran


def test_nothing_that_is_planted_runs(
    verified: Project, git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = plant(verified, git, tmp_path)
    for name in VARIABLES:
        monkeypatch.setenv(name, str(tmp_path / "program"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.fsmonitor")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(tmp_path / "program"))
    fake = verified.root / ".venv/bin"  # as an activated environment of the project has it on PATH
    fake.mkdir(parents=True)
    (fake / "git").symlink_to(tmp_path / "program")
    monkeypatch.setenv("PATH", str(fake), prepend=":")
    monkeypatch.setenv("GIT_TRACE", str(tmp_path / "trace"))
    told = verified.json("verify")
    monkeypatch.delenv("GIT_TRACE")
    assert "built-in: git rev-list --topo-order" in (tmp_path / "trace").read_text(), "GitPython reads the anchors"
    assert [each["name"] for each in told["checks"] if each["problems"] or each["warnings"]] == []
    assert [each["looked_at"] for each in told["checks"]][-2:] == ["2 commits", "3 anchors, the newest at line 20"]
    assert not ran.exists(), ran.read_text()
    (fake / "git").unlink()
    subprocess.run(["git", "diff", "HEAD~1"], cwd=verified.root, capture_output=True, check=False)
    assert ran.exists(), "the plants are alive"


def linked(repo: Path, git: Git) -> Path:
    git(repo, "worktree", "add", "--quiet", "-b", "linked", str(repo.parent / "linked"))
    return repo.parent / "linked"


def sha256(repo: Path, git: Git) -> Path:
    place = repo.parent / "sha256"
    git(repo, "init", "--quiet", "--object-format=sha256", "--initial-branch=main", str(place))
    git(place, "commit", "--quiet", "--allow-empty", "--message=Start")
    return place


def shallow(repo: Path, git: Git) -> Path:
    git(repo, "commit", "--quiet", "--allow-empty", "--message=Second")
    git(repo, "clone", "--quiet", "--depth=1", repo.as_uri(), str(repo.parent / "shallow"))
    return repo.parent / "shallow"


def partial(repo: Path, git: Git) -> Path:
    git(repo, "config", "uploadpack.allowFilter", "true")
    git(repo, "clone", "--quiet", "--filter=blob:none", repo.as_uri(), str(repo.parent / "partial"))
    return repo.parent / "partial"


@pytest.mark.parametrize("made", [linked, sha256, shallow, partial])
def test_it_holds_in_every_kind_of_repository(repo: Path, git: Git, made: Callable[[Path, Git], Path]) -> None:
    project = recorded(made(repo, git))
    before = project.json("verify")
    checks = {each["name"]: each for each in before["checks"]}
    assert [name for name, each in checks.items() if each["problems"]] == []
    assert checks["anchors"]["looked_at"] == "3 anchors, the newest at line 20"
    project.git("gc", "--quiet", "--prune=now")
    assert project.json("verify") == before


@pytest.mark.parametrize("name", ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"])
def test_a_variable_that_leads_git_elsewhere_is_refused(
    verified: Project, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, str(tmp_path))
    assert f"{name} is set, which redirects git elsewhere" in verified.swarm("verify", exits=2).stderr


def test_a_damaged_anchor_is_a_finding_and_no_bug(verified: Project, git: Git) -> None:
    anchor = git(verified.root, "for-each-ref", "--format=%(objectname)", "refs/swarm/ledger")
    (verified.root / ".git/objects" / anchor[:2] / anchor[2:]).unlink()
    (check,) = [each for each in verified.json("verify", exits=1)["checks"] if each["name"] == "anchors"]
    assert "the anchors cannot be read: git log failed" in check["problems"][0]


def test_status_does_without_gitpython(verified: Project) -> None:
    code = """
import sys
from swarmgate.cli.app import app
app(["status"], standalone_mode=False)
sys.exit("git" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=verified.root, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout
