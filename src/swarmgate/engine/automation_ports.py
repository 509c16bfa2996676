"""Implements the ports that automation needs of the loop and of the models."""

# ruff: noqa: PLC0415 - late, for start-up time: a verb brings git or models when it asks

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from swarmgate.errors import ConfigError

if TYPE_CHECKING:
    from swarmgate.config import BudgetLimits, Config
    from swarmgate.domain.next_step import Waiting
    from swarmgate.domain.preflight import Reach
    from swarmgate.domain.state.state import State
    from swarmgate.domain.usage import Allowance
    from swarmgate.ledger.check import Check
    from swarmgate.workspace.git.repository import Repository

_WANTS_KEY = frozenset({"answers 401", "answers 403"})
_LIST_S = 5.0
"""Longest time of a look at a list of models."""


class EnginePorts:
    """See `automation.ports.Ports`."""

    daemon = "swarmgate.engine.daemon"

    def model_checks(self, config: Config, environ: Mapping[str, str], root: Path) -> Iterator[Check]:
        """The doctor's checks of the roles' models."""
        from swarmgate.engine.reports.models import debaters, distinct

        if config.models.require_distinct:
            yield distinct(config)
        yield from debaters(config, environ, root)
        budget = config.budget
        if any(each.usd is not None for each in (budget, budget.run, budget.phase, budget.task)):
            yield _prices(config)

    def model_lists(self, config: Config) -> Check:
        """Asks endpoints for their lists of models; no model is called.

        They are asked without key and headers: who looks at a project of somebody else hands nothing to the addresses
        that it names. So one that wants a key is fine; one whose host does not answer is told by another check.
        """
        from swarmgate.automation.doctor import endpoints
        from swarmgate.ledger.check import Check
        from swarmgate.llm.capabilities.reachability import reach

        providers = config.providers
        addresses = {name: endpoints.address_of(each.base_url) for name, each in providers.items()}
        silent = endpoints.connect(set(addresses.values()))
        asked = [name for name in providers if addresses[name] not in silent]
        bare = {name: each.model_copy(update={"api_key_env": "", "headers": {}}) for name, each in providers.items()}
        request = reach(
            [f"{name}/any" for name in asked], config.model_copy(update={"providers": bare}), {}, timeout_s=_LIST_S
        )
        with ThreadPoolExecutor(1) as apart:  # whoever calls may have an event loop of its own
            found = apart.submit(asyncio.run, request).result()
        message = "; ".join(f"{each.provider} {each.answered or 'does not answer'}" for each in found)
        keyed = {name for name, each in providers.items() if each.api_key_env or each.headers}
        doubts = (
            f"provider {each.provider}: {each.problem or each.answered} -> {each.hint}"
            for each in found
            if each.hint and not (each.provider in keyed and each.answered in _WANTS_KEY)
        )
        return Check("lists of models", message or "none was asked for", warnings=tuple(doubts))

    async def reach(self, models: Sequence[str], config: Config, environ: Mapping[str, str]) -> Sequence[Reach]:
        """Which models can be reached."""
        from swarmgate.llm.capabilities.reachability import reach

        return await reach(models, config, environ)

    def require(self, config: Config, environ: Mapping[str, str], repository: Repository) -> Sequence[str]:
        """Makes sure that models, keys and tools are there that a run needs; returns warnings."""
        from swarmgate.engine.requirements import require_models, require_tools

        require_tools(config)
        return require_models(config, environ, repository)

    def allowances(self, limits: BudgetLimits) -> Mapping[Literal["run", "phase", "task"], Allowance]:
        """The limits of a run, a phase and a task, of those that have one."""
        from swarmgate.engine.run_limits import allowances

        return allowances(limits)

    def actions(self, state: State, waiting: Waiting | None) -> tuple[str, ...]:
        """The user's next actions."""
        from swarmgate.engine.reports.outcome import actions

        return actions(state, waiting)


def _prices(config: Config) -> Check:
    """A budget in dollars counts known costs only, and where it is the only one, all have to be known."""
    from swarmgate.engine.requirements import require_prices
    from swarmgate.ledger.check import Check
    from swarmgate.llm.prices import unpriced

    asked = list(config.named_models)
    free = unpriced(asked, config)
    try:
        require_prices(config, [str(role) for role in config.roles])
    except ConfigError as error:
        return Check.failed("prices", error, f"{len(asked)} models")
    message = f"{', '.join(free)}: the price is unknown, so [budget] usd does not count what it uses"
    hint = f'-> set [prices."{free[0]}"], or limit tokens' if free else ""
    return Check("prices", f"{len(asked)} models", warnings=(f"{message} {hint}",) if free else ())
