"""Tests the report of product code that imports test code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from swarmgate.domain.review.finding import Severity
from swarmgate.gates.imports.test_code import RULE

if TYPE_CHECKING:
    Project = Any


def findings(project: Project) -> list[tuple[str, Severity]]:
    return [(each.path, each.severity) for each in project.gate("imports").findings if each.rule == RULE and each.new]


@pytest.mark.parametrize(
    ("path", "text", "test"),
    [
        ("app/main.py", "from app.fixtures import db\n", "app/fixtures/db.py"),
        ("app/main.py", "from .fixtures.db import run\n", "app/fixtures/db.py"),
        ("app/main.py", "def f():\n    import app.load_test\n", "app/load_test.py"),
        ("app/main.py", "from tests.support import run\n", "tests/support.py"),
        ("web/main.js", "import { run } from './fixtures/db.js';\n", "web/fixtures/db.js"),
        ("web/main.ts", "const { run } = require('./run.spec');\n", "web/run.spec.ts"),
    ],
)
def test_a_test_that_the_product_imports(project: Project, path: str, text: str, test: str) -> None:
    body = "export function run() { return 1; }\n" if test.endswith(("js", "ts")) else "def run():\n    return 1\n"
    for name in ("app/__init__.py", "app/fixtures/__init__.py", "tests/__init__.py"):
        project.write(name, "")
    project.write(test, body)
    project.write(path, text)
    assert findings(project) == [(path, Severity.HIGH)]


def test_tests_may_and_so_may_what_always_did(project: Project) -> None:
    files = {"app/__init__.py": "", "app/spec/__init__.py": "", "app/spec/parser.py": "def run():\n    return 1\n"}
    project.commit_files({**files, "app/old.py": "from app.spec.parser import run\n"})
    project.write("tests/test_a.py", "from app.spec.parser import run\nfrom app.spec import parser\n")
    project.write("benchmarks/speed.py", "from tests.test_a import parser\n")
    project.write("app/main.py", "from app.spec.parser import run\n")
    assert findings(project) == [("app/main.py", Severity.LOW)]
