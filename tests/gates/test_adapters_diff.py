"""Tests the diff gate: counts, modes, links, big binaries, file names that differ in case only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from swarmgate.domain.review.finding import GateStatus, Severity

if TYPE_CHECKING:
    Project = Any


def test_counts(project: Project) -> None:
    project.write("a.py", "x = 1\ny = 2\n")
    project.write("src/app.py", "def one():\n    return 2\n")
    (project.root / "README.md").unlink()
    result = project.gate("diff")
    assert (result.status, result.files) == (GateStatus.PASS, 3)
    assert result.reason == "1 added, 1 deleted, 1 modified (+3 -2)"


@pytest.mark.parametrize("target", ["/etc/passwd", "../../outside", "..", "src/../../x"])
def test_a_link_out_of_the_repository(project: Project, target: str) -> None:
    (project.root / "link").symlink_to(target)
    result = project.gate("diff")
    assert result.status is GateStatus.FAIL
    assert (result.findings[0].rule, result.findings[0].severity) == ("link-out-of-repository", Severity.CRITICAL)


def test_a_link_into_git(project: Project) -> None:
    (project.root / "src/hooks").symlink_to("../.git/hooks")
    assert [finding.rule for finding in project.gate("diff").findings] == ["link-into-git"]


def test_a_link_inside_is_fine(project: Project) -> None:
    (project.root / "src/readme").symlink_to("../README.md")
    assert project.gate("diff").findings == ()


def test_mode_and_size_are_told(project: Project) -> None:
    (project.root / "src/app.py").chmod(0o755)
    project.write("big.bin", b"\0" * 1_100_000)
    result = project.gate("diff")
    assert {(finding.rule, finding.severity) for finding in result.findings} == {
        ("mode-change", Severity.INFO),
        ("big-binary", Severity.MEDIUM),
    }
    assert result.status is GateStatus.PASS


@pytest.mark.parametrize("name", ["readme.md", "SRC/other.py"])
def test_names_that_differ_in_case_only(project: Project, name: str) -> None:
    if (project.root / "readme.md").exists():
        pytest.skip("this file system ignores case")
    project.write(name, "x\n")
    result = project.gate("diff")
    assert (result.status, [finding.rule for finding in result.findings]) == (GateStatus.FAIL, ["case-conflict"])
