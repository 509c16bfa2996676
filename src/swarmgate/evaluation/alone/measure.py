"""`swarm eval alone`: has both arms work on the tasks, one after another, and reports what became of them."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from swarmgate import __version__
from swarmgate.config import Config
from swarmgate.errors import MissingRequirement, SwarmError, UsageError
from swarmgate.evaluation.alone import hidden_tests, report, swarm
from swarmgate.evaluation.alone.outcome import Arm, Ended, Row, Rows, Setup, key_of
from swarmgate.evaluation.patches import clones
from swarmgate.evaluation.patches.dataset import Instance
from swarmgate.workspace.git.copies.single_commit import has_commit, lay_out
from swarmgate.workspace.git.repository import Repository
from swarmgate.workspace.process import temporary

OnRow = Callable[[Row, int, int], None]
"""Hears of a row, how many there are by then, and how many there will be."""

FOLDER = Path("swarm-eval-alone")
"""Where rows and report go unless something else is said."""
_PACKAGE, _PINNED = "minisweagent", "mini-swe-agent==2.4.6"
"""How it is imported, and what the extra `alone` installs."""
_QUIET = {"MSWEA_SILENT_STARTUP": "1", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
"""No banner, and no list of prices from the network."""
_SHARED = ("providers", "roles", "prices", "models", "commands", "gates")
"""The tables of the user's settings that hold for a task."""


@dataclass(frozen=True)
class Request:
    """What the command line asks for: which arms, which tasks, and what bounds one task."""

    model: str
    arms: tuple[Arm, ...] = tuple(Arm)
    only: str = ""
    sample: int | None = None
    seed: int = 0
    tokens: int | None = None
    seconds: int = 0

    def of(self, instances: Sequence[Instance]) -> tuple[Instance, ...]:
        """The tasks that are chosen, in their order."""
        fitting = [each for each in instances if each.instance_id.startswith(self.only)]
        if self.sample is None or self.sample >= len(fitting):
            return tuple(fitting)
        chance = random.Random(self.seed)  # noqa: S311 - a repeatable sample, no secret
        chosen = {each.instance_id for each in chance.sample(fitting, self.sample)}
        return tuple(each for each in fitting if each.instance_id in chosen)


def request(model: str, arms: str, **more: Any) -> Request:
    """A request from names of arms, separated by commas.

    Raises:
        UsageError: there is no such arm.
    """
    named = [name.strip() for name in arms.split(",")]
    if unknown := [name for name in named if name not in set(Arm)]:
        raise UsageError(f"--arms: there is no arm {unknown[0]!r}", hint=f"There are: {', '.join(Arm)}.")
    return Request(model=model, arms=tuple(arm for arm in Arm if arm in named), **more)


def measure(
    instances: Sequence[Instance],
    repos: Path,
    asked: Request,
    *,
    config: Config,
    out: Path = FOLDER,
    environ: Mapping[str, str] = os.environ,
    on_row: OnRow = lambda _row, _done, _all: None,
) -> report.AloneReport:
    """Has each arm work on each task, as far as that is not kept from an earlier run, and writes the report.

    Args:
        instances: the tasks, each with its hidden tests.
        repos: holds a clone of each repository.
        asked: model, arms, choice and bounds.
        config: the user's settings: providers, prices, gates, commands.
        out: where the rows are kept and the report is written.
        environ: where keys and settings are looked up.
        on_row: hears of each row.

    Raises:
        UsageError: nothing is to be measured: no task was chosen, one has no hidden tests, or no clone is there.
        ConfigError: the model's provider is unknown.
        MissingRequirement: mini-swe-agent is asked for and not installed.
        LedgerWriteFailed: the disk refused a row or the report.
    """
    chosen = asked.of(instances)
    if not chosen:
        raise UsageError("no task was chosen", hint="Look at --only and --sample.")
    if bare := next((each for each in chosen if not each.test_patch or not each.problem_statement), None):
        raise UsageError(f"{bare.instance_id}: keys 'test_patch' and 'problem_statement' are needed")
    config.provider(asked.model)
    versions = _versions(asked.arms)
    flags = config.model_dump(mode="json", exclude_unset=True, include=set(_SHARED))
    setup = Setup(config, asked.model, environ, asked.tokens, asked.seconds, flags)
    found, rows, made = clones.find(repos, (each.repo for each in chosen)), Rows(out / "rows"), list[Row]()
    for instance in chosen:
        for arm in asked.arms:
            key = key_of(instance, arm, setup, versions[arm])
            row = rows.get(key) or _worked(Row(id=instance.instance_id, repo=instance.repo, arm=arm, key=key),
                                           instance, found.get(instance.repo), setup)  # fmt: skip
            rows.put(row)
            made.append(row)
            on_row(row, len(made), len(chosen) * len(asked.arms))
    return report.written(report.of_rows(made, model=asked.model, versions=versions), out)


def _versions(arms: Sequence[Arm]) -> dict[Arm, str]:
    """The versions of what is measured."""
    if Arm.MINI in arms and importlib.util.find_spec(_PACKAGE) is None:
        raise MissingRequirement(
            "the arm mini-swe-agent needs the package mini-swe-agent, which is not installed.",
            hint=f"pip install {_PINNED}, in swarmgate's environment, or measure one arm: --arms swarmgate",
        )
    known = {Arm.SWARM: lambda: __version__, Arm.MINI: lambda: metadata.version("mini-swe-agent")}
    return {arm: known[arm]() for arm in arms}


def _worked(row: Row, instance: Instance, clone: Path | None, setup: Setup) -> Row:
    """The row of a task after an arm worked on it; what kept it from working is told as trouble."""
    if clone is None or not has_commit(clone, instance.base_commit):
        return row.model_copy(update={"trouble": f"no clone of {instance.repo} has its base"})
    try:
        with temporary.folder("alone") as place:
            lay_out(clone, instance.base_commit, place, apart=True)
            repository = Repository.discover(place)
            before, began = repository.head_tree(), time.monotonic()
            ended = _arm(row.arm, place, instance, setup)
            seconds = time.monotonic() - began
            files = _changed(repository, before)
            run = asyncio.run(hidden_tests.judged(place, clone, instance, setup.config))
    except SwarmError as error:
        return row.model_copy(update={"trouble": error.message})
    return row.model_copy(
        update={
            "handed_in": ended.handed_in and bool(files),
            "resolved": run.green,
            "ended": ended.ended if files else f"{ended.ended}, nothing was changed",
            "hidden": "passed" if run.green else run.reason,
            "files": files,
            "usage": ended.usage,
            "seconds": seconds,
        }
    )


def _arm(arm: Arm, place: Path, instance: Instance, setup: Setup) -> Ended:
    if arm is Arm.SWARM:
        return swarm.work(place, instance.problem_statement, setup, instance.test_command)
    with temporary.folder("mini") as empty:  # the package reads settings of the user's, unless they lie elsewhere
        for name, value in {**_QUIET, "MSWEA_GLOBAL_CONFIG_DIR": str(empty)}.items():
            os.environ.setdefault(name, value)
        mini = import_module("swarmgate.evaluation.alone.mini_swe_agent")  # late: the package takes seconds to import
    ended: Ended = mini.work(place, instance.problem_statement, setup)
    return ended


def _changed(repository: Repository, before: str) -> tuple[str, ...]:
    """The files of the project that differ from the base, swarmgate's own folder aside."""
    change = repository.changes(before, repository.snapshot())
    return tuple(path for path in change.paths if not path.startswith(".swarm/"))
