"""Measures whether new tests cover what a change adds and old tests still pass over it.

The rules are in docs/architecture.md, "What proves a task". Each question is asked by runs that swarmgate starts
itself; they go at once, and their answers are read in a fixed order.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from swarmgate.domain.guard import Effect
from swarmgate.domain.plan.plan import Kind
from swarmgate.domain.review.change import ChangeSet
from swarmgate.domain.review.evidence import Proof, TestRun
from swarmgate.domain.review.stage import Judge
from swarmgate.engine.context import Context
from swarmgate.engine.steps.proof import line_coverage
from swarmgate.engine.steps.proof.concurrent_runs import run_group
from swarmgate.engine.steps.proof.new_tests import DOES, TEST_THE_RESULT, UNKNOWN, NewTests, new_cases, new_tests
from swarmgate.engine.steps.proof.objections import Answer, listed, objected
from swarmgate.engine.steps.proof.proof_runs import Ran, Runs, differs, is_product_code
from swarmgate.engine.steps.proof.uncollected_tests import ADVICE, uncollected_tests, uncollected_text
from swarmgate.gates.project.files import language_of
from swarmgate.workspace.test_runs.runner_files import may_steer

_TESTS_INSIDE = frozenset({"rust", "zig"})
_TEST_INSIDE = re.compile(rb'\s*(?:#\[(?:\w+::)*(?:test|rstest|test_case|quickcheck|wasm_bindgen_test)\b|test\s+")')
"""How Rust and Zig begin a test."""
_BRING_TESTS = (
    "Write a test that fails without the change. Only the plan can say that none is needed: by `Kind: refactoring`, "
    "`documentation` or `configuration`."
)


async def prove(
    ctx: Context,
    change: ChangeSet,
    runs: Runs,
    ran: TestRun,
    *,
    kind: Kind = Kind.FEATURE,
    attacks: Collection[str] = frozenset(),
    old: Ran | None = None,
    measured: bool = True,
) -> Answer:
    """Runs the checks that the new tests cover what the change adds.

    Args:
        ctx: the context of the step.
        change: the whole change of the attempt, tests included.
        runs: makes the runs.
        ran: the run over the final tree, which was green.
        kind: what the plan says of the task.
        attacks: files of adversarial passes. They need not fail: the change may hold against them.
        old: the run of the tests of before over the new code, as it is rewritten; asked of a refactoring.
        measured: whether passing tests have to run what was changed.

    Raises:
        WorkspaceError: a copy could not be made.
    """
    altered = changed_behaviour(ctx, change)
    if kind is Kind.CONFIGURATION:
        altered = tuple(path for path in altered if not may_steer(path))
    if not altered:
        return Answer()
    if kind in (Kind.DOCUMENTATION, Kind.CONFIGURATION):
        return objected(Judge.UNPROVEN, f"the plan says that the task is {kind}, and it changes {listed(altered)}")
    if kind is Kind.REFACTORING:
        return _refactoring(runs, old)
    lost = {each.path: each for each in uncollected_tests(ctx, change, ran)}
    others = {*attacks, *lost}
    tests = tuple(path for path in new_tests(ctx, change, ran, alone=runs.alone) if path not in others)
    tests = tests or new_cases(ctx, change)
    if tests:
        answer = await NewTests(ctx, change, runs, tests, measured=measured).answer()
        notes = [(Effect.NOTED, uncollected_text([*lost.values()], runs.kind))] if lost else []
        return answer.model_copy(update={"notes": (*answer.notes, *notes)})
    if lost:
        return objected(Judge.UNPROVEN, uncollected_text([*lost.values()], runs.kind), ADVICE)
    return await _untested(ctx, change, runs, ran, attacks)


def _refactoring(runs: Runs, old: Ran | None) -> Answer:
    """No new test is needed: those that were there run what was changed."""
    claim = "the plan says that the task is a refactoring"
    if old is None or not old.run.ran:
        return objected(Judge.UNPROVEN, f"{claim}, and there were no tests before it that could show it", _BRING_TESTS)
    left, notes = line_coverage.unrun_by(runs, old)
    proof = Proof(tests=(), run=old.run, able=True, unrun=tuple(map(str, left)))
    if not left:
        return Answer(proof=proof, notes=notes)
    against = line_coverage.objection(f"{claim}, and no test that was there before it runs", left)
    return Answer(proof=proof, objections=(against,), notes=notes)


async def _untested(ctx: Context, change: ChangeSet, runs: Runs, ran: TestRun, attacks: Collection[str]) -> Answer:
    """Behaviour changed without a new test file; there may be tests inside of the changed source."""
    inside = tuple(path for path in change.paths if _has_tests_inside(ctx, change, path, ran))
    if inside:
        return await _tested_inside(runs, inside)
    but = " but adversarial ones" if any(path in attacks for path in change.paths) else ""
    reason = f"the change alters behaviour and brings no new test{but}: nothing shows that the tests would notice"
    return objected(Judge.UNPROVEN, reason, _BRING_TESTS)


async def _tested_inside(runs: Runs, inside: tuple[str, ...]) -> Answer:
    """Tests in the changed source itself are not run without it; those in docstrings are over replaced bodies."""
    left, notes = await line_coverage.unrun(runs, ())
    if left:
        return Answer(objections=(line_coverage.objection("no passing test runs", left),), notes=notes)
    if not any(each.path in inside and each.functions for each in runs.code.python):
        text = f"{UNKNOWN}they stand inside of the changed source, and cannot be run without it"
        return Answer(notes=((Effect.NOTED, text), *notes))
    async with run_group() as all_of_them:
        others = {mode: all_of_them.start(runs.rewritten(mode, ())) for mode in runs.code.modes}
        replaced = {mode: await run for mode, run in others.items()}
    missed = [mode for mode, ran in replaced.items() if not _fails_inside(ran.run, inside)]
    if missed:
        how = " and ".join(DOES[mode] for mode in missed)
        reason = f"the tests inside of the changed source pass where each new or changed function {how}"
        return objected(Judge.PROVES_NOTHING, f"{reason}, so they prove nothing: {listed(inside)}", TEST_THE_RESULT)
    return Answer(notes=notes)


def _fails_inside(run: TestRun, inside: Collection[str]) -> bool:
    return any(name.partition("::")[0] in inside for name in run.failures)


def changed_behaviour(ctx: Context, change: ChangeSet) -> tuple[str, ...]:
    """The files of code, neither test nor documentation, that differ by their syntax."""
    product = (file for file in change.files if is_product_code(file, ctx.is_test_path))
    return tuple(file.path for file in product if differs(ctx, change, file))


def _has_tests_inside(ctx: Context, change: ChangeSet, path: str, ran: TestRun) -> bool:
    """Whether a source file brings tests within itself, as in Rust, or in docstrings that a runner runs."""
    file = next((each for each in change.present if each.path == path and each.added), None)
    if file is None or not is_product_code(file, ctx.is_test_path):
        return False
    lines = (ctx.repository.read(change.tree, path) or b"").splitlines()
    added = [lines[number - 1] for number in file.added_lines if number <= len(lines)]
    if language_of(path) in _TESTS_INSIDE:
        return any(_TEST_INSIDE.match(line) for line in added)
    runs_there = any(name.startswith(f"{path}::") for name in ran.names)
    return runs_there and any(line.lstrip().startswith(b">>> ") for line in added)
