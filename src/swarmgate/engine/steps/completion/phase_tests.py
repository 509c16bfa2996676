"""The test_phase step: the tests run over the tree that a phase leaves, and a failure is traced to its task.

A test that fails twice at the tip is bisected over the commits of the phase, in checkouts of their own. The task whose
commit broke it is open again; what failed before the phase, or by a commit of the user's, is for the user to decide.
"""

from __future__ import annotations

from collections.abc import Mapping

from swarmgate.domain.base import Frozen
from swarmgate.domain.events.event import Culprit, Event, PhaseRegressed, PhaseReviewed
from swarmgate.domain.review.evidence import Remark, Review, TestRun, Verdict
from swarmgate.domain.review.finding import Severity
from swarmgate.domain.state.phase_verdict import phase_commits
from swarmgate.domain.state.state import State, TaskStatus
from swarmgate.engine.context import Context
from swarmgate.engine.steps.recovery import quarantine_leftovers
from swarmgate.engine.steps.testing.engineer import on_record
from swarmgate.engine.steps.testing.suite import run_suites
from swarmgate.workspace.git.history import first_parents
from swarmgate.workspace.git.revisions import parent
from swarmgate.workspace.test_runs.suites import Suites, chosen

_WHOLE = "the whole suite"
"""Stands for the failed tests of a run that names none."""
_NO_TESTS = {0, 5}
"""How runners end where there is no test; 5: pytest (`ExitCode.NO_TESTS_COLLECTED`), and unittest since Python 3.12."""
_NAMED, _TAIL = 5, 2_000


async def test_phase(state: State, ctx: Context) -> list[Event]:
    """Runs all suites that the phase touched over the newest commit; opens the tasks again by which tests fail now.

    Raises:
        MissingRequirement: the program that runs the tests is not there.
        WorkspaceError: git failed.
    """
    number = state.current_phase
    put_away, head = quarantine_leftovers(state, ctx.folder, ctx.repository), ctx.repository.head()
    base = parent(ctx.repository, next(iter(phase_commits(state, number))))
    trace = _Trace(ctx, _suites(state, ctx, number, base, head), base, head, _tasks(state, number))
    found = await trace.judged(frozenset(state.known_red))
    record = state.phase(number)
    round_ = record.round("tests")
    reviewed = PhaseReviewed(
        phase=number,
        stage="tests",
        round=round_,
        number=1,
        of=1,
        review=found.review,
        base=base,
        commit=head,
        run=on_record(found.run),
        evidence=ctx.evidence.write(
            f"phase-{number}", round_, "tests-1.json", found.run.model_dump_json(indent=1).encode()
        ),
    )
    opened = [PhaseRegressed(phase=number, culprits=found.culprits)] if found.culprits else []
    return [*put_away, reviewed, *opened]


def _tasks(state: State, number: int) -> dict[str, str]:
    """The tasks of the phase that are complete, by each commit that was ever made for them."""
    made = phase_commits(state, number).items()
    return {commit: task for commit, task in made if state.task(task).status is TaskStatus.COMPLETE}


def _suites(state: State, ctx: Context, number: int, base: str, head: str) -> Suites:
    """The suites that what differs since the phase began belongs to."""
    known = ctx.all_suites()
    if not known.names or not base:
        return known
    changed = ctx.repository.changes(ctx.repository.tree_of(base), ctx.repository.tree_of(head))
    scopes = (
        a.scope for each in (state.plan.phase(number).tasks if state.plan else ()) for a in state.task(each.id).attempts
    )
    paths = [path for file in changed.files for path in file.touched]
    return chosen(known, [*paths, *(path for scope in scopes for path in scope)])


class Found(Frozen):
    """What the tests of a phase say: their run over its tree, the verdict, and the tasks that are open again."""

    run: TestRun
    review: Review
    culprits: tuple[Culprit, ...] = ()


class _Trace:
    """The tests at commits of a phase; `tasks` names the task of a commit where it was made for one."""

    def __init__(self, ctx: Context, suites: Suites, base: str, head: str, tasks: Mapping[str, str]) -> None:
        self._ctx, self._suites, self._base, self._head, self._tasks = ctx, suites, base, head, tasks
        self._commits = first_parents(ctx.repository, base, head)
        self._files = frozenset(ctx.repository.list_tree(ctx.repository.tree_of(head)))

    async def judged(self, known_red: frozenset[str]) -> Found:
        """Runs them all at the tip, the failed ones again, and finds out since when those fail."""
        run = await run_suites(self._ctx, self._suites, self._ctx.repository.tree_of(self._head))
        failed = failing(run) - known_red
        if not failed:
            told = f"{run.passed} passed" if run.green else "only tests fail that you let pass"
            return _approved(run, told)
        self._ctx.notify("notice", f"the tests of the phase fail: {run.reason}; running those again")
        again = await self._failing(self._head, failed)
        if flaky := failed - again:
            self._ctx.notify("notice", f"flaky, passed on a second run: {', '.join(sorted(flaky))}")
        if not again:
            return _approved(run, f"all passed, {_listed(flaky)} only on a second run: flaky")
        older = await self._failing(self._base, again) if self._base else frozenset()
        since: dict[str, frozenset[str]] = {}
        if newer := again - older:
            await self._bisect(-1, len(self._commits) - 1, newer, since)
        return self._rejected(run, older, flaky, since)

    async def _failing(self, commit: str, tests: frozenset[str]) -> frozenset[str]:
        """Those of some tests that fail at a commit; one that is not there yet does not."""
        tree = self._ctx.repository.tree_of(commit)
        files = {name.partition("::")[0] for name in tests}
        alone = self._suites.alone(self._ctx.repository.root) and files <= self._files
        there = self._ctx.repository.list_tree(tree)
        paths = tuple(sorted(files & set(there))) if alone else ()
        suites = self._suites.found_in(there)
        if not suites.suites or (alone and not paths):
            return frozenset()
        self._ctx.notify("notice", f"running {_listed(tests)} at commit {commit[:12]}")
        run = await run_suites(self._ctx, suites, tree, paths)
        if self._has_no_tests(commit, run):
            return frozenset()
        found = failing(run)
        if found and _WHOLE in found | tests:  # which ones is not known
            return tests
        return frozenset(name for name in tests if name in found or name.partition("::")[0] in found)

    def _has_no_tests(self, commit: str, run: TestRun) -> bool:
        """Whether there was no test yet at a commit; what could not be run before the phase did not fail before it."""
        if run.ran or commit == self._head:
            return False
        return run.exit_code in _NO_TESTS or (commit == self._base and run.exit_code is not None)

    async def _bisect(self, good: int, bad: int, tests: frozenset[str], since: dict[str, frozenset[str]]) -> None:
        """Finds the first commit at which each test fails, between one where all pass and one where all fail."""
        if bad - good == 1:
            commit = self._commits[bad]
            since[commit] = since.get(commit, frozenset()) | tests
            return
        middle = (good + bad) // 2
        failed = await self._failing(self._commits[middle], tests)
        if failed:
            await self._bisect(good, middle, failed, since)
        if rest := tests - failed:
            await self._bisect(middle, bad, rest, since)

    def _rejected(
        self, run: TestRun, older: frozenset[str], flaky: frozenset[str], since: Mapping[str, frozenset[str]]
    ) -> Found:
        culprits = tuple(
            self._culprit(
                run, task, {commit: tests for commit, tests in since.items() if self._tasks.get(commit) == task}
            )
            for task in dict.fromkeys(self._tasks[commit] for commit in since if commit in self._tasks)
        )
        own = {commit: tests for commit, tests in since.items() if commit not in self._tasks}
        parts = [each.reason for each in culprits]
        parts += [
            f"since commit {commit[:12]}, which is no task's, fail: {_listed(tests)}" for commit, tests in own.items()
        ]
        parts += [f"these failed before the phase, too, and belong to no task: {_listed(older)}"] if older else []
        parts += [f"flaky, passed on a second run: {_listed(flaky)}"] if flaky else []
        remark = Remark(severity=Severity.HIGH, message=run.output[-_TAIL:] or run.reason)
        review = Review(verdict=Verdict.REJECTED, summary="; ".join(parts), findings=(remark,))
        return Found(run=run, review=review, culprits=culprits)

    def _culprit(self, run: TestRun, task: str, since: Mapping[str, frozenset[str]]) -> Culprit:
        """A task, and the tests that fail since its commits: it may have more than one, where it was opened before."""
        tests = frozenset[str]().union(*since.values())
        reason = f"since its commit {', '.join(commit[:12] for commit in since)} fail: {_listed(tests)}"
        remarks = [Remark(severity=Severity.HIGH, message=f"{name} fails", file=_file(name)) for name in sorted(tests)]
        output = Remark(severity=Severity.HIGH, message=run.output[-_TAIL:] or run.reason)
        return Culprit(
            task=task,
            commit=self._ctx.ledger.state.task(task).commit,
            failures=tuple(sorted(tests)),
            reason=reason,
            feedback=(*remarks[:_NAMED], output),
        )


def failing(run: TestRun) -> frozenset[str]:
    """The names of the tests that fail in a run; one name for all where it does not tell them."""
    if run.green:
        return frozenset()
    runs = run.parts or (run,)
    named = all(each.green or (each.failures and not each.problem) for each in runs)
    return frozenset(run.failures) if named else frozenset({_WHOLE})


def _file(name: str) -> str:
    return name.partition("::")[0] if "::" in name else ""


def _approved(run: TestRun, summary: str) -> Found:
    return Found(run=run, review=Review(verdict=Verdict.APPROVED, summary=summary))


def _listed(tests: frozenset[str]) -> str:
    names = sorted(tests)
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
