"""Checks the requirements of a run before it costs anything: models, tools, branch, no visible keys."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from swarmgate.config import SPEAKING, Config
from swarmgate.domain.spending.budget import PROJECT, Account
from swarmgate.domain.usage import Allowance, Usage
from swarmgate.engine.branch_history import require_on_branch
from swarmgate.engine.context import Context
from swarmgate.engine.debaters import require_debaters
from swarmgate.engine.run_limits import allowances
from swarmgate.engine.steps.proof import mutation
from swarmgate.errors import LedgerCorrupt
from swarmgate.llm.budget import require_end
from swarmgate.llm.connect import check_keys, key_of, same_model_warning
from swarmgate.llm.families import require_distinct
from swarmgate.llm.prices import unpriced
from swarmgate.workspace.agent_programs.rules import require
from swarmgate.workspace.git.commits import TaskCommit
from swarmgate.workspace.git.repository import Repository


def require_models(config: Config, environ: Mapping[str, str], repository: Repository) -> tuple[str, ...]:
    """Makes sure that every role has a model and its key, or its agent program; returns warnings.

    Those are: coder and reviewer are too much alike, what of one role's program another role may steer, and debates
    that cannot be held.

    Raises:
        ConfigError: a role has no model, or one without a price where only US dollars are limited; two share one that
            must not (`[models] require_distinct`, the two voices of a debate), or one may write the agent program of
            another.
        MissingRequirement: a key's variable is not set, or a program or a file of its command line is not there.
    """
    speaking = config.speaking
    check_keys(config, environ, roles=speaking)
    for model in _of_phases(config):
        key_of(model, config, environ, "reviewer")
    require_distinct(config)
    require_prices(config, speaking)
    return (
        *filter(None, [same_model_warning(config)]),
        *require_debaters(config, environ, repository.root),
        *require(config, repository.root, SPEAKING),
    )


def require_prices(config: Config, roles: Iterable[str]) -> None:
    """Makes sure that the budgets end the work of these roles.

    Raises:
        ConfigError: only US dollars are limited, and the price of a model is unknown.
    """
    budget = config.budget
    limits = (Allowance(usd=budget.usd, tokens=budget.tokens), *allowances(budget).values())
    of_roles = (name for role in roles for name in (config.role(role).model, *config.role(role).fallback))
    models = (*of_roles, *_of_phases(config), *config.review.seat_models.values())
    require_end([Account(PROJECT, each, Usage()) for each in limits], unpriced(models, config))


def _of_phases(config: Config) -> tuple[str, ...]:
    """The models that judge whole phases beside the reviewer's."""
    return config.phase.models if config.phase.validate else ()


def require_tools(config: Config) -> None:
    """Makes sure, before money is spent, that what the settings ask for is installed.

    Raises:
        MissingRequirement: it is not.
    """
    if config.tests.mutation:
        mutation.require()


def require_branch(context: Context) -> None:
    """Makes sure that the repository is quiet and, once work has begun, on the branch of the work.

    Raises:
        WorkspaceError: it is not; the hint says how to get there.
    """
    context.repository.require_quiet()
    state = context.ledger.state
    behind = [commit for commit in context.repository.task_commits(state.base or None) if _position(commit) > state.seq]
    if state.base and behind:
        raise LedgerCorrupt(
            f"Commit {behind[-1].id[:12]} points at ledger line {_position(behind[-1])}, and the ledger ends at "
            f"{state.seq}: lines were lost.",
            hint="Bring .swarm/ledger.jsonl back from a backup or from git; see: swarm verify",
        )
    require_on_branch(state, context.repository, context.repository.branch() or "")


def _position(commit: TaskCommit) -> int:
    """The ledger line that a task's commit points at; 0 where it names none."""
    number = commit.trailers.get("Swarm-Ledger", "").partition(" ")[0]
    return int(number) if number.isascii() and number.isdigit() else 0


@contextmanager
def keys_withheld(config: Config) -> Iterator[None]:
    """Takes the providers' keys out of the process's environment: commands, tests and hooks that it starts see none."""
    names = {provider.api_key_env for provider in config.providers.values()} & os.environ.keys()
    withheld = {name: os.environ.pop(name) for name in names}
    try:
        yield
    finally:
        os.environ.update(withheld)
