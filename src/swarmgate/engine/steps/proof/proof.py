"""Decides whether passing tests prove the change: named tests ran, can fail, and detect faults."""

from __future__ import annotations

from collections.abc import Mapping

from swarmgate.domain.base import Frozen
from swarmgate.domain.events.event import AttemptRejected
from swarmgate.domain.guard import Effect, GuardNote
from swarmgate.domain.plan.plan import Kind
from swarmgate.domain.review.change import ChangeSet
from swarmgate.domain.review.evidence import Mutants, Proof, Remark, TestRun
from swarmgate.domain.review.finding import Severity
from swarmgate.domain.review.stage import Judge, Stage
from swarmgate.domain.state.state import Attempt, TaskRecord
from swarmgate.domain.task.remedies import BUDGET
from swarmgate.domain.transitions.task import overruled
from swarmgate.engine.context import Context
from swarmgate.engine.steps.proof import change_proof, changed_line_coverage, mutation, old_tests
from swarmgate.engine.steps.proof.concurrent_runs import run_group
from swarmgate.engine.steps.proof.criteria import mapped
from swarmgate.engine.steps.proof.new_tests import new_tests
from swarmgate.engine.steps.proof.objections import Answer
from swarmgate.engine.steps.proof.old_tests import Old
from swarmgate.engine.steps.proof.proof_runs import Ran, Runs
from swarmgate.engine.steps.proof.uncollected_tests import remarks as remarks_on
from swarmgate.engine.steps.proof.uncollected_tests import uncollected_tests, uncollected_text
from swarmgate.gates.source import behaviour
from swarmgate.ledger.evidence.evidence import BEFORE, MUTATION

_STEP = "run_tests"
_LISTED = 5
_PROOF = "tests-can-fail"
_OLD = "old-tests"


class Trial(Frozen):
    """The outcome of a proof; `proof` is None where there was nothing to prove, or where it does not bind.

    `mutants` is None where none were asked for.
    """

    proof: Proof | None = None
    mutants: Mutants | None = None
    rejection: AttemptRejected | None = None


async def try_tests(ctx: Context, task_id: str, record: TaskRecord, attempt: Attempt, tree: str, ran: TestRun) -> Trial:
    """Checks whether green tests prove the change; the first objection rejects, other results are recorded as notes.

    Args:
        ctx: the context of the step.
        task_id: the task.
        record: its record.
        attempt: its running attempt.
        tree: the final tree.
        ran: the run of the whole suite over it.

    Raises:
        MissingRequirement: mutation is asked for, and its library is not installed.
        WorkspaceError: a copy of the project could not be made.
    """
    trial = _Trying(ctx, task_id, record, attempt, ctx.change(attempt, tree), ran)
    named = None if overruled(record, attempt, Judge.TEST_ENGINEER) else trial.criteria()
    if named is not None:
        return Trial(rejection=named)
    proof, against = await trial.proof()
    mutants = None
    if against is None and ctx.config.tests.mutation and not overruled(record, attempt, Judge.MUTATION):
        mutants, against = await trial.mutation()
    if against is None and not overruled(record, attempt, BUDGET):
        against = await trial.coverage()
    return Trial(proof=proof, mutants=mutants, rejection=against)


class _Trying:
    def __init__(
        self, ctx: Context, task_id: str, record: TaskRecord, attempt: Attempt, change: ChangeSet, ran: TestRun
    ) -> None:
        self._ctx, self._task, self._attempt, self._change, self._ran = ctx, task_id, attempt, change, ran
        self._record = record
        self._settings = ctx.config.tests
        self._suites = ctx.suites(change.tree)
        self._kind = self._suites.kind(ctx.repository.root)
        plan = ctx.ledger.state.plan
        self._planned = plan.tasks.get(task_id) if plan else None

    def criteria(self) -> AttemptRejected | None:
        """Checks that the tests named by the test engineer exist and ran."""
        review = self._attempt.tests_review
        if review is None:
            return None
        found = mapped(review, self._ran, self._texts)
        if found.false:
            lost = uncollected_tests(self._ctx, self._change, self._ran)
            remarks = [Remark(severity=Severity.HIGH, message=text, suggestion=_NAME_TESTS) for text in found.false]
            why = f": {uncollected_text(lost, self._kind)}" if lost else ""
            return self._rejected(
                Judge.TEST_ENGINEER, found.false[0] + why, *remarks_on(lost, self._kind), *remarks[:_LISTED]
            )
        if found.unmapped and self._unmapped_blocks():
            remarks = [Remark(severity=Severity.HIGH, message=text) for text in found.unmapped]
            return self._rejected(Judge.TEST_ENGINEER, found.unmapped[0], *remarks[:_LISTED])
        for text in found.unmapped:
            self._note("criteria", Effect.NOTED, text)
        for text in found.vague:
            self._note("criteria", Effect.WARNED, text)
        if found.unseen:
            text = "the runner names no tests: these are defined, and whether they ran is not known: "
            self._note("criteria", Effect.NOTED, text + ", ".join(found.unseen[:_LISTED]))
        return None

    def _unmapped_blocks(self) -> bool:
        """Whether a criterion without a test rejects: as the settings say, by default where behaviour is new."""
        if self._settings.unmapped != "auto":
            return self._settings.unmapped == "block"
        kind = self._planned.kind if self._planned else Kind.FEATURE
        return kind in (Kind.FEATURE, Kind.BREAKING) and bool(change_proof.changed_behaviour(self._ctx, self._change))

    async def proof(self) -> tuple[Proof | None, AttemptRejected | None]:
        """Checks that new tests show what is new and old ones that nothing broke; gives the first binding objection."""
        binding = self._binding()
        if not any(binding.values()):
            return None, None
        runs = Runs(self._ctx, self._change, self._suites, self._ran)
        found, old = await self._asked(runs, binding)
        for effect, text in found.notes:
            self._note(_PROOF, effect, text)
        for effect, text in old.notes:
            self._note(_OLD, effect, text)
        proof = self._on_evidence(found.proof, old)
        objections = [each for each in (*found.objections, *filter(None, [old.objection])) if binding[each.stage]]
        for each in objections:
            if binding[each.stage] == "block":
                return proof, self._rejected(each.stage, each.reason, *each.remarks)
            if each.stage is Judge.OLD_TESTS:
                self._note(_OLD, Effect.WARNED, each.reason)
            else:
                self._note(_PROOF, Effect.WARNED, each.reason)
        return (None if objections else _binds(proof, binding)), None

    def _binding(self) -> dict[Judge, str]:
        """What an objection of each judge means, `warn` or `block`; empty where it is not asked for."""
        rules = {
            Judge.PROVES_NOTHING: self._settings.must_fail,
            Judge.UNPROVEN: self._settings.unproven,
            Judge.OLD_TESTS: self._settings.altered,
        }
        return {
            judge: "" if rule == "off" or overruled(self._record, self._attempt, judge) else rule
            for judge, rule in rules.items()
        }

    async def _asked(self, runs: Runs, binding: Mapping[Judge, str]) -> tuple[Answer, Old]:
        """Both questions at once; that of a refactoring waits for the tests of before."""
        kind = self._planned.kind if self._planned else Kind.FEATURE
        refactoring = kind is Kind.REFACTORING
        asks = bool(binding[Judge.OLD_TESTS] or refactoring)
        due = old_tests.wanted(self._ctx, self._change, runs, self._ran, all_of_them=refactoring) if asks else None

        async def of_before() -> tuple[Ran | None, Old]:
            if due is None or due.skipped:
                return None, Old(notes=((Effect.NOTED, due.skipped),)) if due else Old()
            ran = await runs.old(due.paths, rewritten=refactoring)
            gone = self._settings.vanished != "block" or overruled(self._record, self._attempt, Judge.SWITCHED_OFF)
            found = await old_tests.judged(runs, self._planned, ran, due.paths, there=self._ran, tolerates=gone)
            return ran, found.model_copy(update={"run": ran.run})

        async def of_new(old: Ran | None) -> Answer:
            if not (binding[Judge.PROVES_NOTHING] or binding[Judge.UNPROVEN]):
                return Answer()
            return await change_proof.prove(
                self._ctx,
                self._change,
                runs,
                self._ran,
                kind=kind,
                attacks=self._record.attacks,
                old=old,
                measured=bool(binding[Judge.UNPROVEN]),
            )

        if refactoring:
            ran, old = await of_before()
            return await of_new(ran), old
        async with run_group() as both:
            new, before = both.start(of_new(None)), both.start(of_before())
            return await new, (await before)[1]

    def _on_evidence(self, proof: Proof | None, old: Old) -> Proof | None:
        """The proof with what the tests of before say, as it is kept."""
        if proof is None:
            return None
        others = {**proof.others, "old": old.run} if old.run else proof.others
        whole = proof.model_copy(update={"outdated": old.outdated, "others": others})
        self._ctx.evidence.write(self._task, self._attempt.number, BEFORE, whole.model_dump_json(indent=1).encode())
        return whole

    async def coverage(self) -> AttemptRejected | None:
        """Checks that the tests run as large a share of the added lines as the quality budget asks for."""
        gates = self._ctx.config.gates
        least = gates.quality.min_changed_line_coverage
        if least is None or BUDGET in gates.skip:
            return None
        found = await changed_line_coverage.measure(
            self._ctx, self._change, Runs(self._ctx, self._change, self._suites, self._ran)
        )
        for text in filter(None, dict.fromkeys((found.text, found.note))):
            self._note("coverage", Effect.NOTED, text)
        if found.ran >= found.known * least:
            return None
        reason = f"{found.text}, at least {least:.0%} are asked for ([gates.quality] min_changed_line_coverage)"
        return AttemptRejected(
            task=self._task,
            attempt=self._attempt.number,
            stage=Stage.of(Judge.GATES, BUDGET),
            reason=reason,
            feedback=found.remarks,
        )

    async def mutation(self) -> tuple[Mutants, AttemptRejected | None]:
        """Counts the faults in the changed lines that tests detect, and checks that they are enough."""
        alone = self._suites.alone(self._ctx.repository.root)
        tests = new_tests(self._ctx, self._change, self._ran, alone=True) if alone else ()
        found = await mutation.mutate(self._ctx, self._change, self._suites, self._ran, tests)
        whole = found.model_dump_json(indent=1).encode()
        self._ctx.evidence.write(self._task, self._attempt.number, MUTATION, whole)
        for text in found.notes:
            self._note("mutation", Effect.NOTED, text)
        count = found.count
        if count.rate >= self._settings.min_kill_rate:
            if count.tested:
                self._note("mutation", Effect.NOTED, count.text)
            return count, None
        reason = f"{count.text}, fewer than {self._settings.min_kill_rate:.0%}"
        return count, self._rejected(Judge.MUTATION, reason, *mutation.feedback(found))

    def _texts(self) -> Mapping[str, str]:
        """The texts of the tests, and of changed code, where some languages keep theirs."""
        repository, tree = self._ctx.repository, self._change.tree
        changed = {file.path for file in self._change.present}
        paths = [
            path
            for path in repository.list_tree(tree)
            if behaviour.is_code(path) and (path in changed or self._ctx.is_test_path(path))
        ]
        found = repository.read_many(tree, paths)
        return {path: content.decode(errors="replace") for path, content in found.items()}

    def _rejected(self, judge: Judge, reason: str, *feedback: Remark) -> AttemptRejected:
        return AttemptRejected(
            task=self._task, attempt=self._attempt.number, stage=judge, reason=reason, feedback=feedback
        )

    def _note(self, rule: str, effect: Effect, detail: str) -> None:
        note = GuardNote(
            rule=rule,
            effect=effect,
            detail=" ".join(detail.split()),
            role="test_engineer",
            step=_STEP,
            attempt=self._attempt.number,
        )
        self._ctx.reports.append(note)


_NAME_TESTS = "Name tests that exist and run, such as tests/test_a.py::test_b; write them where they are missing."


def _binds(proof: Proof | None, binding: Mapping[Judge, str]) -> Proof | None:
    """The proof as far as it was asked for; None where it says what does not bind."""
    if proof is None or (not binding[Judge.PROVES_NOTHING] and not (proof.able and not proof.unnoticed)):
        return None
    return proof if binding[Judge.UNPROVEN] else proof.model_copy(update={"unrun": ()})
