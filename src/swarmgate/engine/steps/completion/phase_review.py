"""The evaluate_phase and validate_phase steps: a phase is judged as a whole, before its first task and after its last.

Each step asks one reviewer, so that a verdict is on record before the next one is asked.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from swarmgate.agents.briefs.brief import bullets, task_text
from swarmgate.agents.briefs.feedback import findings
from swarmgate.agents.roles import critic, reviewer
from swarmgate.agents.roles.citations import Material
from swarmgate.agents.roles.reviewer import PhaseSubmission
from swarmgate.domain.actor import actor_in_words
from swarmgate.domain.events.event import Event, PhaseRetried, PhaseReviewed, PhaseStage
from swarmgate.domain.plan.plan import Plan
from swarmgate.domain.review.change import ChangeSet
from swarmgate.domain.review.evidence import Review, Verdict
from swarmgate.domain.state.phase_verdict import reviewers
from swarmgate.domain.state.state import State
from swarmgate.engine.branch_history import phase_base
from swarmgate.engine.context import Context
from swarmgate.engine.steps.agent_turn import after_turn
from swarmgate.engine.steps.recovery import quarantine_leftovers
from swarmgate.engine.steps.review.change_for_review import in_order, listed
from swarmgate.engine.steps.review.review import texts_of
from swarmgate.errors import BreakerTripped, NoUsableReply
from swarmgate.workspace.git.revisions import empty_tree


async def evaluate_phase(state: State, ctx: Context) -> list[Event]:
    """Asks the critic whether the phase that begins can be built and tested, in the repository as it is now."""
    number, plan = state.current_phase, _plan_of(state)
    record = state.phase(number)
    asked = partial(
        critic.evaluate_phase,
        ctx.agent("critic"),
        goal=state.goal,
        plan=plan,
        phase=number,
        status="\n".join(f"{task.id}: {state.task(task.id).status}" for task in plan.tasks.values()),
        earlier=findings(record, "gate", record.round("gate") - 1),
        notes=record.notes,
    )
    head = ctx.repository.head()
    return [await _given(state, ctx, "gate", asked, role="critic", base=head, commit=head)]


async def validate_phase(state: State, ctx: Context) -> list[Event]:
    """Asks the next reviewer whether the change of the whole phase does what its tasks promise.

    No reviewer is told what the others say, and none changes a file. Files of a task that was given up are put away
    before: they are no part of the phase.
    """
    number, plan = state.current_phase, _plan_of(state)
    record, put_away = state.phase(number), quarantine_leftovers(state, ctx.folder, ctx.repository)
    head = ctx.repository.head()
    if not all(ctx.repository.stands(each.commit, head) for each in record.verdicts("validation")):
        ctx.notify("notice", f"you committed while phase {number} was judged: it is judged anew, with that in it")
        return [*put_away, PhaseRetried(phase=number)]
    base, change = _change(state, ctx, head)
    files = in_order(ctx, change)
    patch = listed(files)
    asked = len(record.verdicts("validation"))
    work = PhaseSubmission(
        phase=number,
        name=plan.phase(number).name,
        round=record.round("validation"),
        number=asked + 1,
        tasks="\n\n".join(_task(state, task_id) for task_id in (task.id for task in plan.phase(number).tasks)),
        patch=patch,
        files=[(each.file, each.text, must) for each, must in files],
        test_command=ctx.test_command(),
        material=Material(patch, texts_of(ctx, change)) if ctx.config.review.cite else None,
        earlier=findings(record, "validation", record.round("validation") - 1),
        notes=record.notes,
    )
    models = ctx.config.phase.models
    agent = ctx.agent("reviewer", models[asked % len(models)] if models else "")
    given = partial(reviewer.validate_phase, agent, work)
    return [*put_away, await _given(state, ctx, "validation", given, role="reviewer", base=base, commit=head)]


async def _given(
    state: State,
    ctx: Context,
    stage: PhaseStage,
    asked: Callable[[], Awaitable[Review]],
    *,
    role: str,
    base: str,
    commit: str,
) -> PhaseReviewed:
    """The verdict as it goes on record; where none comes that can be read, that is no approval."""
    number, before, failed = state.current_phase, ctx.repository.snapshot(), False
    record = state.phase(number)
    try:
        review = await asked()
    except (NoUsableReply, BreakerTripped) as error:
        review = Review(verdict=Verdict.REJECTED, summary=error.message)
        failed = True
    after_turn(ctx, role, "evaluate_phase" if stage == "gate" else "validate_phase", before=before, base=commit)
    round_, place = record.round(stage), len(record.verdicts(stage)) + 1
    evidence = review.model_dump_json(indent=1).encode()
    return PhaseReviewed(
        phase=number,
        stage=stage,
        round=round_,
        number=place,
        of=reviewers(state, stage),
        review=review,
        failed=failed,
        base=base,
        commit=commit,
        evidence=ctx.evidence.write(f"phase-{number}", round_, f"{stage}-{place}.json", evidence),
    )


def _change(state: State, ctx: Context, head: str) -> tuple[str, ChangeSet]:
    """The commit before the first one of the phase, and what differs from there to `head`.

    The first is that of the task that was completed first; of one that was rewritten since, the ledger has the new id.
    """
    base = phase_base(state, ctx.repository, state.current_phase)
    tree = ctx.repository.tree_of(base) if base else empty_tree(ctx.repository)
    return base, ctx.repository.changes(tree, ctx.repository.tree_of(head))


def _task(state: State, task_id: str) -> str:
    """What a task promises, and how it ended."""
    record, task = state.task(task_id), _plan_of(state).tasks[task_id]
    ended = [f"{record.status}{f', {record.reason}' if record.reason else ''}"]
    overrides = (each for _, each in sorted(record.overrides.items()))
    ended += [f"Overruled by {actor_in_words(each.by)}, {each.stage}: {each.reason}" for each in overrides]
    ended += [f"The user was asked, {each.in_words}" for each in state.asked_about(task_id)]
    return f"{task_text(task)}\n\nHow it ended:\n{bullets(ended)}"


def _plan_of(state: State) -> Plan:
    if state.plan is None:
        raise ValueError("there is no phase to judge")
    return state.plan
