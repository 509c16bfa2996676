"""A change to the rules by which it is judged is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    Project = Any


def notes(project: Project) -> tuple[str, ...]:
    told: tuple[str, ...] = project.run(only=("diff",), fix=False).notes
    return told


def test_settings_of_tools_are_told_with_their_keys(project: Project) -> None:
    project.commit_files({"ruff.toml": "[lint]\nselect = ['E']\n", "pyproject.toml": "[project]\nname = 'x'\n"})
    project.write("ruff.toml", "exclude = ['a.py']\n[lint]\nselect = ['E']\nper-file-ignores = {'b.py' = ['E']}\n")
    project.write("pyproject.toml", "[project]\nname = 'y'\n[tool.mypy]\nstrict = false\n")
    assert notes(project) == (
        "this change edits pyproject.toml, by which it is judged: mypy.strict",
        "this change edits ruff.toml, by which it is judged: exclude, lint.per-file-ignores.b.py",
    )


def test_what_no_tool_reads_is_not_told(project: Project) -> None:
    project.commit_files({"pyproject.toml": "[project]\nname = 'x'\n"})
    project.write("pyproject.toml", "[project]\nname = 'y'\n")
    project.write("src/settings.toml", "a = 1\n")
    assert notes(project) == ()


@pytest.mark.parametrize("path", ["web/.eslintrc.json", "tsconfig.json", "setup.cfg", ".semgrepignore", "a/biome.json"])
def test_other_forms_are_told_by_name(project: Project, path: str) -> None:
    project.write(path, "{}\n")
    assert notes(project) == (f"this change edits {path}, by which it is judged",)


def test_attributes_count_from_the_next_revision_on(project: Project) -> None:
    project.write(".gitattributes", "*.py linguist-generated\n")
    assert notes(project) == (
        "this change edits .gitattributes: what it newly declares counts from the next revision on",
    )


def test_removed_settings_are_told(project: Project) -> None:
    project.commit_files({"ruff.toml": "line-length = 80\n"})
    (project.root / "ruff.toml").unlink()
    assert notes(project) == ("this change edits ruff.toml, by which it is judged: line-length",)


def test_gates_of_the_project_that_differ_are_told(project: Project) -> None:
    own = ".swarm/gates/no_print.toml"
    project.commit_files({own: 'title = "x"\ncommand = ["true"]\n'})
    project.write("a.txt", "x\n")
    assert notes(project) == ()
    project.write(own, 'title = "x"\ncommand = ["true"]\nseverity = "critical"\n')
    assert notes(project) == (f"{own} differs from the base revision",)
