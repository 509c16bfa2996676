"""The critic role: reviews a plan before the user is asked to approve it. Read-only."""

from __future__ import annotations

from collections.abc import Sequence

from swarmgate.agents.briefs.brief import Brief, Section, plan_json
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
