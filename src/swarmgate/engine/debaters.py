"""Chooses who debates a review, as `[review]` names them: advocate and challenger, or the seats of a plan's meeting."""

# ruff: noqa: PLC0415 - late, for start-up time: `swarm status` asks who debates, and connects to nobody

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swarmgate.config import PROJECT_FILE, SPEAKING, Config, command_lines, command_of, is_program
from swarmgate.config.guards import ReviewMode
from swarmgate.domain.review.votes import Seat
from swarmgate.errors import ConfigError, CouncilRefused
from swarmgate.ledger.files.folder import SwarmFolder
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


def pair(config: Config) -> tuple[Seat, ...]:
    """The two who debate a change: advocate and challenger."""
    return advocate(config), challenger(config)


@dataclass(frozen=True)
class _Settings:
    """What seats are made of."""

    config: Config
    folder: SwarmFolder


def plan_seats(config: Config, root: Path) -> tuple[Seat, ...]:
    """Who debates a plan: the seats of `[review] plan_seats`, or those who debate changes.

    A seat without a model of its own speaks with that of its agent in the settings, else of the role `participant`.

    Args:
        config: the settings.
        root: of the repository, which may have the text of an agent.

    Raises:
        ConfigError: a name is that of no persona, agent or role, one sits there twice, or a seat has no model.
    """
    if not config.review.plan_seats:
        return pair(config)
    from swarmgate.council.requests import casts, seats

    cast = casts.cast(casts.VISION_ALIGNMENT)

    def voice(text: str) -> Any:
        seat, table = cast.filled(text, config.agents), seats.as_seat(text)
        if seat is not text or table["id"] in config.agents:
            return seat
        if table["id"] in SPEAKING:
            return {**table, "agent": table["id"]}
        known = (*(each.id for each in cast.personas), *config.agents)
        raise CouncilRefused(f"there is no {casts.stranger(table['id'], known)}")

    try:
        given = [voice(text) for text in config.review.plan_seats]
        settings = _Settings(config, SwarmFolder(root))
        tables = seats.cast_of(given, Seat.model_fields, settings, lambda *_: "", name="plan_seats")
        found = seats.seats_of(tables, name="plan_seats")
    except (CouncilRefused, ValueError) as error:
        why = error.message if isinstance(error, CouncilRefused) else str(error)
        hint = f'mend it in {PROJECT_FILE}, such as: plan_seats = ["product-manager", "combatant=PROVIDER/MODEL"]'
        raise ConfigError(f"[review] plan_seats: {why}", hint=hint) from error
    return tuple(each.model_copy(update={"model": each.model or config.role("participant").model}) for each in found)


def modes(config: Config) -> tuple[ReviewMode, ReviewMode]:
    """How changes are reviewed, and how plans are: by a debate, where seats are named and nothing else is said."""
    review = config.review
    return review.mode, review.plan_mode or ("debate" if review.plan_seats else review.mode)


def are_two(seats: Sequence[Seat]) -> bool:
    """Whether at least two different models would debate."""
    return len({own_name(seat.model) for seat in seats}) > 1


def debates(config: Config, root: Path) -> tuple[tuple[str, tuple[Seat, ...]], ...]:
    """The modes in which debates may be held, each with those who would speak.

    Raises:
        ConfigError: as `plan_seats`.
    """
    of_changes, of_plans = modes(config)
    found = ((of_changes, pair(config)),) if of_changes != "single" else ()
    return (*found, (of_plans, plan_seats(config, root))) if of_plans != "single" else found


def require_debaters(config: Config, environ: Mapping[str, str], root: Path) -> tuple[str, ...]:
    """Makes sure, before any work, that the debates which the settings ask for can be held; returns warnings.

    Raises:
        ConfigError: they ask for debates, and advocate and challenger have one model; a seat is unknown; or a provider
            is.
        MissingRequirement: the key of a voice's provider is not set, or its agent program is not there.
    """
    asked = debates(config, root)
    warnings = dict.fromkeys(text for mode, seats in asked if (text := _of_one_model(config, mode, seats)))
    for seat in (seat for mode, seats in asked if mode == "debate" or are_two(seats) for seat in seats):
        _require_voice(seat, config, environ, root)
    return tuple(warnings)


def _of_one_model(config: Config, mode: str, seats: Sequence[Seat]) -> str:
    """A warning where all voices have one model; empty where they have not.

    Raises:
        ConfigError: an advocate and a challenger have, and are to debate in any case.
    """
    if are_two(seats):
        return ""
    model, meeting = seats[-1].model, seats != pair(config)
    message = f"advocate and challenger are both {model}, and a model that argues with itself finds little"
    if meeting:
        message = f"all seats of the plan's review speak with {model}, and see much the same"
    if mode == "auto":
        return f'[review] mode = "auto" holds no debates: {message}; one voice judges, as with "single"'
    if meeting:
        return f'{message}; give some another model, such as: plan_seats = ["combatant=PROVIDER/MODEL", ...]'
    raise ConfigError(
        f"[review] asks for debates, and needs two different models: {message}",
        hint=f"set `challenger` (or `advocate`) in [review] of {PROJECT_FILE} to another model",
    )


def _require_voice(seat: Seat, config: Config, environ: Mapping[str, str], root: Path) -> None:
    """Makes sure that a voice can speak: the key of its provider is set, or its agent program is there."""
    from swarmgate.llm.connect import key_of
    from swarmgate.workspace.agent_programs.rules import missing_program

    key_of(seat.model, config, environ, "participant")
    if is_program(seat.model):
        line = command_lines.read(command_of(seat.model))
        for problem in missing_program(line, root, "participant"):
            raise problem
