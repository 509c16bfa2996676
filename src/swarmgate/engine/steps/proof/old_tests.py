"""Runs the tests from before the task, in their old form, over the new code to find hidden regressions.

A change may have to alter what a test expects. The plan says so (`Kind: breaking`, with the test among the task's
files), or the user does by an override; nobody else.
"""

from __future__ import annotations

import re

from swarmgate.domain.base import Frozen
from swarmgate.domain.guard import Effect
from swarmgate.domain.plan.plan import Kind, Task
from swarmgate.domain.review.change import ChangedFile, ChangeSet
from swarmgate.domain.review.evidence import Remark, TestRun
from swarmgate.domain.review.finding import Severity
from swarmgate.domain.review.stage import Judge
from swarmgate.engine.context import Context
from swarmgate.engine.steps.proof.concurrent_runs import run_group
from swarmgate.engine.steps.proof.new_tests import fails
from swarmgate.engine.steps.proof.objections import Objection, listed
from swarmgate.engine.steps.proof.proof_runs import Ran, Runs, differs, is_of_tests
from swarmgate.gates.source import behaviour
from swarmgate.workspace.test_runs.runner_files import steers
from swarmgate.workspace.test_runs.suites import TEST_FILE

_CHEAP_S = 60.0
"""Seconds of the suite up to which its old tests are run by themselves though only new files came to them."""
_TAIL = 2_000
_CASE = re.compile(r"[\[({].*", re.DOTALL)
_ADVICE = (
    "Make the code pass these tests as they were. If the task means to change what they expect, only the plan can say "
    "so, by `Kind: breaking` and the test file among the task's files; or the user, by an override."
)


class Old(Frozen):
    """What the tests of before say: `outdated` are those that fail, told in `objection`; `notes`: what else is said.

    `run` is their run; None where they were not run.
    """

    run: TestRun | None = None
    objection: Objection | None = None
    outdated: tuple[str, ...] = ()
    notes: tuple[tuple[Effect, str], ...] = ()


class Wanted(Frozen):
    """Which of the tests of before are run: these files, all where there are none; `skipped` says why none is."""

    paths: tuple[str, ...] = ()
    skipped: str = ""


def wanted(ctx: Context, change: ChangeSet, runs: Runs, ran: TestRun, *, all_of_them: bool) -> Wanted | None:
    """Which tests of before are to be run in their old form; None where the change leaves nothing to ask.

    Args:
        ctx: the context of the step.
        change: the whole change of the attempt.
        runs: makes the runs.
        ran: the run of the whole suite over the final tree.
        all_of_them: whether they are asked for in any case.
    """
    ours = [file for file in change.files if _is_of_tests(ctx, file)]
    if len(ours) == len(change.files) or not _had_tests(ctx, change):
        return None
    if all_of_them:
        return Wanted()
    altered = [file for file in ours if file.old_mode and _differs(ctx, change, file)]
    support = [
        file for file in ours if not file.old_mode and not TEST_FILE.search(file.path) and differs(ctx, change, file)
    ]
    paths = tuple(dict.fromkeys(file.old_path or file.path for file in altered))
    alone = runs.alone and all(TEST_FILE.search(path) and not steers(path) for path in paths)
    fresh = any(not file.old_mode for file in ours)
    if support or (altered and not alone) or (fresh and ran.seconds <= _CHEAP_S):
        return Wanted()
    if altered:
        return Wanted(paths=paths)
    message = (
        f"the suite takes {ran.seconds:.0f} s: the tests of before were not run by themselves, without the new ones"
    )
    return Wanted(skipped=message) if fresh else None


async def judged(
    runs: Runs, task: Task | None, old: Ran, paths: tuple[str, ...], *, there: TestRun, tolerates: bool
) -> Old:
    """Judges old tests that fail in their old form; those that failed before the change do not count.

    Args:
        runs: makes the runs.
        task: what the plan says; None where there is no plan.
        old: their run over the new code.
        paths: the files that were run; all where there are none.
        there: the run of the whole suite over the final tree.
        tolerates: whether tests that are gone from there are accepted.
    """
    if not fails(old.run, runs.kind):
        return Old()
    async with run_group() as both:
        again_run, base_run = both.start(runs.old(paths)), both.start(runs.base(paths))
        again, base = await again_run, await base_run
    if again.run.green:
        return Old()
    found = _newly_failing(again.run, base.run)
    if not found:
        message = f"in a copy of the project the tests of before fail before the change, too: {base.run.reason}"
        return Old() if base.run.failed else Old(notes=((Effect.NOTED, message),))
    if tolerates:
        present = set(map(_function, (*there.names, *there.skips)))
        found = tuple(name for name in found if "::" not in name or _function(name) in present)
    allowed = set(task.files) if task is not None and task.kind is Kind.BREAKING else set()
    meant = tuple(name for name in found if name.partition("::")[0] in allowed)
    notes = ((Effect.WARNED, f"the plan lets these tests of before fail: {listed(meant)}"),) if meant else ()
    left = tuple(name for name in found if name not in meant)
    return Old(objection=_objection(left, again.run), outdated=left, notes=notes) if left else Old(notes=notes)


def _newly_failing(run: TestRun, base: TestRun) -> tuple[str, ...]:
    """The tests that fail in `run` and did not in `base`; where they have no names, or never ran, what the run says."""
    if found := tuple(name for name in run.failures if name not in base.failures):
        return found
    ended_early = run.ran < base.ran and (run.exit_code != base.exit_code or bool(run.problem))
    if base.green or ended_early or (not run.failures and (run.failed or 0) > (base.failed or 0)):
        return (run.reason or f"`{run.command}` ended with exit code {run.exit_code}",)
    return ()


def _objection(names: tuple[str, ...], run: TestRun) -> Objection:
    reason = f"tests that were there before the task fail in their old form: {listed(names)}"
    message = f"{reason}\nTheir run over the new code:\n{run.output[-_TAIL:]}"
    remark = Remark(severity=Severity.HIGH, message=message, suggestion=_ADVICE)
    return Objection(stage=Judge.OLD_TESTS, reason=reason, remarks=(remark,))


def _is_of_tests(ctx: Context, file: ChangedFile) -> bool:
    return all(is_of_tests(path, ctx.is_test_path) for path in file.touched)


def _differs(ctx: Context, change: ChangeSet, file: ChangedFile) -> bool:
    """Whether an old file of tests is another one now: code by its syntax, anything else by its content."""
    if not file.exists or (file.old_path or file.path) != file.path:
        return True
    read = ctx.repository.read
    before, after = read(change.base, file.old_path or file.path), read(change.tree, file.path)
    return behaviour.differs(file.path, before, after) if behaviour.is_code(file.path) else before != after


def _had_tests(ctx: Context, change: ChangeSet) -> bool:
    return any(ctx.is_test_path(path) and behaviour.is_code(path) for path in ctx.repository.list_tree(change.base))


def _function(name: str) -> str:
    """`tests/test_a.py::TestX::test_b` of `tests/test_a.py::TestX::test_b[1-2]`."""
    return _CASE.sub("", name).strip() or name
