"""Tests the limits on the sizes of functions and files that a change makes longer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from swarmgate.config import Quality
from swarmgate.domain.review.finding import Severity

if TYPE_CHECKING:
    Project = Any


def long(lines: int, name: str = "f", step: int = 1) -> str:
    return f"def {name}(a):\n" + "".join(f"    a{n * step} = a + {n}\n" for n in range(lines)) + "    return a\n"


def found(project: Project, rule: str, **limits: int) -> list[tuple[str, Severity]]:
    result = project.gate("quality_budget", quality=Quality(**limits))
    return [(finding.message, finding.severity) for finding in result.findings if finding.rule == rule]


def test_a_function_that_outgrows_the_limit(project: Project) -> None:
    project.commit_files({"src/a.py": long(40)})
    project.write("src/a.py", long(118))
    told = "f (42 -> 120 lines of code, limit 100)"
    assert found(project, "function-size") == [(told, Severity.LOW)]
    assert found(project, "function-size", max_function_lines=100) == [(told, Severity.MEDIUM)]
    assert found(project, "function-size", max_function_lines=200) == []


def test_what_is_twice_as_long_as_the_default_blocks(project: Project) -> None:
    project.write("src/a.py", long(230))
    project.write("src/b.py", "x = 1\n" * 2100)
    project.write("src/c.py", "y = 1\n" * 1500)
    assert [severity for _, severity in found(project, "function-size")] == [Severity.MEDIUM]
    assert sorted(severity for _, severity in found(project, "file-size")) == [Severity.LOW, Severity.MEDIUM]


def test_the_last_drop_is_no_fault(project: Project) -> None:
    project.commit_files({"src/a.py": long(95)})
    project.write("src/a.py", long(100))
    assert found(project, "function-size") == []


def test_a_function_that_was_too_long_or_moved_is_no_news(project: Project) -> None:
    project.commit_files({"src/a.py": long(200), "src/b.py": long(150, "g", 3)})
    project.write("src/a.py", long(220))
    (project.root / "src/b.py").unlink()
    project.write("src/c.py", "import os\n\n\n" + long(150, "g", 3) + "\n\ndef h():\n    return os.sep\n")
    assert found(project, "function-size") == []


def test_comments_and_docstrings_are_no_length(project: Project) -> None:
    project.write("src/a.py", 'def f(a):\n    """Doc."""\n' + "    # why\n" * 300 + "    return a\n")
    assert found(project, "function-size") == []


def test_a_file_that_outgrows_the_limit(project: Project) -> None:
    project.commit_files({"src/a.py": "x = 1\n" * 30, "src/b.py": "y = 1\n" * 30})
    project.write("src/a.py", "x = 1\n" * 30 + "z = 2\n" * 40)
    project.write("src/b.py", "y = 1\n" * 30 + "z = 3\n" * 2 + "\n" * 99)
    assert found(project, "file-size", max_file_lines=50) == [("30 -> 70 lines, limit 50", Severity.MEDIUM)]
    assert found(project, "file-size", max_file_lines=31) == [("30 -> 70 lines, limit 31", Severity.MEDIUM)]
