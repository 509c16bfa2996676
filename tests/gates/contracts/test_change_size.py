"""Tests the limits on the size of a change: bytes in one file, bytes in all, number of files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from swarmgate.config import Size
from swarmgate.domain.review.finding import GateStatus

if TYPE_CHECKING:
    from swarmgate.domain.review.finding import GateResult

    Project = Any

MB = 1_000_000
RULES = {"large-file", "large-change", "many-files"}


def large(result: GateResult) -> list[tuple[str, str]]:
    return [(each.rule, each.path) for each in result.findings if each.rule in RULES]


@pytest.mark.slow
@pytest.mark.parametrize("content", [b"x = 1\n" * (MB // 1), b"\0" * (6 * MB)])
@pytest.mark.parametrize("name", ["dump.sql", "src/big.py", "package-lock.json", "vendor/x_pb2.py", "tests/data.bin"])
def test_a_large_file_blocks_whatever_it_is_called(project: Project, name: str, content: bytes) -> None:
    project.write(name, content)
    result = project.gate("diff")
    assert (result.status, large(result)) == (GateStatus.FAIL, [("large-file", name)])
    assert "6.0 MB in one file, where 5 MB are allowed" in result.findings[-1].message


def test_what_is_below_the_limits_passes(project: Project) -> None:
    project.write("package-lock.json", '{"lockfileVersion": 3}\n' + " " * (4 * MB))
    project.write("model.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:aa\nsize 400000000\n")
    (project.root / "link").symlink_to("README.md")
    result = project.gate("diff")
    assert (result.status, large(result)) == (GateStatus.PASS, [])


@pytest.mark.slow
def test_a_file_that_was_large_may_be_changed_and_moved(project: Project) -> None:
    project.commit_files({"data.json": "[" + "1,\n" * (3 * MB) + "1]\n"})
    (project.root / "data.json").rename(project.root / "moved.json")
    assert large(project.gate("diff")) == []
    project.write("moved.json", "[" + "1,\n" * (3 * MB) + "2]\n")
    assert large(project.gate("diff")) == []
    project.write("moved.json", "[" + "1,\n" * (5 * MB) + "2]\n")
    assert large(project.gate("diff")) == [("large-file", "moved.json")]


def test_bytes_in_all(project: Project) -> None:
    for number in range(4):
        project.write(f"part_{number}.txt", f"{number}" * MB)
    result = project.gate("diff", size=Size(max_change_mb=3.5))
    assert [rule for rule, _ in large(result)] == ["large-change"]
    assert "4.0 MB in all, where 3.5 MB are allowed" in result.findings[0].message
    assert large(project.gate("diff", size=Size(max_change_mb=4))) == []


def test_many_files(project: Project) -> None:
    project.commit_files({f"old/{number}.txt": f"{number}\n" for number in range(30)})
    (project.root / "old").rename(project.root / "moved")
    for number in range(20):
        project.write(f"new/{number}.txt", f"new {number}\n")
    assert large(project.gate("diff", size=Size(max_files=20))) == []
    result = project.gate("diff", size=Size(max_files=19))
    assert (result.status, large(result)) == (GateStatus.FAIL, [("many-files", "new/0.txt")])
    assert "[gates.size]" in result.findings[0].suggestion


def test_limits_can_be_switched_off(project: Project) -> None:
    project.write("dump.sql", "x" * (6 * MB))
    off = Size.model_validate({"max_file_mb": "off", "max_change_mb": "off", "max_files": "off"})
    assert large(project.gate("diff", size=off)) == []
