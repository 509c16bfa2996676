"""Applies the command policy to an agent's commands: records a refusal and suggests an alternative to the model."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from swarmgate.domain.guard import Effect, GuardNote
from swarmgate.errors import CommandRefused

if TYPE_CHECKING:
    from swarmgate.agents.context import AgentContext

RULE = "command-policy"


def admit(agent: AgentContext, command: str, scope: Collection[str]) -> None:
    """Lets a command line pass, or refuses it.

    Raises:
        CommandRefused: the policy refuses it; with every reason, and what to do instead.
    """
    from swarmgate.workspace.command_policy.policy import judge  # noqa: PLC0415 - late: a turn without commands needs no parser

    bounds = agent.commands.confinement
    found = judge(
        command,
        root=bounds.root,
        scope=sorted(scope),
        allow=agent.allow_commands,
        writable=bounds.writable,
        home=Path(os.path.expanduser("~")),  # noqa: PTH111 - Path.home() raises where there is none
    )
    if found.allowed_by:
        _note(agent, Effect.NOTED, f"`{command}` runs, as [commands] allow says: {found.allowed_by}")
    if found.allowed:
        return
    for reason in found.reasons:
        _note(agent, Effect.REFUSED, f"`{reason.command}`: {reason.why} ({reason.rule})")
    text = "\n".join(["the command was not run:", *(f"- {reason}" for reason in found.reasons)])
    raise CommandRefused(text, rule=found.reasons[0].rule)


def _note(agent: AgentContext, effect: Effect, detail: str) -> None:
    agent.on_guard(GuardNote(rule=RULE, effect=effect, detail=detail, role=agent.authority.role))
