"""Compares the change with the declared scope: counts the files outside of it, accepts or reports them."""

from __future__ import annotations

from swarmgate.agents.authority.scope import ScopeRules, outside
from swarmgate.agents.briefs.brief import Section, bullets
from swarmgate.domain.events.event import AttemptRejected
from swarmgate.domain.guard import Effect, GuardNote
from swarmgate.domain.review.change import ChangeSet
from swarmgate.domain.review.evidence import Remark
from swarmgate.domain.review.finding import Severity
from swarmgate.domain.review.stage import Judge
from swarmgate.domain.state.state import Attempt, State, TaskRecord
from swarmgate.domain.transitions.task import overruled
from swarmgate.engine.context import Context

RULE = "scope"
_TOLD = 10
_PUT_BACK = "changed outside of the declared scope: put it back, unless it is declared for this attempt"


def outside_of_scope(ctx: Context, change: ChangeSet, record: TaskRecord) -> tuple[str, ...]:
    """The changed files outside of what was declared for the task, in any of its attempts.

    What the test engineer wrote in an earlier attempt, and still lies in the tree, is nobody's trespass.
    """
    authority = ctx.authority("coder", "code")
    rules = ScopeRules(is_test=ctx.is_test_path, artefacts=ctx.config.scope.artefacts, allow=authority.allow)
    declared = [path for attempt in record.attempts for path in (*attempt.scope, *attempt.tests)]
    return outside(change.files, declared, rules)


def judged(ctx: Context, beyond: tuple[str, ...], record: TaskRecord, attempt: Attempt) -> GuardNote | None:
    """What is noted of the files outside; an effect of REJECTED means that the attempt ends. None: nothing."""
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
        detail=_told(beyond, rules.max_outside),
        attempt=attempt.number,
    )


def rejection(task_id: str, number: int, beyond: tuple[str, ...], accepted: int) -> AttemptRejected:
    """The end of an attempt that changed more files outside of its scope than are accepted."""
    stays = f" (of these {len(beyond)}, at most {accepted} may stay changed)" if accepted else ""
    return AttemptRejected(
        task=task_id,
        attempt=number,
        stage=Judge.SCOPE,
        reason=_told(beyond, accepted),
        feedback=tuple(Remark(severity=Severity.HIGH, message=_PUT_BACK + stays, file=path) for path in beyond),
    )


def _told(beyond: tuple[str, ...], accepted: int) -> str:
    """What is outside, and how many may be: those that are named are not those that are accepted."""
    allowed = f"up to {accepted} are accepted" if accepted else "none is accepted"
    return f"{_counted(beyond)} outside of the declared scope: {_listed(beyond)}; {allowed} ([scope] max_outside)"


def violation(state: State) -> tuple[Section, ...]:
    """What the architect's next brief opens with: the scope violation of the newest change, if it was one.

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
    told = Section(
        "Scope violation",
        f"Task {state.last}, attempt {newest.number}\nDeclared:\n{bullets(newest.scope)}\n"
        f"Changed outside of that:\n{bullets(newest.outside)}",
        "The change before went beyond its declared scope. Declare every file that a task needs, and say in the "
        "instructions what must be left alone; files that nobody needs have to be put back.",
    )
    return (told,)


def _counted(beyond: tuple[str, ...]) -> str:
    return f"{len(beyond)} {'file' if len(beyond) == 1 else 'files'}"


def _listed(beyond: tuple[str, ...]) -> str:
    more = f" and {len(beyond) - _TOLD} more" if len(beyond) > _TOLD else ""
    return ", ".join(beyond[:_TOLD]) + more
