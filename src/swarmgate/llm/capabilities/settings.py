"""Sets each role's context window and prompt size from probed model capabilities, where the user set none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from swarmgate.config import Config, Role, is_program
from swarmgate.domain.capabilities import Capabilities

SMALL_WINDOW = 16_384
"""A model with a smaller window, in tokens, gets compact prompts: there is hardly room for the files."""


def current(config: Config, probed: Mapping[str, Capabilities]) -> dict[str, Capabilities]:
    """Selects the findings that still hold: of providers whose address is unchanged."""
    homes = {name: provider.base_url for name, provider in config.providers.items()}
    return {name: found for name, found in probed.items() if homes.get(name.partition("/")[0]) == found.base_url}


def steered(config: Config, probed: Mapping[str, Capabilities]) -> Config:
    """Fills in each role's window and prompts where the settings leave them open.

    The window is the smallest that was found for the role's models; prompts become `full` or `compact`.
    """
    found = current(config, probed)
    roles = {name: _role(role, config, found) for name, role in config.roles.items()}
    return config.model_copy(update={"roles": roles})


def compact_roles(config: Config, roles: Iterable[str]) -> tuple[str, ...]:
    """Those of the roles that get compact prompts, after `steered`."""
    own = {str(name): role for name, role in config.roles.items()}
    settings = {role: own.get(role, own.get("default")) for role in roles}
    return tuple(name for name, role in settings.items() if role is not None and role.prompts == "compact")


def _role(role: Role, config: Config, found: Mapping[str, Capabilities]) -> Role:
    models = (role.model, *role.fallback)
    windows = [each.context_tokens for name in models if (each := found.get(name)) and each.context_tokens]
    window = role.context_tokens or min(windows, default=None)
    prompts = role.prompts
    if prompts == "auto":
        small = (window is not None and window < SMALL_WINDOW) or _matches(role.model, config.models.compact)
        prompts = "compact" if small else "full"
    return role.model_copy(update={"context_tokens": window, "prompts": prompts})


def _matches(model: str, patterns: Iterable[str]) -> bool:
    """Whether a pattern fits the model's name, with its provider or without; case does not matter."""
    if is_program(model):
        return False
    names = {model.lower(), model.lower().partition("/")[2]}
    return any(fnmatchcase(re.sub(r"\s+", "", name), pattern.lower()) for name in names for pattern in patterns)
