"""Answers permission requests of external agent programs by the rules for our own tools, and records each answer.

The sandbox holds whatever the answer is. A refusal tells the program before it tries, and the user what it wanted.
"""

from __future__ import annotations

import posixpath
from pathlib import Path

from swarmgate.agents.context import AgentContext
from swarmgate.agents.guards.commands import admit
from swarmgate.domain.guard import Effect, GuardNote
from swarmgate.errors import CommandRefused
from swarmgate.llm.programs.acp_session import Asked

RULE = "permission"


def permit(agent: AgentContext, asked: Asked, *, folder: str, writes: bool, network: bool) -> str:
    """Why a program may not do what it asks for; empty where it may, this once.

    Args:
        agent: of the role that it speaks as.
        asked: what it asks for.
        folder: the repository as the program sees it.
        writes: whether the role writes at this step.
        network: whether the program may reach the network.
    """
    refused = _why_not(agent, asked, folder, writes=writes, network=network)
    what = asked.command or ", ".join(filter(None, asked.writes)) or asked.title or "something that it does not name"
    effect = Effect.REFUSED if refused else Effect.NOTED
    message = f"{asked.kind}: {' '.join(what.split())[:300]}: {refused or 'allowed once'}"
    agent.on_guard(GuardNote(rule=RULE, effect=effect, detail=message, role=agent.authority.role))
    return refused


def _why_not(agent: AgentContext, asked: Asked, folder: str, *, writes: bool, network: bool) -> str:
    if asked.kind == "fetch" and not network:
        return "the network is closed to it"
    if asked.command:
        try:
            admit(agent, asked.command, ())
        except CommandRefused as refused:
            return " ".join(refused.message.split())
    elif asked.kind == "execute":
        return "it does not say which command"
    if asked.writes and not writes:
        return "this role only reads"
    return next(filter(None, (_path(agent, path, folder) for path in asked.writes)), "")


def _path(agent: AgentContext, path: str, folder: str) -> str:
    """Why a path may not be written, as the program names it: from its root, or from the repository's."""
    if not path or "\0" in path:
        return "it does not say which file"
    root = Path(folder)
    place = Path(posixpath.normpath(root / path))
    if not place.is_relative_to(root):
        return f"`{path[:200]}` is outside of the repository"
    here = agent.files.root / place.relative_to(root)
    try:  # a link is judged by what it leads to
        led = here.resolve().relative_to(agent.files.root.resolve())
    except (OSError, ValueError, RuntimeError):
        return f"`{path[:200]}` leads out of the repository"
    return agent.authority.refusal(place.relative_to(root).as_posix()) or agent.authority.refusal(led.as_posix())
