"""Runs new tests without the change, and with function bodies replaced: they have to fail there."""

from __future__ import annotations

from swarmgate.domain.guard import Effect
from swarmgate.domain.review.change import ChangeSet
from swarmgate.domain.review.evidence import Proof, Remark, TestRun
from swarmgate.domain.review.finding import Severity
from swarmgate.domain.review.stage import Judge
from swarmgate.engine.context import Context
from swarmgate.engine.steps.proof import line_coverage
from swarmgate.engine.steps.proof.concurrent_runs import run_group
from swarmgate.engine.steps.proof.objections import Answer, Objection, listed, objected
from swarmgate.engine.steps.proof.proof_runs import Ran, Runs, differs, unchanged_tests
from swarmgate.gates.source.behaviour import is_code
from swarmgate.ledger.files import suite_coverage
from swarmgate.workspace.code.instrumentation import Mode, Unit
from swarmgate.workspace.test_runs.runner_files import steers
from swarmgate.workspace.test_runs.suites import TEST_FILE

UNKNOWN = "whether the new tests can fail is not known: "
_NO_TESTS = 5
"""Pytest's exit code where it collected none (`pytest.ExitCode.NO_TESTS_COLLECTED`): that is no failure."""
_LISTED = 5
_TAIL = 2_000
DOES = {Mode.RAISE: "raises an error at once", Mode.CONSTANT: "returns a wrong constant at once"}
_TEST_THE_DIFFERENCE = "Test what the change makes different: at least one test has to fail on the code before it."
TEST_THE_RESULT = "Call the new and changed functions themselves, and compare what they return or do with what is due."


class NewTests:
    """New tests against the code without the change, and with its functions' bodies replaced.

    `tests` are what is new, `paths` what the runner is given of it; nothing where it runs everything.
    """

    def __init__(self, ctx: Context, change: ChangeSet, runs: Runs, tests: tuple[str, ...], *, measured: bool) -> None:
        self._ctx, self._change, self._runs, self._tests, self._measured = ctx, change, runs, tests, measured
        self._alone = runs.alone and all(map(is_code, tests))
        self._modes = runs.code.modes
        self._existed = unchanged_tests(ctx, change, tests, runs.kind)
        self._notes: list[tuple[Effect, str]] = []
        self._others: dict[str, TestRun] = {}

    async def answer(self) -> Answer:
        """The objections and notes of the runs."""
        before, passing, replaced = await self._asked()
        if not passing.run.green:
            if (fit := await self._fit()) is not None:
                return fit
            before, passing, replaced = await self._asked()
        seen = {unit.path for each in self._runs.code.python for unit in each.units if not unit.left_by(passing.hits)}
        suite_coverage.remember(self._ctx.folder, self._paths, seen)
        able = fails(before.run, self._runs.kind)
        if able and not replaced:  # nothing else would find out a test that keeps a count of its runs
            before = await self._runs.before(self._paths)
            able = fails(before.run, self._runs.kind)
        if not able and before.doubt:
            return Answer(notes=((Effect.NOTED, UNKNOWN + before.doubt), *self._notes))
        unnoticed = await self._unnoticed(passing, replaced) if able else ()
        left, notes = await line_coverage.unrun(self._runs, passing.hits) if self._measured else ((), ())
        proof = Proof(
            tests=self._tests,
            run=before.run,
            able=able,
            unnoticed=unnoticed,
            unrun=tuple(map(str, left)),
            others=self._others,
        )
        return Answer(proof=proof, objections=tuple(self._objections(proof, left)), notes=(*self._notes, *notes))

    @property
    def _paths(self) -> tuple[str, ...]:
        return self._tests if self._alone else ()

    async def _asked(self) -> tuple[Ran, Ran, dict[Mode, Ran]]:
        """The tests over the old code, over the new, and over replaced bodies, at once."""
        runs, paths = self._runs, self._paths
        async with run_group() as all_of_them:
            before = all_of_them.start(runs.before(paths))
            passing = all_of_them.start(runs.rewritten(Mode.PASS, paths))
            others = {mode: all_of_them.start(runs.rewritten(mode, paths)) for mode in self._modes}
            replaced = {mode: await run for mode, run in others.items()}
            found = await before, await passing, replaced
        self._others = {"rewritten": found[1].run, **{mode.name.lower(): ran.run for mode, ran in replaced.items()}}
        return found

    async def _fit(self) -> Answer | None:
        """Goes on with the tests that pass over the rewritten code; the answer where none does."""
        groups: list[tuple[str, ...]] = [(path,) for path in self._paths] or [()]
        async with run_group() as all_of_them:
            others = [all_of_them.start(self._runs.rewritten(Mode.PASS, group)) for group in groups]
            each = [await run for run in others]
        passing = tuple(path for group, ran in zip(groups, each, strict=True) if ran.run.green for path in group)
        why = next((ran.run.reason for ran in each if not ran.run.green), "")
        if passing or not why:
            left_out = tuple(path for path in self._paths if path not in passing)
            if left_out:
                message = f"not asked of {listed(left_out)}: where the code is written in other words it fails: {why}"
                self._notes.append((Effect.NOTED, message))
                self._tests = passing
            return None
        if self._runs.code.python:
            reason = f"the new tests fail where the code is only written in other words, so they prove nothing: {why}"
            return objected(Judge.PROVES_NOTHING, reason, TEST_THE_RESULT)
        self._modes = ()
        message = (
            f"whether the new tests notice replaced bodies is not known: what is put there for it fails them: {why}"
        )
        self._notes.append((Effect.NOTED, message))
        return None

    async def _unnoticed(self, passing: Ran, replaced: dict[Mode, Ran]) -> tuple[str, ...]:
        """How bodies were replaced that no new test notices."""
        code = self._runs.code
        if not code.other and not any(each.replaced(passing.hits) for each in code.python):
            return ()  # what is new is defined on another system
        python = {probe for each in code.python for probe in each.functions}
        if python & passing.hits and not passing.called and not code.other:
            async with run_group() as all_of_them:
                others = {
                    mode: all_of_them.start(self._runs.rewritten(mode, self._paths, everywhere=True))
                    for mode in replaced
                }
                replaced = {mode: await run for mode, run in others.items()}
        missed = {mode: ran for mode, ran in replaced.items() if not self._notices(ran.run)}
        doubt = next((ran.doubt for ran in missed.values() if ran.doubt), "")
        if doubt and not passing.hits:  # code that said that it ran is what ran
            self._notes.append((Effect.NOTED, f"whether the new tests notice replaced bodies is not known: {doubt}"))
            return ()
        return tuple(DOES[mode] for mode in missed)

    def _notices(self, run: TestRun) -> bool:
        """Whether a test fails that is new or changed: one that stood in its file before says nothing of the others."""
        named = [name for name in run.failures if not self._existed(name)]
        return fails(run, self._runs.kind) and bool(named or not run.failures)

    def _objections(self, proof: Proof, left: tuple[Unit, ...]) -> list[Objection]:
        files = ", ".join(proof.tests[:_LISTED])
        found = []
        if not proof.able:
            reason = f"the new tests pass without the change as well, so they prove nothing: {files}"
            output = f"{reason}\nTheir run over the code before the change:\n{proof.run.output[-_TAIL:]}"
            remark = Remark(severity=Severity.HIGH, message=output, suggestion=_TEST_THE_DIFFERENCE)
            found.append(Objection(stage=Judge.PROVES_NOTHING, reason=reason, remarks=(remark,)))
        elif proof.unnoticed:
            functions = listed(self._runs.code.functions)
            reason = f"the new tests pass where each new or changed function {' and '.join(proof.unnoticed)}"
            message = f"{reason}, so they prove nothing of {functions}: {files}"
            remark = Remark(severity=Severity.HIGH, message=message, suggestion=TEST_THE_RESULT)
            found.append(Objection(stage=Judge.PROVES_NOTHING, reason=message, remarks=(remark,)))
        if left:
            found.append(line_coverage.objection("no passing test runs", left))
        return found


def fails(run: TestRun, kind: str) -> bool:
    """Whether a run of new tests shows a failure: a test, an import, or the time limit; skipped tests show none."""
    if run.failed or run.exit_code is None:
        return True
    return run.exit_code != 0 and not (kind == "pytest" and run.exit_code == _NO_TESTS)


def new_tests(ctx: Context, change: ChangeSet, ran: TestRun, *, alone: bool) -> tuple[str, ...]:
    """The files with tests that the change adds or alters, beyond comments and layout.

    `alone`: only files that a runner can be given by themselves, by their names or as `ran` reports tests of them; no
    support code of tests.
    """
    reported = {name.partition("::")[0] for name in ran.names}
    files = [
        file
        for file in change.present
        if file.added and ctx.is_test_path(file.path) and not steers(file.path)
        if TEST_FILE.search(file.path) or file.path in reported or not alone
    ]
    return tuple(file.path for file in files if differs(ctx, change, file))


def new_cases(ctx: Context, change: ChangeSet) -> tuple[str, ...]:
    """The data of tests that the change adds or alters: cases of tests that were there."""
    present = (file for file in change.present if ctx.is_test_path(file.path) and not steers(file.path))
    return tuple(file.path for file in present if not is_code(file.path))
