"""The adversarial_test step: the test engineer attacks the change; the runs of its attacks decide.

A test that passes is kept. One that fails rejects the attempt, after the reviewer confirmed what it expects; else it is
taken out, and so is one whose run cannot be counted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from enum import StrEnum

from swarmgate.agents.roles import reviewer, test_engineer
from swarmgate.domain.base import Frozen, Line
from swarmgate.domain.events.event import AdversarialTestsWritten, AttemptRejected, Event
from swarmgate.domain.guard import Effect, GuardNote
from swarmgate.domain.plan.plan import Task
from swarmgate.domain.review.evidence import Remark, Review, TestRun
from swarmgate.domain.review.finding import Severity
from swarmgate.domain.review.stage import Judge
from swarmgate.domain.state.state import Attempt, State, current
from swarmgate.engine.context import Context
from swarmgate.engine.steps.agent_turn import after_turn
from swarmgate.engine.steps.review.change_for_review import listed_patch
from swarmgate.engine.steps.review.review import submission
from swarmgate.engine.steps.testing.suite import run_suites
from swarmgate.gates.source.behaviour import is_code
from swarmgate.ledger.evidence.evidence import ADVERSARIAL
from swarmgate.workspace.test_runs.runner_files import steers
from swarmgate.workspace.test_runs.suites import TEST_FILE, Suites

RULE = "adversarial"
"""The rule of the notes on attacks."""
_CONFIGURES = re.compile(r"(?:^|/)(?:conftest\.py|setup[^/]*|__init__\.py|[^/]*\.config\.\w+)$", re.IGNORECASE)
"""Code in test folders that changes how the other tests run."""
_INTERRUPTED = 2
"""Pytest's exit code where it could not even collect the tests (`pytest.ExitCode.INTERRUPTED`)."""
_OUTPUT_TAIL = 2_000


class Outcome(StrEnum):
    """The outcome of an adversarial test."""

    HELD = "held"
    """It passes: it is kept."""
    BROKE = "broke"
    """It fails, and what it expects is right: the attempt is rejected."""
    UNCONFIRMED = "unconfirmed"
    """It fails, and what it expects is wrong: it is taken out."""
    UNCOUNTED = "uncounted"
    """Its run cannot be counted: it is taken out."""


class Attack(Frozen):
    """Test files that were run together, their run, and what became of them; `why` where they were taken out."""

    files: tuple[str, ...]
    run: TestRun
    outcome: Outcome
    why: Line = ""


class Record(Frozen):
    """`adversarial.json`: every attack, and the reviewer's word on those that failed."""

    attacks: tuple[Attack, ...] = ()
    confirmation: Review | None = None


async def adversarial_test(state: State, ctx: Context) -> list[Event]:
    """The test engineer's second turn. What it changed besides new test files is taken back."""
    task, history, attempt = current(state)
    objection = _objection(ctx, attempt.tree, history.attacks)
    verdict = await test_engineer.adversarial_test(
        ctx.agent("test_engineer"),
        task=task,
        attempt=attempt.number,
        scope=attempt.scope,
        patch=listed_patch(ctx, ctx.change(attempt)),
        test_command=ctx.test_command(),
        reasons=attempt.sensitive,
        objection=objection,
        written=lambda: _written(ctx, attempt.tree, objection),
        questions=state.asked_about(task.id),
    )
    ctx.keep_head(attempt)
    after_turn(ctx, "test_engineer", "adversarial_test", before=attempt.tree, base=attempt.base)
    _take_back(ctx, attempt.tree, attempt.number, objection)
    tree = ctx.repository.snapshot()
    record = await _attacked(ctx, task, attempt, tree, ctx.repository.changes(attempt.tree, tree).paths)
    out = tuple(path for each in record.attacks if each.why for path in each.files)
    if out:
        ctx.repository.restore(attempt.tree, quarantine=ctx.folder.quarantine_folder("adversarial-tests"), only=out)
        tree = ctx.repository.snapshot()
    broken = [each for each in record.attacks if each.outcome is Outcome.BROKE]
    _note(ctx, attempt.number, verdict, record, broke=bool(broken))
    event = AdversarialTestsWritten(
        task=task.id,
        attempt=attempt.number,
        tree=tree,
        review=verdict,
        tests=ctx.repository.changes(attempt.tree, tree).paths,
        rejected=out,
        evidence=ctx.evidence.write(task.id, attempt.number, ADVERSARIAL, record.model_dump_json(indent=1).encode()),
    )
    return [event, _rejection(task.id, attempt.number, broken)] if broken else [event]


def _objection(ctx: Context, tree: str, own: Collection[str]) -> Callable[[str], str]:
    """Why a path may not be written in this turn; only new files with tests may, and `own` ones of earlier attempts."""
    there, authority = frozenset(ctx.repository.list_tree(tree)), ctx.authority("test_engineer", "adversarial_test")

    def objection(path: str) -> str:
        if refusal := authority.refusal(path):
            return refusal
        if path in there and path not in own:
            return f"`{path}` is there already; put adversarial tests into a new file"
        if not is_code(path) or steers(path) or _CONFIGURES.search(path):
            return f"`{path}` would hold no tests of its own; write new files with tests only"
        return ""

    return objection


def _written(ctx: Context, tree: str, objection: Callable[[str], str]) -> tuple[str, ...]:
    """The new test files that stand in the work tree."""
    changed = ctx.repository.changes(tree, ctx.repository.snapshot())
    return tuple(file.path for file in changed.present if not objection(file.path))


def _take_back(ctx: Context, tree: str, number: int, objection: Callable[[str], str]) -> None:
    changed = ctx.repository.changes(tree, ctx.repository.snapshot()).files
    strays = [path for file in changed for path in file.touched if not file.exists or objection(path)]
    if strays:
        ctx.repository.restore(tree, quarantine=ctx.folder.quarantine_folder("test-engineer"), only=strays)
        detail = f"changed files that are no new tests; taken back: {', '.join(strays[:5])}"
        ctx.reports.append(_guard(detail, number, Effect.REFUSED))


async def _attacked(ctx: Context, task: Task, attempt: Attempt, tree: str, files: Sequence[str]) -> Record:
    """Runs the new tests, and asks the reviewer about those that fail: one round for all of them."""
    attacks = await _run_each(ctx, attempt.tree, tree, files)
    failing = [each for each in attacks if each.outcome is Outcome.BROKE]
    if not failing:
        return Record(attacks=attacks)
    review = await reviewer.confirm(
        ctx.agent("reviewer"),
        submission(ctx, task, attempt),
        tests="\n\n".join(_text(ctx, tree, path) for each in failing for path in each.files),
        output="\n\n".join(f"$ {each.run.command}\n{_tail(each.run)}" for each in failing),
    )
    after_turn(ctx, "reviewer", "review", before=tree, base=attempt.base)
    return Record(attacks=judged(attacks, review), confirmation=review)


def judged(attacks: Sequence[Attack], review: Review) -> tuple[Attack, ...]:
    """The attacks after the reviewer's word: a REJECTED takes out the tests that it names, or all that failed."""
    if review.approved:
        return tuple(attacks)
    failing = {path for each in attacks if each.outcome is Outcome.BROKE for path in each.files}
    wrong = {finding.file.removeprefix("./") for finding in review.findings} & failing or failing
    why = f"what it expects is not right: {review.summary or 'the reviewer gave no reason'}"
    return tuple(
        each.model_copy(update={"outcome": Outcome.UNCONFIRMED, "why": " ".join(why.split())})
        if each.outcome is Outcome.BROKE and wrong & set(each.files)
        else each
        for each in attacks
    )


async def _run_each(ctx: Context, before: str, tree: str, files: Sequence[str]) -> tuple[Attack, ...]:
    """One run for each test file; one for all of them with the whole suite where the runner takes no files."""
    suites = ctx.suites(tree)
    if not suites.suites or not files:  # without a command the run of the suite says what to do
        return ()
    kind, alone = suites.kind(ctx.repository.root), suites.alone(ctx.repository.root)
    groups = [(path,) for path in files if TEST_FILE.search(path)] if alone else [tuple(files)]
    attacks = []
    for group in groups:
        run = await run_suites(ctx, suites, tree, group)
        attack = Attack(files=group, run=run, outcome=outcome(run, kind, suites.timeout_s))
        if attack.outcome is Outcome.BROKE and not alone and await _fails_without(ctx, suites, before):
            attack = attack.model_copy(update={"outcome": Outcome.UNCOUNTED})
        if attack.outcome is Outcome.UNCOUNTED:
            attack = attack.model_copy(update={"why": f"its run cannot be counted: {run.reason}"})
        attacks.append(attack)
    return tuple(attacks)


def outcome(run: TestRun, kind: str, timeout_s: float) -> Outcome:
    """Reads the outcome from a run of new tests. A run that does not end shows that something hangs.

    Args:
        run: the run.
        kind: its runner, as `workspace.test_runs.suite.runner_of` names it.
        timeout_s: the time limit of the run, in seconds.
    """
    if run.green:
        return Outcome.HELD
    hangs = run.exit_code is None and run.seconds >= timeout_s
    collected = not (kind == "pytest" and run.exit_code == _INTERRUPTED)
    return Outcome.BROKE if hangs or (run.failed and collected) else Outcome.UNCOUNTED


async def _fails_without(ctx: Context, suites: Suites, before: str) -> bool:
    """Whether the suite fails without the attack's files too: then they are not what it fails for."""
    return not (await run_suites(ctx, suites, before)).green


def _text(ctx: Context, tree: str, path: str) -> str:
    content = ctx.repository.read(tree, path) or b""
    return f"{path}\n{content.decode('utf-8', 'replace')}"


def _tail(run: TestRun) -> str:
    return run.output[-_OUTPUT_TAIL:] or run.reason


def _rejection(task_id: str, number: int, broken: Sequence[Attack]) -> AttemptRejected:
    """Its feedback names every file of the attack: what an override takes out again."""
    feedback = (
        Remark(
            severity=Severity.HIGH,
            file=path,
            message=f"{', '.join(each.files)} fails:\n{_tail(each.run)}" if path == each.files[0] else "see above",
        )
        for each in broken
        for path in each.files
    )
    reason = f"an adversarial test fails: {broken[0].run.reason}"
    return AttemptRejected(task=task_id, attempt=number, stage=Judge.ATTACKS, reason=reason, feedback=tuple(feedback))


def _note(ctx: Context, number: int, verdict: Review, record: Record, *, broke: bool) -> None:
    """Puts on record what was taken out, and a rejection that no test shows."""
    for each in record.attacks:
        if each.why:
            ctx.reports.append(_guard(f"{', '.join(each.files)} was taken out: {each.why}", number))
    if not verdict.approved and not broke:
        ctx.reports.append(_guard("the test engineer said REJECTED, and no test of it shows why", number))


def _guard(detail: str, number: int, effect: Effect = Effect.NOTED) -> GuardNote:
    text = " ".join(detail.split())
    return GuardNote(
        rule=RULE, effect=effect, detail=text, role="test_engineer", step="adversarial_test", attempt=number
    )
