"""The coder role: implements one task with tools, within the scope declared for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from swarmgate.agents.ask_user import NEVER, Asked, Asking, outcome
from swarmgate.agents.briefs.brief import Brief, Section, task_text
from swarmgate.agents.briefs.feedback import patterns_section
from swarmgate.agents.briefs.prior_knowledge import NOTHING, Background
from swarmgate.agents.briefs.scope_files import SCOPE_NOTE, scope_text
from swarmgate.agents.context import AgentContext
from swarmgate.agents.conversation.toolbox import RunGates, Toolbox
from swarmgate.agents.conversation.turn import take_turn
from swarmgate.agents.tools import arguments as args
from swarmgate.domain.plan.plan import Task
from swarmgate.domain.task.failure_patterns import Observation

_TESTED = "Swarmgate itself runs it over the files that you leave; a change is accepted when all tests pass."


async def code(
    agent: AgentContext,
    *,
    task: Task,
    attempt: int,
    scope: Sequence[str],
    instructions: str,
    feedback: str,
    run_gates: RunGates,
    test_command: str = "",
    observed: Sequence[Observation] = (),
    known: Background = NOTHING,
    asking: Asking = NEVER,
) -> str | Asked:
    """Let the coder work; returns its summary, which is a claim and no evidence, or what it asks the user.

    Args:
        agent: the coder's context.
        task: the task.
        attempt: its number, from 1.
        scope: the files that were declared for it.
        instructions: the architect's.
        feedback: what earlier attempts were rejected for (`feedback_text`).
        run_gates: runs the gates over the files as they are.
        test_command: how swarmgate runs the project's tests; empty: nobody knows yet.
        observed: patterns that the attempts so far show.
        known: what the work before has taught.
        asking: what it may ask the user.

    Raises:
        NoUsableReply: the turn did not end within the bound; otherwise as `take_turn`.
    """
    sections = (
        Section("Your task", task_text(task)),
        Section("Instructions of the architect", instructions),
        Section("Test command", test_command, _TESTED),
        Section("Earlier attempts", feedback, "Their files are still there. Mend what they were rejected for."),
        patterns_section(observed),
        *known.sections,
        Section("Declared scope", scope_text(agent.files, scope, known.remarks), SCOPE_NOTE),
    )
    brief = Brief(
        "coder",
        "code",
        task=task.id,
        attempt=attempt,
        files=tuple(scope),
        sections=sections,
        remembered=known.remembered,
    )
    work = Toolbox(agent, scope=scope, run_gates=run_gates).handlers
    endings: dict[str, Callable[[Any], str | args.AskAboutTask]] = {"finish": _summary, **asking.endings}
    return outcome(await take_turn(agent, brief, work=work, endings=endings, resumed=asking.resumed))


def _summary(call: args.Finish) -> str:
    return call.summary
