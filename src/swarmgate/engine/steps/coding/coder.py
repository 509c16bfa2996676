"""Runs the coder's (or architect's) turn, captures its change with git, and checks it against the scope."""

from __future__ import annotations

from swarmgate.agents.ask_user import Asked
from swarmgate.agents.authority.scope import ScopeRules, outside
from swarmgate.agents.briefs.brief import Section, bullets
from swarmgate.agents.briefs.feedback import feedback_text
from swarmgate.agents.roles import architect, coder
from swarmgate.domain.events.event import AttemptKind, AttemptRejected, ChangeCaptured, Event
from swarmgate.domain.guard import Effect, GuardNote
from swarmgate.domain.review.change import ChangeSet
from swarmgate.domain.review.evidence import Remark
from swarmgate.domain.review.finding import Severity
from swarmgate.domain.review.stage import Judge
from swarmgate.domain.state.state import Attempt, State, TaskRecord, current
from swarmgate.domain.task.failure_patterns import observe
from swarmgate.domain.transitions.task import overruled
from swarmgate.engine.context import Context
from swarmgate.engine.steps import questions
from swarmgate.engine.steps.agent_turn import after_turn, rejection_by
from swarmgate.engine.steps.coding import weakened_tests
from swarmgate.errors import BreakerTripped
from swarmgate.gates.formats.text import lines
from swarmgate.ledger.evidence.evidence import PATCH

RULE = "scope"
_LISTED = 10
_PUT_BACK = "changed outside of the declared scope: put it back, unless it is declared for this attempt"


async def code(state: State, ctx: Context) -> list[Event]:
    """Runs the coder's turn until it calls `finish`, and captures the change."""
    task, record, attempt = current(state)
    try:
        found = await coder.code(
            ctx.agent("coder"),
            task=task,
            attempt=attempt.number,
            scope=attempt.scope,
            instructions=attempt.instructions,
            feedback=feedback_text(record.attempts[:-1], record.notes),
            run_gates=lambda: _gates_for_agents(ctx),
            test_command=ctx.test_command(),
            observed=observe(record),
            known=ctx.background(state, task),
            asking=questions.asking(state, ctx, task.id, "coder", "code"),
        )
    except BreakerTripped as error:
        return [*_captured(state, ctx, ""), rejection_by(state, error)]
    return _ended(state, ctx, found)


async def implement(state: State, ctx: Context) -> list[Event]:
    """Runs the architect's turn in an escalated attempt, under the same gates and verdicts."""
    task, record, attempt = current(state)
    try:
        found = await architect.implement(
            ctx.agent("architect"),
            task=task,
            attempt=attempt.number,
            scope=attempt.scope,
            instructions=attempt.instructions,
            feedback=feedback_text(record.attempts[:-1], record.notes),
            observed=observe(record),
            known=ctx.background(state, task),
            asking=questions.asking(state, ctx, task.id, "architect", "implement"),
        )
    except BreakerTripped as error:
        return [*_captured(state, ctx, ""), rejection_by(state, error)]
    return _ended(state, ctx, found)


async def capture(state: State, ctx: Context) -> list[Event]:
    """Captures the current tree as the change of an attempt that the user's override opened."""
    return _captured(state, ctx, "")


async def _gates_for_agents(ctx: Context) -> str:
    return "\n".join(lines(await ctx.judge(fix=False)))


def _ended(state: State, ctx: Context, found: str | Asked) -> list[Event]:
    """What a turn comes to: its change, or its question with the work so far, which stays in the tree."""
    if not isinstance(found, Asked):
        return _captured(state, ctx, found, judge_scope=True)
    task, _, attempt = current(state)
    role, step = _turn_of(attempt)
    ctx.keep_head(attempt)
    tree = after_turn(ctx, role, step, before=attempt.tree, base=attempt.base).tree
    return [questions.asked(ctx, task.id, attempt.number, role, step, found, tree=tree)]


def _turn_of(attempt: Attempt) -> tuple[str, str]:
    """Whose turn makes the change of an attempt, and at which step."""
    return ("coder", "code") if attempt.kind is AttemptKind.CODER else ("architect", "implement")


def _captured(state: State, ctx: Context, summary: str, *, judge_scope: bool = False) -> list[Event]:
    """Captures the change of a turn with git, after unauthorised writes were reverted."""
    task, record, attempt = current(state)
    ctx.keep_head(attempt)
    role, step = _turn_of(attempt)
    if attempt.kind is AttemptKind.OVERRIDE:
        tree = ctx.repository.snapshot()
    else:
        tree = after_turn(ctx, role, step, before=attempt.tree, base=attempt.base).tree
    change = ctx.change(attempt, tree)
    patch = ctx.repository.patch(change.base, change.tree)
    beyond = outside_of_scope(ctx, change, record)
    events: list[Event] = [
        ChangeCaptured(
            task=task.id,
            attempt=attempt.number,
            tree=tree,
            files=change.paths,
            outside=beyond,
            contents={file.path: file.new_id for file in change.files},
            added=sum(file.added for file in change.files),
            removed=sum(file.removed for file in change.files),
            summary=summary,
            evidence=ctx.evidence.write(task.id, attempt.number, PATCH, patch),
        )
    ]
    weaker = weakened_tests.note(ctx, record, change, role=role, step=step)
    if weaker is not None and attempt.kind is not AttemptKind.OVERRIDE:
        ctx.reports.append(weaker)
    note = scope_note(ctx, beyond, record, attempt) if judge_scope else None
    if note is not None:
        ctx.reports.append(note)
        if note.effect is Effect.REJECTED:
            events.append(scope_rejection(task.id, attempt.number, beyond, ctx.config.scope.max_outside))
    return events


def outside_of_scope(ctx: Context, change: ChangeSet, record: TaskRecord) -> tuple[str, ...]:
    """The changed files outside of what was declared for the task, in any of its attempts.

    What the test engineer wrote in an earlier attempt, and still lies in the tree, is nobody's trespass.
    """
    authority = ctx.authority("coder", "code")
    rules = ScopeRules(is_test=ctx.is_test_path, artefacts=ctx.config.scope.artefacts, allow=authority.allow)
    declared = [path for attempt in record.attempts for path in (*attempt.scope, *attempt.tests)]
    return outside(change.files, declared, rules)


def scope_note(ctx: Context, beyond: tuple[str, ...], record: TaskRecord, attempt: Attempt) -> GuardNote | None:
    """The guard note on files outside of the scope; effect REJECTED ends the attempt. None: nothing to note."""
    rules = ctx.config.scope
    if not beyond or rules.enforce == "off":
        return None
    effect = Effect.NOTED
    if len(beyond) > rules.max_outside:
        blocks = rules.enforce == "block" and not overruled(record, attempt, Judge.SCOPE)
        effect = Effect.REJECTED if blocks else Effect.WARNED
    return GuardNote(
        rule=RULE,
        effect=effect,
        detail=_scope_message(beyond, rules.max_outside),
        attempt=attempt.number,
    )


def scope_rejection(task_id: str, number: int, beyond: tuple[str, ...], accepted: int) -> AttemptRejected:
    """The rejection of an attempt that changed more files outside of its scope than are accepted."""
    stays = f" (of these {len(beyond)}, at most {accepted} may stay changed)" if accepted else ""
    return AttemptRejected(
        task=task_id,
        attempt=number,
        stage=Judge.SCOPE,
        reason=_scope_message(beyond, accepted),
        feedback=tuple(Remark(severity=Severity.HIGH, message=_PUT_BACK + stays, file=path) for path in beyond),
    )


def _scope_message(beyond: tuple[str, ...], accepted: int) -> str:
    """The message that names the files outside and how many are accepted; the named ones are not the accepted ones."""
    allowed = f"up to {accepted} are accepted" if accepted else "none is accepted"
    return f"{_counted(beyond)} outside of the declared scope: {_listed(beyond)}; {allowed} ([scope] max_outside)"


def scope_violation(state: State) -> tuple[Section, ...]:
    """The section on the newest change's scope violation, if any, for the architect's next brief.

    Told until there is a newer change, or the phase is closed: its summary was a brief of the architect's too.
    """
    record = state.task(state.last)
    newest = next((attempt for attempt in reversed(record.attempts) if attempt.captured), None)
    phase = state.plan.phase_numbers.get(state.last, 0) if state.plan else 0
    if newest is None or state.phase(phase).closed:
        return ()
    grave = (Effect.WARNED, Effect.REJECTED)
    if not any(n.rule == RULE and n.attempt == newest.number and n.effect in grave for n in record.guards):
        return ()
    section = Section(
        "Scope violation",
        f"Task {state.last}, attempt {newest.number}\nDeclared:\n{bullets(newest.scope)}\n"
        f"Changed outside of that:\n{bullets(newest.outside)}",
        "The change before went beyond its declared scope. Declare every file that a task needs, and say in the "
        "instructions what must be left alone; files that nobody needs have to be put back.",
    )
    return (section,)


def _counted(beyond: tuple[str, ...]) -> str:
    return f"{len(beyond)} {'file' if len(beyond) == 1 else 'files'}"


def _listed(beyond: tuple[str, ...]) -> str:
    more = f" and {len(beyond) - _LISTED} more" if len(beyond) > _LISTED else ""
    return ", ".join(beyond[:_LISTED]) + more
