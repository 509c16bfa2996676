"""The plan, revise, review_plan and estimate steps: the architect plans, the critic reviews.

The user approves elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from swarmgate.agents.briefs.brief import Brief, Section
from swarmgate.agents.briefs.feedback import findings
from swarmgate.agents.roles import architect, critic
from swarmgate.agents.roles.architect import Questions
from swarmgate.domain.events.event import Event, PlanningFailed, PlanReviewed, PlanSaved, QuestionsAsked
from swarmgate.domain.plan.plan import Plan
from swarmgate.domain.review.evidence import Review, Verdict
from swarmgate.domain.spending.estimate import phase_estimate, shortfalls
from swarmgate.domain.state.state import Planning, State
from swarmgate.domain.task.debate_rules import plan_triggers
from swarmgate.domain.transitions.planning import plan_change_problems
from swarmgate.engine.context import Context
from swarmgate.engine.debaters import modes, plan_seats
from swarmgate.engine.expert_answers import standing_guidance
from swarmgate.engine.steps.review import debate
from swarmgate.engine.steps.review.debate import Case
from swarmgate.errors import NoUsableReply, SelfCodingBlocked

_LISTED_FILES = 200
_QUESTION = (
    "Should the user be asked to approve this plan? APPROVE: it reaches the goal, in tasks that can each be built and "
    "tested. REJECT: something is missing, wrong, too vague to be tested, or in an order that cannot work."
)


async def plan(state: State, ctx: Context) -> list[Event]:
    """The first plan for a goal, or the questions that stand before it."""
    try:
        result = await architect.plan(
            ctx.agent("architect"),
            goal=state.goal,
            spec=state.spec,
            answers=_answers(state),
            overview=overview(ctx),
        )
    except (NoUsableReply, SelfCodingBlocked) as error:
        return [PlanningFailed(problems=(error.message,))]
    return [_planned(result)]


async def revise(state: State, ctx: Context) -> list[Event]:
    """The plan again: after the critic's objections, or because the user asked for something else."""
    if state.plan is None:
        raise ValueError("there is no plan to revise")
    objected = state.planning is Planning.OBJECTED
    try:
        result = await architect.revise(
            ctx.agent("architect"),
            goal=state.goal,
            plan=state.plan,
            status=_status(state),
            request=state.revision,
            objections=state.plan_reviews[-1] if objected else None,
            phase_findings=_of_phase(state),
            answers=_answers(state),
            overview=overview(ctx),
            check=partial(plan_change_problems, state),
        )
    except (NoUsableReply, SelfCodingBlocked) as error:
        return [PlanningFailed(problems=(error.message,))]
    return [_planned(result)]


async def review_plan(state: State, ctx: Context) -> list[Event]:
    """The critic's verdict, or a debate's. No usable one counts as a rejection, and stays on record as such."""
    if state.plan is None:
        raise ValueError("there is no plan to review")
    handed_in: dict[str, Any] = {
        "goal": state.goal,
        "spec": state.spec,
        "plan": state.plan,
        "round": state.critic_rounds + 1,
        "earlier": state.plan_reviews,
    }

    async def ordinary() -> Review:
        try:
            return await critic.review_plan(ctx.agent("critic"), **handed_in)
        except NoUsableReply as error:
            return _objection(f"The critic gave no verdict: {error.message}")

    found = await debate.judged(ctx, _case(state, ctx, state.plan, critic.sections_of(**handed_in)), ordinary)
    review = found.review or _objection(f"The debate decided nothing: {found.problem}", found.events[-1].debate)
    return [*found.events, PlanReviewed(review=review)]


def _case(state: State, ctx: Context, plan: Plan, sections: Sequence[Section]) -> Case:
    """The criticism of the plan as what may be debated."""
    meeting = bool(ctx.config.review.plan_seats)
    return Case(
        judge="critic",
        seats=plan_seats(ctx.config, ctx.folder.root),
        mode=modes(ctx.config)[1],
        question=f"Vision Alignment Meeting. {_QUESTION}" if meeting else _QUESTION,
        rounds=(ctx.config.review.plan_rounds or 0) if meeting else 0,
        why="[review] plan_seats" if meeting else '[review] mode = "debate"',
        sections=(*standing_guidance(ctx.ledger, Brief("critic", "review_plan", goal=state.goal)), *sections),
        triggers=plan_triggers(plan, state.plan_reviews),
        names=(f"{f'goal-{state.goals}-' if state.goals > 1 else ''}plan-round-{state.critic_rounds + 1}",),
        identity=(str(state.goals), *(each.text for each in sections)),
    )


def _of_phase(state: State) -> str:
    """What the newest reviewers of the current phase found, where they rejected it and it is not closed since."""
    record = state.phase(state.current_phase)
    if record.closed or not record.reviews:
        return ""
    last = record.reviews[-1]
    given = [each.review.approved for each in record.reviews if (each.stage, each.round) == (last.stage, last.round)]
    if last.stage in record.overruled or given.count(True) > given.count(False):
        return ""
    found = findings(record, last.stage, last.round)
    return f"Phase {last.phase}, {last.stage}:\n\n{found}" if found else ""


def _objection(summary: str, debate: str = "") -> Review:
    return Review(verdict=Verdict.REJECTED, summary=summary, debate=debate)


def overview(ctx: Context) -> str:
    """The overview of the repository in the architect's brief."""
    files = ctx.repository.list_tree(ctx.repository.snapshot())
    visible = [path for path in files if not path.startswith(".swarm/")]
    more = f"\n... and {len(visible) - _LISTED_FILES} more" if len(visible) > _LISTED_FILES else ""
    languages = ", ".join(ctx.config.project.languages or ctx.detection.languages) or "none detected"
    return (
        f"Languages: {languages}\nTest command: {ctx.test_command() or 'none detected'}\n"
        f"Files ({len(visible)}):\n" + "\n".join(visible[:_LISTED_FILES]) + more
    )


def _planned(result: Plan | Questions) -> Event:
    return QuestionsAsked(questions=result.texts) if isinstance(result, Questions) else PlanSaved(plan=result)


def _answers(state: State) -> tuple[tuple[str, str], ...]:
    return tuple((question.text, question.answer) for question in state.questions)


def _status(state: State) -> str:
    """Which tasks are settled and must stay, which are open; for the architect's brief."""
    if state.plan is None:
        return ""
    return "\n".join(f"{task_id}: {state.task(task_id).status}" for task_id in state.plan.tasks)


async def estimate(state: State, ctx: Context) -> list[Event]:
    """The estimate goes on record; too small a budget stops nothing yet, the user may raise it at any time."""
    expected = phase_estimate(state)
    for text in shortfalls(state, expected, ctx.budgets()):
        ctx.notify("notice", text)
    return [expected]
