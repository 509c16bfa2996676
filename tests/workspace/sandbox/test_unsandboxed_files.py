"""What git or swarmgate runs of the work tree with the user's rights is found; what cannot be guarded is refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from swarmgate.errors import WorkspaceError
from swarmgate.workspace.sandbox import unsandboxed_files


def git(folder: Path, *args: str) -> None:
    subprocess.run(["git", *args], cwd=folder, check=True, capture_output=True)


def put(root: Path, name: str, text: str = "#!/bin/sh\n") -> Path:
    place = root / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)
    return place


def found(root: Path) -> set[str]:
    return {str(place.relative_to(root)) for place in unsandboxed_files.places(root) if place.is_relative_to(root)}


def test_an_ordinary_repository_has_nothing(repo: Path) -> None:
    put(repo, ".gitconfig")
    put(repo, ".lfsconfig")
    git(repo, "config", "alias.x", "!src/app.py")
    git(repo, "config", "user.name", "src/app.py")
    git(repo, "config", "filter.p.clean", "cat")
    assert found(repo) == set()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("filter.p.clean", "./tools/x.sh"),
        ("filter.p.smudge", "tools/x.sh %f"),
        ("filter.p.process", "sh -c 'exec tools/x.sh'"),
        ("diff.p.textconv", "python3 tools/x.sh"),
        ("diff.external", "tools/x.sh"),
        ("merge.p.driver", "tools/x.sh %O %A %B"),
        ("core.fsmonitor", "tools/x.sh"),
        ("core.sshCommand", "ssh -o ProxyCommand=tools/x.sh"),
        ("credential.helper", "!./tools/x.sh"),
        ("gpg.program", "{root}/tools/x.sh"),
        ("include.path", "../tools/x.sh"),
        ("includeIf.onbranch:swarm/**.path", "{root}/tools/x.sh"),
    ],
)
def test_a_file_that_a_setting_names_is_found(repo: Path, key: str, value: str) -> None:
    put(repo, "tools/x.sh", "" if key.startswith("include") else "#!/bin/sh\n")
    git(repo, "config", key, value.format(root=repo))
    assert found(repo) == {"tools/x.sh"}


@pytest.mark.parametrize("variable", ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"])
def test_a_file_of_settings_that_a_variable_names_is_found_empty_and_refused_where_it_is_not_there(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, str(put(tmp_path / "home", ".gitconfig", "")))
    assert found(repo) == set()
    for value in (str(repo / "tools/gitconfig"), "tools/gitconfig"):
        monkeypatch.setenv(variable, value)
        with pytest.raises(WorkspaceError, match=f"the variable {variable} names .*, which is not there"):
            unsandboxed_files.places(repo)
    put(repo, "tools/gitconfig", "")
    assert found(repo) == {"tools/gitconfig"}


def test_settings_that_are_included_are_read_like_others(repo: Path) -> None:
    put(repo, "tools/x.sh")
    put(repo, ".gitconfig", '[filter "lfs"]\n\tclean = tools/x.sh\n')
    put(repo, ".lfsconfig")
    git(repo, "config", "include.path", "../.gitconfig")
    assert found(repo) == {".gitconfig", "tools/x.sh", ".lfsconfig"}


@pytest.mark.parametrize(("key", "value"), [("filter.p.clean", "./tools/x.sh"), ("include.path", "../gone"),
                                            ("core.hooksPath", ".hooks")])  # fmt: skip
def test_what_an_agent_could_make_itself_is_refused(repo: Path, key: str, value: str) -> None:
    git(repo, "config", key, value)
    with pytest.raises(WorkspaceError, match="not there: an agent could make it") as caught:
        unsandboxed_files.places(repo)
    assert key.lower() in caught.value.message.lower()
    assert ("git config core.hooksPath .git/hooks" in caught.value.hint) is (key == "core.hooksPath")


def test_a_folder_of_hooks_that_all_repositories_share_can_be_set_aside_for_one(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = put(tmp_path, "gitconfig", "[core]\n\thooksPath = .githooks\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(shared))
    git(repo, "config", "core.hooksPath", ".git/hooks")
    assert found(repo) == set()


def test_a_program_behind_a_link_is_refused(repo: Path) -> None:
    put(repo, "real/x.sh")
    (repo / "tools").symlink_to("real")
    git(repo, "config", "filter.p.clean", "tools/x.sh")
    with pytest.raises(WorkspaceError, match=r"tools is a symbolic link, and git's setting filter\.p\.clean"):
        unsandboxed_files.places(repo)


def test_of_an_environment_the_whole_is_found(repo: Path) -> None:
    put(repo, ".venv/pyvenv.cfg")
    (repo / ".venv/bin").mkdir()
    (repo / ".venv/bin/python").symlink_to(sys.executable)
    put(
        repo,
        ".git/hooks/pre-commit",
        f"#!/bin/sh\nINSTALL_PYTHON={repo}/.venv/bin/python\nexec $INSTALL_PYTHON -m pre_commit\n",
    )
    assert found(repo) == {".venv"}


def test_hooks_of_the_tree_are_found_and_what_they_name(repo: Path) -> None:
    put(repo, "scripts/check.sh")
    put(repo, ".husky/_/h")
    put(repo, ".husky/pre-commit", "sh ./scripts/check.sh && npm test\n")
    git(repo, "config", "core.hooksPath", ".husky/_")
    assert found(repo) == {".husky", "scripts/check.sh"}


def test_a_hook_that_is_a_link_into_the_tree_is_found(repo: Path) -> None:
    put(repo, "scripts/pre-commit")
    (repo / ".git/hooks").mkdir(exist_ok=True)
    (repo / ".git/hooks/pre-commit").symlink_to("../../scripts/pre-commit")
    assert found(repo) == {"scripts/pre-commit"}


def test_repositories_inside_are_found(repo: Path) -> None:
    put(repo, ".gitignore", "data/\nnode_modules/\n")
    for name in ("data/a/b", "node_modules/x", "deep/1/2/3/4/5"):
        (repo / name).mkdir(parents=True)
        git(repo / name, "init", "--quiet")
    git(repo / "deep/1/2/3/4/5", "-c", "user.name=a", "-c", "user.email=b", "commit", "--allow-empty", "-qm", "x")
    git(repo, "add", "deep")
    assert found(repo) == {"data/a/b/.git", "deep/1/2/3/4/5/.git"}


@pytest.mark.slow
def test_an_installation_of_swarmgate_in_the_project_is_found(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(repo, ".venv/pyvenv.cfg")
    monkeypatch.setattr(sys, "prefix", str(repo / ".venv"))
    assert found(repo) == {".venv"}
    package = Path(unsandboxed_files.__file__).parents[2]
    assert package in unsandboxed_files.places(package.parents[1])


def test_files_of_hooks_count_where_there_are_hooks(repo: Path) -> None:
    paths = (
        ".pre-commit-config.yaml",
        ".husky/pre-push",
        "lefthook.yml",
        "web/.lintstagedrc.json",
        "src/app.py",
        "scripts/hooks/x",
    )
    put(repo, ".git/hooks/pre-commit.sample")
    assert unsandboxed_files.of_hooks(repo, paths) == ()
    put(repo, ".git/hooks/pre-commit")
    assert unsandboxed_files.of_hooks(repo, paths) == paths[:4]
    put(repo, "scripts/hooks/pre-commit")
    git(repo, "config", "core.hooksPath", "scripts/hooks")
    assert unsandboxed_files.of_hooks(repo, paths) == (*paths[:4], paths[5])


def test_what_is_guarded_is_told(repo: Path) -> None:
    assert unsandboxed_files.notice(repo, [repo / ".git", repo / ".swarm", repo, Path("/elsewhere")]) == ""
    told = unsandboxed_files.notice(repo, [repo / ".git", *(repo / f"f{number}" for number in range(7))])
    assert told.endswith("with your rights: f0, f1, f2, f3, f4 and 2 more")


# --- outside of the work tree ---


@pytest.mark.parametrize(
    ("folder", "what"),
    [("tools", "which is on PATH"), ("tools/sub", "which is on PATH"), ("share", "to which"), ("modules", "modules"),
     ("cache", "swarmgate's own"), ("settings", "include.path"), ("store", "")],
)  # fmt: skip
def test_a_folder_that_agents_may_write_holds_nothing_that_runs_with_the_users_rights(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str, what: str
) -> None:
    home = tmp_path / "home"
    put(home, "share/pipx/x/bin/x")
    put(home, "bin/other")
    (home / "bin/x").symlink_to(home / "share/pipx/x/bin/x")
    put(home, "tools/y")
    put(home, "settings/git")
    git(repo, "config", "include.path", str(home / "settings/git"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    monkeypatch.setattr(sys, "path", [*sys.path, str(home / "modules")])
    told = unsandboxed_files.opened(repo, home / folder, f"{home}/tools:{home}/bin:/usr/bin")
    assert what in told
    assert bool(told) is bool(what)


def test_an_environment_that_is_a_python_of_its_own_is_guarded_whole(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """conda and pixi put one into the project: no pyvenv.cfg, and its standard library lies in it."""
    put(repo, ".pixi/envs/default/lib/python3.11/json/__init__.py", "")
    for name in ("prefix", "base_prefix"):
        monkeypatch.setattr(sys, name, str(repo / ".pixi/envs/default"))
    assert found(repo) == {".pixi/envs/default"}


def test_folders_of_our_own_in_the_work_tree_are_refused(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(repo / ".cache"))
    with pytest.raises(WorkspaceError, match="agents write there") as caught:
        unsandboxed_files.places(repo)
    assert "XDG_CACHE_HOME" in caught.value.hint
