"""Chooses who debates a review: an advocate and a challenger on two different models, as `[review]` names them."""

# ruff: noqa: PLC0415 - late, for start-up time: `swarm status` asks who debates, and connects to nobody

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from swarmgate.config import PROJECT_FILE, Config, command_lines, command_of, is_program
from swarmgate.domain.review.votes import Seat
from swarmgate.errors import ConfigError
from swarmgate.llm.families import own_name

_ADVOCATE = (
    "Argue that it meets what was asked for: go through the criteria one by one, and name the line or the part that "
    "meets each. You serve the truth: concede what the challenger shows to be wrong, and vote as you then see it."
)
_CHALLENGER = (
    "Look for what is wrong: a criterion that is not met, a case that fails, a hole, a claim that nothing shows. Say "
    "of each how it fails: which input, which result. You serve the truth: concede what holds. Style is no reason to "
    "reject."
)


def advocate(config: Config) -> Seat:
    """The voice that argues that the work meets its task; the reviewer's model where none is set."""
    return Seat(id="advocate", model=config.review.advocate or config.role("reviewer").model, brief=_ADVOCATE)


def challenger(config: Config) -> Seat:
    """The voice that looks for what is wrong; the critic's model where none is set."""
    return Seat(id="challenger", model=config.review.challenger or config.role("critic").model, brief=_CHALLENGER)


def modes(config: Config) -> tuple[str, str]:
    """How changes are reviewed, and how plans are."""
    return config.review.mode, config.review.plan_mode or config.review.mode


def are_two(config: Config) -> bool:
    """Whether two different models would debate."""
    return own_name(advocate(config).model) != own_name(challenger(config).model)


def require_debaters(config: Config, environ: Mapping[str, str], root: Path) -> tuple[str, ...]:
    """Makes sure, before any work, that the debates which the settings ask for can be held; returns warnings.

    Raises:
        ConfigError: they ask for debates, and both voices have one model; or a provider is unknown.
        MissingRequirement: the key of a voice's provider is not set, or its agent program is not there.
    """
    from swarmgate.llm.connect import key_of
    from swarmgate.workspace.agent_programs.rules import missing_program

    asked = modes(config)
    if not {"debate", "auto"} & set(asked):
        return ()
    if not are_two(config):
        model = challenger(config).model
        message = f"advocate and challenger are both {model}, and a model that argues with itself finds little"
        if "debate" not in asked:
            return (f'[review] mode = "auto" holds no debates: {message}; one voice judges, as with "single"',)
        raise ConfigError(
            f"[review] asks for debates, and needs two different models: {message}",
            hint=f"set `challenger` (or `advocate`) in [review] of {PROJECT_FILE} to another model",
        )
    for seat in (advocate(config), challenger(config)):
        key_of(seat.model, config, environ, "participant")
        if is_program(seat.model):
            line = command_lines.read(command_of(seat.model))
            for problem in missing_program(line, root, "participant"):
                raise problem
    return ()
