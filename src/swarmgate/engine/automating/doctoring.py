"""The config doctor composed: by hand (`swarm doctor`), and as the worker that looks when work begins."""

# ruff: noqa: PLC0415 - late, for start-up time: a worker is made cheaply, and a verb brings git, gates or models when it is at work

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from swarmgate.domain.automation import DoctorRan
from swarmgate.errors import ConfigError, SwarmError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from swarmgate.automation.doctor import Diagnosis
    from swarmgate.automation.worker import Seen
    from swarmgate.config import Config
    from swarmgate.ledger.checks import Check
    from swarmgate.ledger.folder import SwarmFolder
    from swarmgate.project import Project

NAME = "config_doctor"
_STARTED = "watch_started"
_WANTS_KEY = frozenset({"answers 401", "answers 403"})
_LIST_S = 5.0
"""Longest time of a look at a list of models."""
_MOST_TOLD = 20
"""Problems in one event; all of them are told by `swarm doctor`."""


def diagnose(
    project: Project,
    *,
    fix: bool = False,
    tell: Callable[[str], None] | None = None,
    environ: Mapping[str, str] | None = None,
    tests: bool = True,
) -> Diagnosis:
    """Everything that the work needs.

    Args:
        project: the project.
        fix: mend what can be mended, with a backup in `.swarm/quarantine/`.
        tell: told the diff before anything is written; not called where there is nothing to mend.
        environ: where keys are looked up; as it is now unless told.
        tests: ask the test command what it would run, which takes as long as that does, and endpoints for their lists
            of models; else they are named alone.

    Raises:
        UsageError: a file was changed while the doctor looked, or is a link that leads out of the repository.
        LedgerWriteFailed: a file could not be written.
    """
    from swarmgate.automation import doctor
    from swarmgate.automation.doctor import suite
    from swarmgate.automation.doctor.diagnosis import mend
    from swarmgate.config import ROLES

    known = project.environ if environ is None else environ

    asked: dict[str, Check] = {}  # mending settings of something else changes no answer of the test command

    def once(folder: SwarmFolder, config: Config) -> Check:
        key = config.tests.model_dump_json() + config.commands.model_dump_json()
        if key not in asked:
            asked[key] = suite.look(folder, config)
        return asked[key]

    lists: dict[str, Check] = {}  # nor does it change what an endpoint says

    def further(config: Config) -> Iterator[Check]:
        yield from _models(config, known, project.folder.root)
        if tests and config.providers:
            key = repr(config.providers)
            if key not in lists:
                lists[key] = lists_of_models(config)
            yield lists[key]

    def look() -> Diagnosis:
        return doctor.diagnose(project.folder, known, ROLES, further, once if tests else None)

    found = look()
    if not (fix and found.drafts):
        return found
    if tell is not None:
        tell(found.diff)
    return mend(project.folder, found, look)


def _models(config: Config, environ: Mapping[str, str], root: Path) -> Iterator[Check]:
    """The checks about models, which the room of automation knows nothing of."""
    from swarmgate.engine.models import debaters, distinct

    if config.models.require_distinct:
        yield distinct(config)
    yield from debaters(config, environ, root)
    budget = config.budget
    if any(each.usd is not None for each in (budget, budget.run, budget.phase, budget.task)):
        yield _prices(config)


def lists_of_models(config: Config) -> Check:
    """What endpoints answer that are asked for their lists of models; no model is called.

    They are asked without key and headers: who looks at a project of somebody else hands nothing to the addresses that
    it names. So one that wants a key is fine; one whose host does not answer is told by another check.
    """
    from swarmgate.automation.doctor import endpoints
    from swarmgate.ledger.checks import Check
    from swarmgate.llm.capabilities.reach import reach

    addresses = {name: endpoints.address_of(each.base_url) for name, each in config.providers.items()}
    silent = endpoints.connect(set(addresses.values()))
    asked = [name for name in config.providers if addresses[name] not in silent]
    bare = {name: each.model_copy(update={"api_key_env": "", "headers": {}}) for name, each in config.providers.items()}
    look = reach(
        [f"{name}/any" for name in asked], config.model_copy(update={"providers": bare}), {}, timeout_s=_LIST_S
    )
    with ThreadPoolExecutor(1) as apart:  # whoever calls may have an event loop of its own
        found = apart.submit(asyncio.run, look).result()
    told = "; ".join(f"{each.provider} {each.answered or 'does not answer'}" for each in found)
    keyed = {name for name, each in config.providers.items() if each.api_key_env or each.headers}
    doubts = (
        f"provider {each.provider}: {each.problem or each.answered} -> {each.hint}"
        for each in found
        if each.hint and not (each.provider in keyed and each.answered in _WANTS_KEY)
    )
    return Check("lists of models", told or "none was asked for", warnings=tuple(doubts))


def _prices(config: Config) -> Check:
    """A budget in dollars counts known costs only, and where it is the only one, all have to be known."""
    from swarmgate.engine.requirements import require_prices
    from swarmgate.ledger.checks import Check
    from swarmgate.llm.prices import unpriced

    asked = list(dict.fromkeys(model for role in config.roles.values() for model in (role.model, *role.fallback)))
    free = unpriced(asked, config)
    try:
        require_prices(config, [str(role) for role in config.roles])
    except ConfigError as error:
        return Check.failed("prices", error, f"{len(asked)} models")
    told = f"{', '.join(free)}: the price is unknown, so [budget] usd does not count what it uses"
    hint = f'-> set [prices."{free[0]}"], or limit tokens' if free else ""
    return Check("prices", f"{len(asked)} models", warnings=(f"{told} {hint}",) if free else ())


def at_startup(project: Project, environ: Mapping[str, str] | None = None) -> DoctorRan | None:
    """The doctor's look when work begins; None where it is off. It mends only where that is switched on.

    Settings that cannot be read switch nothing on: whoever reads them next refuses them.

    Args:
        project: the project.
        environ: where keys are looked up; a run takes them out of the process's environment while it works.

    Raises:
        SwarmError: a file that should be mended cannot be written, or was changed meanwhile.
    """
    from swarmgate.config import load

    known = project.environ if environ is None else environ
    try:  # as they are now: the object's own were read when it was made
        automation = load(project_file=project.folder.config, environ=known).automation
    except SwarmError:
        return None
    if not automation.on("config_doctor_on_startup"):
        return None
    return _ran(diagnose(project, fix=automation.on("config_doctor_autofix"), environ=known, tests=False))


def _ran(found: Diagnosis) -> DoctorRan:
    told = [f"{check.name}: {text}" for check in found.checks for text in (*check.problems, *check.warnings)]
    return DoctorRan(
        passed=found.passed,
        problems=tuple(" ".join(each.split()) for each in told[:_MOST_TOLD]),
        fixed=found.fixed,
        backup=", ".join(found.backup),
    )


class ConfigDoctor:
    """The worker: it looks once, when workers begin.

    Args:
        project: the project.
    """

    name = NAME
    limit_s: float | None = None

    def __init__(self, project: Project) -> None:
        self._project = project
        self._environ = dict(project.environ)  # before a run withholds the keys from the commands that it starts

    def subject(self, seen: Seen) -> str:
        """The start of workers, and nothing else."""
        return "start-up" if seen.happening.type == _STARTED else ""

    def work(self, subject: str, seen: Seen) -> DoctorRan | None:
        """Looks, and mends where that is switched on.

        Raises:
            SwarmError: a file that should be mended cannot be written, or was changed meanwhile.
        """
        del subject, seen
        return at_startup(self._project, self._environ)


def worker(project: Project) -> ConfigDoctor:
    """The worker of `config_doctor_on_startup`."""
    return ConfigDoctor(project)
