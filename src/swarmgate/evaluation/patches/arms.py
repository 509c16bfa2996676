"""The arms of the measurement: which steps of the loop judge a replayed patch, and what is given in their place."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from swarmgate.domain.events.event import Event, ReviewGiven, SecurityReviewGiven, TestsReviewed, TestsWritten
from swarmgate.domain.next_step import Step
from swarmgate.domain.review.evidence import Review, Verdict
from swarmgate.domain.state.state import State, current
from swarmgate.errors import UsageError
from swarmgate.workspace.git.copies.single_commit import apply_patch
from swarmgate.workspace.process import temporary

if TYPE_CHECKING:
    from swarmgate.engine.context import Context
    from swarmgate.evaluation.patches.dataset import AgentPatch

Given = Callable[["AgentPatch", State, "Context"], Awaitable[list[Event]]]
"""A step whose outcome is given: the role that would do it is not what is measured."""

_NOT_ASKED = Review(verdict=Verdict.APPROVED, summary="not asked: this arm measures the checks without it")


class Arm(StrEnum):
    """What judges a patch; each arm has all that the one before has, but that `REVIEW` asks models."""

    GATES = "gates"
    """The gates, as they judge what a coder hands in."""
    TESTS = "tests"
    """Besides, the tests that exist, before and after, with the laws about tests."""
    PROOF = "proof"
    """Besides, the hidden tests of the data, as a perfect test engineer would write them: the ceiling."""
    REVIEW = "review"
    """Gates, the reviewer and the test engineer of the settings, and all tests."""


@dataclass(frozen=True)
class Judging:
    """How an arm judges: what is given, after which step it ends, and settings that win over the user's.

    `asks`: models are asked, so that no answer may lie in the repository.
    """

    given: Mapping[Step, Given]
    last: Step = Step.RUN_TESTS
    flags: Mapping[str, Any] = field(default_factory=dict)
    asks: bool = False


async def _reviewed(_: AgentPatch, state: State, ctx: Context) -> list[Event]:
    del ctx
    task, _record, attempt = current(state)
    return [ReviewGiven(task=task.id, attempt=attempt.number, review=_NOT_ASKED, passed=True)]


async def _reviewed_for_security(_: AgentPatch, state: State, ctx: Context) -> list[Event]:
    del ctx
    task, _record, attempt = current(state)
    return [SecurityReviewGiven(task=task.id, attempt=attempt.number, review=_NOT_ASKED, passed=True)]


async def _tests_reviewed(_: AgentPatch, state: State, ctx: Context) -> list[Event]:
    del ctx
    task, _record, attempt = current(state)
    return [TestsReviewed(task=task.id, attempt=attempt.number, review=_NOT_ASKED, passed=True)]


async def _no_tests_written(_: AgentPatch, state: State, ctx: Context) -> list[Event]:
    del ctx
    task, _record, attempt = current(state)
    return [TestsWritten(task=task.id, attempt=attempt.number, tree=attempt.tree, review=_NOT_ASKED)]


async def _hidden_tests_written(patch: AgentPatch, state: State, ctx: Context) -> list[Event]:
    """The hidden tests replace what the patch made of their files, as a benchmark's harness has it."""
    task, _record, attempt = current(state)
    with temporary.folder("hidden") as aside:
        base = ctx.repository.tree_of(attempt.base)
        ctx.repository.restore(base, quarantine=aside, only=patch.test_files)
    if problem := apply_patch(ctx.repository.root, patch.test_patch):
        raise UsageError(f"{patch.id}: key 'test_patch' does not apply: {problem}")
    tree = ctx.repository.snapshot()
    written = ctx.repository.changes(attempt.tree, tree).paths
    return [TestsWritten(task=task.id, attempt=attempt.number, tree=tree, review=_NOT_ASKED, tests=written)]


_NO_REVIEW: dict[Step, Given] = {
    Step.REVIEW: _reviewed,
    Step.SECURITY_REVIEW: _reviewed_for_security,
    Step.REVIEW_TESTS: _tests_reviewed,
}

ARMS: dict[Arm, Judging] = {
    Arm.GATES: Judging(_NO_REVIEW, last=Step.GATES),
    Arm.TESTS: Judging(
        {**_NO_REVIEW, Step.TEST: _no_tests_written},
        flags={
            "tests": {"adversarial": "off", "unproven": "warn"},
            "gates": {"quality": {"min_test_to_code_ratio": "off"}},
        },
    ),
    Arm.PROOF: Judging({**_NO_REVIEW, Step.TEST: _hidden_tests_written}, flags={"tests": {"adversarial": "off"}}),
    Arm.REVIEW: Judging({}, asks=True),
}
"""In `TESTS` nobody writes tests, so that a change without new ones is noted and not blocked."""
