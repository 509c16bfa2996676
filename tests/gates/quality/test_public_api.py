"""Tests the count of public names, by each language's rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from swarmgate.domain.review.finding import GateStatus
from swarmgate.gates.project.files import language_of
from swarmgate.gates.quality.public_api import names

if TYPE_CHECKING:
    Project = Any


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.py", "def a(): ...\nclass B: ...\ndef _c(): ...\nD = 1\nimport os\nasync def e(): ...", {"a", "B", "e"}),
        ("a.py", "from x import y\n__all__ = ['y', 'z']\ndef z(): ...\ndef other(): ...", {"y", "z"}),
        ("a.py", "__all__ = ('a',)\n__all__ += ['b']", {"a", "b"}),
        ("a.py", "try:\n    def a(): ...\nexcept E: 0\nif x:\n    class B: ...\nelse:\n    def c(): ...", set("aBc")),
        ("a.py", "def a(): ...\nif __name__ == '__main__':\n    a()", set()),
        ("a.py", "#!/usr/bin/env python\ndef a(): ...", set()),
        ("a.py", "def a(:", set()),
        (
            "a.ts",
            (
                "export function f() {}\nexport class C {}\nexport const a = 1, b = 2;\nexport interface I {}\n"
                "export type T = 1;\nfunction hidden() {}\nexport default f;\nexport { g, h as i };\n"
                "export type { J };\nexport enum E { A }\nexport abstract class D {}\nexport async function k() {}"
            ),
            {"f", "C", "a", "b", "default", "g", "i", "E", "D", "k"},
        ),
        ("a.js", "exports.a = 1;\nmodule.exports.b = f;\nfunction c() {}", {"a", "b"}),
        ("a.js", "module.exports = { a, b: c, d() {} };", {"a", "b", "d"}),
        ("a.go", "package a\nfunc A() {}\nfunc b() {}\ntype C struct{}\nfunc (c C) D() {}\nconst E = 1", {"A", "C"}),
        ("a.rs", "pub fn a() {}\nfn b() {}\npub struct C;\npub(crate) fn d() {}\npub enum E {}", {"a", "C", "E"}),
        ("A.java", "public class A { public void m() {} }\nclass B {}\npublic interface C {}", {"A", "C"}),
        ("a.lua", "function a() end", set()),
    ],
)  # fmt: skip
def test_what_is_public(path: str, text: str, expected: set[str]) -> None:
    assert {name for name, _ in names(language_of(path), path, text.encode())} == expected


def functions(count: int, stem: str = "name") -> str:
    return "".join(f"def {stem}_{n}(a):\n    return a + {n}\n\n\n" for n in range(count))


def complaints(project: Project) -> list[str]:
    result = project.gate("quality_budget")
    return [finding.message for finding in result.findings if finding.rule == "public-api"]


def test_ten_names_are_within_the_budget_and_eleven_are_not(project: Project) -> None:
    project.write("src/a.py", functions(10))
    assert complaints(project) == []
    project.write("src/a.py", functions(11))
    (message,) = complaints(project)
    assert message.startswith(
        "11 public names added, where a change may add 10: name_0, name_1, name_10, name_2, name_3 and 6"
    )


@pytest.mark.parametrize(("count", "blocks"), [(40, False), (41, True)])
def test_only_a_change_far_beyond_the_default_is_blocked(project: Project, count: int, *, blocks: bool) -> None:
    project.write("src/a.py", functions(count))
    assert complaints(project)
    assert (project.gate("quality_budget").status is GateStatus.FAIL) is blocks


def test_it_is_added_less_removed_and_moves_are_neither(project: Project) -> None:
    project.commit_files({"src/a.py": functions(30), "src/b.py": functions(8, "old")})
    (project.root / "src/b.py").unlink()
    project.write("src/a.py", functions(10))
    project.write("src/moved.py", functions(30).partition("def name_10")[1] + functions(30).partition("def name_10")[2])
    project.write("src/c.py", functions(18, "new"))
    assert complaints(project) == []
    assert "public names +10" in project.gate("quality_budget").reason


def test_passing_names_on_does_not_double_them(project: Project) -> None:
    listed = [f"name_{n}" for n in range(9)]
    project.write("src/pkg/impl.py", functions(9))
    project.write("src/pkg/__init__.py", f"from pkg.impl import {', '.join(listed)}\n\n__all__ = {listed}\n")
    assert complaints(project) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", ["src/_a.py", "_inner/a.py", "tests/test_a.py", "scripts/a.py", "examples/a.py", "setup.py"]
)
def test_where_nobody_imports_from_there_is_no_api(project: Project, path: str) -> None:
    project.write(path, functions(30))
    assert complaints(project) == []


def test_to_list_what_was_reachable_adds_nothing(project: Project) -> None:
    listed = [f"name_{n}" for n in range(20)]
    text = f"import os\nfrom pkg.impl import {', '.join(listed)}\n"
    project.commit_files({"src/pkg/impl.py": functions(20), "src/pkg/__init__.py": text})
    project.write("src/pkg/__init__.py", f"{text}\n__all__ = {listed}\n")
    assert complaints(project) == []
