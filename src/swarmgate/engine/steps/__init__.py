"""The steps: each does one thing that the domain decided on, and returns what happened as events.

A step never writes state and never calls another step. What it cannot do is an event as well (a rejection, a block), or
an error that the loop puts on record as a pause.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from swarmgate.domain.decide import Step
from swarmgate.domain.events import Event
from swarmgate.domain.state import State
from swarmgate.engine.context import Context
from swarmgate.engine.steps import (
    attacking,
    checkpoint,
    coding,
    committing,
    delegation,
    estimating,
    judging,
    planning,
    recovery,
    testing,
)
from swarmgate.engine.steps.authority import reads_only
from swarmgate.engine.steps.breaking import ends_attempt

STEPS: dict[Step, Callable[[State, Context], Awaitable[list[Event]]]] = {
    Step.RECOVER: recovery.recover,
    Step.PLAN: planning.plan,
    Step.REVISE: planning.revise,
    Step.REVIEW_PLAN: planning.review_plan,
    Step.START_WORK: delegation.start_work,
    Step.ESTIMATE: estimating.estimate,
    Step.DELEGATE: delegation.delegate,
    Step.OPEN_OVERRIDE: delegation.open_override,
    Step.CODE: coding.code,
    Step.IMPLEMENT: coding.implement,
    Step.CAPTURE: coding.capture,
    Step.GATES: judging.gates,
    Step.REVIEW: ends_attempt(reads_only("reviewer", "review", judging.review)),
    Step.SECURITY_REVIEW: ends_attempt(reads_only("reviewer", "security_review", judging.security_review)),
    Step.TEST: ends_attempt(testing.test),
    Step.ADVERSARIAL_TEST: ends_attempt(attacking.adversarial_test),
    Step.REVIEW_TESTS: ends_attempt(reads_only("reviewer", "review", judging.review_tests)),
    Step.RUN_TESTS: testing.run_tests,
    Step.COMMIT: committing.commit,
    Step.BLOCK: delegation.block,
    Step.CLOSE_PHASE: checkpoint.close_phase,
}
"""One function a step; a test asserts that none is missing."""
