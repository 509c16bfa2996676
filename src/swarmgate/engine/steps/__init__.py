"""The table of steps: each step does one thing that the domain decided on, and returns events.

A step never writes state and never calls another step. What it cannot do is an event as well (a rejection, a block), or
an error that the loop puts on record as a pause.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from swarmgate.domain.events.event import Event
from swarmgate.domain.next_step import Step
from swarmgate.domain.state.state import State
from swarmgate.engine.context import Context
from swarmgate.engine.steps import recovery
from swarmgate.engine.steps.coding import coder
from swarmgate.engine.steps.completion import checkpoint, commit
from swarmgate.engine.steps.delegation import delegate
from swarmgate.engine.steps.planning import plan
from swarmgate.engine.steps.review import review
from swarmgate.engine.steps.testing import adversarial, engineer
from swarmgate.engine.steps.turn.authority import reads_only
from swarmgate.engine.steps.turn.breaker import ends_attempt

STEPS: dict[Step, Callable[[State, Context], Awaitable[list[Event]]]] = {
    Step.RECOVER: recovery.recover,
    Step.PLAN: plan.plan,
    Step.REVISE: plan.revise,
    Step.REVIEW_PLAN: plan.review_plan,
    Step.START_WORK: delegate.start_work,
    Step.ESTIMATE: plan.estimate,
    Step.DELEGATE: delegate.delegate,
    Step.OPEN_OVERRIDE: delegate.open_override,
    Step.CODE: coder.code,
    Step.IMPLEMENT: coder.implement,
    Step.CAPTURE: coder.capture,
    Step.GATES: review.gates,
    Step.REVIEW: ends_attempt(reads_only("reviewer", "review", review.review)),
    Step.SECURITY_REVIEW: ends_attempt(reads_only("reviewer", "security_review", review.security_review)),
    Step.TEST: ends_attempt(engineer.test),
    Step.ADVERSARIAL_TEST: ends_attempt(adversarial.adversarial_test),
    Step.REVIEW_TESTS: ends_attempt(reads_only("reviewer", "review", review.review_tests)),
    Step.RUN_TESTS: engineer.run_tests,
    Step.COMMIT: commit.commit,
    Step.BLOCK: delegate.block,
    Step.CLOSE_PHASE: checkpoint.close_phase,
}
"""One function a step; a test asserts that none is missing."""
