"""Proving: what shows that a change does what is new in it, and that it breaks nothing that was there.

The law is one page in docs/architecture.md, "What proves a task". Each question is asked by runs that swarmgate starts
itself; they go at once, and their answers are read in a fixed order.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection

from swarmgate.domain.base import Frozen
from swarmgate.domain.change import ChangeSet
from swarmgate.domain.evidence import Proof, Remark, TestRun
from swarmgate.domain.finding import Severity
from swarmgate.domain.guard import Effect
from swarmgate.domain.plan import Kind
from swarmgate.domain.remedies import PROVES_NOTHING, UNPROVEN
from swarmgate.engine.context import Context
from swarmgate.engine.steps.proof_runs import TEST_FILE, Ran, Runs, differs, is_product_code, unchanged_tests, unrun
from swarmgate.gates.files import language_of
from swarmgate.workspace.instrumentation import Mode, Unit
from swarmgate.workspace.runner_files import may_steer, steers

_NO_TESTS = 5
"""Pytest's exit code where it collected none (`pytest.ExitCode.NO_TESTS_COLLECTED`): that is no failure."""
_SHOWN = 5
_TAIL = 2_000
_UNKNOWN = "whether the new tests can fail is not known: "
_TESTS_INSIDE = frozenset({"rust", "zig"})
_TEST_INSIDE = re.compile(rb'\s*(?:#\[(?:\w+::)*(?:test|rstest|test_case|quickcheck|wasm_bindgen_test)\b|test\s+")')
"""How Rust and Zig begin a test."""
_DOES = {Mode.RAISE: "raises an error at once", Mode.CONSTANT: "returns a wrong constant at once"}
_TEST_THE_DIFFERENCE = "Test what the change makes different: at least one test has to fail on the code before it."
_TEST_THE_RESULT = "Call the new and changed functions themselves, and compare what they return or do with what is due."
_RUN_IT = "Write tests that run these lines and check what they do; remove them where nothing needs them."
_BRING_TESTS = (
    "Write a test that fails without the change. Only the plan can say that none is needed: by `Kind: refactoring`, "
    "`documentation` or `configuration`."
)


class Objection(Frozen):
    """Why the change is not proven: who says so, in one line, and what is told to whoever works next."""

    stage: str
    reason: str
    remarks: tuple[Remark, ...] = ()


class Answer(Frozen):
    """The proof where there is one, what speaks against it in a fixed order, and what else is said, with its effect."""

    proof: Proof | None = None
    objections: tuple[Objection, ...] = ()
    notes: tuple[tuple[Effect, str], ...] = ()


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
    """What shows that the change does what is new in it.

    Args:
        ctx: the surroundings of the step.
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
        return _objected(UNPROVEN, f"the plan says that the task is {kind}, and it changes {_listed(altered)}")
    if kind is Kind.REFACTORING:
        return _refactoring(runs, old)
    tests = tuple(path for path in new_tests(ctx, change, alone=runs.alone) if path not in attacks)
    if tests:
        return await _Proving(ctx, change, runs, tests, measured=measured).answer()
    return await _untested(ctx, change, runs, ran, attacks)


def _objected(stage: str, reason: str, advice: str = "") -> Answer:
    remark = Remark(severity=Severity.HIGH, message=reason, suggestion=advice)
    return Answer(objections=(Objection(stage=stage, reason=reason, remarks=(remark,)),))


def _refactoring(runs: Runs, old: Ran | None) -> Answer:
    """No new test is needed: those that were there run what was changed."""
    claim = "the plan says that the task is a refactoring"
    if old is None or not old.run.ran:
        return _objected(UNPROVEN, f"{claim}, and there were no tests before it that could show it", _BRING_TESTS)
    left = unrun(_units(runs), old.hits)
    unread = _not_measured(runs)
    proof = Proof(tests=(), run=old.run, able=True, unrun=tuple(map(str, left)))
    if not left:
        return Answer(proof=proof, notes=unread)
    if old.doubt:
        return Answer(notes=((Effect.NOTED, f"which changed lines the tests run is not known: {old.doubt}"), *unread))
    reason = f"{claim}, and no test that was there before it runs {_named(left)}"
    return Answer(proof=proof, objections=(_unrun_objection(reason, left),), notes=unread)


async def _untested(ctx: Context, change: ChangeSet, runs: Runs, ran: TestRun, attacks: Collection[str]) -> Answer:
    """Behaviour changed without a new test file; there may be tests inside of the changed source."""
    if any(_has_tests_inside(ctx, change, path, ran) for path in change.paths):
        text = f"{_UNKNOWN}they stand inside of the changed source, and cannot be run without it"
        left, notes = await _unrun(runs, frozenset())
        if left:
            objection = _unrun_objection(f"no passing test runs {_named(left)}", left)
            return Answer(objections=(objection,), notes=notes)
        return Answer(notes=((Effect.NOTED, text), *notes))
    but = " but adversarial ones" if any(path in attacks for path in change.paths) else ""
    reason = f"the change alters behaviour and brings no new test{but}: nothing shows that the tests would notice"
    return _objected(UNPROVEN, reason, _BRING_TESTS)


class _Proving:
    """New tests against the code without the change, and with its functions' bodies replaced."""

    def __init__(self, ctx: Context, change: ChangeSet, runs: Runs, tests: tuple[str, ...], *, measured: bool) -> None:
        self._ctx, self._change, self._runs, self._tests, self._measured = ctx, change, runs, tests, measured
        self._stood = unchanged_tests(ctx, change, tests)
        self._notes: list[tuple[Effect, str]] = []
        self._others: dict[str, TestRun] = {}

    async def answer(self) -> Answer:
        """What the runs say."""
        before, passing, replaced = await self._at_once(self._tests)
        if not passing.run.green:
            fit = await self._fit()
            if isinstance(fit, Answer):
                return fit
            if fit != self._tests:
                self._tests = fit
                before, passing, replaced = await self._at_once(fit)
        able = fails(before.run, self._runs.kind)
        if able and not replaced:  # nothing else would find out a test that keeps a count of its runs
            before = await self._runs.before(self._tests)
            able = fails(before.run, self._runs.kind)
        if not able and before.doubt:
            return Answer(notes=((Effect.NOTED, _UNKNOWN + before.doubt), *self._notes))
        unnoticed = await self._unnoticed(passing, replaced) if able else ()
        left, notes = await _unrun(self._runs, passing.hits) if self._measured else ((), ())
        proof = Proof(
            tests=self._tests,
            run=before.run,
            able=able,
            unnoticed=unnoticed,
            unrun=tuple(map(str, left)),
            others=self._others,
        )
        return Answer(proof=proof, objections=tuple(self._objections(proof, left)), notes=(*self._notes, *notes))

    async def _at_once(self, tests: tuple[str, ...]) -> tuple[Ran, Ran, dict[Mode, Ran]]:
        runs, modes = self._runs, self._runs.code.modes
        before, passing, *others = await asyncio.gather(
            runs.before(tests), runs.rewritten(Mode.PASS, tests), *(runs.rewritten(mode, tests) for mode in modes)
        )
        replaced = dict(zip(modes, others, strict=True))
        self._others = {"rewritten": passing.run, **{mode.name.lower(): ran.run for mode, ran in replaced.items()}}
        return before, passing, replaced

    async def _fit(self) -> tuple[str, ...] | Answer:
        """Those of the tests that pass in a copy over code that only says which lines run; else what that means."""
        groups = [(path,) for path in self._tests] if self._runs.alone else [self._tests]
        plain, *each = await asyncio.gather(
            self._runs.after(self._tests), *(self._runs.rewritten(Mode.PASS, group) for group in groups)
        )
        kept = tuple(path for group, ran in zip(groups, each, strict=True) if ran.run.green for path in group)
        left_out = tuple(path for path in self._tests if path not in kept)
        why = next((ran.run.reason for ran in each if not ran.run.green), plain.run.reason)
        if kept:
            if left_out:
                told = f"not asked of {', '.join(left_out[:_SHOWN])}: in a copy of the project it fails with the change"
                self._notes.append((Effect.NOTED, f"{told} too: {why}"))
            return kept
        if plain.run.green:
            return self._of_the_text(why)
        whole = await self._runs.after(())
        text = f"in a copy of the project the new tests fail with the change too: {plain.run.reason}"
        own = [name for name in whole.run.failures if name.partition("::")[0] in self._tests]
        if whole.run.passed and whole.run.failed == len(own):
            return _objected(UNPROVEN, f"{text}; all other tests pass there", _ANY_PLACE)
        return Answer(notes=((Effect.WARNED, _UNKNOWN + text),))

    def _of_the_text(self, why: str) -> Answer:
        """The tests pass, but not over the same code in other words."""
        if not self._runs.code.python:
            return Answer(notes=((Effect.NOTED, f"{_UNKNOWN}what is put into the code for it fails them: {why}"),))
        reason = f"the new tests fail where the code is only written in other words, so they prove nothing: {why}"
        return _objected(PROVES_NOTHING, reason, _TEST_THE_RESULT)

    async def _unnoticed(self, passing: Ran, replaced: dict[Mode, Ran]) -> tuple[str, ...]:
        """How bodies were replaced that no new test notices."""
        python = {probe for each in self._runs.code.python for probe in each.functions}
        if python & passing.hits and not passing.called and not self._runs.code.other:
            found = await asyncio.gather(
                *(self._runs.rewritten(mode, self._tests, everywhere=True) for mode in replaced)
            )
            replaced = dict(zip(replaced, found, strict=True))
        missed = {mode: ran for mode, ran in replaced.items() if not self._notices(ran.run)}
        doubt = next((ran.doubt for ran in missed.values() if ran.doubt), "")
        if doubt:
            self._notes.append((Effect.NOTED, f"whether the new tests notice replaced bodies is not known: {doubt}"))
            return ()
        return tuple(_DOES[mode] for mode in missed)

    def _notices(self, run: TestRun) -> bool:
        """Whether a test fails that is new or changed: one that stood in its file before says nothing of the others."""
        named = [name for name in run.failures if not self._stood(name)]
        return fails(run, self._runs.kind) and bool(named or not run.failures)

    def _objections(self, proof: Proof, left: tuple[Unit, ...]) -> list[Objection]:
        files = ", ".join(proof.tests[:_SHOWN])
        found = []
        if not proof.able:
            reason = f"the new tests pass without the change as well, so they prove nothing: {files}"
            output = f"{reason}\nTheir run over the code before the change:\n{proof.run.output[-_TAIL:]}"
            remark = Remark(severity=Severity.HIGH, message=output, suggestion=_TEST_THE_DIFFERENCE)
            found.append(Objection(stage=PROVES_NOTHING, reason=reason, remarks=(remark,)))
        elif proof.unnoticed:
            functions = _listed(self._runs.code.functions)
            reason = f"the new tests pass where each new or changed function {' and '.join(proof.unnoticed)}"
            told = f"{reason}, so they prove nothing of {functions}: {files}"
            remark = Remark(severity=Severity.HIGH, message=told, suggestion=_TEST_THE_RESULT)
            found.append(Objection(stage=PROVES_NOTHING, reason=told, remarks=(remark,)))
        if left:
            found.append(_unrun_objection(f"no passing test runs {_named(left)}", left))
        return found


_ANY_PLACE = "A test passes wherever the project lies, and does not look for the place, its history or who runs it."


async def _unrun(runs: Runs, hits: frozenset[str]) -> tuple[tuple[Unit, ...], tuple[tuple[Effect, str], ...]]:
    """The changed parts that no test runs, neither a new one nor any other; and what is not known of it."""
    left, notes = unrun(_units(runs), hits), _not_measured(runs)
    if left:
        whole = await runs.rewritten(Mode.PASS, ())
        left = unrun(left, whole.hits)
        if left and whole.doubt:
            return (), (*notes, (Effect.NOTED, f"which changed lines the tests run is not known: {whole.doubt}"))
    return left, notes


def _units(runs: Runs) -> tuple[Unit, ...]:
    return tuple(unit for each in runs.code.python for unit in each.units)


def _not_measured(runs: Runs) -> tuple[tuple[Effect, str], ...]:
    if not runs.code.unread:
        return ()
    text = f"which changed lines the tests run is not measured in {_listed(runs.code.unread)}"
    return ((Effect.NOTED, text),)


def _unrun_objection(reason: str, left: tuple[Unit, ...]) -> Objection:
    remarks = tuple(
        Remark(
            severity=Severity.HIGH,
            message=f"No passing test runs what was changed in {unit.name}.",
            file=unit.path,
            line=unit.line,
            suggestion=_RUN_IT,
        )
        for unit in left[: 2 * _SHOWN]
    )
    return Objection(stage=UNPROVEN, reason=reason, remarks=remarks)


def _named(units: tuple[Unit, ...]) -> str:
    return _listed(tuple(map(str, units)))


def _listed(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


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
    return tuple(file.path for file in files if differs(ctx, change, file))


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
