"""Builds the model of a role from the configuration, with all wrappers in their order."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from functools import partial

from swarmgate.config import PROJECT_FILE, Config, Role, is_program
from swarmgate.domain.usage import Usage
from swarmgate.errors import MissingRequirement
from swarmgate.llm.budget import Budget, Metered
from swarmgate.llm.endpoint.answer_length import longest_answer
from swarmgate.llm.endpoint.model_memory import ModelMemory
from swarmgate.llm.events import OnEvent, ignore
from swarmgate.llm.families import family, own_name
from swarmgate.llm.limits.account import AccountLimits, RateLimited
from swarmgate.llm.model import Model
from swarmgate.llm.prices import cost, unpriced
from swarmgate.llm.programs.role_models import AgentRunner, Programs
from swarmgate.llm.wrappers.fallback import Fallback
from swarmgate.llm.wrappers.retry import Retry
from swarmgate.llm.wrappers.trace import Recorder, Traced


def connect(
    role_name: str,
    config: Config,
    *,
    environ: Mapping[str, str],
    recorder: Recorder | None,
    budget: Budget,
    on_event: OnEvent = ignore,
    program: Callable[[Role], AgentRunner] | None = None,
    memory: ModelMemory | None = None,
    limits: AccountLimits | None = None,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    jitter: Callable[[], float] = random.random,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> Metered:
    """The model of a role: endpoint, trace, retries, fallback, budget. Opens no connection yet; `aclose()` it.

    Every try is recorded on its own, also those that were tried again. `program` starts the agent programs of a role.
    `memory` is what is known of models, and takes in what calls find out; `limits` is what all roles of a run share.

    Raises:
        ConfigError: the role has no model, a provider is unknown, it is an agent program and nobody starts those, or
            its price is unknown and only US dollars are limited.
        MissingRequirement: the variable with a provider's key is not set.
    """
    role = config.role(role_name)
    known = memory or ModelMemory()
    table = role_name if role_name in config.roles else "default"
    stack = AsyncExitStack()
    if limits is None:
        limits = AccountLimits(
            longest_s=config.loop.wait_limit, on_event=on_event, sleep=sleep, clock=clock, jitter=jitter
        )
    secrets = config.keys(environ)

    def gated(model: Model) -> Model:
        traced = Traced(model, recorder, secrets=secrets, clock=clock) if recorder is not None else model
        return RateLimited(traced, limits)

    programs = Programs(role_name, role, table, program, on_event)

    def endpoint(name: str) -> Model:
        if is_program(name):
            return gated(programs.model(name))
        from swarmgate.llm.endpoint.openai_model import OpenAIModel  # noqa: PLC0415 - late: loads openai

        provider, _ = config.provider(name)
        model = OpenAIModel(
            name,
            provider,
            role,
            api_key=key_of(name, config, environ, role_name),
            price=lambda usage: cost(name, usage, config),
            memory=known,
            on_event=on_event,
            longest=longest_answer(role_name, role.context_tokens),
        )
        stack.push_async_callback(model.aclose)
        return Retry(
            gated(model),
            provider.max_retries,
            on_event=on_event,
            sleep=limits.pause,
            until=limits.until,
            jitter=jitter,
            clock=limits.clock,
        )

    names = _models(role)
    for name in unpriced(names, config):
        budget.admit(name)
    models = [endpoint(name) for name in names]
    dearest = None if any(is_program(model) for model in names) else partial(_dearest, names, config)
    answers = Fallback(models, on_event=on_event, limited=limits.reached)
    stack.push_async_callback(programs.end_turn)
    programs.meter = Metered(
        answers,
        budget,
        role=role_name,
        close=stack.aclose,
        end_turn=programs.end_turn,
        price=dearest,
        limits=limits,
    )
    return programs.meter


def check_keys(config: Config, environ: Mapping[str, str], *, roles: Iterable[str]) -> None:
    """Checks that these roles can be connected, before any work begins.

    Raises:
        ConfigError: a role has no model.
        MissingRequirement: a key is missing.
    """
    for role_name in roles:
        for name in _models(config.role(role_name)):
            key_of(name, config, environ, role_name)


def same_model_warning(config: Config) -> str:
    """A sentence when coder and reviewer are the same model, or of one family; else empty."""
    coder, reviewer = config.role("coder").model, config.role("reviewer").model
    if own_name(coder) == own_name(reviewer):
        which = coder if coder == reviewer else f"{coder}, {reviewer}"
        return (
            f"coder and reviewer are the same model ({which}): it reviews its own work and shares its own blind spots; "
            f"set another [roles.reviewer] model in {PROJECT_FILE}"
        )
    if (kin := family(coder)) == family(reviewer):
        return f"coder and reviewer are of one family ({kin}: {coder}, {reviewer}): they tend to miss the same bugs"
    return ""


def _dearest(models: Iterable[str], config: Config, usage: Usage) -> float:
    """What `usage` costs at the dearest of these models whose price is known; it may be the one that answers."""
    return max(cost(model, usage, config) or 0.0 for model in models)


def _models(role: Role) -> list[str]:
    return list(dict.fromkeys((role.model, *role.fallback)))


def key_of(model: str, config: Config, environ: Mapping[str, str], role_name: str) -> str:
    """The key of the model's provider; empty when it needs none, as agent programs do.

    Raises:
        MissingRequirement: its variable is not set.
    """
    if is_program(model):
        return ""
    provider, _ = config.provider(model)
    variable = provider.api_key_env
    key = environ.get(variable, "").strip() if variable else ""
    if not variable or (key and key.isascii() and key.isprintable()):
        return key
    name = model.partition("/")[0]
    what = "holds no usable key (only printable ASCII can be one)" if key else "is not set"
    raise MissingRequirement(
        f"the environment variable {variable} {what}: provider `{name}` of role `{role_name}` takes its key from there "
        f"([providers.{name}] api_key_env in {PROJECT_FILE})",
        hint=f"export {variable}=... and run the command again",
    )
