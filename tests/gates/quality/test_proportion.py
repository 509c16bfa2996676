"""Tests the ratio of test lines to code lines, reported before the test engineer worked and enforced after."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from swarmgate.config import Quality
from swarmgate.domain.review.finding import GateStatus, Severity

if TYPE_CHECKING:
    Project = Any

CODE = "".join(f"def f{n}(a):\n    return a + {n}\n\n\n" for n in range(10))


def checks(count: int) -> str:
    return "".join(f"def test_{n}():\n    assert f{n}(1) == {n + 1}\n\n\n" for n in range(count))


def ratio(project: Project, **options: Any) -> list[tuple[str, Severity]]:
    found = project.gate("quality_budget", **options).findings
    return [(each.message, each.severity) for each in found if each.rule == "test-ratio"]


def test_too_few_tests_inform_first_and_block_at_last(project: Project) -> None:
    project.write("src/a.py", CODE)
    project.write("tests/test_a.py", checks(2))
    told = "4 lines of tests for 20 of code (0.20, at least 0.3)"
    assert ratio(project) == [(told, Severity.LOW)]
    assert project.gate("quality_budget").status is GateStatus.PASS
    asked = {"tested": True, "quality": Quality(min_test_to_code_ratio=0.3)}
    assert ratio(project, **asked) == [(told, Severity.MEDIUM)]
    assert project.gate("quality_budget", **asked).status is GateStatus.FAIL


def test_of_a_small_change_they_inform_where_nobody_set_the_limit(project: Project) -> None:
    project.write("src/a.py", CODE)
    assert [severity for _, severity in ratio(project, tested=True)] == [Severity.LOW]
    project.write("src/b.py", "".join(f"def g{n}(a):\n    return a * {n}\n\n\n" for n in range(16)))
    assert [severity for _, severity in ratio(project, tested=True)] == [Severity.MEDIUM]
    assert project.gate("quality_budget", tested=True).status is GateStatus.FAIL


def test_enough_tests(project: Project) -> None:
    project.write("src/a.py", CODE)
    project.write("tests/test_a.py", checks(3))
    assert ratio(project, tested=True) == []


def test_comments_blank_lines_moves_and_renames_are_no_code(project: Project) -> None:
    project.commit_files({"src/a.py": CODE, "src/b.py": CODE.replace("f", "g")})
    (project.root / "src/a.py").rename(project.root / "src/moved.py")
    (project.root / "src/b.py").unlink()
    project.write("src/c.py", "# note\n" * 50 + "\n" * 50 + CODE.replace("f", "g") + "x = 1\n")
    assert ratio(project, tested=True) == []


def test_a_small_change_needs_none(project: Project) -> None:
    project.write("src/a.py", CODE.partition("def f9")[0])
    assert ratio(project, tested=True) == []


def test_documents_and_data_are_no_code(project: Project) -> None:
    project.write("docs/a.md", "text\n" * 90)
    project.write("data.json", "[\n" + "1,\n" * 90 + "1]\n")
    assert project.gate("quality_budget", tested=True).status is GateStatus.SKIP


def test_tests_inside_the_file(project: Project) -> None:
    code = "".join(f"pub fn f{n}(a: i32) -> i32 {{\n    a + {n}\n}}\n" for n in range(8))
    project.write("src/lib.rs", code)
    assert len(ratio(project, tested=True)) == 1
    inline = "\n#[cfg(test)]\nmod tests {\n" + "".join(
        f"    fn t{n}() {{ assert_eq!(f{n}(1), 1); }}\n" for n in range(8)
    )
    project.write("src/lib.rs", code + inline + "}\n")
    assert ratio(project, tested=True) == []


def test_it_can_be_switched_off(project: Project) -> None:
    project.write("src/a.py", CODE)
    off = Quality.model_validate({"min_test_to_code_ratio": "off"})
    assert ratio(project, tested=True, quality=off) == []
