"""The subject matter expert role: answers one question of another role in text, and may read files for it."""

from __future__ import annotations

from swarmgate.agents.ask_expert import ExpertAnswer
from swarmgate.agents.briefs.brief import Brief, Section, cut
from swarmgate.agents.context import AgentContext
from swarmgate.agents.conversation.toolbox import Toolbox
from swarmgate.agents.conversation.turn import take_turn

ROLE, STEP = "sme", "consult"

_ANSWER = 6_000
"""Characters of an answer that are kept: it stands in the briefs of other roles from then on."""


async def consult(agent: AgentContext, *, domain: str, question: str, task: str = "", phase: int = 0) -> ExpertAnswer:
    """The expert's answer to a question.

    Args:
        agent: the expert's context.
        domain: the field of knowledge.
        question: what another role wants to know.
        task: the id of the task that it works on; empty outside of tasks.
        phase: the phase that it works in; 0 outside of phases.

    Raises:
        NoUsableReply: no answer within the bound; otherwise as `take_turn`.
    """
    brief = Brief(
        ROLE,
        STEP,
        task=task,
        phase=phase,
        domain=domain,
        sections=(Section("The question", question, "Asked by another role of the team. Answer it and nothing else."),),
    )
    ending = await take_turn(agent, brief, work=Toolbox(agent).handlers, endings={}, answer=lambda text: text)
    return ExpertAnswer(cut(ending.value, _ANSWER, "\n[... cut off ...]"), ending.model)
