"""The settings: merged once at the edge, frozen, passed down.

Later wins: built-in defaults < user file < `.swarm/config.toml` < `SWARM_*` environment < flags. Whatever the sources
say must then hold against the hard limits that stand in the fields below. Every refusal is a `ConfigError` that names
the source (file and line, variable, flags), the key and, for an unknown key, the nearest known one. Values are never
echoed: one of them could be a key pasted by mistake.
"""

from __future__ import annotations

from swarmgate.config.loading import load
from swarmgate.config.refusals import nearest
from swarmgate.config.sections import (
    PREFIX,
    PROJECT_FILE,
    RESERVED,
    BudgetLimits,
    Commands,
    Config,
    Gates,
    Git,
    Loop,
    Price,
    Project,
    Provider,
    Quality,
    Role,
    Section,
    Suite,
)

__all__ = [
    "PREFIX",
    "PROJECT_FILE",
    "RESERVED",
    "BudgetLimits",
    "Commands",
    "Config",
    "Gates",
    "Git",
    "Loop",
    "Price",
    "Project",
    "Provider",
    "Quality",
    "Role",
    "Section",
    "Suite",
    "load",
    "nearest",
]
