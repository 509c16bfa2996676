"""Proving: tests that come with a change must be able to fail; where it changes behaviour, they fail without it."""

from __future__ import annotations

import re
from collections.abc import Callable

from swarmgate.domain.change import ChangedFile, ChangeKind, ChangeSet
from swarmgate.domain.evidence import Proof, TestRun
from swarmgate.engine.context import Context
from swarmgate.gates import behaviour
from swarmgate.gates.files import Trait, language_of, traits_of
from swarmgate.workspace.copies import Copy, copied
from swarmgate.workspace.suite import run_tests, runner_of, takes_paths

STAGE = "tests prove nothing"
"""Who rejects an attempt whose new tests all pass without the change."""

TEST_FILE = re.compile(r"(?:^|/)(?:test_[^/]*|[^/]*(?:_test|_spec|\.test|\.spec|Tests?))\.\w+$|(?:^|/)__tests__/")
"""A file that a runner can be given by itself: not a conftest.py, not test data."""
_PYTHON = frozenset({"pytest", "unittest"})
_INTERPRETED = _PYTHON | {"jest", "vitest", "mocha", "node", "bun", "rspec", "minitest", "phpunit"}
"""Runners that build nothing first: how long the tests took says how long they may take without the change."""
_NO_TESTS = 5
"""Pytest's exit code where it collected none (`pytest.ExitCode.NO_TESTS_COLLECTED`): that is no failure."""
_LEAST_S, _PATIENCE = 20.0, 10.0
_DOCS = ("docs/", "doc/")


async def prove(ctx: Context, change: ChangeSet, command: str, ran: TestRun) -> Proof | str | None:
    """Runs the new tests over the tree before the change, in a copy.

    A failure there counts only if they pass in the same copy once the change is in it: else it is the copy that they
    fail for. A pass counts only where it is known that the old code was what ran.

    Args:
        ctx: the surroundings of the step.
        change: the whole change of the attempt, tests included.
        command: the project's test command.
        ran: the run over the final tree, which was green.

    Returns:
        The proof; why it cannot be known, in words; or None where there is nothing to prove: the change has no new
        tests, or changes no behaviour.

    Raises:
        WorkspaceError: the copy could not be made.
    """
    kind = runner_of(command, ctx.repository.root)
    tests = new_tests(ctx, change, alone=takes_paths(command, kind))
    if not tests or not changes_behaviour(ctx, change):
        return None
    limit = ctx.config.tests.timeout_s
    if kind in _INTERPRETED:
        limit = min(limit, _LEAST_S + _PATIENCE * ran.seconds)

    async def run(copy: Copy) -> TestRun:
        return await run_tests(
            command,
            runner=copy.runner(ctx.commands),
            timeout_s=limit,
            paths=tests,
            count_pattern=ctx.config.tests.count_pattern,
        )

    with copied(ctx.repository.root, change.base) as copy:
        copy.put(change.tree, (path for file in change.files for path in file.touched if ctx.is_test_path(path)))
        before = await run(copy)
        if not fails(before, kind):
            return _doubt(copy, change, kind) or Proof(tests=tests, run=before, able=False)
        copy.put(change.tree, change.paths)
        after = await run(copy)
    if not after.green:
        return f"in a copy of the project the new tests fail with the change too: {after.reason}"
    return Proof(tests=tests, run=before, able=True)


def fails(run: TestRun, kind: str) -> bool:
    """Whether a run of new tests shows a failure: a test, an import, or the time limit; skipped tests show none."""
    if run.failed or run.exit_code is None:
        return True
    return run.exit_code != 0 and not (kind == "pytest" and run.exit_code == _NO_TESTS)


def new_tests(ctx: Context, change: ChangeSet, *, alone: bool) -> tuple[str, ...]:
    """The files with tests that the change adds or alters, beyond comments and layout.

    `alone`: only files that a runner can be given by themselves, no support code of tests.
    """
    files = [
        file
        for file in change.present
        if file.added and ctx.is_test_path(file.path) and behaviour.is_code(file.path)
        if TEST_FILE.search(file.path) or not alone
    ]
    return tuple(file.path for file in files if _differs(ctx, change, file))


def changes_behaviour(ctx: Context, change: ChangeSet) -> bool:
    """Whether code that is neither test nor documentation differs, by its syntax."""
    return any(_differs(ctx, change, file) for file in change.files if is_product_code(file, ctx.is_test_path))


def is_product_code(file: ChangedFile, is_test_path: Callable[[str], bool]) -> bool:
    """Whether a changed file is the project's own code: no test, documentation, vendored or generated file."""
    if is_test_path(file.path) or file.path.startswith(_DOCS) or not behaviour.is_code(file.path):
        return False
    return not traits_of(file.path) & {Trait.VENDORED, Trait.GENERATED, Trait.MINIFIED}


def _differs(ctx: Context, change: ChangeSet, file: ChangedFile) -> bool:
    before = None if file.kind is ChangeKind.ADDED else ctx.repository.read(change.base, file.old_path or file.path)
    after = ctx.repository.read(change.tree, file.path) if file.exists else None
    return behaviour.differs(file.path, before, after)


def _doubt(copy: Copy, change: ChangeSet, kind: str) -> str:
    """Why it is not known that the code before the change was what ran; empty where it is."""
    if kind in _PYTHON:
        strays = copy.strays()
        if strays is None:
            return "the Python that ran the tests takes no PYTHONPATH: it may have imported the changed code"
        if strays:
            return f"the tests imported the changed code all the same: {', '.join(strays[:3])}"
    if copy.binaries and any(_is_compiled(path) for path in change.paths):
        return f"{copy.binaries[0]} may have been compiled of the changed code"
    return ""


def _is_compiled(path: str) -> bool:
    return language_of(path) in {"c", "cpp", "rust", "zig", "go", "swift"} or path.endswith((".pyx", ".pxd"))
