"""Proving: tests that come with a change must be able to fail; where it changes behaviour, they fail without it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

from swarmgate.domain.base import Frozen
from swarmgate.domain.change import ChangedFile, ChangeKind, ChangeSet
from swarmgate.domain.evidence import Proof, TestRun
from swarmgate.domain.guard import Effect
from swarmgate.engine.context import Context
from swarmgate.gates import behaviour
from swarmgate.gates.files import Trait, language_of, traits_of
from swarmgate.workspace.checkout import Checkout
from swarmgate.workspace.runner_files import steers
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
_SHOWN = 5
_UNKNOWN = "whether the new tests can fail is not known: "
_TESTS_INSIDE = frozenset({"rust", "zig"})
_TEST_INSIDE = re.compile(rb'\s*(?:#\[(?:\w+::)*(?:test|rstest|test_case|quickcheck|wasm_bindgen_test)\b|test\s+")')
"""How Rust and Zig begin a test."""


class Answer(Frozen):
    """The proof where there is one, and what else is said, each with its effect: why it is not known, for one."""

    proof: Proof | None = None
    notes: tuple[tuple[Effect, str], ...] = ()


async def prove(
    ctx: Context, change: ChangeSet, command: str, ran: TestRun, attacks: Collection[str] = frozenset()
) -> Answer:
    """Runs the new tests over the tree before the change, in a copy.

    A failure there counts only if the same files pass in a copy that has the change: else it is the copy that they fail
    for. It has to come again in a third copy, so that no test that keeps a count makes one. A pass counts only where it
    is known that the old code was what ran.

    Args:
        ctx: the surroundings of the step.
        change: the whole change of the attempt, tests included.
        command: the project's test command.
        ran: the run over the final tree, which was green.
        attacks: files of adversarial passes. They need not fail: the change may hold against them.

    Raises:
        WorkspaceError: a copy could not be made.
    """
    if not changes_behaviour(ctx, change):
        return Answer()
    kind = runner_of(command, ctx.repository.root)
    alone = takes_paths(command, kind)
    tests = tuple(path for path in new_tests(ctx, change, alone=alone) if path not in attacks)
    if not tests:
        return _untested(ctx, change, attacks)
    runs = _Copies(ctx, change, command, kind, ran)
    before, doubt = await runs.before(tests)
    if not fails(before, kind):
        return _answer(tests, before, doubt, able=False)
    kept, why = await _fit(runs, tests, alone=alone)
    left_out = tuple(path for path in tests if path not in kept)
    if not kept:
        text = f"in a copy of the project the new tests fail with the change too: {why}"
        return Answer(notes=((Effect.WARNED, _UNKNOWN + text),))
    if left_out:
        before, doubt = await runs.before(kept)
    if fails(before, kind):
        again, doubt = await runs.before(kept)
        able = fails(again, kind)
        found = _answer(kept, before if able else again, "" if able else doubt, able=able)
    else:
        found = _answer(kept, before, doubt, able=False)
    note = f"not asked of {', '.join(left_out[:_SHOWN])}: in a copy of the project it fails with the change too: {why}"
    return found.model_copy(update={"notes": (*found.notes, (Effect.NOTED, note))}) if left_out else found


def _answer(tests: tuple[str, ...], run: TestRun, doubt: str, *, able: bool) -> Answer:
    if doubt:
        return Answer(notes=((Effect.NOTED, _UNKNOWN + doubt),))
    return Answer(proof=Proof(tests=tests, run=run, able=able))


def _untested(ctx: Context, change: ChangeSet, attacks: Collection[str]) -> Answer:
    """Behaviour changed without a new test: a refactoring may, and nobody should have to guess it."""
    if any(_has_tests_inside(ctx, change, file) for file in change.present):
        return Answer()
    but = " but adversarial ones" if any(file.path in attacks for file in change.present) else ""
    text = f"the change alters behaviour and brings no new test{but}: nothing shows that the tests would notice"
    return Answer(notes=((Effect.WARNED, text),))


async def _fit(runs: _Copies, tests: tuple[str, ...], *, alone: bool) -> tuple[tuple[str, ...], str]:
    """Those of the tests that pass in a copy which has the change, and why the others do not."""
    whole = await runs.after(tests)
    if whole.green:
        return tests, ""
    if not alone or len(tests) == 1:
        return (), whole.reason
    each = [(path, await runs.after((path,))) for path in tests]
    why = next((run.reason for _, run in each if not run.green), whole.reason)
    return tuple(path for path, run in each if run.green), why


class _Copies:
    """Runs in copies of the project, each in a new one: what a test leaves behind is not there in the next."""

    def __init__(self, ctx: Context, change: ChangeSet, command: str, kind: str, ran: TestRun) -> None:
        self._ctx, self._change, self._command, self._kind = ctx, change, command, kind
        self._limit = ctx.config.tests.timeout_s
        if kind in _INTERPRETED:
            self._limit = min(self._limit, _LEAST_S + _PATIENCE * ran.seconds)

    async def before(self, tests: tuple[str, ...]) -> tuple[TestRun, str]:
        """The tests over the old code, and why it is not known that this is what ran; empty where it is."""
        paths = [path for file in self._change.files for path in file.touched]
        with self._ctx.checkout(self._change.base) as copy:
            copy.put(self._change.tree, (path for path in paths if self._ctx.is_test_path(path) or _configures(path)))
            run = await self._run(copy, tests)
            return run, _doubt(copy, self._change, self._kind)

    async def after(self, tests: tuple[str, ...]) -> TestRun:
        """The tests over the new code, in a copy that is made in the same way."""
        with self._ctx.checkout(self._change.base) as copy:
            copy.put(self._change.tree, self._change.paths)
            return await self._run(copy, tests)

    async def _run(self, copy: Checkout, tests: tuple[str, ...]) -> TestRun:
        return await run_tests(
            self._command,
            runner=copy.runner(self._ctx.commands),
            timeout_s=self._limit,
            paths=tests,
            count_pattern=self._ctx.config.tests.count_pattern,
        )


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
        if file.added and ctx.is_test_path(file.path) and not steers(file.path)
        if TEST_FILE.search(file.path) or not alone
    ]
    return tuple(file.path for file in files if _differs(ctx, change, file))


def changes_behaviour(ctx: Context, change: ChangeSet) -> bool:
    """Whether code that is neither test nor documentation differs, by its syntax."""
    return any(_differs(ctx, change, file) for file in change.files if is_product_code(file, ctx.is_test_path))


def is_product_code(file: ChangedFile, is_test_path: Callable[[str], bool]) -> bool:
    """Whether a changed file, by its path, may be the project's own code: nothing of tests, documentation or others."""
    if is_test_path(file.path) or steers(file.path) or file.path.startswith(_DOCS):
        return False
    return not traits_of(file.path) & {Trait.VENDORED, Trait.GENERATED, Trait.MINIFIED, Trait.LOCK}


def _differs(ctx: Context, change: ChangeSet, file: ChangedFile) -> bool:
    """Whether it is code, on one side at least, and differs as such."""
    before = None if file.kind is ChangeKind.ADDED else ctx.repository.read(change.base, file.old_path or file.path)
    after = ctx.repository.read(change.tree, file.path) if file.exists else None
    sides = (file.old_path or file.path, before or b""), (file.path, after or b"")
    return any(behaviour.is_code(*side) for side in sides) and behaviour.differs(file.path, before, after)


def _has_tests_inside(ctx: Context, change: ChangeSet, file: ChangedFile) -> bool:
    """Whether a source file brings tests within itself, as in Rust."""
    if language_of(file.path) not in _TESTS_INSIDE or not file.added:
        return False
    lines = (ctx.repository.read(change.tree, file.path) or b"").splitlines()
    return any(_TEST_INSIDE.match(lines[number - 1]) for number in file.added_lines if number <= len(lines))


def _configures(path: str) -> bool:
    """Whether the tests of the change have to run with its version of a file, wherever it lies."""
    name = path.rpartition("/")[2]
    return name != "go.mod" and (steers(path) or name in {"pyproject.toml", "package.json"})


def _doubt(copy: Checkout, change: ChangeSet, kind: str) -> str:
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
