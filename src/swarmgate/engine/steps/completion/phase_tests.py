"""The test_phase step: the tests run over the tree that a phase leaves, and a failure is traced to its task.

A test that fails twice at the tip is bisected over the commits of the phase, in checkouts of their own. The task whose
commit broke it is open again; what failed before the phase, or by a commit of the user's, is for the user to decide.
"""

from __future__ import annotations

from collections.abc import Mapping

from swarmgate.domain.base import Frozen
from swarmgate.domain.events.event import Culprit, Event, PhaseRegressed, PhaseReviewed, TaskUndone
from swarmgate.domain.review.evidence import Remark, Review, TestRun, Verdict
from swarmgate.domain.review.finding import Severity
from swarmgate.domain.state.phase_verdict import phase_commits
from swarmgate.domain.state.state import State, TaskStatus
from swarmgate.engine.branch_history import phase_base
from swarmgate.engine.context import Context
from swarmgate.engine.steps.recovery import quarantine_leftovers
from swarmgate.engine.steps.testing.engineer import on_record
from swarmgate.engine.steps.testing.suite import run_suites
from swarmgate.errors import MissingRequirement
from swarmgate.workspace.git.changes import reverting
from swarmgate.workspace.git.history import first_parents
from swarmgate.workspace.git.repository import Repository
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
    base = phase_base(state, ctx.repository, number)
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


def tested_before(state: State, repository: Repository) -> str:
    """The commit over which the tests of the current phase passed, where the branch holds another tree by now."""
    ran = [each for each in state.phase(state.current_phase).verdicts("tests") if each.review.approved]
    moved = ran and repository.tree_of(ran[-1].commit) != repository.tree_of(state.branch)
    return ran[-1].commit if moved else ""


def _tasks(state: State, number: int) -> dict[str, str]:
    """The tasks of the phase that are complete, by each commit that their work stands in."""
    tasks = [each.id for each in state.plan.phase(number).tasks] if state.plan else []
    done = [task for task in tasks if state.task(task).status is TaskStatus.COMPLETE]
    return {commit: task for task in done for commit in state.task(task).commits}


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
    """The tests at commits of a phase; `tasks` names the complete task that has its work in a commit."""

    def __init__(self, ctx: Context, suites: Suites, base: str, head: str, tasks: dict[str, str]) -> None:
        self._ctx, self._suites, self._base, self._head, self._tasks = ctx, suites, base, head, tasks
        self._commits = first_parents(ctx.repository, base, head)
        self._files = frozenset(ctx.repository.list_tree(ctx.repository.tree_of(head)))
        self._together: frozenset[str] = frozenset()
        """Tests that fail among all others, and not by themselves."""

    async def judged(self, known_red: frozenset[str]) -> Found:
        """Runs them all at the tip, the failed ones again, and finds out since when those fail."""
        run = await run_suites(self._ctx, self._suites, self._ctx.repository.tree_of(self._head))
        failed = failing(run) - known_red
        if not failed:
            told = f"{run.passed} passed" if run.green else "only tests fail that you let pass"
            return _approved(run, told)
        self._ctx.notify("notice", f"the tests of the phase fail: {run.reason}; running those again")
        again = await self._failing(self._head, failed)
        if others := failed - again:  # they pass by themselves: flaky, or broken by what runs before them
            self._together = await self._failing(self._head, others, together=True)
            again |= self._together
        if flaky := failed - again:
            self._ctx.notify("notice", f"flaky, passed on a second run: {', '.join(sorted(flaky))}")
        if not again:
            return _approved(run, f"all passed, {_listed(flaky)} only on a second run: flaky")
        older = await self._failing(self._base, again) if self._base else frozenset()
        since: dict[str, frozenset[str]] = {}
        if newer := again - older:
            await self._bisect(-1, len(self._commits) - 1, newer, since)
        return self._rejected(run, older, flaky, since)

    async def _failing(self, commit: str, tests: frozenset[str], *, together: bool = False) -> frozenset[str]:
        """Those of some tests that fail at a commit; one that is not there yet does not.

        `together`: all tests run, as for those of which it is known that they fail among others alone.
        """
        tree = self._ctx.repository.tree_of(commit)
        files = {name.partition("::")[0] for name in tests}
        narrow = not together and not tests & self._together and files <= self._files
        alone = narrow and self._suites.alone(self._ctx.repository.root)
        there = self._ctx.repository.list_tree(tree)
        paths = tuple(sorted(files & set(there))) if alone else ()
        suites = self._suites.found_in(there)
        if not suites.suites or (alone and not paths):
            return frozenset()
        self._ctx.notify("notice", f"running {_listed(tests)} at commit {commit[:12]}")
        try:
            run = await run_suites(self._ctx, suites, tree, paths)
        except MissingRequirement:
            if commit == self._head:
                raise
            return frozenset()  # it ran at the tip: what runs the tests came later
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
        if bad - good <= 1:  # less: what fails here passed here before
            await self._found(bad, tests, since)
            return
        middle = (good + bad) // 2
        failed = await self._failing(self._commits[middle], tests)
        if failed:
            await self._bisect(good, middle, failed, since)
        if rest := tests - failed:
            await self._bisect(middle, bad, rest, since)

    async def _found(self, place: int, tests: frozenset[str], since: dict[str, frozenset[str]]) -> None:
        """Counts tests to the commit at which they begin to fail; where its change was taken back, looks after that."""
        commit = self._commits[place]
        if (revert := self._revert(commit)) in self._commits[place + 1 :]:
            self._tasks.pop(commit, None)  # nothing of it is at the tip
            mended = tests - await self._failing(revert, tests)
            if mended:
                await self._bisect(self._commits.index(revert), len(self._commits) - 1, mended, since)
            tests -= mended
        if tests:
            since[commit] = since.get(commit, frozenset()) | tests

    def _revert(self, commit: str) -> str:
        """The later commit that took the change of one back, as the ledger or the history says; empty: none did."""
        events = (entry.event for entry, _ in self._ctx.ledger.entries())
        undone = {event.commit: event.revert for event in events if isinstance(event, TaskUndone)}
        back = reverting.taken_back(self._ctx.repository, [commit], since=self._base, tip=self._head)
        return undone.get(commit) or back.get(commit, "")

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
        parts += [f"since commit {each[:12]}, {self._whose(each)}, fail: {_listed(own[each])}" for each in own]
        parts += [f"these failed before the phase, too, and belong to no task: {_listed(older)}"] if older else []
        parts += [f"flaky, passed on a second run: {_listed(flaky)}"] if flaky else []
        review = Review(verdict=Verdict.REJECTED, summary="; ".join(parts), findings=(_told(run),))
        return Found(run=run, review=review, culprits=culprits)

    def _whose(self, commit: str) -> str:
        """Of a commit that no complete task of the phase has its work in, whose it is."""
        state = self._ctx.ledger.state
        task = phase_commits(state, state.current_phase).get(commit, "")
        skipped = task and state.task(task).status is TaskStatus.SKIPPED
        return f"that of task {task}, which is skipped" if skipped else "which is no task's"

    def _culprit(self, run: TestRun, task: str, since: Mapping[str, frozenset[str]]) -> Culprit:
        """A task, and the tests that fail since its commits: it may have more than one, where it was opened before."""
        tests = frozenset[str]().union(*since.values())
        reason = f"since its commit {', '.join(commit[:12] for commit in since)} fail: {_listed(tests)}"
        remarks = [Remark(severity=Severity.HIGH, message=f"{name} fails", file=_file(name)) for name in sorted(tests)]
        reason += f" ({run.reason})" if _WHOLE in tests else ""
        return Culprit(
            task=task,
            commit=self._ctx.ledger.state.task(task).commit,
            failures=tuple(sorted(tests)),
            reason=reason,
            feedback=(*remarks[:_NAMED], _told(run)),
        )


def failing(run: TestRun) -> frozenset[str]:
    """The names of the tests that fail in a run; one name for all where it does not tell them."""
    if run.green:
        return frozenset()
    runs = run.parts or (run,)
    named = not run.problem and all(each.green or (each.failures and not each.problem) for each in runs)
    return frozenset(run.failures) if named else frozenset({_WHOLE})


def _told(run: TestRun) -> Remark:
    """Why a run is not green, and the end of its output, which may not say."""
    return Remark(severity=Severity.HIGH, message=f"{run.reason}\n{run.output[-_TAIL:]}".strip())


def _file(name: str) -> str:
    return name.partition("::")[0] if "::" in name else ""


def _approved(run: TestRun, summary: str) -> Found:
    return Found(run=run, review=Review(verdict=Verdict.APPROVED, summary=summary))


def _listed(tests: frozenset[str]) -> str:
    names = sorted(tests)
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
