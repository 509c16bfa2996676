"""The proof against tests that are made to pass it: each case is a change in a small repository, judged by itself."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import pytest
from tests.confined import NO_PLUGINS

from swarmgate.config import ProjectTests
from swarmgate.domain.guard import Effect
from swarmgate.domain.review.evidence import TestRun
from swarmgate.engine.build import build
from swarmgate.engine.context import Context
from swarmgate.engine.initialise import initialise
from swarmgate.engine.steps.proof.change_proof import prove
from swarmgate.engine.steps.proof.objections import Answer
from swarmgate.engine.steps.proof.proof_runs import Runs
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger
from swarmgate.project import Project
from swarmgate.workspace.git.repository import Repository
from swarmgate.workspace.test_runs.suites import suites_of

COMMAND = f"{sys.executable} -m pytest -q"
OLD, NEW = "VALUE = 1\n", "VALUE = 2\n"
IDLE = "def test_idle():\n    assert 1 + 1 == 2\n"
REAL = "import mod\n\n\ndef test_real():\n    assert mod.VALUE == 2\n"
COUNTS = """import pathlib


def test_counts():
    seen = pathlib.Path(PLACE)
    ran = int(seen.read_text()) if seen.exists() else 0
    seen.write_text(str(ran + 1))
    assert ran > 0 or 'swarmgate-copy-' not in __file__
"""
FORGED = """import pytest


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    report.outcome = "passed"
    return report
"""
NO_TEST = "the change alters behaviour and brings no new test"

Judge = Callable[..., Awaitable[Answer]]


@pytest.fixture
def judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Judge:
    """Gives the answer for a change from `mod.py` with OLD to these files."""
    monkeypatch.setenv(NO_PLUGINS, "1")
    root = tmp_path / "project"
    write(
        root, {"mod.py": OLD, "tests/conftest.py": "import sys\n\nsys.path.insert(0, '.')\n", ".gitignore": "*.pyc\n"}
    )
    author = ("-c", "user.name=A", "-c", "user.email=a@example.test")
    for args in (("init", "--quiet"), ("add", "--all"), (*author, "commit", "--quiet", "--message=Start")):
        subprocess.run(["git", *args], cwd=root, check=True, capture_output=True)
    initialise(root)
    (tmp_path / "shared").mkdir()
    ctx = context(root, tmp_path / "shared")

    async def judged(files: Mapping[str, str], *attacks: str) -> Answer:
        base = ctx.repository.tree_of("HEAD")
        write(root, files)
        change = ctx.repository.changes(base, ctx.repository.snapshot())
        ran = TestRun(command=COMMAND, exit_code=0, seconds=1, passed=1)
        runs = Runs(ctx, change, suites_of(ProjectTests(command=COMMAND), ""), ran)
        return await prove(ctx, change, runs, ran, attacks=frozenset(attacks))

    return judged


def write(root: Path, files: Mapping[str, str | bytes]) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text if isinstance(text, bytes) else text.encode())


def context(root: Path, writable: Path) -> Context:
    tests = {"command": COMMAND, "timeout_s": 60}
    return build(
        Project(
            root, environ={}, flags={"tests": tests, "commands": {"writable": [str(writable)], "env": [NO_PLUGINS]}}
        ),
        repository=Repository.discover(root),
        ledger=Ledger.read(SwarmFolder(root)),
    )


@pytest.mark.slow
async def test_a_test_that_fails_without_the_change_is_the_proof(judge: Judge) -> None:
    answer = await judge({"mod.py": NEW, "tests/test_real.py": REAL})
    assert answer.proof is not None
    assert answer.proof.able
    assert answer.notes == ()


@pytest.mark.slow
async def test_a_test_that_counts_its_runs_elsewhere_must_fail_again(judge: Judge, tmp_path: Path) -> None:
    place = repr(str(tmp_path / "shared/seen"))
    answer = await judge({"mod.py": NEW, "tests/test_counts.py": COUNTS.replace("PLACE", place)})
    assert int((tmp_path / "shared/seen").read_text()) > 2
    assert answer.proof is None or not answer.proof.able
    assert answer.objections or answer.notes


@pytest.mark.slow
async def test_a_test_that_looks_for_the_repository_proves_nothing(judge: Judge) -> None:
    git = "import pathlib\n\n\ndef test_git():\n    assert pathlib.Path('.git').is_dir()\n"
    answer = await judge({"mod.py": NEW, "tests/test_git.py": git})
    assert answer.proof is not None
    assert not answer.proof.able


@pytest.mark.slow
async def test_a_conftest_that_forges_results_proves_nothing(judge: Judge) -> None:
    answer = await judge({"mod.py": NEW, "conftest.py": FORGED, "tests/test_real.py": REAL.replace("== 2", "== 3")})
    assert answer.proof is None
    (against,) = answer.objections
    assert "the test runner was tampered with: a test of swarmgate's own that must fail" in against.reason


async def test_behaviour_without_a_new_test_is_said_and_no_behaviour_is_not(judge: Judge) -> None:
    assert await judge({"mod.py": "# one\n" + OLD, "tests/test_idle.py": IDLE}) == Answer()
    answer = await judge({"mod.py": NEW}, "tests/test_idle.py")
    (against,) = answer.objections
    assert (answer.proof, against.stage) == (None, "unproven")
    assert against.reason == f"{NO_TEST} but adversarial ones: nothing shows that the tests would notice"


@pytest.mark.slow
async def test_an_adversarial_test_that_held_need_not_fail_without_the_change(judge: Judge) -> None:
    files = {"mod.py": NEW, "tests/test_attack.py": IDLE, "tests/test_real.py": REAL}
    answer = await judge(files, "tests/test_attack.py")
    assert answer.proof is not None
    assert (answer.proof.able, answer.proof.tests) == (True, ("tests/test_real.py",))


@pytest.mark.slow
async def test_a_script_without_an_ending_is_behaviour(judge: Judge) -> None:
    answer = await judge({"bin/tool": "#!/usr/bin/env python3\nprint(2)\n", "tests/test_idle.py": IDLE})
    assert answer.proof is not None
    assert not answer.proof.able


async def test_tests_inside_of_a_source_file_are_new_tests(judge: Judge) -> None:
    plain = "pub fn two() -> i32 { 2 }\n"
    tested = (
        f"{plain}\n#[cfg(test)]\nmod tests {{\n    #[test]\n    fn it_is() {{ assert_eq!(super::two(), 2); }}\n}}\n"
    )
    answer = await judge({"src/lib.rs": tested})
    assert (answer.proof, answer.objections) == (None, ())
    assert [(effect, "stand inside of the changed source" in text) for effect, text in answer.notes] == [
        (Effect.NOTED, True),
        (Effect.NOTED, False),
    ]
    answer = await judge({"src/lib.rs": plain})
    assert [each.reason.startswith(NO_TEST) for each in answer.objections] == [True]
