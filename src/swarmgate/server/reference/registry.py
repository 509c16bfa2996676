"""The registry of agents in the words of the reference: those of `[agents.NAME]`, and the voice of participants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from swarmgate.errors import NotAllowed, NotFound
from swarmgate.server.reference.envelope import now
from swarmgate.server.reference.requests import DEFAULT_AGENT

_CAPABILITIES = (
    ("self-critique", "Writes, judges and improves a text."),
    ("discussion", "Takes part in a discussion to a consensus."),
    ("orchestration", "Answers a task."),
)


Agents = Mapping[str, Mapping[str, Any]] | None
"""The agents of the settings, as `Councils.agents` has them; None: they are not known yet."""


def registrations(agents: Agents) -> list[dict[str, Any]]:
    """All agents, the default one first.

    Args:
        agents: of the settings.
    """
    default = {"role": "participant", "model": "", "problem": ""}
    return [
        _registration(DEFAULT_AGENT, default, "claude"),
        *(_registration(name, each) for name, each in (agents or {}).items()),
    ]


def registration(agents: Agents, id: str) -> dict[str, Any]:  # noqa: A002 - the field's name
    """One agent; `claude` is the default one, too.

    Raises:
        NotFound: there is none.
    """
    wanted = DEFAULT_AGENT if id == "claude" and id not in (agents or {}) else id
    found = next((each for each in registrations(agents) if each["id"] == wanted), None)
    if found is None:
        raise NotFound("Agent not found")
    return found


def health(agents: Agents, id: str) -> dict[str, Any]:  # noqa: A002 - the field's name
    """Whether an agent can speak: it has a model, and its settings can be read. Its endpoint is not asked.

    Raises:
        NotFound: there is none.
    """
    found = registration(agents, id)
    problem = found["config"].get("problem", "")
    told = {"agentId": found["id"], "healthy": not problem, "status": found["status"], "lastCheck": now()}
    return {**told, "message": problem or "Agent is ready"}


def kept_in_settings() -> NotAllowed:
    """The error of who would change the registry."""
    return NotAllowed(
        "Agents are described in the settings of the repository.", hint="write [agents.NAME] into .swarm/config.toml"
    )


def _registration(name: str, agent: Mapping[str, Any], kind: str = "custom") -> dict[str, Any]:
    problem, model = str(agent.get("problem") or ""), str(agent.get("model") or "")
    return {
        "id": name,
        "type": kind,
        "name": name,
        "description": str(agent.get("role") or ""),
        "capabilities": [{"name": what, "description": words} for what, words in _CAPABILITIES],
        "config": {**({"model": model} if model else {}), **({"problem": problem} if problem else {})},
        "status": "error" if problem else "idle",
        "metadata": {"version": "1", "createdAt": "", "updatedAt": ""},
    }
