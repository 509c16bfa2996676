"""The files of agent programs: which are nobody's to write, and which settings are refused at the start."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from swarmgate.config import Config
from swarmgate.errors import ConfigError, MissingRequirement
from swarmgate.workspace.agent_programs.files import survey, visible
from swarmgate.workspace.agent_programs.rules import problems, require
from swarmgate.workspace.programs import trusted

ROLES = ("architect", "critic", "coder", "reviewer", "test_engineer", "sme")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with programs in it, as far as they matter here."""
    root = tmp_path.resolve() / "repo"
    for name in ("agents/rev.py", "agents/parts.py", "top.py", "src/a.py", "src/CLAUDE.md", "AGENTS.md"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")
    return root


def config(commands: dict[str, Any] | None = None, authority: dict[str, Any] | None = None, **roles: Any) -> Config:
    """Settings with these roles, each a command line or a table; all others have an endpoint."""
    tables = {name: {"model": f"command:{own}"} if isinstance(own, str) else own for name, own in roles.items()}
    return Config.model_validate(
        {
            "providers": {"a": {"base_url": "http://127.0.0.1:9/v1"}},
            "roles": {"default": {"model": "a/one"}, **tables},
            "commands": commands or {},
            "authority": authority or {},
        }
    )


def guarded(root: Path, settings: Config) -> set[str]:
    found = survey(settings, root, ROLES, lambda: ["src/a.py", "src/CLAUDE.md"])
    return {place.relative_to(root).as_posix() for place in found.guarded}


@pytest.mark.parametrize(
    "command",
    [
        "python3 agents/rev.py",
        "python3 -u ./agents/rev.py --fast < {brief}",
        "env A=1 python3 agents/../agents/rev.py",
        "cd agents && python3 rev.py",
        "bash -c 'python3 agents/rev.py'",
        "uv run --with x agents/rev.py",
        "true; python3 agents/rev.py",
    ],
)
def test_the_folder_of_a_script_is_guarded(root: Path, command: str) -> None:
    settings = config(coder=command)
    assert guarded(root, settings) == {"agents", "AGENTS.md"}
    closed = survey(settings, root, ROLES, list).closed
    assert {"agents", "AGENTS.md", "**/CLAUDE.md", "**/.claude"} <= set(closed)


def test_a_file_that_is_no_script_is_guarded_alone(root: Path) -> None:
    assert guarded(root, config(reviewer="ls --config=src/a.py --add-dir src .")) == {"src/a.py", "AGENTS.md"}


def test_the_environment_of_an_interpreter_is_guarded(root: Path) -> None:
    (root / ".venv/bin").mkdir(parents=True)
    (root / ".venv/pyvenv.cfg").write_text("")
    (root / ".venv/bin/python").symlink_to("/usr/bin/env")
    assert ".venv" in guarded(root, config(reviewer=".venv/bin/python agents/rev.py"))


def test_nothing_is_guarded_where_no_role_is_a_program(root: Path) -> None:
    found = survey(config(), root, ROLES, lambda: pytest.fail("nobody needs the files"))
    assert (found.guarded, found.closed, found.planted(["src/a.py"])) == ((), (), ())


def test_instructions_that_come_to_be_are_seen_ignored_or_not(root: Path) -> None:
    found = survey(config(reviewer="cat"), root, ROLES, lambda: ["src/a.py", "src/CLAUDE.md"])
    assert found.planted(["src/a.py"]) == ()
    (root / ".claude").mkdir()
    (root / ".claude/settings.json").write_text("{}")
    (root / "src/claude.md").write_text("approve")
    new = found.planted(["src/a.py"])
    assert {".claude", ".claude/settings.json"} <= set(new)
    assert os.path.exists(root / "src/Claude.md") or "src/claude.md" in new  # noqa: PTH110 - a disk without letter case


def test_settings_open_an_instruction_by_its_name(root: Path) -> None:
    settings = config(reviewer="cat", authority={"coder": {"allow": ["AGENTS.md"]}})
    assert guarded(root, settings) == set()
    settings = config(reviewer="cat", authority={"coder": {"allow": ["*"]}})
    assert guarded(root, settings) == {"AGENTS.md"}


@pytest.mark.parametrize("command", ["python3 top.py", "sh -c 'python3 ./top.py'", "python3 -m agents.rev"])
@pytest.mark.parametrize("role", ["reviewer", "critic", "test_engineer", "default"])
def test_a_judge_loads_nothing_from_where_the_coder_writes(root: Path, command: str, role: str) -> None:
    roles: dict[str, Any] = {role: command}
    judged = config(**roles)
    with pytest.raises(ConfigError, match="judges"):
        require(judged, root, ROLES)
    require(config(coder=command), root, ROLES)


def test_who_may_write_another_ones_program_is_refused(root: Path, isolated: Path) -> None:
    script = isolated / "agents/rev.py"
    script.parent.mkdir()
    script.write_text("")
    coder = {"model": "command:cat", "writable": ["~/agents"]}
    with pytest.raises(ConfigError) as caught:
        require(config(coder=coder, reviewer=f"python3 {script}"), root, ROLES)
    for word in ("[roles.coder] writable", "`coder`", "`reviewer`", str(script)):
        assert word in caught.value.message
    with pytest.raises(ConfigError, match=r"\[commands\] writable"):
        require(config({"writable": ["~/agents"]}, reviewer="python3 ~/agents/rev.py"), root, ROLES)
    coder = {"model": "command:cat", "readable": ["~/agents"]}
    assert require(config(coder=coder, reviewer=f"python3 {script}"), root, ROLES) == ()


def test_a_link_hides_no_program(root: Path, isolated: Path) -> None:
    (isolated / "real").mkdir()
    (isolated / "real/rev.py").write_text("")
    (isolated / "rev.py").symlink_to("real/rev.py")
    coder = {"model": "command:cat", "writable": ["~/real"]}
    with pytest.raises(ConfigError, match="writable"):
        require(config(coder=coder, reviewer="python3 ~/rev.py"), root, ROLES)


@pytest.mark.parametrize("key", ["readable", "writable"])
@pytest.mark.parametrize("path", ["~", "/", "REPO"])
def test_the_home_and_the_repository_are_not_opened_whole(root: Path, key: str, path: str) -> None:
    table = {"model": "command:cat", key: [str(root) if path == "REPO" else path]}
    with pytest.raises(ConfigError, match=key):
        require(config(coder=table), root, ROLES)


def test_a_folder_that_a_judge_shares_is_warned_about(root: Path) -> None:
    one = {"model": "command:cat", "writable": ["~/.claude"]}
    other = {"model": "command:cat", "writable": ["~/.claude/projects"]}
    (warning,) = require(config(coder=other, reviewer=one), root, ROLES)
    assert "reviewer" in warning
    assert "coder" in warning
    assert "~/.claude" in warning
    assert require(config(coder=one, architect=other), root, ROLES) == ()


def test_a_judge_from_the_packages_of_the_project_is_warned_about(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bin_folder = root.parent / "bin"
    bin_folder.mkdir()
    (bin_folder / "npx").write_text("#!/bin/sh\n")
    (bin_folder / "npx").chmod(0o755)
    monkeypatch.setenv("PATH", f"{bin_folder}:{os.environ['PATH']}")
    assert "npx" in require(config(reviewer="npx -y @openai/codex exec"), root, ROLES)[0]
    assert require(config(coder="npx -y @openai/codex exec"), root, ROLES) == ()


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("python3 agents/gone.py", "agents/gone.py"),
        ("agents/rev.py", "not executable"),
        ("~/gone --print", "~/gone"),
        ("no-such-agent -p", "no-such-agent is not on PATH"),
    ],
)
def test_what_is_not_there_is_told_before_any_work(root: Path, command: str, told: str) -> None:
    settings = config(coder=command)
    assert told in next(problems(settings, root, "coder")).message
    with pytest.raises(MissingRequirement):
        require(settings, root, ROLES)


def test_a_program_in_the_path_of_the_repository_does_not_count(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / ".git").mkdir(exist_ok=True)
    (root / "bin").mkdir()
    (root / "bin/judge").write_text("#!/bin/sh\n")
    (root / "bin/judge").chmod(0o755)
    monkeypatch.setenv("PATH", f"{root / 'bin'}:relative:/usr/bin:/bin")
    assert trusted.search_path(root) == "/usr/bin:/bin"
    with pytest.raises(MissingRequirement, match="not on PATH"):
        require(config(reviewer="judge"), root, ROLES)


def test_named_files_outside_are_shown_and_those_inside_are_there_anyway(root: Path, isolated: Path) -> None:
    (isolated / "mine.py").write_text("")
    shown = visible("python3 ~/mine.py agents/rev.py ~/absent --x=$HOME/mine.py", root)
    assert isolated / "mine.py" in shown
    assert not [path for path in shown if path.is_relative_to(root) or path.name == "absent"]
