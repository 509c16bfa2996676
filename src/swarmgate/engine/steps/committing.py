"""The commit of a task: exactly the tree that passed, with trailers that point back at the ledger."""

from __future__ import annotations

from swarmgate.domain.events import AttemptKind, AttemptRejected, Event, TaskCompleted
from swarmgate.domain.evidence import Remark
from swarmgate.domain.finding import Severity
from swarmgate.domain.laws_task import overruled
from swarmgate.domain.plan import Task
from swarmgate.domain.state import Attempt, State
from swarmgate.engine.context import Context
from swarmgate.engine.steps.attempts import current
from swarmgate.engine.steps.testing import measure
from swarmgate.errors import CommitRefused
from swarmgate.workspace import own_rights
from swarmgate.workspace.commits import Commit

_HOOKS = (
    "the change touches {files}, which says what git's hooks run, and hooks run with the user's rights. Leave it as it "
    "was; the user may let the change pass by an override, or make it."
)


async def commit(state: State, ctx: Context) -> list[Event]:
    """One commit for the task. A commit that a crash left without its event is found by its trailers and taken up."""
    task, record, attempt = current(state)
    mine = {"Swarm-Task": task.id, "Swarm-Attempts": str(attempt.number)}
    made = ctx.repository.find_commit(mine, since=state.base)
    if made is not None:
        ctx.repository.take_up(made)
    else:
        change = ctx.change(attempt)
        touched = own_rights.of_hooks(ctx.repository.root, change.paths)
        if touched and not overruled(record, attempt, "commit"):
            return [_refused(task, attempt, _HOOKS.format(files=", ".join(f"`{path}`" for path in touched)))]
        trailers = [*mine.items(), ("Swarm-Ledger", f"{state.seq} {ctx.ledger.head}")]
        if attempt.kind is AttemptKind.OVERRIDE:
            overrides = (f"{stage}: {reason}" for stage, reason in record.overrides.items())
            trailers.append(("Swarm-Override", "; ".join(sorted(overrides))))
        try:
            made = ctx.repository.commit(change, _message(task), trailers)
        except CommitRefused as error:
            return [_refused(task, attempt, error.message)]
    if made.tree != attempt.tree and (problem := await _problem_of_hooked_tree(ctx, made, attempt)):
        ctx.repository.undo_commit(made)
        return [_refused(task, attempt, f"a commit hook changed the files, and {problem}")]
    return [TaskCompleted(task=task.id, attempt=attempt.number, commit=made.id, tree=made.tree)]


async def _problem_of_hooked_tree(ctx: Context, made: Commit, attempt: Attempt) -> str:
    """Why the tree that the user's hooks made of the one that passed does not pass as well; empty when it does."""
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
    ctx.tell("notice", f"a commit hook changed {', '.join(changed[:3])}; the result passed gates and tests again")
    return ""


def _message(task: Task) -> str:
    return f"{task.title}\n\n{task.description}".strip()


def _refused(task: Task, attempt: Attempt, output: str) -> AttemptRejected:
    return AttemptRejected(
        task=task.id,
        attempt=attempt.number,
        stage="commit",
        reason=output.strip().split("\n", 1)[0],
        feedback=(Remark(severity=Severity.HIGH, message=output),),
    )
