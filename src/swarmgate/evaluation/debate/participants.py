"""Agent contexts for the debate experiment: cached models, without fallback, that read only the item."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from swarmgate.agents.context import DEFAULT_WINDOW, AgentContext, Limits
from swarmgate.agents.prompts import Prompts
from swarmgate.config import Config, Role, is_program
from swarmgate.domain.capabilities import Capabilities
from swarmgate.domain.review.votes import Seat
from swarmgate.domain.spending.budget import Account
from swarmgate.domain.usage import Allowance, Usage
from swarmgate.errors import Owner, UsageError
from swarmgate.evaluation.debate.cache import Answers, Meter, Place, Remembering
from swarmgate.evaluation.debate.experiment_arms import Arm
from swarmgate.llm.budget import Budget, Metered
from swarmgate.llm.capabilities.settings import compact_roles, current, steered
from swarmgate.llm.connect import connect
from swarmgate.llm.endpoint.model_memory import ModelMemory
from swarmgate.llm.events import OnEvent, ignore
from swarmgate.llm.prices import price_of
from swarmgate.workspace.file_tools.files import FileTree
from swarmgate.workspace.process import temporary
from swarmgate.workspace.sandbox.choice import choose
from swarmgate.workspace.sandbox.command_runner import CommandRunner
from swarmgate.workspace.sandbox.confinement import Confinement

_ROLE = "participant"

_PATIENCE = {"timeout_s", "first_byte_s", "silence_s", "max_retries", "api_key_env"}
"""Settings that decide whether an answer comes, not which: with others of them kept answers hold."""


@dataclass(frozen=True)
class _Speaker:
    """One model that is measured, with the settings that its answers depend on."""

    model: Metered
    settings: str
    prompts: Prompts
    limits: Limits


class Bench:
    """The models that are measured, connected once; `async with` closes them.

    Args:
        models: `provider/model` each.
        config: the settings; `[roles.participant]`, else `[roles.default]`, says how a model is asked.
        environ: where keys are looked up.
        allowance: what this run may spend; answers that are kept already cost nothing.
        answers: where answers are kept.
        prompts: the project's own prompts; None: the built-in ones.
        probed: what is known of models by name.
        on_event: hears of retries.

    Raises:
        ConfigError: a provider is not configured.
        MissingRequirement: a key is not set.
        UsageError: a model is an agent program, or its price is unknown and dollars are limited.
    """

    def __init__(
        self,
        models: Iterable[str],
        config: Config,
        *,
        environ: Mapping[str, str],
        allowance: Allowance,
        answers: Answers,
        prompts: Path | None = None,
        probed: Mapping[str, Capabilities] | None = None,
        on_event: OnEvent = ignore,
    ) -> None:
        self.answers = answers
        self._empty = place = temporary.owned("eval", self)
        self._files = FileTree(place)
        self._commands = CommandRunner(choose("none"), Confinement(root=place, home=place))
        budget = Budget(lambda: [Account(Owner("evaluation"), allowance, self.spent)], on_event=on_event)
        self._speakers: dict[str, _Speaker] = {}
        try:
            for name in dict.fromkeys(models):
                _require_measurable(name, config, allowance)
                self._speakers[name] = _speaker(
                    name, config, environ=environ, budget=budget, prompts=prompts, probed=probed or {},
                    on_event=on_event,
                )  # fmt: skip
        except BaseException:
            temporary.remove(self._empty)
            raise

    @property
    def spent(self) -> Usage:
        """What this run used so far."""
        return sum((each.model.total for each in self._speakers.values()), Usage())

    def seated(self, arm: Arm, *, repeat: int, seed: int, meter: Meter) -> ExperimentContexts:
        """The participants of one judgement; all that they take is counted by `meter`."""

        def agent(seat: Seat) -> AgentContext:
            speaker = self._speakers[seat.model]
            place = Place(arm=arm, seat=seat.id, repeat=repeat, seed=seed)
            return AgentContext(
                model=Remembering(
                    speaker.model, settings=speaker.settings, place=place, answers=self.answers, meter=meter
                ),
                files=self._files,
                prompts=speaker.prompts,
                commands=self._commands,
                limits=speaker.limits,
                persona=seat.system,
            )

        return ExperimentContexts(agent)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            await self.answers.settle()
        for each in self._speakers.values():
            await each.model.aclose()
        temporary.remove(self._empty)


@dataclass(frozen=True)
class ExperimentContexts:
    """Makes the agent contexts of one judgement (a `ContextFactory`); there is no parent, the majority decides."""

    make: Callable[[Seat], AgentContext]

    def agent(self, seat: Seat, *, folder: str = "") -> AgentContext:
        """The agent context of a seat; there is one empty folder for all."""
        del folder
        return self.make(seat)

    def parent(self) -> AgentContext | None:
        """Nobody: a synthesis would be a call that the other arms do not have."""
        return None


def _require_measurable(name: str, config: Config, allowance: Allowance) -> None:
    if is_program(name):
        raise UsageError(
            f"--models {name}: agent programs cannot be measured: what they read and ask is their own business",
            hint="Name models of endpoints: provider/model.",
        )
    config.provider(name)
    if allowance.usd is not None and price_of(name, config) is None:
        raise UsageError(
            f"--budget-usd: the price of {name} is unknown, so that nobody can say what was spent",
            hint=f'Set [prices."{name}"], or limit tokens with --budget-tokens.',
        )


def _speaker(
    name: str,
    config: Config,
    *,
    environ: Mapping[str, str],
    budget: Budget,
    prompts: Path | None,
    probed: Mapping[str, Capabilities],
    on_event: OnEvent,
) -> _Speaker:
    own = steered(_speaking_as(name, config), probed)
    role, (provider, _) = own.role(_ROLE), own.provider(name)
    council = own.council
    bounds = own.breakers.of(_ROLE).model_copy(update={"wall_time_s": council.timeout_s, "tokens": council.tokens})
    return _Speaker(
        model=connect(
            _ROLE,
            own,
            environ=environ,
            recorder=None,
            budget=budget,
            on_event=on_event,
            memory=ModelMemory(current(own, probed)),
        ),
        settings=f"{role.model_dump_json(exclude=_PATIENCE)} {provider.model_dump_json(exclude=_PATIENCE)}",
        prompts=Prompts(prompts, compact=compact_roles(own, (_ROLE,))),
        limits=Limits(
            replies=own.loop.replies,
            max_turns=own.loop.max_turns,
            bounds=bounds,
            context_tokens=role.context_tokens or DEFAULT_WINDOW,
        ),
    )


def _speaking_as(name: str, config: Config) -> Config:
    """The settings with this model, and no other one, behind the role."""
    known = {str(key): role for key, role in config.roles.items()}
    settings = known.get(_ROLE) or known.get("default")
    alone = settings.model_copy(update={"model": name, "fallback": ()}) if settings else Role(model=name)
    return config.model_copy(update={"roles": {**config.roles, _ROLE: alone}})
