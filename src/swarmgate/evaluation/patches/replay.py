"""Replays one patch as if a coder had handed it in: the loop's own steps judge it, in a repository of its own.

A ledger is begun whose plan has one task; the tree with the patch is captured as the change of its first attempt. From
there `next_step` decides, as in every run. What an arm does not measure is given (`arms`), all else is the step of the
loop itself.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swarmgate.domain.events.event import (
    AttemptRejected,
    Event,
    GoalSet,
    GuardActed,
    PlanApproved,
    PlanReviewed,
    PlanSaved,
    TaskDelegated,
    UsageRecorded,
)
from swarmgate.domain.guard import Effect
from swarmgate.domain.next_step import Step, next_step
from swarmgate.domain.plan.plan import Phase, Plan, Task
from swarmgate.domain.review.evidence import Review, TestRun, Verdict
from swarmgate.domain.review.finding import GateReport, GateStatus
from swarmgate.domain.review.stage import Judge
from swarmgate.domain.state.state import State
from swarmgate.domain.usage import Usage
from swarmgate.engine.build import build
from swarmgate.engine.initialise import initialise
from swarmgate.engine.loop import STEPS
from swarmgate.engine.steps.coding import coder
from swarmgate.engine.steps.testing.suite import run_suites
from swarmgate.errors import SwarmError
from swarmgate.evaluation.patches.arms import ARMS, Arm, Judging
from swarmgate.evaluation.patches.rows import Objection, Row
from swarmgate.ledger.evidence.evidence import FINAL_GATES, GATES, TESTS
from swarmgate.project import Project
from swarmgate.workspace.git.copies.single_commit import apply_patch, lay_out
from swarmgate.workspace.process import temporary

if TYPE_CHECKING:
    from swarmgate.engine.context import Context
    from swarmgate.evaluation.patches.dataset import AgentPatch

TASK = "1.1"
"""The one task of the plan."""
_TITLE = 120
_MESSAGE = 300
_LISTED = 40
_GIVEN = Review(verdict=Verdict.APPROVED, summary="not asked: the plan is the data's")


async def replay(
    patch: AgentPatch, arm: Arm, clone: Path, *, key: str, flags: Mapping[str, Any], environ: Mapping[str, str]
) -> Row:
    """What an arm makes of a patch.

    Args:
        patch: what was handed in.
        arm: who judges.
        clone: a repository that holds its base; it is only read.
        key: of the row.
        flags: settings, nested as in config.toml; those of the arm win.
        environ: where keys and `SWARM_*` settings stand.

    Returns:
        The row; a patch that does not apply, or a step that could not be done, is told as its `trouble`.
    """
    row = Row(id=patch.id, repo=patch.repo, model=patch.model, label=patch.label, half=patch.half, arm=arm, key=key)
    began = time.monotonic()
    try:
        with temporary.folder("patches") as place:
            judging = ARMS[arm]
            lay_out(clone, patch.base, place, apart=judging.asks)
            return await _Replay(patch, judging, place, flags, environ).judged(row, began)
    except SwarmError as error:
        return row.model_copy(update={"trouble": error.message, "seconds": time.monotonic() - began})


class _Replay:
    """One patch in its repository."""

    def __init__(
        self, patch: AgentPatch, judging: Judging, place: Path, flags: Mapping[str, Any], environ: Mapping[str, str]
    ) -> None:
        self._patch, self._judging, self._place = patch, judging, place
        tests = {"command": patch.test_command} if patch.test_command else {}
        own = {"tests": tests, "hooks": {}}
        self._project = Project(place, environ=environ, flags=_merged(_merged(flags, own), judging.flags))
        self._usage = Usage()
        self._notes: list[Objection] = []

    async def judged(self, row: Row, began: float) -> Row:
        """The row with its verdict."""
        initialise(self._place)
        with self._project.writing() as ledger:
            ctx = build(self._project, repository=self._project.repository(), ledger=ledger)
            try:
                _record(ctx, _planned(self._patch))
                await self._until(ctx, Step.DELEGATE)
                if problem := apply_patch(self._place, self._patch.patch):
                    return row.model_copy(update={"trouble": f"it does not apply: {problem}"})
                _record(ctx, [_delegated(ctx)])
                ready = time.monotonic()
                await self._until(ctx, Step.COMMIT)
            finally:
                for meter in ctx.meters.values():
                    await meter.aclose()
            took = {"seconds": time.monotonic() - ready, "prepared": ready - began, "usage": self._usage}
            verdict = self._verdict(ctx)
            if verdict.get("blocked") == Judge.TESTS and await _was_red(ctx):
                verdict["blocked"] = ""
            return row.model_copy(update={**verdict, **took})

    async def _until(self, ctx: Context, end: Step) -> None:
        """Does the steps up to this one, to the last one of the arm, or to a rejection."""
        while (step := next_step(ctx.ledger.state)) not in (end, None):
            events = await self._done(step, ctx)
            _record(ctx, [*self._heard(ctx), *events])
            if step is self._judging.last or any(isinstance(event, AttemptRejected) for event in events):
                return

    async def _done(self, step: Step | None, ctx: Context) -> list[Event]:
        state = ctx.ledger.state
        if step is None:
            return []
        if step is Step.CODE:
            return await coder.capture(state, ctx)
        given = self._judging.given.get(step)
        return await (given(self._patch, state, ctx) if given else STEPS[step](state, ctx))

    def _heard(self, ctx: Context) -> list[Event]:
        """What guards and models said, as events; the row has it, too."""
        events = [*ctx.drain_reports(ctx.ledger.state), *ctx.drain_usage(ctx.ledger.state)]
        for event in events:
            if isinstance(event, GuardActed) and event.note.effect is not Effect.NOTED:
                self._notes.append(Objection(rule=event.note.rule, message=event.note.detail[:_MESSAGE], blocks=False))
            if isinstance(event, UsageRecorded) and event.usage.calls:
                self._usage += event.usage
        return events

    def _verdict(self, ctx: Context) -> dict[str, Any]:
        attempt = ctx.ledger.state.task(TASK).attempts[-1]
        stage = str(attempt.stage)
        if broken := _broken(ctx, attempt.number) if stage else "":
            return {"trouble": broken}
        found = (*_of_gates(ctx, attempt.number), *self._notes)
        if stage and not stage.startswith("gates"):
            said = next((each.message for each in attempt.feedback), attempt.reason)
            found = (Objection(rule=stage, message=f"{attempt.reason}: {said}"[:_MESSAGE]), *found)
        return {"blocked": stage, "reason": attempt.reason, "objections": found[:_LISTED]}


async def _was_red(ctx: Context) -> bool:
    """Whether every test that fails over the patch fails over its base, too, as on a machine with newer libraries.

    A run of the loop would wait for the user then, who lets in what failed before.
    """
    attempt = ctx.ledger.state.task(TASK).attempts[-1]
    ran = TestRun.model_validate_json(ctx.evidence.place(TASK, attempt.number, TESTS).read_bytes())
    if ran.problem or not ran.failures:
        return False
    base = ctx.repository.tree_of(attempt.base)
    before = await run_suites(ctx, ctx.suites(base), base)
    return set(ran.failures) <= set(before.failures)


def _planned(patch: AgentPatch) -> list[Event]:
    """The events up to an approved plan of one task, which asks for what the data says."""
    title = next((line.strip() for line in patch.statement.splitlines() if line.strip()), patch.id)[:_TITLE]
    task = Task(id=TASK, title=title, description=patch.statement, acceptance=(title,), files=patch.files)
    plan = Plan(title=title, phases=(Phase(name="The change", tasks=(task,)),))
    return [GoalSet(goal=title), PlanSaved(plan=plan), PlanReviewed(review=_GIVEN), PlanApproved()]


def _delegated(ctx: Context) -> TaskDelegated:
    """The delegation of the task. Its scope is what the patch changes: nobody declared another."""
    repository = ctx.repository
    before, now = repository.head_tree(), repository.snapshot()
    scope = tuple(path for file in repository.changes(before, now).files for path in file.touched)
    return TaskDelegated(task=TASK, attempt=1, scope=scope, tree=before, base=repository.head())


def _report(ctx: Context, number: int) -> GateReport | None:
    """The last report of the gates; None where they did not run."""
    places = (ctx.evidence.place(TASK, number, name) for name in (FINAL_GATES, GATES))
    place = next((each for each in places if each.is_file()), None)
    return GateReport.model_validate_json(place.read_bytes()) if place else None


def _broken(ctx: Context, number: int) -> str:
    """Why the gates could not judge, where nothing else rejected: a tool that is not there says nothing of a patch."""
    report = _report(ctx, number)
    blocking = report.blocking if report else ()
    broken = [each for each in blocking if each.status is GateStatus.ERROR]
    return f"{broken[0].gate}: {broken[0].reason}" if broken and len(broken) == len(blocking) else ""


def _of_gates(ctx: Context, number: int) -> tuple[Objection, ...]:
    """The new findings of the gates, of their last report first; those of gates that passed did not block."""
    report = _report(ctx, number)
    if report is None:
        return ()
    found = [
        Objection(
            rule=f"{result.gate}: {each.rule}",
            place=each.place,
            message=each.message[:_MESSAGE],
            blocks=result in report.blocking and each.severity.rank >= result.blocks_from.rank,
        )
        for result in report.results
        for each in result.new_findings
    ]
    silent = [each for each in report.blocking if not any(o.rule.startswith(f"{each.gate}: ") for o in found)]
    return (*found, *(Objection(rule=each.gate, message=each.reason[:_MESSAGE]) for each in silent))


def _record(ctx: Context, events: Sequence[Event]) -> State:
    state = ctx.ledger.append(events, expect=ctx.ledger.state.seq)
    ctx.evidence.recorded()
    return state


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Nested settings, of which those of `above` win."""
    both = {
        key: _merged(below[key], value) if isinstance(value, dict) and isinstance(below.get(key), dict) else value
        for key, value in above.items()
    }
    return {**below, **both}
