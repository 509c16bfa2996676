"""Transitions of gate, review and test results: which of them let an attempt pass.

Nothing passes that a judge rejected, unless the user overruled that judge for this attempt (`task.overruled`).
"""

from __future__ import annotations

import re

from swarmgate.domain.events import event as ev
from swarmgate.domain.plan.plan import Complexity
from swarmgate.domain.review.evidence import TestRun
from swarmgate.domain.review.finding import GateStatus
from swarmgate.domain.review.stage import Judge
from swarmgate.domain.state.lifecycle import Move, TaskState, advance
from swarmgate.domain.state.state import Attempt, State
from swarmgate.domain.transitions.debate import require_borne
from swarmgate.domain.transitions.task import out_of_turn, overruled, running, updated
from swarmgate.errors import IllegalMove

_CUT_SHORT = re.compile(r"^!+ (?:xdist\.dsession\.)?\S*\s*stopping after \d+ failures?", re.MULTILINE)
"""What pytest prints where `-x` or `--maxfail` ended the run at a failure."""


def gates_run(state: State, event: ev.GatesRun, _: ev.Entry) -> State:
    attempt = running(state, event.task, event.attempt)
    if not attempt.captured:
        raise out_of_turn(event.task, attempt, "pass the gates before the coder's turn has ended")
    after = advance(event.task, attempt.state, Move.PASS_GATES)
    failed = {gate for gate, status in event.statuses.items() if status is GateStatus.FAIL} | set(event.overridden)
    if event.passed and not failed and GateStatus.PASS not in event.statuses.values():
        raise IllegalMove(f"No gate looked at attempt {event.attempt} at task {event.task}: that is not a pass.")
    for gate in sorted(failed if event.passed else ()):
        _require_pass(state, event.task, attempt, gate, passed=False)
    return updated(
        state,
        event.task,
        state=after if event.passed else attempt.state,
        tree=event.tree,
        sensitive=event.sensitive,
    )


def review_given(state: State, event: ev.ReviewGiven, _: ev.Entry) -> State:
    attempt = running(state, event.task, event.attempt)
    after = advance(event.task, attempt.state, Move.PASS_REVIEW)
    if attempt.reviewed:
        raise out_of_turn(event.task, attempt, "be reviewed again")
    require_borne(attempt.debate, event.review)
    _require_pass(state, event.task, attempt, "reviewer", passed=event.review.approved or not event.passed)
    moves = event.passed and not attempt.sensitive  # else the security review has the last word
    return updated(
        state,
        event.task,
        state=after if moves else attempt.state,
        review=event.review,
        reviewed=event.passed,
    )


def security_review_given(state: State, event: ev.SecurityReviewGiven, _: ev.Entry) -> State:
    attempt = running(state, event.task, event.attempt)
    if not attempt.reviewed:
        raise out_of_turn(event.task, attempt, "pass the security review before the review")
    after = advance(event.task, attempt.state, Move.PASS_REVIEW)
    _require_pass(state, event.task, attempt, "security_reviewer", passed=event.review.approved or not event.passed)
    return updated(state, event.task, state=after if event.passed else attempt.state, security_review=event.review)


def tests_written(state: State, event: ev.TestsWritten, _: ev.Entry) -> State:
    attempt = running(state, event.task, event.attempt)
    if attempt.state is not TaskState.REVIEWER_RUN or attempt.tested:
        raise out_of_turn(event.task, attempt, "have its tests written")
    return updated(state, event.task, tested=True, tree=event.tree, tests=event.tests, tests_review=event.review)


def adversarial_due(state: State, task_id: str) -> bool:
    """Whether adversarial tests come next: the test engineer has approved, and the rules ask for them here."""
    attempt = state.task(task_id).running
    if attempt is None or state.plan is None or not attempt.tested or attempt.adversarial:
        return False
    if attempt.kind is ev.AttemptKind.OVERRIDE:
        return False
    if state.rules.adversarial != "auto":
        return state.rules.adversarial == "always"
    return bool(attempt.sensitive) or state.plan.tasks[task_id].complexity is not Complexity.SMALL


def adversarial_tests_written(state: State, event: ev.AdversarialTestsWritten, _: ev.Entry) -> State:
    attempt = running(state, event.task, event.attempt)
    if attempt.state is not TaskState.REVIEWER_RUN or not attempt.tested or attempt.adversarial:
        raise out_of_turn(event.task, attempt, "have its adversarial tests written")
    tests = tuple(dict.fromkeys((*attempt.tests, *event.tests)))
    found = {"adversarial_review": event.review, "tree": event.tree, "tests": tests, "attacks": event.tests}
    return updated(state, event.task, adversarial=True, **found)


def tests_review_due(state: State, task_id: str) -> bool:
    """Whether the reviewer looks again: the test engineer wrote files since its review, and the rules ask for it."""
    record = state.task(task_id)
    attempt = record.running
    if attempt is None or not state.rules.review_tests or not attempt.tested or attempt.tests_reviewed:
        return False
    return bool(attempt.tests) and not adversarial_due(state, task_id) and not overruled(record, attempt, "reviewer")


def tests_reviewed(state: State, event: ev.TestsReviewed, _: ev.Entry) -> State:
    attempt = running(state, event.task, event.attempt)
    if not tests_review_due(state, event.task):
        raise out_of_turn(event.task, attempt, "have its tests reviewed")
    _require_pass(state, event.task, attempt, "reviewer", passed=event.review.approved or not event.passed)
    return updated(state, event.task, tests_reviewed=event.passed, second_review=event.review)


def tests_run(state: State, event: ev.TestsRun, _: ev.Entry) -> State:
    attempt = running(state, event.task, event.attempt)
    if not attempt.tested:
        raise out_of_turn(event.task, attempt, "pass the tests before the test engineer's turn has ended")
    if event.passed and adversarial_due(state, event.task):
        raise out_of_turn(event.task, attempt, "pass the tests before the adversarial tests are written")
    if event.passed and tests_review_due(state, event.task):
        raise out_of_turn(event.task, attempt, "pass the tests before the reviewer has seen them")
    after = advance(event.task, attempt.state, Move.PASS_TESTS)
    written = attempt.tests_review is not None and attempt.tests_review.approved
    _require_pass(state, event.task, attempt, "test_engineer", passed=written or not event.passed)
    held = event.run.green or only_known_red(state, event.run)
    _require_pass(state, event.task, attempt, "tests", passed=held or not event.passed)
    if event.passed and event.proof is not None:
        noticed = event.proof.able and not event.proof.unnoticed
        _require_pass(state, event.task, attempt, Judge.PROVES_NOTHING, passed=noticed)
        _require_pass(state, event.task, attempt, Judge.UNPROVEN, passed=not event.proof.unrun)
        _require_pass(state, event.task, attempt, Judge.OLD_TESTS, passed=not event.proof.outdated)
    return updated(
        state,
        event.task,
        state=after if event.passed else attempt.state,
        tree=event.tree,
        proof=event.proof,
        mutants=event.mutants,
        failures=event.run.failures,
        related=event.run.related,
        suites=event.run.suites,
    )


def only_known_red(state: State, run: TestRun) -> bool:
    """Whether a run failed by nothing but tests that the user let pass as failing (`State.known_red`).

    Only where every failed test has a name, and where the run went on after them, as pytest's does unless told not to.
    """
    named = run.failed == len(run.failures) > 0 and all(".py::" in name for name in run.failures)
    whole = not run.problem and bool(run.passed) and not _CUT_SHORT.search(run.output)
    return named and whole and set(run.failures) <= set(state.known_red)


def _require_pass(state: State, task_id: str, attempt: Attempt, stage: str, *, passed: bool) -> None:
    """Raises unless the result passed or the user overruled it."""
    if not passed and not overruled(state.task(task_id), attempt, stage):
        raise IllegalMove(f"Attempt {attempt.number} at task {task_id} was rejected by {stage}: it cannot pass.")
