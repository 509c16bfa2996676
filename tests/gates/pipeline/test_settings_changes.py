"""Tests that a change to the gates' own configuration is reported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    Project = Any


def notes(project: Project) -> tuple[str, ...]:
    notes_found: tuple[str, ...] = project.run(only=("diff",), fix=False).notes
    return notes_found


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


@pytest.mark.slow
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


def test_what_skips_gates_by_configuration_is_told(project: Project) -> None:
    project.commit_files({".swarm/config.toml": "[gates]\ntimeout_s = 60\n[loop]\nmax_rejections = 2\n"})
    project.write("a.txt", "x\n")
    assert notes(project) == ()
    project.write(".swarm/config.toml", "[gates]\ntimeout_s = 60\n[loop]\nmax_rejections = 3\n")
    assert notes(project) == ()
    project.write(".swarm/config.toml", "[gates]\ntimeout_s = 60\nskip = ['sast_scan']\n")
    assert notes(project) == (".swarm/config.toml differs from the base revision: gates.skip",)
    notes_found = project.run(only=("diff",), skip=("secret_scan", "sast_scan"), fix=False).notes
    assert "required, and skipped (gates.skip or --skip): secret_scan, sast_scan" in notes_found


def test_settings_that_git_ignores_are_told(project: Project) -> None:
    project.commit_files({".gitignore": ".ruff.toml\n", "src/ruff.toml": "line-length = 100\n"})
    project.write("src/new.py", "X = 1\n")
    assert notes(project) == ()
    project.write(".ruff.toml", "exclude = ['src']\n")
    project.write("src/.ruff.toml", "exclude = ['*']\n")
    assert notes(project) == ("settings that git ignores take part: .ruff.toml, src/.ruff.toml",)


def test_settings_above_the_repository_are_told_where_it_has_none(project: Project) -> None:
    above = project.root.parent / "pyproject.toml"
    above.write_text("[tool.black]\nline-length = 80\n")
    project.write("src/new.py", "X = 1\n")
    assert notes(project) == ()
    above.write_text("[tool.ruff]\nexclude = ['*']\n")
    assert notes(project) == (f"settings above the repository take part: {above}",)
    project.commit_files({"ruff.toml": ""})
    project.write("src/new.py", "X = 2\n")
    assert notes(project) == ()


@pytest.mark.parametrize(
    "text",
    ["tool = 3\n", "[tool]\nruff = 3\nmypy = 4\n", "project = 1\n", "dependency-groups = 2\n", "[tool]\nuv = 1\n"],
)
def test_settings_of_the_wrong_kind_end_no_gate(project: Project, text: str) -> None:
    project.commit_files({"pyproject.toml": "[project]\nname = 'x'\n"})
    project.write("pyproject.toml", text)
    project.write("a.py", "X = 2\n")
    ran = project.run(only=("diff", "lint_check", "sbom_generate", "imports"), fix=False)
    assert [(result.gate, result.reason) for result in ran.results if "Error:" in result.reason] == []
