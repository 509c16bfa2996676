"""The test and run_tests steps: the test engineer writes tests, and swarmgate runs them over the final tree."""

from __future__ import annotations

from collections.abc import Callable

from swarmgate.agents.briefs.feedback import feedback_text
from swarmgate.agents.roles import test_engineer
from swarmgate.domain.events.event import AttemptRejected, Event, TestsRun, TestsWritten
from swarmgate.domain.guard import Effect, GuardNote
from swarmgate.domain.review.evidence import Remark, Review, TestRun, Verdict
from swarmgate.domain.review.finding import GateReport, GateStatus, Severity
from swarmgate.domain.review.stage import Judge
from swarmgate.domain.state.state import Attempt, State, current
from swarmgate.domain.transitions.review import only_known_red
from swarmgate.domain.transitions.task import overruled
from swarmgate.engine.context import Context, files_of
from swarmgate.engine.ignored_files import matters
from swarmgate.engine.steps.agent_turn import after_turn
from swarmgate.engine.steps.proof.concurrent_runs import concurrency, run_group
from swarmgate.engine.steps.proof.proof import Trial, try_tests
from swarmgate.engine.steps.proof.uncollected_tests import remarks, uncollected_tests, uncollected_text
from swarmgate.engine.steps.review.change_for_review import listed_patch
from swarmgate.engine.steps.review.installed_packages import changed_packages
from swarmgate.engine.steps.review.review import blocking, gates_rejection, rejection
from swarmgate.engine.steps.testing.disabled_tests import switched_off
from swarmgate.engine.steps.testing.suite import run_suites, takes_long
from swarmgate.errors import ConfigError
from swarmgate.gates import sbom
from swarmgate.ledger.evidence.evidence import FINAL_GATES, SBOM, TESTS
from swarmgate.workspace.test_runs.suites import TEST_FILE

_OUTPUT_TAIL = 2_000
_NAMED = 10


async def test(state: State, ctx: Context) -> list[Event]:
    """Runs the test engineer's turn. What it changed outside the test paths, or deleted, is reverted."""
    task, record, attempt = current(state)
    if overruled(record, attempt, Judge.TEST_ENGINEER):
        given = next((old.tests_review for old in reversed(record.attempts) if old.tests_review), None)
        verdict = given or Review(verdict=Verdict.REJECTED, summary="overruled by the user")
        return [TestsWritten(task=task.id, attempt=attempt.number, tree=attempt.tree, review=verdict)]
    verdict = await test_engineer.test(
        ctx.agent("test_engineer"),
        task=task,
        attempt=attempt.number,
        scope=attempt.scope,
        patch=listed_patch(ctx, ctx.change(attempt)),
        test_command=ctx.test_command(),
        is_test_path=lambda path: not ctx.authority("test_engineer", "test").refusal(path),
        feedback=feedback_text(record.attempts[:-1], record.notes),
        questions=state.asked_about(task.id),
    )
    ctx.keep_head(attempt)
    tree = after_turn(ctx, "test_engineer", "test", before=attempt.tree, base=attempt.base).tree
    written = ctx.repository.changes(attempt.tree, tree)
    events: list[Event] = [
        TestsWritten(
            task=task.id,
            attempt=attempt.number,
            tree=tree,
            review=verdict,
            tests=written.paths,
        )
    ]
    if not verdict.approved:
        events.append(rejection(task.id, attempt.number, Judge.TEST_ENGINEER, verdict))
    return events


async def run_tests(state: State, ctx: Context) -> list[Event]:
    """Runs gates and tests over the final tree: what passes here is what is committed, byte for byte."""
    task, record, attempt = current(state)
    ctx.settle_tree(attempt)
    if against_judges := changed_packages(ctx, task.id, record, attempt):
        return [against_judges]
    report = await ctx.judge(fix=True, base=attempt.base, tested=True)
    judged = ctx.evidence.write(task.id, attempt.number, FINAL_GATES, report.model_dump_json(indent=1).encode())
    if _touches_components(report):
        ctx.evidence.write(task.id, attempt.number, SBOM, sbom.document(ctx.repository, report.tree))
    against = blocking(report, record, attempt)
    if against:
        return [gates_rejection(report, against, task, attempt)]
    accepted = overruled(record, attempt, Judge.TESTS)
    ran = await measure(ctx, report.tree, attempt.tests, goes_on=lambda run: accepted or only_known_red(state, run))
    held = ran.green or (not accepted and only_known_red(state, ran))
    missing = await switched_off(ctx, task.id, record, attempt, report.tree, ran) if held else None
    tried = held and missing is None
    trial = await try_tests(ctx, task.id, record, attempt, report.tree, ran) if tried else Trial()
    rejected = missing or trial.rejection
    if not held and not accepted:
        rejected = _failed(ctx, task.id, attempt, report.tree, ran)
    if held and not ran.green:
        ctx.reports.append(_known_red(ran, attempt.number))
    if unclaimed := ctx.all_suites().unclaimed(files_of(attempt, ctx.change(attempt, report.tree))):
        ctx.reports.append(_no_suite(unclaimed, ran, attempt.number))
    if ran.canary and ran.canary.missing and not ran.problem:
        ctx.reports.append(_no_canary(ran.canary.missing, attempt.number))
    whole = ran.model_dump_json(indent=1).encode()
    event = TestsRun(
        task=task.id,
        attempt=attempt.number,
        tree=report.tree,
        run=on_record(ran),
        passed=rejected is None,
        evidence=ctx.evidence.write(task.id, attempt.number, TESTS, whole),
        gates_evidence=judged,
        proof=trial.proof and trial.proof.model_copy(update={"run": on_record(trial.proof.run), "others": {}}),
        mutants=trial.mutants,
    )
    return [event, rejected] if rejected else [event]


def on_record(ran: TestRun) -> TestRun:
    """A run as events hold it: without the names of all tests, and with the end of its output where it is not green."""
    return ran.model_copy(update={"output": "" if ran.green else ran.output[-_OUTPUT_TAIL:], "names": (), "skips": ()})


def _touches_components(report: GateReport) -> bool:
    return any(each.gate == "sbom_generate" and each.status is not GateStatus.SKIP for each in report.results)


def _known_red(ran: TestRun, number: int) -> GuardNote:
    message = f"they failed before the task as well, by an override of the user: {', '.join(ran.failures[:_NAMED])}"
    return GuardNote(rule="known-red", effect=Effect.WARNED, detail=message, step="run_tests", attempt=number)


def _no_suite(paths: tuple[str, ...], ran: TestRun, number: int) -> GuardNote:
    run = f"`{ran.command}` ran" if not ran.suites else f"tested by {', '.join(ran.suites)}"
    message = f"no suite names {', '.join(paths[:_NAMED])}: {run}"
    return GuardNote(rule="suites", effect=Effect.NOTED, detail=message, step="run_tests", attempt=number)


def _no_canary(why: str, number: int) -> GuardNote:
    message = f"not possible here: {why}; nothing but its own word shows that the test runner tells the truth"
    return GuardNote(rule="canary", effect=Effect.NOTED, detail=message, step="run_tests", attempt=number)


def related_to(ctx: Context, tree: str) -> tuple[str, ...]:
    """The tests that are related to the running attempt's change, as it stands in a tree."""
    attempt = ctx.ledger.state.task(ctx.ledger.state.open).running
    return ctx.related(ctx.change(attempt, tree)) if attempt else ()


def _stops(_run: TestRun) -> bool:
    """No red run is accepted."""
    return False


async def measure(
    ctx: Context, tree: str, new_tests: tuple[str, ...], *, goes_on: Callable[[TestRun], bool] = _stops
) -> TestRun:
    """Runs the new tests and the whole suite over a tree, at once where that can be; the first not green speaks.

    `goes_on` says which runs are followed by the next one though they are not green.

    Raises:
        ConfigError: nobody knows how to test this project.
        MissingRequirement: the program that runs the tests is not there.
    """
    suites = ctx.suites(tree)
    if not suites.suites:
        raise ConfigError(
            "No test command was detected for this project, so nothing can be proven.",
            hint='Say how it is tested: [tests] command = "..." in .swarm/config.toml, then: swarm run',
        )
    selected = tuple(path for path in new_tests if TEST_FILE.search(path))
    if not suites.selection and takes_long(ctx, suites) and suites.alone(ctx.repository.root):
        selected = tuple(dict.fromkeys((*selected, *related_to(ctx, tree))))
    if not selected:
        return await run_suites(ctx, suites, tree)
    async with run_group() as runs:
        new = runs.start(run_suites(ctx, suites, tree, selected))
        whole = runs.start(run_suites(ctx, suites, tree)) if concurrency(ctx) > 1 else None
        ran = await new
        if not ran.green and not goes_on(ran):
            return ran
        return await (whole or run_suites(ctx, suites, tree))


def _failed(ctx: Context, task_id: str, attempt: Attempt, tree: str, ran: TestRun) -> AttemptRejected:
    output = Remark(severity=Severity.HIGH, message=ran.output[-_OUTPUT_TAIL:] or ran.reason)
    lost = uncollected_tests(ctx, ctx.change(attempt, tree), ran)
    kind = ctx.suites(tree).kind(ctx.repository.root)
    reason = f"{uncollected_text(lost, kind)}; {ran.reason}" if lost and not ran.ran else ran.reason
    feedback = (*remarks(lost, kind), output, *_missing(ctx))
    return AttemptRejected(task=task_id, attempt=attempt.number, stage=Judge.TESTS, reason=reason, feedback=feedback)


def _missing(ctx: Context) -> tuple[Remark, ...]:
    """What may be why: files that lie in the work tree, and that nobody has who clones the project."""
    made = tuple(path for path in ctx.ignored.touched().made if matters(path))
    if not made:
        return ()
    message = f"git ignores {', '.join(made[:_NAMED])}: who clones the project does not have it, nor did the tests"
    how = "Write what the tests need to a path that git does not ignore, or have the test command make it."
    return (Remark(severity=Severity.HIGH, message=message, suggestion=how, file=made[0]),)
