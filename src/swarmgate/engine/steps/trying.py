"""Green is not enough: whether the tests that passed are those that were named, can fail, and notice faults."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from swarmgate.domain.base import Frozen
from swarmgate.domain.change import ChangeSet
from swarmgate.domain.events import AttemptRejected
from swarmgate.domain.evidence import Proof, Remark, TestRun
from swarmgate.domain.finding import Severity
from swarmgate.domain.guard import Effect, GuardNote
from swarmgate.domain.laws_task import overruled
from swarmgate.domain.state import Attempt, TaskRecord
from swarmgate.engine.context import Context
from swarmgate.engine.steps import mutating, proving
from swarmgate.engine.steps.criteria import mapped
from swarmgate.gates import behaviour
from swarmgate.ledger.evidence import BEFORE, MUTATION
from swarmgate.workspace.suite import runner_of, takes_paths

_STEP = "run_tests"
_SHOWN = 5
_TAIL = 2_000


class Trial(Frozen):
    """What came of it; `proof` is None where there was nothing to prove, or where it does not bind."""

    proof: Proof | None = None
    rejection: AttemptRejected | None = None


async def try_tests(ctx: Context, task_id: str, record: TaskRecord, attempt: Attempt, tree: str, ran: TestRun) -> Trial:
    """The trial of green tests; the first objection speaks. What does not reject stands on record as notes.

    Args:
        ctx: the surroundings of the step.
        task_id: the task.
        record: its record.
        attempt: its running attempt.
        tree: the final tree.
        ran: the run of the whole suite over it.

    Raises:
        MissingRequirement: mutation is asked for, and its library is not installed.
        WorkspaceError: a copy of the project could not be made.
    """
    trial = _Trying(ctx, task_id, attempt, ctx.change(attempt, tree), ran, record.attacks)
    named = None if overruled(record, attempt, "test_engineer") else trial.criteria()
    if named is not None:
        return Trial(rejection=named)
    proof, against = None, None
    if ctx.config.tests.must_fail != "off" and not overruled(record, attempt, proving.STAGE):
        proof, against = await trial.proof()
    if against is None and ctx.config.tests.mutation and not overruled(record, attempt, mutating.STAGE):
        against = await trial.mutation()
    return Trial(proof=proof, rejection=against)


class _Trying:
    def __init__(
        self, ctx: Context, task_id: str, attempt: Attempt, change: ChangeSet, ran: TestRun, attacks: Collection[str]
    ) -> None:
        self._ctx, self._task, self._attempt, self._change, self._ran = ctx, task_id, attempt, change, ran
        self._attacks = attacks
        self._settings = ctx.config.tests
        self._command = ctx.test_command()

    def criteria(self) -> AttemptRejected | None:
        """The tests that the test engineer named are there and ran."""
        review = self._attempt.tests_review
        if review is None:
            return None
        found = mapped(review, self._ran, self._texts)
        if found.false:
            remarks = [Remark(severity=Severity.HIGH, message=text, suggestion=_NAME_TESTS) for text in found.false]
            return self._rejected("test_engineer", found.false[0], *remarks[:_SHOWN])
        if found.unmapped and self._settings.unmapped == "block":
            remarks = [Remark(severity=Severity.HIGH, message=text) for text in found.unmapped]
            return self._rejected("test_engineer", found.unmapped[0], *remarks[:_SHOWN])
        for text in found.unmapped:
            self._note("criteria", Effect.NOTED, text)
        for text in found.vague:
            self._note("criteria", Effect.WARNED, text)
        if found.unseen:
            text = "the runner names no tests: these are defined, and whether they ran is not known: "
            self._note("criteria", Effect.NOTED, text + ", ".join(found.unseen[:_SHOWN]))
        return None

    async def proof(self) -> tuple[Proof | None, AttemptRejected | None]:
        """New tests fail without the change."""
        answer = await proving.prove(self._ctx, self._change, self._command, self._ran, self._attacks)
        for effect, text in answer.notes:
            self._note("tests-can-fail", effect, text)
        found = answer.proof
        if found is None:
            return None, None
        whole = found.model_dump_json(indent=1).encode()
        self._ctx.evidence.write(self._task, self._attempt.number, BEFORE, whole)
        if found.able:
            return found, None
        files = ", ".join(found.tests[:_SHOWN])
        reason = f"the new tests pass without the change as well, so they prove nothing: {files}"
        if self._settings.must_fail == "warn":
            self._note("tests-can-fail", Effect.WARNED, reason)
            return None, None
        remark = Remark(
            severity=Severity.HIGH,
            message=f"{reason}\nTheir run over the code before the change:\n{found.run.output[-_TAIL:]}",
            suggestion="Test what the change makes different: at least one test has to fail on the code before it.",
        )
        return found, self._rejected(proving.STAGE, reason, remark)

    async def mutation(self) -> AttemptRejected | None:
        """Tests notice faults in the changed lines."""
        alone = takes_paths(self._command, runner_of(self._command, self._ctx.repository.root))
        tests = proving.new_tests(self._ctx, self._change, alone=True) if alone else ()
        found = await mutating.mutate(self._ctx, self._change, self._command, self._ran, tests)
        whole = found.model_dump_json(indent=1).encode()
        self._ctx.evidence.write(self._task, self._attempt.number, MUTATION, whole)
        for text in found.notes:
            self._note("mutation", Effect.NOTED, text)
        if found.rate >= self._settings.min_kill_rate:
            if found.tested:
                self._note("mutation", Effect.NOTED, found.text)
            return None
        reason = f"{found.text}, fewer than {self._settings.min_kill_rate:.0%}"
        return self._rejected(mutating.STAGE, reason, *mutating.feedback(found))

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

    def _rejected(self, stage: str, reason: str, *feedback: Remark) -> AttemptRejected:
        return AttemptRejected(
            task=self._task, attempt=self._attempt.number, stage=stage, reason=reason, feedback=feedback
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
