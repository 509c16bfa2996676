"""The doctor's check for settings that contradict each other or have no effect."""

from __future__ import annotations

from collections.abc import Iterator

from swarmgate.automation.doctor.problem import Problem
from swarmgate.automation.setting_locations import Places
from swarmgate.config import Config, Provider, Reviews, Role, is_program, nearest

NAME = "contradictions"


def inspect(config: Config, places: Places, gates: tuple[str, ...]) -> tuple[Problem, ...]:
    """Every contradiction, in the order of the tables.

    Args:
        config: the merged settings.
        places: where they were written.
        gates: the ids of the gates of this project.
    """
    found = (*_roles(config), *_budgets(config), *_times(config), *_without_effect(config), *_automation(config))
    return (
        *(Problem(NAME, message, *places.of(*path), hint, "error") for path, message, hint in _gates(config, gates)),
        *(Problem(NAME, message, *places.of(*path), hint) for path, message, hint in found),
    )


_Found = tuple[tuple[str, ...], str, str]
"""The key that it is about, what is wrong, and what to do."""


def _automation(config: Config) -> Iterator[_Found]:
    automation = config.automation
    if automation.on("config_doctor_autofix") and not automation.on("config_doctor_on_startup"):
        yield (
            ("automation", "capabilities", "config_doctor_autofix"),
            "config_doctor_autofix is on and config_doctor_on_startup is off: what never looks mends nothing",
            "swarm automation on config_doctor_on_startup",
        )


def _roles(config: Config) -> Iterator[_Found]:
    for name, role in config.roles.items():
        where = ("roles", name)
        if role.model in role.fallback:
            yield (
                (*where, "fallback"),
                f"{role.model} is the model and its own fallback: what failed is asked again",
                "name another model",
            )
        if len(set(role.fallback)) < len(role.fallback):
            yield (*where, "fallback"), "a model is named twice as fallback", "take one of them out"
        if role.max_tokens and role.context_tokens and role.max_tokens >= role.context_tokens:
            yield (
                (*where, "max_tokens"),
                f"an answer of {role.max_tokens:,} tokens does not fit into a window of {role.context_tokens:,}",
                "max_tokens must be less than context_tokens",
            )
        if not any(is_program(model) for model in (role.model, *role.fallback)):
            for key in sorted({"network", "env", "readable", "writable"} & role.model_fields_set):
                yield (
                    (*where, key),
                    f"`{key}` is for agent programs, and {role.model} is none: it does nothing here",
                    f"take it out; what commands may do says [commands] {key}",
                )
    for name, authority in config.authority.items():
        for both in sorted(set(authority.allow) & set(authority.deny)):
            yield ("authority", name, "allow"), f'"{both}" is allowed and denied; denied wins', "take one of them out"


def _budgets(config: Config) -> Iterator[_Found]:
    limits = config.budget
    project, run, phase, task = (
        (("budget",), limits),
        (("budget", "run"), limits.run),
        (("budget", "phase"), limits.phase),
        (("budget", "task"), limits.task),
    )
    for (path, inner), (above, outer) in (
        (task, phase),
        (task, run),
        (task, project),
        (phase, project),
        (run, project),
    ):
        for unit in ("usd", "tokens", "seconds"):
            value, most = getattr(inner, unit), getattr(outer, unit)
            if value is not None and most is not None and value > most:
                yield (
                    (*path, unit),
                    f"[{'.'.join(path)}] {unit} = {value:,.10g} is more than [{'.'.join(above)}] allows: {most:,.10g}",
                    "the smaller one ends the work first",
                )
    council = config.council
    for key, most, whose in (
        ("usd", limits.usd, "[budget] usd"),
        ("total_tokens", limits.tokens, "[budget] tokens"),
    ):
        own = getattr(council, key)
        if own is not None and most is not None and own > most:
            yield ("council", key), f"[council] {key} = {own:g} is more than {whose} allows ({most:g})", ""
    if council.total_tokens is not None and council.tokens > council.total_tokens:
        yield ("council", "total_tokens"), "one voice may use more in one round than all of a council together", ""


def _callers(config: Config) -> Iterator[tuple[tuple[str, str], Provider | Role]]:
    """What has limits of a model's call, and where it stands."""
    yield from ((("providers", name), each) for name, each in config.providers.items())
    yield from ((("roles", str(name)), each) for name, each in config.roles.items())


def _times(config: Config) -> Iterator[_Found]:
    if config.council.timeout_s > config.council.whole_s:
        yield ("council", "timeout_s"), "one voice may take longer than the whole council (whole_s)", ""
    for name, role in config.roles.items():
        turn = config.breakers.of(name).wall_time_s
        own = role.timeout_s
        if own is not None and own > turn:
            yield (
                ("roles", name, "timeout_s"),
                f"one call may take {own:g} s, and the breaker ends the whole turn after {turn:g} s",
                "raise [breakers] wall_time_s",
            )
    for place, owner in _callers(config):
        for key in ("first_byte_s", "silence_s"):
            part, whole = getattr(owner, key), owner.timeout_s
            if part is not None and whole is not None and part > whole:
                message = f"{key} = {part:g} is more than the whole call may take (timeout_s = {whole:g})"
                yield (*place, key), message, "raise timeout_s, or leave it out"
    if config.commands.timeout_s > config.breakers.of("coder").wall_time_s:
        yield (
            ("commands", "timeout_s"),
            "one command may take longer than the coder's whole turn ([breakers] wall_time_s)",
            "",
        )


def _gates(config: Config, gates: tuple[str, ...]) -> Iterator[_Found]:
    """Gates that are skipped and that there are none of: the loop refuses to judge."""
    for name in config.gates.skip:
        if gates and name not in gates:
            close = nearest(name, gates)
            yield (
                ("gates", "skip"),
                f"there is no gate `{name}`; the run of the gates refuses to begin",
                f"did you mean {close}?" if close else f"there are: {', '.join(gates)}",
            )


def _without_debate(review: Reviews) -> Iterator[_Found]:
    """Keys of `[review]` that name debaters whom no mode asks."""
    of_plans = review.plan_mode or ("debate" if review.plan_seats else review.mode)
    of_pair = {review.mode} if review.plan_seats else {review.mode, of_plans}
    for key in ("advocate", "challenger"):
        if getattr(review, key) and of_pair == {"single"}:
            yield ("review", key), f"no review is a debate (mode), so `{key}` is never asked", 'mode = "auto"'
    if "sure" in review.model_fields_set and "auto" not in {review.mode, of_plans}:
        yield ("review", "sure"), '`sure` counts with mode = "auto" only', ""
    if review.plan_seats and of_plans == "single":
        yield ("review", "plan_seats"), 'plan_mode is "single", so no seat is ever asked', 'plan_mode = "debate"'
    if review.plan_rounds and not review.plan_seats:
        yield ("review", "plan_rounds"), "no plan_seats are named, so there is no meeting that has rounds", ""


def _without_effect(config: Config) -> Iterator[_Found]:
    """Keys that were written and that another key makes meaningless."""
    yield from _without_debate(config.review)
    if config.phase.models and not config.phase.validate:
        yield (
            ("phase", "models"),
            "nobody judges phases (validate = 0), so these models are never asked",
            "validate = 3",
        )
    if "min_kill_rate" in config.tests.model_fields_set and not config.tests.mutation:
        yield ("tests", "min_kill_rate"), "nothing is mutated: mutation is false", "mutation = true"
    if config.gates.quality.model_fields_set and "quality_budget" in config.gates.skip:
        yield ("gates", "quality"), "[gates.quality] has limits, and the gate quality_budget is skipped", ""
    if "max_outside" in config.scope.model_fields_set and config.scope.enforce == "off":
        yield ("scope", "max_outside"), 'the scope is not looked at: enforce is "off"', ""
    commands = config.commands
    if commands.sandbox == "none":
        confined = {"network", "readable", "writable"} & commands.model_fields_set
        for key in sorted(confined):
            if key != "network" or not commands.network:
                yield (
                    ("commands", key),
                    f'`{key}` needs a sandbox, and sandbox is "none": commands reach everything that you do',
                    'sandbox = "auto"',
                )
