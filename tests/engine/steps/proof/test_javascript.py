"""The proof of a change in JavaScript: hollow tests are found; which lines run is not measured, and that is said."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from tests.engine.steps.proof.test_copies import context, write

from swarmgate.config import ProjectTests
from swarmgate.domain.guard import Effect
from swarmgate.domain.review.evidence import TestRun
from swarmgate.engine.context import Context
from swarmgate.engine.initialise import initialise
from swarmgate.engine.steps.proof.change_proof import prove
from swarmgate.engine.steps.proof.objections import Answer
from swarmgate.engine.steps.proof.proof_runs import Runs
from swarmgate.workspace.test_runs.suites import suites_of

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
COMMAND = "node --test"
HEAD = "const test = require('node:test');\nconst assert = require('node:assert');\nconst m = require('../calc.js');\n"


@pytest.fixture
def repository(tmp_path: Path) -> Context:
    root = tmp_path / "project"
    write(root, {"calc.js": "exports.half = (n) => n / 2;\n", "package.json": '{"scripts": {"test": "node --test"}}\n'})
    author = ("-c", "user.name=A", "-c", "user.email=a@example.test")
    for args in (("init", "--quiet"), ("add", "--all"), (*author, "commit", "--quiet", "--message=Start")):
        subprocess.run(["git", *args], cwd=root, check=True, capture_output=True)
    initialise(root)
    (tmp_path / "shared").mkdir()
    return context(root, tmp_path / "shared")


async def judged(ctx: Context, test: str) -> Answer:
    source = "exports.half = (n) => n / 2;\nfunction add(a, b) {\n  return a + b;\n}\nexports.add = add;\n"
    base = ctx.repository.tree_of("HEAD")
    write(ctx.repository.root, {"calc.js": source, "test/add.test.js": f"{HEAD}test('add', () => {{ {test} }});\n"})
    change = ctx.repository.changes(base, ctx.repository.snapshot())
    ran = TestRun(command=COMMAND, exit_code=0, seconds=1, passed=1)
    runs = Runs(ctx, change, suites_of(ProjectTests(command=COMMAND), ""), ran)
    return await prove(ctx, change, runs, ran)


async def test_a_real_test_is_the_proof_and_the_lines_are_said_to_be_unmeasured(repository: Context) -> None:
    answer = await judged(repository, "assert.strictEqual(m.add(1, 2), 3)")
    assert answer.objections == ()
    assert answer.proof is not None
    assert (answer.proof.able, answer.proof.unnoticed) == (True, ())
    told = "which changed lines the tests run is not measured in calc.js"
    assert answer.notes == ((Effect.NOTED, told),)


@pytest.mark.slow
@pytest.mark.parametrize(
    "test",
    [
        "assert.ok(typeof m.add === 'function')",
        "assert.ok(m.add(1, 2) !== undefined)",
    ],
)
async def test_a_hollow_test_proves_nothing(repository: Context, test: str) -> None:
    answer = await judged(repository, test)
    assert [each.stage for each in answer.objections] == ["tests prove nothing"]
    assert "add (calc.js:2)" in answer.objections[0].reason
