"""The doctor's check of environment variables: what settings name is set, what is named like a setting is one.

No value is printed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from swarmgate.automation.doctor.problem import Problem
from swarmgate.automation.setting_locations import Places
from swarmgate.config import Config, is_program
from swarmgate.config.environment import unknown_variables

NAME = "variables"


def inspect(config: Config, places: Places, environ: Mapping[str, str]) -> tuple[Problem, ...]:
    """Each variable that is named and not set, and each that begins like a setting and is none."""
    keys = {provider.api_key_env for provider in config.providers.values()}
    ignored = tuple(Problem(NAME, sentence) for sentence in unknown_variables(environ, keys).values())
    return ignored + tuple(
        Problem(NAME, f"{name} is not set; {why}", *places.of(*path), hint=f"export {name}=..., or take it out")
        for path, name, why in _named(config)
        if not environ.get(name)
    )


def described(config: Config, environ: Mapping[str, str]) -> str:
    """What is looked up, and how it stands."""
    names = dict.fromkeys(name for _, name, _ in _named(config))
    return ", ".join(f"{name} {'set' if environ.get(name) else 'not set'}" for name in names) or "none are named"


def _named(config: Config) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """The key that names it, the variable, and who wants it; keys of roles' own providers are of the check `models`."""
    models = [model for role in config.roles.values() for model in (role.model, *role.fallback)]
    used = {model.partition("/")[0] for model in models if not is_program(model)}
    for role, settings in config.roles.items():
        for name in settings.env:
            yield ("roles", role, "env"), name, f"the program of the role {role} is to get it"
    for name in config.commands.env:
        yield ("commands", "env"), name, "commands are to inherit it"
    for provider, of in config.providers.items():
        if of.api_key_env and provider not in used:
            yield ("providers", provider, "api_key_env"), of.api_key_env, f"the provider {provider} needs it, once used"
