"""The critic role: reviews a plan before the user approves it, and a phase before its first task. Read-only."""

from __future__ import annotations

from collections.abc import Sequence

from swarmgate.agents.briefs.brief import Brief, Section, bullets, plan_json, task_text
from swarmgate.agents.briefs.feedback import review_text
from swarmgate.agents.context import AgentContext
from swarmgate.agents.conversation.toolbox import Toolbox
from swarmgate.agents.conversation.turn import take_turn
from swarmgate.agents.roles.verdict import review_of, signed
from swarmgate.domain.plan.plan import Plan
from swarmgate.domain.review.evidence import Review


async def review_plan(
    agent: AgentContext,
    *,
    goal: str,
    spec: str,
    plan: Plan,
    round: int,  # noqa: A002 - the word for it, in the keyword that the engine passes
    earlier: Sequence[Review],
) -> Review:
    """Judge the plan.

    Args:
        agent: the critic's context.
        goal: what the user wants.
        spec: the text of a specification file; may be empty.
        plan: the plan under review.
        round: which review of this plan it is, from 1.
        earlier: the verdicts of the rounds before.

    Raises:
        NoUsableReply: no verdict within the bound; otherwise as `take_turn`.
    """
    sections = sections_of(goal=goal, spec=spec, plan=plan, round=round, earlier=earlier)
    brief = Brief("critic", "review_plan", goal=goal, sections=sections)
    return signed(await take_turn(agent, brief, work=Toolbox(agent).handlers, endings={"submit_verdict": review_of}))


async def evaluate_phase(
    agent: AgentContext,
    *,
    goal: str,
    plan: Plan,
    phase: int,
    status: str,
    earlier: str = "",
    notes: Sequence[str] = (),
) -> Review:
    """Say whether a phase is ready to be built, and its criteria to be tested, in the repository as it is now.

    Args:
        agent: the critic's context.
        goal: what the user wants.
        plan: the whole plan.
        phase: the number of the phase that begins.
        status: how the tasks before it ended.
        earlier: what the critic objected to before.
        notes: what the user said to that.

    Raises:
        NoUsableReply: as `review_plan`.
    """
    sections = (
        Section("The phase that begins", "\n\n".join(map(task_text, plan.phase(phase).tasks)), whole=True),
        Section("The whole plan", plan_json(plan)),
        Section("How earlier tasks ended", status),
        Section("Your objections so far", earlier),
        Section("The user says", bullets(notes)),
    )
    brief = Brief("critic", "evaluate_phase", goal=goal, phase=phase, sections=sections)
    return signed(await take_turn(agent, brief, work=Toolbox(agent).handlers, endings={"submit_verdict": review_of}))


def sections_of(
    *,
    goal: str,
    spec: str,
    plan: Plan,
    round: int,  # noqa: A002 - the word for it
    earlier: Sequence[Review],
) -> tuple[Section, ...]:
    """The plan and what belongs to it, as it stands in the brief of whoever judges it; as `review_plan` takes it."""
    before = "\n\n".join(f"Round {number}: {review_text(each)}" for number, each in enumerate(earlier, start=1))
    return (
        Section("Goal", goal),
        Section("Specification", spec),
        Section("The plan", plan_json(plan), f"Round {round} of its review.", whole=True),
        Section("Your objections so far", before),
    )
