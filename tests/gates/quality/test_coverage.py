"""Tests the coverage of added lines: found reports, and only reports newer than the code."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from swarmgate.config import Quality
from swarmgate.domain.review.finding import GateStatus
from swarmgate.gates.quality import coverage

if TYPE_CHECKING:
    from pathlib import Path

    Project = Any

CODE = "def f(a):\n    if a:\n        return 1\n    return 2\n"


def cobertura(name: str, hits: dict[int, int], source: str = "") -> str:
    lines = "".join(f'<line number="{number}" hits="{count}"/>' for number, count in hits.items())
    return (
        '<?xml version="1.0" ?>\n<!DOCTYPE coverage SYSTEM "http://example.invalid/coverage-04.dtd">\n'
        f"<coverage><sources><source>{source}</source></sources><packages><package><classes>"
        f'<class filename="{name}"><lines>{lines}</lines></class></classes></package></packages></coverage>'
    )


def lcov(name: str, hits: dict[int, int]) -> str:
    return f"TN:\nSF:{name}\n" + "".join(f"DA:{number},{count}\n" for number, count in hits.items()) + "end_of_record\n"


def judged(project: Project, share: float = 0.8) -> Any:
    return project.gate("quality_budget", quality=Quality(min_changed_line_coverage=share))


@pytest.mark.slow
@pytest.mark.parametrize("place", ["coverage.xml", "lcov.info", "coverage/lcov.info"])
def test_lines_that_never_ran(project: Project, place: str) -> None:
    project.commit_files({".gitignore": "coverage*\nlcov.info\n"})
    project.write("src/a.py", CODE)
    hits = {1: 1, 2: 1, 3: 0, 4: 1}
    source = str(project.root / "src")
    project.write(place, cobertura("a.py", hits, source) if place.endswith("xml") else lcov("src/a.py", hits))
    result = judged(project)
    assert result.status is GateStatus.FAIL
    (found,) = result.findings
    assert (found.rule, found.place) == ("coverage", "src/a.py:3")
    assert found.message == "lines 3 never ran; 75% of the added lines did, at least 80% are asked for"
    assert judged(project, 0.75).status is GateStatus.PASS
    assert f"3 of 4 added lines ran ({place})" in judged(project, 0.75).reason


def test_only_added_lines_count(project: Project) -> None:
    project.commit_files({"src/a.py": CODE, ".gitignore": "coverage.xml\n"})
    project.write("src/a.py", CODE + "\n\nx = f(0)\n")
    project.write("coverage.xml", cobertura("src/a.py", {1: 0, 2: 0, 3: 0, 4: 0, 7: 1}))
    assert "1 of 1 added lines ran" in judged(project).reason


def test_a_stale_report_is_not_believed(project: Project) -> None:
    project.commit_files({".gitignore": "coverage.xml\n"})
    report = project.write("coverage.xml", cobertura("src/a.py", {1: 0}))
    os.utime(report, (1, 1))
    project.write("src/a.py", CODE)
    result = judged(project)
    assert result.status is GateStatus.PASS
    assert "coverage.xml is older than src/a.py" in result.reason


def test_without_a_report_it_is_said(project: Project) -> None:
    project.write("src/a.py", CODE)
    assert "no coverage report" in judged(project).reason
    assert "coverage" not in project.gate("quality_budget").reason


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("coverage.xml", '<!DOCTYPE c [<!ENTITY a "b">]><c>&a;</c>', "it declares entities"),
        ("coverage.xml", "<coverage", "unclosed token"),
        ("coverage.xml", '<class filename="a"><line number="x"/></class>', "invalid literal"),
        ("lcov.info", "SF:a\nDA:x,y\n", "no line of lcov"),
        ("lcov.info", "something else", "no lcov"),
    ],
)
def test_a_report_that_is_none(tmp_path: Path, name: str, content: str, reason: str) -> None:
    (tmp_path / name).write_text(content)
    assert reason in coverage.of(tmp_path, []).note


def test_a_report_written_elsewhere_is_matched_by_the_end_of_the_path(tmp_path: Path) -> None:
    (tmp_path / "lcov.info").write_text(lcov("/build/agent/src/a.py", {1: 1}))
    assert coverage.read(tmp_path / "lcov.info", tmp_path) == {"/build/agent/src/a.py": {1: 1}}
