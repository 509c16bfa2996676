"""Judging a change: first the gates, which cost nothing, then the reviewer."""

from __future__ import annotations

from swarmgate.agents import reviewer
from swarmgate.domain.change import ChangeSet
from swarmgate.domain.events import AttemptRejected, Event, GatesRun, ReviewGiven
from swarmgate.domain.evidence import Review, Verdict
from swarmgate.domain.finding import GateReport
from swarmgate.domain.laws_task import overruled
from swarmgate.domain.state import State, TaskRecord
from swarmgate.engine.context import Context
from swarmgate.engine.steps.attempts import blocking, current, gates_rejection
from swarmgate.gates.report import lines
from swarmgate.ledger.evidence import GATES, REVIEW


async def gates(state: State, ctx: Context) -> list[Event]:
    """The pipeline over the coder's tree; the tree after automatic fixes is the one that goes on."""
    task, record, attempt = current(state)
    ctx.settle_tree(attempt)
    report = await ctx.judge(fix=True, base=attempt.base)
    against = blocking(report, record, attempt)
    forgiven = tuple(result.gate for result in report.blocking if result not in against)
    passed = not against and (report.passed or bool(forgiven))
    ran = GatesRun(
        task=task.id,
        attempt=attempt.number,
        tree=report.tree,
        passed=passed,
        statuses={result.gate: result.status for result in report.results},
        overridden=forgiven,
        evidence=ctx.evidence.write(task.id, attempt.number, GATES, report.model_dump_json(indent=1).encode()),
    )
    return [ran] if passed else [ran, gates_rejection(report, against, task, attempt)]


async def review(state: State, ctx: Context) -> list[Event]:
    """The reviewer sees the diff, the brief and the gate results, and never what the coder claims.

    Without a usable verdict the run pauses: that is the model's fault, and no attempt of the coder's is spent on it.
    """
    task, record, attempt = current(state)
    if overruled(record, attempt, "reviewer"):
        return [_given(ctx, task.id, attempt.number, _overruled_verdict(record), passed=True)]
    change = ctx.change(attempt)
    report = GateReport.model_validate_json(ctx.evidence.place(task.id, attempt.number, GATES).read_bytes())
    verdict = await reviewer.review(
        ctx.desk("reviewer"),
        task=task,
        attempt=attempt.number,
        scope=attempt.scope,
        patch=listed_patch(ctx, change),
        gates="\n".join(lines(report)),
        test_command=ctx.test_command(),
        outside=tuple(path for path in change.paths if path not in attempt.scope),
    )
    given = _given(ctx, task.id, attempt.number, verdict, passed=verdict.approved)
    return [given] if verdict.approved else [given, rejection(task.id, attempt.number, "reviewer", verdict)]


def listed_patch(ctx: Context, change: ChangeSet) -> str:
    """The change as a diff, with the list of its files before it: a cut at the end can then hide no file."""
    files = "\n".join(f"{file.kind}: {file.path} (+{file.added} -{file.removed})" for file in change.files)
    return f"{files}\n\n{ctx.repository.patch(change.base, change.tree).decode('utf-8', 'replace')}"


def _given(ctx: Context, task_id: str, number: int, verdict: Review, *, passed: bool) -> ReviewGiven:
    proof = ctx.evidence.write(task_id, number, REVIEW, verdict.model_dump_json(indent=1).encode())
    return ReviewGiven(task=task_id, attempt=number, review=verdict, passed=passed, evidence=proof)


def _overruled_verdict(record: TaskRecord) -> Review:
    """The verdict that the user overruled; nobody is asked, and paid, for it again."""
    given = next((attempt.review for attempt in reversed(record.attempts) if attempt.review), None)
    return given or Review(verdict=Verdict.REJECTED, summary="overruled by the user")


def rejection(task_id: str, number: int, stage: str, verdict: Review) -> AttemptRejected:
    """The rejection that a role's verdict means."""
    reason = verdict.summary or next((finding.message for finding in verdict.findings), "no reason was given")
    return AttemptRejected(task=task_id, attempt=number, stage=stage, reason=reason, feedback=verdict.findings)
