"""Tests the recognition of virtual environments, installed modules and build output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from swarmgate.domain.review.finding import GateStatus, Severity

if TYPE_CHECKING:
    from swarmgate.domain.review.finding import Finding

    Project = Any

CACHE = "Signature: 8a477f597d28d172789f06886806bc55\n# a cache\n"


def reported(project: Project, **options: Any) -> list[Finding]:
    return [each for each in project.gate("diff", **options).findings if each.rule == "not-ignored"]


def environment(project: Project, folder: str) -> None:
    project.write(f"{folder}/pyvenv.cfg", "home = /usr/bin\nversion = 3.12.1\n")
    project.write(f"{folder}/lib/python3.12/site-packages/x.py", "def broken(:\n    eval(input())\n")
    (project.root / folder / "bin").mkdir()
    (project.root / folder / "bin/python").symlink_to("/usr/bin/python3")


def test_an_environment_is_told_once_with_the_line_to_ignore_it_and_not_judged(project: Project) -> None:
    project.commit_files({"app.py": "x = 1\n"})
    project.write("app.py", "x = 2\n")
    environment(project, "tools/.venv")
    report = project.run(only=("diff", "syntax_check", "lint_check", "placeholder_scan", "secret_scan"))
    assert report.passed, report
    findings = [each for result in report.results for each in result.findings]
    assert [(each.rule, each.path, each.severity) for each in findings] == [
        ("not-ignored", "tools/.venv", Severity.LOW)
    ]
    assert findings[0].suggestion == "add the line /tools/.venv/ to .gitignore"
    project.write(".gitignore", "/tools/.venv/\n")
    assert reported(project) == []


def test_it_is_told_where_the_gate_of_the_change_set_is_left_out(project: Project) -> None:
    project.commit_files({"app.py": "x = 1\n"})
    environment(project, ".venv")
    report = project.run(only=("syntax_check",))
    assert any(note.startswith(".venv/ holds packages or build output") for note in report.notes)


def test_an_agent_adds_none(project: Project) -> None:
    project.commit_files({"app.py": "x = 1\n"})
    environment(project, ".venv")
    result = project.gate("diff", announced="Add an option")
    assert result.status is GateStatus.FAIL
    assert [each.rule for each in result.findings] == ["not-ignored"]


@pytest.mark.parametrize(
    ("marker", "content", "folder"),
    [
        ("node_modules/left-pad/package.json", '{"name": "left-pad"}\n', "node_modules"),
        ("web/node_modules/@a/b/package.json", '{"name": "b"}\n', "web/node_modules"),
        ("target/CACHEDIR.TAG", CACHE, "target"),
        ("out/debug/CMakeCache.txt", "CMAKE_HOME_DIRECTORY:INTERNAL=/src\n", "out/debug"),
    ],
)
def test_what_tools_mark_is_recognised(project: Project, marker: str, content: str, folder: str) -> None:
    project.commit_files({"app.py": "x = 1\n"})
    project.write(marker, content)
    project.write(f"{folder}/made.py", "def broken(:\n")
    assert [each.path for each in reported(project)] == [folder]
    assert project.gate("syntax_check").status is GateStatus.SKIP


@pytest.mark.parametrize("marker", ["src/pyvenv.cfg", "src/CACHEDIR.TAG", "CACHEDIR.TAG"])
def test_a_marker_among_tracked_files_makes_nothing_foreign(project: Project, marker: str) -> None:
    project.commit_files({"src/app.py": "x = 1\n"})
    project.write(marker, f"{CACHE}home = /usr/bin\n")
    project.write("src/evil.py", "def broken(:\n")
    assert reported(project) == []
    assert project.gate("syntax_check").status is GateStatus.FAIL


def test_a_marker_that_says_something_else_is_none(project: Project) -> None:
    project.commit_files({"app.py": "x = 1\n"})
    project.write("new/pyvenv.cfg", "[settings]\n")
    project.write("new/evil.py", "def broken(:\n")
    assert reported(project) == []
    assert project.gate("syntax_check").status is GateStatus.FAIL


def test_what_is_committed_is_judged(project: Project) -> None:
    project.commit_files({"app.py": "x = 1\n"})
    environment(project, ".venv")
    project.git(project.root, "add", "--all")
    assert reported(project) == []
    assert "link-out-of-repository" in {each.rule for each in project.gate("diff").findings}
