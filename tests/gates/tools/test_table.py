"""Tests the table of external tools: found, missing, too old; and our own tool environment."""

from __future__ import annotations

import asyncio
import zipfile
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from swarmgate.config import Commands
from swarmgate.domain.review.finding import GateStatus
from swarmgate.gates.confinement import by_hand
from swarmgate.gates.definition import GateDefinition, load
from swarmgate.gates.tools import table
from swarmgate.gates.tools.table import Tool
from swarmgate.workspace.git.repository import Repository

if TYPE_CHECKING:
    from pathlib import Path

    Project = Any


def script(folder: Path, name: str, body: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / name
    place.write_text(f"#!/bin/sh\n{body}\n")
    place.chmod(0o755)
    return place


@pytest.mark.parametrize(
    ("version", "minimum", "fits"),
    [("1.10", "1.9", True), ("1.8.9", "1.9", False), ("", "1", False), ("", "", True), ("2.0rc1", "2", False)],
)
def test_versions_are_compared_as_versions(version: str, minimum: str, *, fits: bool) -> None:
    assert (table.too_old(version, minimum) == "") is fits


def test_programs_are_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    script(tmp_path, "fine", "echo 'fine version 2.1.0 (abc 7)'")
    script(tmp_path, "old", "echo 1.0 >&2")
    script(tmp_path, "mute", "exit 3")
    asked = [Tool("fine", "2"), Tool("old", "1.1"), Tool("mute", required=False), Tool("gone", pip="gone")]
    found = asyncio.run(table.find(asked, tmp_path, partial(by_hand, tmp_path)))
    assert [(each.version, each.problem) for each in found.values()] == [
        ("2.1.0", ""), ("1.0", "version 1.0 is too old: at least 1.1 is needed"), ("", ""), ("", "not installed"),
    ]  # fmt: skip
    assert found[asked[3]].hint == "pip install gone"


def test_every_adapter_with_a_tool_of_its_own_finds_it(tmp_path: Path) -> None:
    for gate in load():
        assert [tool for tool in table.of(gate, tmp_path) if tool.required and tool.problem] == []


def gate(**keys: Any) -> GateDefinition:
    return GateDefinition.model_validate({"id": "mine", "title": "Mine", **keys})


def test_a_tool_of_the_wrong_version_is_an_error_of_its_gate(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    program = str(script(tmp_path / "bin", "linter", 'test "$1" = --version && echo linter 1.4'))
    project.write("a.py", "x = 1\n")
    keys = {"command": (program, "{files}"), "version": (program, "--version")}
    (result,) = project.run(gate(**keys, minimum_version="1.5", install_hint="pip install linter")).results
    assert (result.status, result.missing) == (GateStatus.ERROR, True)
    assert "version 1.4 is too old: at least 1.5 is needed. pip install linter" in result.reason
    (result,) = project.run(gate(**keys, minimum_version="1.4", parser="jsonl", exit_codes=(0,))).results
    assert result.tool.endswith("linter 1.4")


@pytest.mark.parametrize(
    "keys",
    [{"command": ("x",), "minimum_version": "1"}, {"command": ("x",), "version": ("x", "-v")},
     {"adapter": "diff", "version": ("x", "-v"), "minimum_version": "1"},
     {"command": ("x",), "version": ("x", "-v"), "minimum_version": "new"}],
)  # fmt: skip
def test_version_keys_belong_together(keys: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="version"):
        gate(**keys)


@pytest.mark.slow
def test_a_missing_package_is_installed_where_gates_find_it(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a wheel made here: an environment, the package, and a gate that runs its program."""
    info = "demolint-1.0.dist-info"
    with zipfile.ZipFile(tmp_path / "demolint-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("demolint.py", "def main():\n    print('demolint 1.0')\n")
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: demolint\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/entry_points.txt", "[console_scripts]\ndemolint = demolint:main\n")
        wheel.writestr(f"{info}/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    assert asyncio.run(table.install(["demolint"])) == ""
    project.write("a.py", "x = 1\n")
    (result,) = project.run(gate(command=("demolint",), install_hint="pip install demolint")).results
    assert result.status is GateStatus.PASS
    assert asyncio.run(table.install(["no-such-package-at-all"])) != ""


def test_a_program_of_the_project_is_asked_only_where_something_confines_it(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fired = tmp_path / "fired"
    script(project.root / ".venv/bin", "lint", f"echo 3.1; (touch {fired}) 2>/dev/null")
    script(tmp_path / "bin", "mine", "echo 3.2")
    monkeypatch.setenv("PATH", f"{tmp_path}/bin", prepend=":")
    repository = Repository.discover(project.root)
    for kind, lint in (("auto", "3.1"), ("none", "")):
        commands = partial(by_hand, repository.root, Commands.model_validate({"sandbox": kind}))
        found = asyncio.run(table.find([Tool("lint"), Tool("mine")], repository.root, commands))
        assert [each.version for each in found.values()] == [lint, "3.2"], kind
        assert found[Tool("lint")].where == str(project.root / ".venv/bin/lint")
    assert not fired.exists()


def test_a_git_of_the_project_is_none(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    script(project.root / ".venv/bin", "git", "echo 99")
    monkeypatch.setenv("PATH", f"{project.root}/.venv/bin", prepend=":")
    found = asyncio.run(table.find([table.GIT], project.root, partial(by_hand, project.root)))[table.GIT]
    assert found.installed
    assert not found.where.startswith(str(project.root))
    assert found.version != "99"
