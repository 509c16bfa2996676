"""Tests the count of added suppression comments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from swarmgate.config import Quality
from swarmgate.domain.review.finding import GateStatus, Severity
from swarmgate.gates.project.files import language_of
from swarmgate.gates.quality.suppressions import find

if TYPE_CHECKING:
    Project = Any


@pytest.mark.parametrize(
    ("path", "line", "expected"),
    [
        ("a.py", "x = 1  # noqa: E501, S101 - why", [("noqa", "noqa: E501, S101")]),
        ("a.py", "x = 1  # NOQA", [("noqa", "NOQA")]),
        ("a.py", "# ruff: noqa: D", [("noqa", "ruff: noqa")]),
        ("a.py", "x = 1  # type: ignore[attr]  # noqa", [("type: ignore", "type: ignore[attr]"), ("noqa", "noqa")]),
        ("a.py", "x = 1  # why it is so # nosec B101", [("nosec", "nosec B101")]),
        ("a.py", "# pylint: disable=a, b", [("pylint", "pylint: disable=a, b")]),
        ("a.py", "def f():  # pragma: no cover", [("no cover", "pragma: no cover")]),
        ("a.py", "# mypy: ignore-errors", [("mypy", "mypy: ignore-errors")]),
        ("a.py", "x = y  # pyright: ignore[reportAny]", [("pyright", "pyright: ignore[reportAny]")]),
        ("a.py", "# lizard forgives", [("lizard", "lizard forgives")]),
        ("a.py", "# nosemgrep: rule-1", [("nosemgrep", "nosemgrep: rule-1")]),
        ("a.js", "// eslint-disable-next-line no-x, no-y -- why", [("eslint", "eslint-disable-next-line no-x, no-y")]),
        ("a.js", "/* eslint-disable */", [("eslint", "eslint-disable")]),
        ("a.js", "/* istanbul ignore next */", [("coverage ignore", "istanbul ignore next")]),
        ("a.ts", "// @ts-expect-error: why", [("ts-ignore", "@ts-expect-error")]),
        ("a.tsx", "/* @ts-ignore */", [("ts-ignore", "@ts-ignore")]),
        ("a.ts", "// biome-ignore lint/a: why", [("biome", "biome-ignore lint/a")]),
        ("a.go", "f() //nolint:errcheck,gosec // why", [("nolint", "nolint:errcheck,gosec")]),
        ("a.go", "f() // #nosec G101", [("nosec", "nosec")]),
        ("a.go", "//lint:ignore SA1 why", [("staticcheck", "lint:ignore SA1")]),
        ("a.rs", "#[allow(dead_code, clippy::all)]\nfn f() {}", [("allow", "allow dead_code, clippy::all")]),
        ("a.rs", "#![allow(unused)]", [("allow", "allow unused")]),
        ("A.java", '@SuppressWarnings("x") class A {}', [("SuppressWarnings", 'SuppressWarnings ("x")')]),
        ("A.java", "int x; // NOSONAR", [("nosonar", "NOSONAR")]),
        ("a.kt", '@Suppress("X")\nfun f() {}', [("Suppress", 'Suppress ("X")')]),
        ("A.cs", "#pragma warning disable CS1\nclass A {}", [("pragma warning disable", "pragma warning disable CS1")]),
        ("a.rb", "x # rubocop:disable A/B, C/D", [("rubocop", "rubocop:disable A/B, C/D")]),
        ("a.sh", "# shellcheck disable=SC1,SC2", [("shellcheck", "shellcheck disable=SC1,SC2")]),
        ("a.cpp", "int x; // NOLINT(a-b)", [("nolint", "NOLINT(a-b)")]),
        ("a.php", "<?php\n/** @psalm-suppress Mixed */", [("php", "@psalm-suppress Mixed")]),
        ("a.swift", "// swiftlint:disable:next force_cast", [("swiftlint", "swiftlint:disable:next force_cast")]),
    ],
)  # fmt: skip
def test_the_forms_of_the_tools(path: str, line: str, expected: list[tuple[str, str]]) -> None:
    found = find(language_of(path), path, line + "\n")
    assert sorted((each.kind, each.text) for each in found) == sorted(expected)


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("a.py", 'x = "# noqa"'), ("a.py", 'x = """\n# type: ignore\n"""'), ("a.py", "# the noqa marker is data"),
        ("a.py", "# see type: ignore in PEP 484"), ("a.py", "# we disable pylint elsewhere"), ("a.py", "# noqaz"),
        ("a.js", 'const s = "// eslint-disable";'), ("a.js", "// see eslint-disable"),
        ("a.ts", "const s = `// @ts-ignore`;"), ("A.java", 'String s = "@SuppressWarnings";'),
        ("a.rs", 'fn f() { g("#[allow(x)]"); }'), ("a.rs", "// write #[allow(x)] here"),
        ("a.go", "// allow all of it"), ("a.sh", 'echo "# shellcheck disable=SC1"'), ("a.py", "expect = allow(ignore)"),
    ],
)  # fmt: skip
def test_what_only_talks_of_them_is_none(path: str, line: str) -> None:
    assert find(language_of(path), path, line + "\n") == []


def test_they_are_told_and_listed_even_below_the_limit(project: Project) -> None:
    project.commit_files({"src/a.py": "import os  # noqa: F401\n"})
    project.write("src/a.py", "import os  # noqa: F401\nx = eval('1')  # nosec\nimport sys  # noqa: F401\n")
    result = project.gate("quality_budget")
    assert result.status is GateStatus.PASS
    assert "2 new suppressions (noqa 1, nosec 1)" in result.reason
    found = [(each.line, each.severity, each.message) for each in result.findings]
    assert found == [
        (2, Severity.INFO, "a new suppression: nosec"),
        (3, Severity.INFO, "a new suppression: noqa: F401"),
    ]


def test_too_many_fail(project: Project) -> None:
    project.write("src/a.py", "".join(f"x{n} = 1  # noqa: E{n}01\n" for n in range(1, 5)))
    result = project.gate("quality_budget", quality=Quality(max_new_suppressions=3))
    assert result.status is GateStatus.FAIL
    messages = [each.message for each in result.findings if each.rule == "suppressions"]
    assert messages == ["4 new suppressions (noqa 4), where a change may add 3"]
    assert project.gate("quality_budget", quality=Quality(max_new_suppressions=4)).status is GateStatus.PASS


def test_by_default_those_of_a_small_change_inform(project: Project) -> None:
    silenced = "".join(f"x{n} = 1  # noqa: E{n}01\n" for n in range(1, 13))
    project.write("src/a.py", silenced)
    result = project.gate("quality_budget")
    assert result.status is GateStatus.PASS
    assert ("suppressions", Severity.LOW) in {(each.rule, each.severity) for each in result.findings}
    project.write("src/a.py", silenced + "".join(f"y{n} = {n}\n" for n in range(40)))
    assert project.gate("quality_budget").status is GateStatus.FAIL


def test_marks_of_coverage_silence_no_judge(project: Project) -> None:
    code = "".join(f"def _f{n}(a):\n    return a  # pragma: no cover\n" for n in range(40))
    project.write("src/a.py", code)
    assert project.gate("quality_budget").status is GateStatus.PASS
    assert project.gate("quality_budget", quality=Quality(min_changed_line_coverage=0.5)).status is GateStatus.FAIL


def test_one_that_is_spelled_anew_is_not_new(project: Project) -> None:
    project.commit_files({"src/a.py": "".join(f"x{n} = f()  # pragma: nocover\n" for n in range(12))})
    project.write("src/a.py", "".join(f"x{n} = f()  # pragma: no cover\n" for n in range(12)))
    assert "suppression" not in project.gate("quality_budget").reason


def test_none_allowed(project: Project) -> None:
    project.write("src/a.py", "x = 1  # noqa\n")
    assert project.gate("quality_budget", quality=Quality(max_new_suppressions=0)).status is GateStatus.FAIL


def test_those_in_tests_are_told_and_not_limited(project: Project) -> None:
    project.write("tests/test_a.py", "x = 1  # noqa\n")
    result = project.gate("quality_budget", quality=Quality(max_new_suppressions=0))
    assert result.status is GateStatus.PASS
    assert "1 new suppression (noqa 1)" in result.reason


def test_moved_renamed_and_edited_ones_are_not_new(project: Project) -> None:
    project.commit_files(
        {"src/a.py": "a = b(1)  # noqa: S1\nc = 1\n", "src/b.py": "d = e()  # nosec\n" + "f = 1\n" * 9}
    )
    project.write("src/a.py", "c = 1\n\n\ndef f():\n    return b(2)  # noqa: S1\n")
    (project.root / "src/b.py").unlink()
    project.write("src/new.py", "def g():\n    return e()  # nosec\n")
    assert "suppression" not in project.gate("quality_budget").reason


def test_a_wider_one_is_new(project: Project) -> None:
    project.commit_files({"src/a.py": "a = 1  # noqa: S1\n"})
    project.write("src/a.py", "a = 1  # noqa: S1, S2\n")
    assert "1 new suppression (noqa 1)" in project.gate("quality_budget").reason


WHOLE = [
    ("a.py", "# ruff: noqa\nx = 1\n"),
    ("a.py", "# flake8: noqa\nx = 1\n"),
    ("a.py", "# mypy: ignore-errors\nx = 1\n"),
    ("a.py", "# pylint: skip-file\nx = 1\n"),
    ("a.js", "/* eslint-disable */\nx = 1;\n"),
    ("a.ts", "// @ts-nocheck\nconst x = 1;\n"),
    ("a.rs", "#![allow(warnings)]\nfn f() {}\n"),
]
SINGLE = [
    ("a.py", "import os  # noqa: F401 - used by plugins\n"),
    ("a.py", "# ruff: noqa: D100\nx = 1\n"),
    ("a.py", "x = 1  # type: ignore[assignment]\n"),
    ("a.js", "/* eslint-disable no-console */\nx = 1;\n"),
    ("a.js", "x = 1; // eslint-disable-line\n"),
    ("a.rs", "#[allow(dead_code)]\nfn f() {}\n"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("path", "text"), WHOLE)
def test_a_file_that_is_silenced_whole_blocks(project: Project, path: str, text: str) -> None:
    project.write(f"src/{path}", text)
    result = project.gate("quality_budget")
    assert [each.rule for each in result.blocking_findings] == ["suppression-of-file"]


@pytest.mark.slow
@pytest.mark.parametrize(("path", "text"), SINGLE)
def test_one_that_names_its_rule_informs(project: Project, path: str, text: str) -> None:
    project.write(f"src/{path}", text)
    assert project.gate("quality_budget").status is GateStatus.PASS


_SILENCED = "".join(f"x{n} = f()  # type: ignore[e{n}]\n" for n in range(12)) + "".join(
    f"y{n} = {n}\n" for n in range(40)
)


@pytest.mark.parametrize(
    ("path", "before", "now", "status"),
    [
        (
            "pyproject.toml",
            "[tool.mypy]\nfiles = 'src'\n",
            "[tool.mypy]\nfiles = 'src'\nstrict = true\n",
            GateStatus.PASS,
        ),
        (
            "setup.cfg",
            "[metadata]\nname = a\n",
            "[metadata]\nname = a\n[mypy]\ncheck_untyped_defs = True\n",
            GateStatus.PASS,
        ),
        ("mypy.ini", "[mypy]\ndisallow_any = True\n", "[mypy]\nstrict = True\n", GateStatus.PASS),
        ("pyproject.toml", "[tool.ruff]\n", "[tool.ruff.lint]\nextend-select = ['S']\n", GateStatus.FAIL),
        (
            "pyproject.toml",
            "[tool.mypy]\nstrict = true\n",
            "[tool.mypy]\nstrict = true\npretty = true\n",
            GateStatus.FAIL,
        ),
        ("mypy.ini", "[mypy]\nstrict = True\n", "[mypy]\ncheck_untyped_defs = True\n", GateStatus.FAIL),
        ("mypy.ini", "[mypy]\n", "[mypy]\nwarn_no_return = True\nexclude = src/b\n", GateStatus.FAIL),
    ],
)
def test_those_that_come_with_a_stricter_judge_inform(
    project: Project, path: str, before: str, now: str, status: GateStatus
) -> None:
    project.commit_files({path: before})
    project.write(path, now)
    project.write("src/a.py", _SILENCED)
    result = project.gate("quality_budget")
    assert result.status is status
    project.write("src/a.py", _SILENCED.replace("]\n", "]  # noqa: E501\n"))
    assert project.gate("quality_budget").status is status
    assert "suppressions" in {each.rule for each in result.findings}
    assert project.gate("quality_budget", quality=Quality(max_new_suppressions=10)).status is GateStatus.FAIL
