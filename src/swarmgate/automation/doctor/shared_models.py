"""The doctor's check for roles that share a model, such as an author and its reviewer."""

from __future__ import annotations

from swarmgate.automation.doctor.problem import Problem
from swarmgate.automation.setting_locations import Places
from swarmgate.config import Config

NAME = "shared models"
_JUDGES = ("reviewer", "test_engineer", "critic")


def inspect(config: Config, places: Places) -> tuple[Problem, ...]:
    """A warning where the coder's model judges, too."""
    if "default" not in config.roles and not {"coder", *_JUDGES} <= config.roles.keys():
        return ()  # the check `models` says which role has none
    coder = config.role("coder").model
    same = [role for role in _JUDGES if config.role(role).model == coder]
    if not same:
        return ()
    where = next((role for role in (*same, "coder", "default") if role in config.roles), "default")
    message = f"{coder} is the coder and the {', the '.join(same)}: a model does not see its own mistakes"
    return (Problem(NAME, message, *places.of("roles", where, "model"), "give [roles.reviewer] another model"),)
