"""The commit step: commits exactly the tree that passed, with trailers that point to the ledger."""

from __future__ import annotations

from swarmgate.domain.events.event import AttemptKind, AttemptRejected, Event, TaskCompleted
from swarmgate.domain.evidence.attestation import LEDGER_TRAILER
from swarmgate.domain.plan.plan import Task
from swarmgate.domain.review.evidence import Remark
from swarmgate.domain.review.finding import Severity
from swarmgate.domain.review.stage import Judge
from swarmgate.domain.state.state import Attempt, State, current
from swarmgate.domain.transitions.task import overruled
from swarmgate.engine.context import Context
from swarmgate.engine.steps.completion import attestation
from swarmgate.engine.steps.testing.engineer import measure
from swarmgate.errors import CommitRefused, HeadMoved
from swarmgate.ledger.recovery.interruption import own_commit
from swarmgate.ledger.recovery.interruption import trailers as own_trailers
from swarmgate.workspace.git.commits import Commit
from swarmgate.workspace.git.history import meanwhile
from swarmgate.workspace.sandbox import unsandboxed_files

_HOOKS = (
    "the change touches {files}, which says what git's hooks run, and hooks run with the user's rights. Leave it as it "
    "was; the user may let the change pass by an override, or make it."
)


async def commit(state: State, ctx: Context) -> list[Event]:
    """Commits the task. A commit that a crash left without its event is found by its trailers and recorded."""
    task, record, attempt = current(state)
    made = own_commit(state, attempt, ctx.repository)
    if made is not None:
        ctx.repository.take_up(made)
    else:
        ctx.keep_head(attempt)
        change = ctx.change(attempt)
        touched = unsandboxed_files.of_hooks(ctx.repository.root, change.paths)
        if touched and not overruled(record, attempt, Judge.COMMIT):
            return [_refused(task, attempt, _HOOKS.format(files=", ".join(f"`{path}`" for path in touched)))]
        trailers = [*own_trailers(state, attempt).items(), (LEDGER_TRAILER, f"{state.seq} {ctx.ledger.head}")]
        if attempt.related:
            trailers.append(("Swarm-Tests", "related"))
        if attempt.kind is AttemptKind.OVERRIDE:
            overrides = (each.told for each in record.overrides.values())
            trailers.append(("Swarm-Override", "; ".join(sorted(overrides))))
        if ctx.config.git.attest:
            trailers.append(attestation.trailer(state, ctx))
        try:
            made = ctx.repository.commit(change, _message(task), trailers, onto=attempt.base)
        except CommitRefused as error:
            if ctx.stop.requested:  # Ctrl-C goes to the hooks as well
                raise
            return [_refused(task, attempt, error.message)]
    if made.tree != attempt.tree and (problem := await _problem_of_hooked_tree(ctx, made, attempt)):
        return [_refused(task, attempt, f"a commit hook changed the files, and {problem}; {_set_aside(ctx, made)}")]
    attestation.attest(ctx, made)
    _report_later_commits(ctx, made, attempt)
    return [TaskCompleted(task=task.id, attempt=attempt.number, commit=made.id, tree=made.tree)]


def _set_aside(ctx: Context, made: Commit) -> str:
    """Removes an unproven commit from the branch; returns the ref that keeps it, or why it stays."""
    try:
        return f"that commit is kept as {ctx.repository.set_aside(made, made.parent)}"
    except HeadMoved:
        way = f"git rebase --onto {made.parent[:12]} {made.id[:12]}"
        return f"commit {made.id[:12]} stays, since others stand on it: {way} takes it out"


def _report_later_commits(ctx: Context, made: Commit, attempt: Attempt) -> None:
    """Reports commits made right after the task's commit, and which of its files they change."""
    head = ctx.repository.head()
    if ctx.repository.stands(made.id, head):
        return
    undone = {*ctx.repository.changes(made.tree, ctx.repository.head_tree()).paths} & {*ctx.change(attempt).paths}
    message = meanwhile(ctx.repository, made.id, head)
    ctx.notify("notice", f"{message}; it changes files of the task: {', '.join(sorted(undone))}" if undone else message)


async def _problem_of_hooked_tree(ctx: Context, made: Commit, attempt: Attempt) -> str:
    """Why the tree changed by the user's commit hooks does not pass gates and tests; empty when it passes."""
    if ctx.repository.snapshot() != made.tree:
        return "the files on disk are not what was committed"
    changed = ctx.repository.changes(attempt.tree, made.tree).paths
    report = await ctx.judge(fix=False, base=made.parent, tested=True)
    if not report.passed:
        return f"the result does not pass the gates: {report.reason}"
    ran = await measure(ctx, made.tree, attempt.tests)
    as_before = ran.failures and set(ran.failures) <= set(attempt.failures)  # red by the user's own order
    if not ran.green and not as_before:
        return f"the result does not pass the tests: {ran.reason}"
    ctx.notify("notice", f"a commit hook changed {', '.join(changed[:3])}; the result passed gates and tests again")
    return ""


def _message(task: Task) -> str:
    return f"{task.title}\n\n{task.description}".strip()


def _refused(task: Task, attempt: Attempt, output: str) -> AttemptRejected:
    return AttemptRejected(
        task=task.id,
        attempt=attempt.number,
        stage=Judge.COMMIT,
        reason=output.strip().split("\n", 1)[0],
        feedback=(Remark(severity=Severity.HIGH, message=output),),
    )
