"""Tests the importer graph, new import cycles, and unused dependencies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from swarmgate.domain.review.finding import GateStatus, Severity
from swarmgate.gates.imports import Consumer, consumers
from swarmgate.workspace.git.repository import Repository

if TYPE_CHECKING:
    from swarmgate.domain.review.finding import GateResult

    Project = Any


def _cycles(result: GateResult) -> list[tuple[str, int, Severity]]:
    return [(each.path, each.line, each.severity) for each in result.findings if each.rule == "import-cycle"]


def test_consumers_of_python_and_typescript_files(project: Project) -> None:
    project.commit_files({
        "src/pkg/__init__.py": "", "src/pkg/a.py": "x = 1\n", "src/pkg/b.py": "from pkg.a import x\n",
        "src/pkg/c.py": "def f():\n    from . import a\n", "src/pkg/d.py": "# a is named here only\n",
        "src/pkg/sub/__init__.py": "y = 1\n", "src/pkg/sub/e.py": "from . import y\nfrom .. import a\n",
        "web/a.ts": "export const x = 1\n", "web/index.ts": "export * from './a'\n",
        "web/page.ts": "import {x} from '.'\n",
    })  # fmt: skip
    repository = Repository.discover(project.root)
    found = consumers(
        repository,
        repository.head_tree(),
        ["src/pkg/a.py", "src/pkg/sub/__init__.py", "web/a.ts", "web/index.ts", "no.py"],
    )
    assert found == {
        "src/pkg/a.py": (
            Consumer("src/pkg/b.py", 1, ("x",)), Consumer("src/pkg/c.py", 2, ("a",)),
            Consumer("src/pkg/sub/e.py", 2, ("a",)),
        ),
        "src/pkg/sub/__init__.py": (Consumer("src/pkg/sub/e.py", 1, ("y",)),),
        "web/a.ts": (Consumer("web/index.ts", 1),),
        "web/index.ts": (Consumer("web/page.ts", 1, ("x",)),),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("a", "b", "severity"),
    [
        ("from pkg.b import y\nx = 1\n", "from pkg.a import x\ny = 1\n", Severity.HIGH),
        ("x = 1\nfrom pkg.b import y\n", "from pkg.a import x\ny = 1\n", Severity.LOW),
        ("import pkg.b\nx = 1\n", "import pkg.a\ny = 1\n", Severity.LOW),
        ("from pkg import b\nx = 1\n", "from . import a\ny = 1\n", Severity.LOW),
        ("from pkg.b import y\nx = 1\n", "def f():\n    from pkg.a import x\ny = 1\n", None),
        (
            "from pkg.b import y\nx = 1\n",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from pkg.a import x\ny = 1\n",
            None,
        ),
    ],
)
def test_a_cycle_that_the_change_closes(project: Project, a: str, b: str, severity: Severity | None) -> None:
    project.commit_files({"pkg/__init__.py": "", "pkg/a.py": a, "pkg/b.py": "y = 1\n"})
    project.write("pkg/b.py", b)
    found = _cycles(project.gate("imports"))
    assert [each[2] for each in found] == ([severity] if severity else [])


def test_a_cycle_that_cannot_be_imported_says_so(project: Project) -> None:
    project.commit_files(
        {"pkg/__init__.py": "", "pkg/a.py": "from .b import y\nx = 1\n", "pkg/b.py": "from .c import z\ny = 1\n"}
    )
    project.write("pkg/c.py", "from .a import x\nz = 1\n")
    result = project.gate("imports")
    assert result.status is GateStatus.FAIL
    (finding,) = [each for each in result.findings if each.rule == "import-cycle"]
    assert "pkg/c.py -> pkg/a.py -> pkg/b.py -> pkg/c.py" in finding.message
    assert "no order of importing works" in finding.message


def test_the_package_comes_before_its_modules(project: Project) -> None:
    project.commit_files({"pkg/__init__.py": "from .a import x\nVERSION = 1\n", "pkg/a.py": "x = 1\n"})
    project.write("pkg/a.py", "from pkg import VERSION\nx = 1\n")
    assert _cycles(project.gate("imports")) == [("pkg/a.py", 1, Severity.HIGH)]
    project.commit_files({"pkg/__init__.py": "VERSION = 1\nfrom .a import x\n", "pkg/a.py": "x = 1\n"})
    project.write("pkg/a.py", "from pkg import VERSION\nx = 1\n")
    assert _cycles(project.gate("imports")) == [("pkg/a.py", 1, Severity.LOW)]


def test_an_old_cycle_is_not_told(project: Project) -> None:
    project.commit_files({
        "pkg/__init__.py": "", "pkg/a.py": "from .b import y\nx = 1\n", "pkg/b.py": "from . import c, a\ny = 1\n",
        "pkg/c.py": "",
    })  # fmt: skip
    project.write("pkg/a.py", "from .b import y, a\nx = 2\n")
    project.write("pkg/c.py", "z = 1\n")
    assert _cycles(project.gate("imports")) == []


def test_a_cycle_of_scripts_informs(project: Project) -> None:
    project.commit_files({"a.ts": "import {b} from './b'\nexport const a = 1\n", "b.ts": "export const b = 1\n"})
    project.write("b.ts", "import {a} from './a'\nexport const b = 1\n")
    assert _cycles(project.gate("imports")) == [("b.ts", 1, Severity.LOW)]
    project.write("b.ts", "import type {a} from './a'\nexport const b = 1\n")
    assert _cycles(project.gate("imports")) == []


def test_dependencies_that_nothing_imports_inform(project: Project) -> None:
    project.commit_files({
        "pyproject.toml": '[project]\nname = "x"\ndependencies = [\n  "old-thing",\n]\n', "x.py": "import yaml\n",
        "package.json": '{"dependencies": {"react": "1"}}\n', "a.js": "import r from 'react'\n",
    })  # fmt: skip
    project.write(
        "pyproject.toml",
        '[project]\nname = "x"\ndependencies = [\n  "old-thing",\n  "pyyaml",\n  "pendulum",\n  "pytest-cov",\n]\n',
    )
    project.write("package.json", '{"dependencies": {"react": "1",\n"dayjs": "1",\n"eslint-plugin-x": "1"}}\n')
    result = project.gate("imports")
    found = [(each.path, each.line, each.severity) for each in result.findings if each.rule == "unused-dependency"]
    assert found == [("package.json", 2, Severity.LOW), ("pyproject.toml", 6, Severity.LOW)]
    assert result.status is GateStatus.PASS
