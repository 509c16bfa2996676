"""The settings table `[agent_hooks]`."""

from pydantic import Field

from swarmgate.config.base import Section


class AgentHooks(Section):
    """`[agent_hooks]`: sessions of other agents, whose hooks `swarm hook install` writes."""

    tries: int = Field(
        3, ge=1, le=20, description="How often in a row a session that does not pass is held before it is let go."
    )
    gates_s: float = Field(
        240.0,
        gt=0,
        le=280,
        description="Seconds that the end of a session waits for the gates; the programs end the hook after 300.",
    )
