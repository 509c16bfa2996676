"""The gates, review, security_review and review_tests steps: gates first, then the reviewer's verdicts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import cache

from swarmgate.agents.briefs.brief import Brief
from swarmgate.agents.roles import reviewer
from swarmgate.agents.roles.citations import Material
from swarmgate.agents.roles.reviewer import Submission
from swarmgate.domain.events.event import (
    AttemptRejected,
    Event,
    GatesRun,
    ReviewGiven,
    SecurityReviewGiven,
    TestsReviewed,
)
from swarmgate.domain.plan.plan import Task
from swarmgate.domain.review.change import ChangeSet
from swarmgate.domain.review.evidence import Remark, Review, Verdict
from swarmgate.domain.review.finding import GateReport, GateResult, Severity
from swarmgate.domain.review.stage import UNDECIDED, Judge, Stage
from swarmgate.domain.state.state import Attempt, Outcome, State, TaskRecord, current
from swarmgate.domain.task.debate_rules import change_triggers
from swarmgate.domain.transitions.task import overruled
from swarmgate.engine.context import Context
from swarmgate.engine.debaters import pair
from swarmgate.engine.expert_answers import standing_guidance
from swarmgate.engine.steps.coding.weakened_tests import weakened_tests
from swarmgate.engine.steps.review import debate
from swarmgate.engine.steps.review.change_for_review import in_order, listed
from swarmgate.engine.steps.review.debate import Case
from swarmgate.engine.steps.review.installed_packages import changed_packages
from swarmgate.errors import ToolKilled
from swarmgate.gates.formats.text import lines
from swarmgate.gates.sensitivity.reasons import sensitive
from swarmgate.gates.source import loading
from swarmgate.ledger.evidence.evidence import GATES, REVIEW, SECURITY_REVIEW, TESTS_REVIEW

_QUESTION = (
    "Does this change do what its task asks for, and nothing that is wrong? APPROVE: it can be committed as it is. "
    "REJECT: a criterion is not met, or there is a bug, a security hole, or a test that proves nothing."
)
_FEEDBACK = 20
"""As many findings go back to the coder; more would only fill its window."""


async def gates(state: State, ctx: Context) -> list[Event]:
    """Runs the gate pipeline over the coder's tree; the tree after automatic fixes goes on."""
    task, record, attempt = current(state)
    ctx.settle_tree(attempt)
    if against_judges := changed_packages(ctx, task.id, record, attempt):
        return [against_judges]
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
        sensitive=await _sensitive(ctx, ctx.change(attempt, report.tree)) if passed else (),
    )
    return [ran] if passed else [ran, gates_rejection(report, against, task, attempt)]


async def review(state: State, ctx: Context) -> list[Event]:
    """Asks the reviewer, who sees the diff, the task and the gate results, never the coder's claims; so do debaters.

    A reviewer that a breaker stops, or a debate that decides nothing, ends the attempt, and the task waits for the
    user: that is the models' fault, and no further attempt of the coder's is spent on it.
    """
    task, record, attempt = current(state)
    if overruled(record, attempt, Judge.REVIEWER):
        return [_given(ctx, task.id, attempt.number, _overruled_verdict(record), passed=True)]
    work = submission(ctx, task, attempt)
    case = _case(ctx, record, attempt, work)
    found = await debate.judged(ctx, case, lambda: reviewer.review(ctx.agent("reviewer"), work))
    verdict = found.review
    if verdict is None:
        return [*found.events, _undecided(task.id, attempt.number, found.problem)]
    given = _given(ctx, task.id, attempt.number, verdict, passed=verdict.approved)
    events: list[Event] = [*found.events, given]
    return events if verdict.approved else [*events, rejection(task.id, attempt.number, Judge.REVIEWER, verdict)]


def _case(ctx: Context, record: TaskRecord, attempt: Attempt, work: Submission) -> Case:
    """The review as what may be debated. A debate that died with an attempt goes on where the change is the same."""
    change, goal = ctx.change(attempt), ctx.ledger.state.goals
    prefix = f"goal-{goal}-" if goal > 1 else ""  # tasks of another goal have the same ids
    numbers = [attempt.number]
    for earlier in reversed(record.attempts[:-1]):
        if earlier.outcome is not Outcome.INTERRUPTED:
            break
        numbers.append(earlier.number)
    return Case(
        judge="reviewer",
        seats=pair(ctx.config),
        mode=ctx.config.review.mode,
        question=_QUESTION,
        sections=(
            *standing_guidance(ctx.ledger, Brief("reviewer", "review", task=work.task.id)),
            *reviewer.sections_of(work),
        ),
        triggers=change_triggers(
            work.task, record, attempt, sum((file.added or 0) + (file.removed or 0) for file in change.files)
        ),
        names=tuple(f"{prefix}task-{work.task.id}-attempt-{number}" for number in numbers),
        identity=(prefix, work.task.model_dump_json(), change.base, change.tree),
        task=work.task.id,
        attempt=attempt.number,
        needed=len(work.patch) - sum(len(text) for _, text, must in work.files if not must),
    )


def _undecided(task_id: str, number: int, problem: str) -> AttemptRejected:
    """The rejection of an attempt whose debate was undecided; the user decides."""
    return AttemptRejected(
        task=task_id, attempt=number, stage=UNDECIDED, reason=f"the debate decided nothing: {problem}"
    )


async def security_review(state: State, ctx: Context) -> list[Event]:
    """Asks the reviewer, with a prompt of its own, about the security of a change to sensitive code."""
    task, record, attempt = current(state)
    if passed := overruled(record, attempt, Judge.SECURITY_REVIEWER):
        given = next((each.security_review for each in reversed(record.attempts) if each.security_review), None)
        verdict = given or Review(verdict=Verdict.REJECTED, summary="overruled by the user")
    else:
        work = submission(ctx, task, attempt)
        verdict = await reviewer.security_review(ctx.agent("reviewer"), work, reasons=attempt.sensitive)
        passed = verdict.approved
    proof = verdict.model_dump_json(indent=1).encode()
    event = SecurityReviewGiven(
        task=task.id,
        attempt=attempt.number,
        review=verdict,
        passed=passed,
        evidence=ctx.evidence.write(task.id, attempt.number, SECURITY_REVIEW, proof),
    )
    return [event] if passed else [event, rejection(task.id, attempt.number, Judge.SECURITY_REVIEWER, verdict)]


async def review_tests(state: State, ctx: Context) -> list[Event]:
    """Asks the reviewer about files that the test engineer wrote since its review. A rejection ends the attempt."""
    task, _, attempt = current(state)
    work = submission(ctx, task, attempt)
    verdict = await reviewer.review_tests(ctx.agent("reviewer"), work, written=attempt.tests)
    content = verdict.model_dump_json(indent=1).encode()
    event = TestsReviewed(
        task=task.id,
        attempt=attempt.number,
        review=verdict,
        passed=verdict.approved,
        evidence=ctx.evidence.write(task.id, attempt.number, TESTS_REVIEW, content),
    )
    return [event] if verdict.approved else [event, rejection(task.id, attempt.number, Judge.REVIEWER, verdict)]


async def _sensitive(ctx: Context, change: ChangeSet) -> tuple[str, ...]:
    """Why the change needs a security review; empty where it needs none."""
    match ctx.config.review.security:
        case "off":
            return ()
        case "always":
            return ('[review] security = "always"',)
    old = [file.old_path or file.path for file in change.files if file.old_mode]
    before = ctx.repository.read_many(change.base, old)
    sources = loading.load(ctx.repository, change)
    return await asyncio.to_thread(sensitive, ctx.sensitivity, change, sources, before, is_test=ctx.is_test_path)


def submission(ctx: Context, task: Task, attempt: Attempt) -> Submission:
    """The reviewer's input: measured facts, without the coder's claims."""
    change = ctx.change(attempt)
    report = GateReport.model_validate_json(ctx.evidence.place(task.id, attempt.number, GATES).read_bytes())
    files = in_order(ctx, change)
    patch = listed(files)
    return Submission(
        task=task,
        attempt=attempt.number,
        scope=attempt.scope,
        patch=patch,
        gates="\n".join(lines(report)),
        test_command=ctx.test_command(),
        outside=attempt.outside,
        weakened=weakened_tests(ctx, ctx.ledger.state.task(task.id), change),
        material=Material(patch, texts_of(ctx, change)) if ctx.config.review.cite else None,
        files=[(each.file, each.text, must) for each, must in files],
        asked=ctx.ledger.state.asked_about(task.id),
    )


def texts_of(ctx: Context, change: ChangeSet) -> Callable[[str], Sequence[str]]:
    """Gives the texts of a file after and before the change."""

    @cache
    def texts(path: str) -> Sequence[str]:
        trees = [tree for tree in (change.tree, change.base) if path in ctx.repository.list_tree(tree)]
        return tuple((ctx.repository.read(tree, path) or b"").decode("utf-8", "replace") for tree in trees)

    return texts


def _given(ctx: Context, task_id: str, number: int, verdict: Review, *, passed: bool) -> ReviewGiven:
    proof = ctx.evidence.write(task_id, number, REVIEW, verdict.model_dump_json(indent=1).encode())
    return ReviewGiven(task=task_id, attempt=number, review=verdict, passed=passed, evidence=proof)


def _overruled_verdict(record: TaskRecord) -> Review:
    """The verdict that the user overruled; no model is asked for it again."""
    given = next((attempt.review for attempt in reversed(record.attempts) if attempt.review), None)
    return given or Review(verdict=Verdict.REJECTED, summary="overruled by the user")


def rejection(task_id: str, number: int, judge: Judge, verdict: Review) -> AttemptRejected:
    """The rejection that a role's verdict means.

    Where no finding stands, the reasons are passed on that quoted nothing; never one with a quote that was made up.
    """
    findings = verdict.findings or tuple(finding for finding in verdict.dropped if not finding.quote.strip())
    reason = verdict.summary or next((finding.message for finding in findings), "no finding of the verdict stands")
    return AttemptRejected(task=task_id, attempt=number, stage=judge, reason=reason, feedback=findings)


def blocking(report: GateReport, record: TaskRecord, attempt: Attempt) -> tuple[GateResult, ...]:
    """The results that reject the attempt: those that block and were not overruled.

    Raises:
        ToolKilled: somebody ended a gate's tool, twice, which is no fault of the change's: the step is done again.
    """
    against = tuple(result for result in report.blocking if not overruled(record, attempt, result.gate))
    for result in against:
        if result.killed:
            raise ToolKilled(
                f"Gate {result.gate}: {result.reason}",
                hint="Is the machine short of memory? See what its log says, then: swarm run",
            )
    return against


def gates_rejection(
    report: GateReport, against: tuple[GateResult, ...], task: Task, attempt: Attempt
) -> AttemptRejected:
    """The rejection that a failed pipeline means, with its findings as feedback."""
    names = tuple(result.gate for result in against) or ("pipeline",)
    found = [
        Remark(
            severity=finding.severity,
            message=f"[{finding.rule}] {finding.message}",
            file=finding.path,
            line=finding.line or None,
            suggestion=finding.suggestion,
        )
        for result in against
        for finding in result.new_findings
    ]
    remarks = [
        Remark(severity=Severity.HIGH, message=f"[{result.gate}] {result.reason}")
        for result in against
        if result.reason
    ]
    return AttemptRejected(
        task=task.id,
        attempt=attempt.number,
        stage=Stage.of(Judge.GATES, *names),
        reason=report.model_copy(update={"results": against or report.results}).reason,
        feedback=(*found[:_FEEDBACK], *remarks),
        findings=len(found),
    )
