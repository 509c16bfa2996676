"""Measures whether tests that cannot fail are refused, on 40 small programs with one known bug each.

    python benchmarks/quixbugs.py [CORPUS] [NAME ...]

CORPUS is ../shared/corpora/quixbugs.jsonl (see the README there). Each program is four changes of a real repository:

- idle: the bug is mended, and the tests pass on the buggy and on the correct program: an import, a check that the
  function is there, and those of the real cases on which both agree. Target: refused 40 of 40, as proving nothing.
- hollow: the correct program is new, with tests that import it and ask whether the function is there: without the
  program they fail. Target: refused 40 of 40, as proving nothing.
- buggy: the buggy program with the real tests. Target: rejected 40 of 40, by the tests.
- correct: the bug is mended, with the real tests. Target: accepted 40 of 40.
"""

from __future__ import annotations

import ast
import asyncio
import json
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from swarmgate.domain.events.event import AttemptKind
from swarmgate.domain.review.evidence import TestRun
from swarmgate.domain.state.state import Attempt, TaskRecord
from swarmgate.engine.build import build
from swarmgate.engine.context import Context
from swarmgate.engine.initialise import initialise
from swarmgate.engine.steps.proof.proof import try_tests
from swarmgate.engine.steps.testing.engineer import measure
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger
from swarmgate.project import Project
from swarmgate.workspace.git.repository import Repository

CORPUS = Path(__file__).resolve().parents[2] / "shared/corpora/quixbugs.jsonl"
TESTS = "tests/test_solution.py"
TIME_LIMIT_S = 40
"""Two of the buggy programs never end; the slowest correct one (levenshtein, exponential) takes 3 s, 10 under load."""
IDLE = """import solution
from solution import NAME


def test_it_can_be_imported():
    assert solution


def test_it_is_a_function():
    assert callable(NAME)
"""


@dataclass
class Program:
    """One line of the corpus, and what came of its changes."""

    name: str
    buggy: str
    correct: str
    tests: str
    extra_files: dict[str, str]
    spec: str = ""
    found: dict[str, str] = field(default_factory=dict)
    agreeing: int = 0


def programs(corpus: Path, names: list[str] | None = None) -> list[Program]:
    every = [Program(**json.loads(line)) for line in corpus.read_text(encoding="utf-8").splitlines()]
    return [each for each in every if not names or each.name in names]


def project(root: Path, files: dict[str, str]) -> Context:
    """A repository that holds these files, initialised, and the surroundings of a step in it."""
    root.mkdir(parents=True)
    write(root, {**files, ".gitignore": "__pycache__/\n", "tests/conftest.py": ""})
    for args in (
        ("init", "--quiet"),
        ("config", "user.name", "A"),
        ("config", "user.email", "a@example.test"),
        ("add", "--all"),
        ("commit", "--quiet", "--message=Start"),
    ):
        subprocess.run(["git", *args], cwd=root, check=True, capture_output=True)
    initialise(root)
    command = f"{sys.executable} -m pytest -q -p no:cacheprovider"
    tests: dict[str, Any] = {"command": command, "timeout_s": TIME_LIMIT_S}
    return build(
        Project(root, environ={}, flags={"tests": tests, "commands": {"env": ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"]}}),
        repository=Repository.discover(root),
        ledger=Ledger.read(SwarmFolder(root)),
    )


def write(root: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")


async def judged(ctx: Context, change: dict[str, str]) -> tuple[str, TestRun]:
    """Who rejects a change (empty: nobody), by the same functions as the loop, and the run of its tests."""
    base = ctx.repository.head()
    write(ctx.repository.root, change)
    tree = ctx.repository.snapshot()
    attempt = Attempt(1, AttemptKind.CODER, (), "", tree, 1, "", base=base, tests=(TESTS,))
    ran = await measure(ctx, tree, attempt.tests)
    if not ran.green:
        return "tests", ran
    trial = await try_tests(ctx, "1.1", TaskRecord(attempts=(attempt,)), attempt, tree, ran)
    if trial.rejection:
        return trial.rejection.stage, ran
    assert trial.proof is not None, "there was something to prove"
    return "", ran


async def judge(program: Program, folder: Path) -> None:
    """All four changes of a program, in repositories below a folder."""
    folder = folder.resolve()  # noqa: ASYNC240 - once
    wrong = {"solution.py": program.buggy, **program.extra_files}
    right = {"solution.py": program.correct}
    empty = project(folder / "buggy", {"README.md": program.spec})
    program.found["buggy"], ran = await judged(empty, {**wrong, TESTS: program.tests})
    new = project(folder / "hollow", {"README.md": program.spec, **program.extra_files})
    hollow = {TESTS: IDLE.replace("NAME", program.name)}
    program.found["hollow"], _ = await judged(new, {"solution.py": program.correct, **hollow})
    mended = project(folder / "correct", wrong)
    program.found["correct"], _ = await judged(mended, {**right, TESTS: program.tests})
    tests = dict(hollow)
    same = agreeing(program.tests, ran)
    program.agreeing = len(set(ran.names) - set(ran.failures))
    if same:
        tests["tests/test_agreeing.py"] = same
    idle = project(folder / "idle", wrong)
    program.found["idle"], _ = await judged(idle, {**right, **tests})


def agreeing(tests: str, ran: TestRun) -> str:
    """The real tests without those that the buggy program failed; empty where none is left."""
    passed = {name.rpartition("::")[2] for name in set(ran.names) - set(ran.failures)} if ran.names else set()
    if not passed:
        return ""
    cases = sorted({int(number) for name in passed for number in re.findall(r"\[input_data(\d+)", name)})
    tree = ast.parse(tests)
    if cases:
        chosen = ast.parse(f"testdata = [testdata[number] for number in {cases}]").body
        at = next(i for i, node in enumerate(tree.body) if isinstance(node, ast.Assign)) + 1
        tree.body[at:at] = chosen
    else:
        tree.body = [
            node
            for node in tree.body
            if not (isinstance(node, ast.FunctionDef) and node.name.startswith("test") and node.name not in passed)
        ]
    return ast.unparse(tree) + "\n"


WANTED = {"idle": "tests prove nothing", "hollow": "tests prove nothing", "buggy": "tests", "correct": ""}


def main() -> int:
    corpus = Path(sys.argv[1]) if len(sys.argv) > 1 else CORPUS
    every, started = programs(corpus, sys.argv[2:]), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="swarmgate-quixbugs-") as folder:
        asyncio.run(_all(every, Path(folder).resolve()))
    for program in every:
        verdicts = "  ".join(f"{kind}: {program.found[kind] or 'accepted'}" for kind in WANTED)
        print(f"{program.name:30} {verdicts}  ({program.agreeing} cases agree)")
    right = {kind: sum(each.found[kind] == stage for each in every) for kind, stage in WANTED.items()}
    print(f"\ntests that pass on both programs: refused {right['idle']} of {len(every)}")
    print(f"hollow tests, new program:        refused {right['hollow']} of {len(every)}")
    print(f"real tests, buggy program:        rejected {right['buggy']} of {len(every)}")
    print(f"real tests, correct program:      accepted {right['correct']} of {len(every)}")
    print(f"{time.monotonic() - started:.0f} s")
    return 0 if set(right.values()) == {len(every)} else 1


async def _all(every: list[Program], folder: Path) -> None:
    room = asyncio.Semaphore(2)

    async def one(program: Program) -> None:
        async with room:
            await judge(program, folder / program.name)

    await asyncio.gather(*(one(program) for program in every))


if __name__ == "__main__":
    sys.exit(main())
