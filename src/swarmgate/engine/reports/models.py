"""The report on models: which role uses which, what each can do, and what compact prompts would save."""

# ruff: noqa: PLC0415 - late, for start-up time: `swarm status` needs no models, and works without settings

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

from pydantic import Field

from swarmgate.config import Config, RoleName, is_program
from swarmgate.domain.base import Frozen
from swarmgate.domain.capabilities import Capabilities
from swarmgate.domain.usage import Usage, cost_in_words
from swarmgate.engine.reports.status import RoleModel
from swarmgate.errors import ConfigError, EndpointFailed, SwarmError
from swarmgate.ledger.check import Check
from swarmgate.ledger.files.folder import SwarmFolder

_NEAR = 60
"""How alike, in percent, two ids have to be so that one is proposed for the other."""


class PromptTier(Frozen):
    """The prompts of one role: whether it gets compact ones, and the tokens a call that those spare, by step.

    `longest_answer` is the most tokens that are asked for in one answer of it, `written` whether the settings say so.
    """

    compact: bool
    saving: dict[str, int]
    longest_answer: int = 0
    written: bool = False


class ModelsReport(Frozen):
    """`swarm doctor --models`: what each model can, the prompts of each role, and what asking has cost."""

    models: tuple[Capabilities, ...]
    programs: tuple[str, ...] = ()
    """Models that are agent programs; those are not asked."""
    prompts: dict[str, PromptTier]
    usage: Usage
    kept: str
    unlisted: dict[str, str] = Field(default_factory=dict)
    """Models that their endpoint does not list, though it lists others, with the nearest of those. One that is like
    none of them, and answers all the same, is not told: some servers take any name."""

    @property
    def exit_code(self) -> int:
        """5 when a model could not be asked."""
        return EndpointFailed.exit_code if any(each.error for each in self.models) else 0

    def lines(self) -> list[str]:
        """For people: a table of the models, one of the prompts, and the cost."""
        rows = [["model", "tools", "parallel", "stream", "schema", "system", "window"]]
        rows += [_row(each) for each in self.models if not each.error]
        text = _table(rows) if len(rows) > 1 else []
        text += [f"{each.model}: left out: {', '.join(each.left_out)}" for each in self.models if each.left_out]
        text += [f"FAIL  {each.error}" for each in self.models if each.error]
        for name, near in self.unlisted.items():
            meant = f'; did you mean "{name.partition("/")[0]}/{near}"?' if near else ""
            text.append(f"WARN  {name} is not in the list of models of its endpoint{meant}")
        text += [f"{each}  agent program: not probed" for each in self.programs]
        text += ["", "Prompts, and the tokens a call that compact ones spare:"]
        text += [
            f"  {role}: {'compact' if tier.compact else 'full'}; "
            + ", ".join(f"{step} {tokens}" for step, tokens in tier.saving.items())
            for role, tier in self.prompts.items()
        ]
        text += ["", "The longest answer that is asked for, in tokens ([roles.ROLE] max_tokens):"]
        text += [
            f"  {role}: {tier.longest_answer:,}{'' if tier.written else ', built in'}"
            for role, tier in self.prompts.items()
            if tier.longest_answer
        ]
        cost = cost_in_words(self.usage)
        asked = any(not each.error for each in self.models)
        stored = f"Kept in {self.kept}" if asked else "Nothing was learnt: no model could be asked."
        text += ["", f"Asking took {self.usage.calls} calls, {self.usage.tokens:,} tokens, {cost}. {stored}"]
        return text


def role_models(config: Config, root: Path) -> dict[str, RoleModel]:
    """The model of each role that has one."""
    from swarmgate.llm.families import family

    found: dict[str, RoleModel] = {}
    for role in get_args(RoleName):
        if role == "default":
            continue
        try:
            model = config.role(role).model
        except ConfigError:
            continue
        found[role] = RoleModel(model=model, family=family(model))
    for name, model in _debaters(config, root).items():  # the seat of an architect is not the role
        found[f"{name} (seat)" if name in found else name] = RoleModel(model=model, family=family(model))
    return found


def _debaters(config: Config, root: Path) -> dict[str, str]:
    """The models of those who debate reviews, by their name, where the settings ask for debates."""
    from swarmgate.engine.debaters import debates

    try:
        return {seat.id: seat.model for _, seats in debates(config, root) for seat in seats}
    except ConfigError:  # neither `[review]` nor the role has a model, or a seat is nobody's
        return {}


def distinct(config: Config) -> Check:
    """The check of `[models] require_distinct`."""
    from swarmgate.llm.families import require_distinct

    roles = ", ".join(config.models.require_distinct)
    if "require_distinct" not in config.models.model_fields_set:
        roles += ", once the roles have two models"
    try:
        require_distinct(config)
    except SwarmError as error:
        return Check.failed("distinct models", error, roles)
    return Check("distinct models", roles or "none are asked for")


def debaters(config: Config, environ: Mapping[str, str], root: Path) -> tuple[Check, ...]:
    """The check of the two who debate reviews; none where the settings ask for no debates."""
    from swarmgate.engine.debaters import require_debaters

    voices = _debaters(config, root)
    if not voices and not config.review.plan_seats:
        return ()
    looked_at = ", ".join(f"{name} {model}" for name, model in voices.items())
    try:
        return (Check("debaters", looked_at, warnings=require_debaters(config, environ, root)),)
    except SwarmError as error:
        return (Check.failed("debaters", error, looked_at),)


async def probe_models(config: Config, folder: SwarmFolder, environ: Mapping[str, str]) -> ModelsReport:
    """Asks every model of every role what it can, and keeps the answers for the runs to come.

    Models of one provider are asked one after the other, providers at the same time. A model that cannot be asked has
    an `error`, and the others are asked all the same.

    Raises:
        ConfigError: no model is configured, or a prompt of the project cannot be used.
    """
    import asyncio

    from swarmgate.ledger.files import model_probes
    from swarmgate.llm.capabilities.settings import current, steered

    by_provider: dict[str, list[str]] = {}
    models = config.named_models
    for model in models:
        if not is_program(model):
            by_provider.setdefault(model.partition("/")[0], []).append(model)
    if not models:
        config.role("default")  # raises with the snippet to add where no role is set
    now = datetime.now(UTC)

    async def in_turn(models: list[str]) -> list[Capabilities]:
        return [await _probed(model, config, environ, now) for model in models]

    unlisted = await _unlisted([model for models in by_provider.values() for model in models], config, environ)
    answers = await asyncio.gather(*(in_turn(models) for models in by_provider.values()))
    found = tuple(each for several in answers for each in several)
    silent = {each.model for each in found if each.error}
    model_probes.save(folder, found)
    known = current(config, model_probes.load(folder))
    return ModelsReport(
        models=found,
        programs=tuple(model for model in models if is_program(model)),
        prompts=_tiers(steered(config, known), folder, known),
        usage=sum((each.usage for each in found), Usage()),
        kept=folder.relative(folder.models),
        unlisted={name: near for name, near in unlisted.items() if near or name in silent},
    )


async def _unlisted(models: Sequence[str], config: Config, environ: Mapping[str, str]) -> dict[str, str]:
    """The models that their endpoint does not list, with the nearest that it does; nothing of one without a list."""
    import asyncio

    from rapidfuzz import fuzz, process

    from swarmgate.llm.capabilities.reachability import listed

    names = list(dict.fromkeys(model.partition("/")[0] for model in models))
    known_ones = [(config.provider(f"{name}/any")[0], name) for name in names if name in config.providers]
    looks = (listed(provider, environ.get(provider.api_key_env, "").strip()) for provider, _ in known_ones)
    answers = await asyncio.gather(*looks)
    lists = {name: answer for (_, name), answer in zip(known_ones, answers, strict=True)}
    found = {}
    for model in models:
        name, _, served = model.partition("/")
        known = {each.removeprefix("models/").removesuffix(":latest").lower(): each for each in lists.get(name, ())}
        if known and served.removesuffix(":latest").lower() not in known:
            near = process.extractOne(served.lower(), [*known], scorer=fuzz.ratio, score_cutoff=_NEAR)
            found[model] = known[near[0]] if near else ""
    return found


async def _probed(model: str, config: Config, environ: Mapping[str, str], now: datetime) -> Capabilities:
    from swarmgate.llm.capabilities.probe import probe
    from swarmgate.llm.connect import key_of
    from swarmgate.llm.prices import cost

    provider, _ = config.provider(model)
    roles = config.roles.items()
    role = next((str(name) for name, role in roles if model in (role.model, *role.fallback)), "participant")
    try:
        key = key_of(model, config, environ, role)
    except SwarmError as error:
        asked = now.isoformat(timespec="seconds")
        return Capabilities(model=model, base_url=provider.base_url, asked=asked, error=f"{model}: {error.message}")
    return await probe(model, provider, api_key=key, price=lambda usage: cost(model, usage, config), now=now)


def _tiers(config: Config, folder: SwarmFolder, known: Mapping[str, Capabilities]) -> dict[str, PromptTier]:
    from swarmgate.agents.prompts import Prompts
    from swarmgate.agents.tools.tool_table import OFFERED
    from swarmgate.llm.capabilities.settings import compact_roles

    prompts = Prompts(folder.prompts)
    steps: dict[str, dict[str, int]] = {}
    for role, step in OFFERED:
        steps.setdefault(role, {})[step] = prompts.saving(role, step)
    compact = compact_roles(config, steps)
    return {
        role: PromptTier(compact=role in compact, saving=saving, **_longest_answer(role, config, known))
        for role, saving in steps.items()
    }


def _longest_answer(role: str, config: Config, known: Mapping[str, Capabilities]) -> dict[str, Any]:
    """The longest answer of a role, of its first model; nothing where it has none."""
    from swarmgate.llm.endpoint.answer_length import longest_answer

    try:
        settings = config.role(role)
    except ConfigError:
        return {}
    own = settings.max_tokens or longest_answer(role, settings.context_tokens)
    found = known.get(settings.model)
    most = min(own, (found and found.longest_answer) or own)
    return {} if is_program(settings.model) else {"longest_answer": most, "written": most == settings.max_tokens}


def _row(found: Capabilities) -> list[str]:
    words = {True: "yes", False: "no", None: "?"}
    features = (found.tools, found.parallel_tools, found.stream, found.json_schema, found.system)
    window = f"{found.context_tokens:,}" if found.context_tokens else "?"
    return [found.model, *(words[each] for each in features), window]


def _table(rows: list[list[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
