"""The settings: merged once from files, environment and flags into a frozen `Config`.

Later wins: built-in defaults < user file < `.swarm/config.toml` < `SWARM_*` environment < flags. Whatever the sources
say must then hold against the hard limits that stand in the fields below. Every refusal is a `ConfigError` that names
the source (file and line, variable, flags), the key and, for an unknown key, the nearest known one. Values are never
echoed: one of them could be a key pasted by mistake.
"""

from __future__ import annotations

from swarmgate.config.agent_hooks import AgentHooks
from swarmgate.config.automation import CAPABILITIES, Automation, Capabilities, Evidence
from swarmgate.config.base import (
    ACP,
    COMMAND,
    ROLES,
    SPEAKING,
    TIERS,
    RoleName,
    Section,
    command_of,
    is_program,
    nearest,
)
from swarmgate.config.council import Agent, Chat, Council
from swarmgate.config.fleet import Fleet, FleetQueue, FleetRepository
from swarmgate.config.guards import (
    Authority,
    Bounds,
    Breakers,
    Commands,
    Enforce,
    Models,
    Reviews,
    Scope,
    Spend,
)
from swarmgate.config.loading import load
from swarmgate.config.sections import (
    PREFIX,
    PROJECT_FILE,
    BudgetLimits,
    Config,
    Gates,
    Git,
    Loop,
    Price,
    Project,
    Provider,
    Quality,
    Role,
    Size,
    program_of,
)
from swarmgate.config.server import Notify, OpenIDConnect, Server, ServerLimits, Telemetry
from swarmgate.config.tests import ProjectTests, Suite

__all__ = [
    "ACP",
    "CAPABILITIES",
    "COMMAND",
    "PREFIX",
    "PROJECT_FILE",
    "ROLES",
    "SPEAKING",
    "TIERS",
    "Agent",
    "AgentHooks",
    "Authority",
    "Automation",
    "Bounds",
    "Breakers",
    "BudgetLimits",
    "Capabilities",
    "Chat",
    "Commands",
    "Config",
    "Council",
    "Enforce",
    "Evidence",
    "Fleet",
    "FleetQueue",
    "FleetRepository",
    "Gates",
    "Git",
    "Loop",
    "Models",
    "Notify",
    "OpenIDConnect",
    "Price",
    "Project",
    "ProjectTests",
    "Provider",
    "Quality",
    "Reviews",
    "Role",
    "RoleName",
    "Scope",
    "Section",
    "Server",
    "ServerLimits",
    "Size",
    "Spend",
    "Suite",
    "Telemetry",
    "command_of",
    "is_program",
    "load",
    "nearest",
    "program_of",
]
