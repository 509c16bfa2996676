"""The ports of automation: what it needs of models and of the loop, passed in by the composition root."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from swarmgate.config import BudgetLimits, Config
    from swarmgate.domain.next_step import Waiting
    from swarmgate.domain.preflight import Reach
    from swarmgate.domain.state.state import State
    from swarmgate.domain.usage import Allowance
    from swarmgate.ledger.check import Check
    from swarmgate.workspace.git.repository import Repository


class Ports(Protocol):
    """What stands above automation, as far as it is asked.

    Attributes:
        daemon: the module that runs as the daemon of `swarm watch --daemon`.
    """

    daemon: str

    def model_checks(self, config: Config, environ: Mapping[str, str], root: Path) -> Iterable[Check]:
        """The doctor's checks of the roles' models: distinct ones, those who debate, prices. No model is called."""
        ...

    def model_lists(self, config: Config) -> Check:
        """What endpoints answer that are asked for their lists of models; no model is called."""
        ...

    async def reach(self, models: Sequence[str], config: Config, environ: Mapping[str, str]) -> Sequence[Reach]:
        """Which models can be reached."""
        ...

    def require(self, config: Config, environ: Mapping[str, str], repository: Repository) -> Sequence[str]:
        """Makes sure that models, keys and tools are there that a run needs; returns warnings.

        Raises:
            ConfigError, MissingRequirement: one is not.
        """
        ...

    def allowances(self, limits: BudgetLimits) -> Mapping[Literal["run", "phase", "task"], Allowance]:
        """The limits of a run, a phase and a task, of those that have one."""
        ...

    def actions(self, state: State, waiting: Waiting | None) -> tuple[str, ...]:
        """What the user can do next, each as a command with its meaning."""
        ...
