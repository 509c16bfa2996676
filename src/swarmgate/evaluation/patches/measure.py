"""`swarm eval patches`: replays the patches, several at once, and reports what became of them."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from swarmgate.errors import ToolKilled, UsageError
from swarmgate.evaluation.patches import clones, report
from swarmgate.evaluation.patches.arms import Arm
from swarmgate.evaluation.patches.dataset import AgentPatch, Half
from swarmgate.evaluation.patches.page import page
from swarmgate.evaluation.patches.replay import replay
from swarmgate.evaluation.patches.rows import Row, Rows, key_of
from swarmgate.journal.disk_errors import writing
from swarmgate.project import settings_at
from swarmgate.workspace.files import atomic

if TYPE_CHECKING:
    from swarmgate.config import Config

Elsewhere = Callable[[Sequence["Job"]], Iterator[Row]]
"""Has others replay patches, and gives a row for each, as they come."""
OnRow = Callable[[Row, int, int], None]
"""Hears of a row, how many there are by then, and how many there will be."""

FOLDER = Path("swarm-eval-patches")
"""Where rows and reports go unless something else is said."""
_SHARED = ("providers", "roles", "prices", "models", "commands", "gates")
"""The tables of the user's settings that hold for a replay."""


@dataclass(frozen=True)
class Selection:
    """Which patches are replayed: those of one half, whose id begins so, at most so many of each model and label."""

    half: Half | None = None
    only: str = ""
    sample: int | None = None
    seed: int = 0

    def of(self, patches: Sequence[AgentPatch]) -> tuple[AgentPatch, ...]:
        """The patches that are chosen, in their order."""
        fitting = [each for each in patches if self.half in (None, each.half) and each.id.startswith(self.only)]
        if self.sample is None:
            return tuple(fitting)
        chance = random.Random(self.seed)  # noqa: S311 - a repeatable sample, no secret
        groups: dict[tuple[str, str], list[AgentPatch]] = {}
        for each in fitting:
            groups.setdefault((each.model, each.label), []).append(each)
        chosen = {id(one) for group in groups.values() for one in chance.sample(group, min(self.sample, len(group)))}
        return tuple(each for each in fitting if id(each) in chosen)


def measure(
    patches: Sequence[AgentPatch],
    repos: Path | None,
    arms: Sequence[Arm],
    *,
    config: Config,
    model: str = "",
    jobs: int = 1,
    out: Path = FOLDER,
    environ: Mapping[str, str] = os.environ,
    elsewhere: Elsewhere | None = None,
    on_row: OnRow = lambda _row, _done, _all: None,
) -> report.PatchesReport:
    """Replays the patches by each arm, as far as that is not kept from an earlier run, and writes the report.

    Args:
        patches: what was handed in.
        repos: holds a clone of each repository; None: others replay, who have clones of their own.
        arms: which judge, in this order.
        config: the user's settings: models, gates, commands.
        model: asked in every role of the arm `review`; empty: as the settings say.
        jobs: patches that are replayed at the same time, each in a process of its own.
        out: where the rows are kept and the report is written.
        environ: where keys and settings are looked up.
        elsewhere: has others replay what is not kept; None: this machine does.
        on_row: hears of each row.

    Raises:
        UsageError: nothing is to be measured: no patch was chosen, or no clone is there.
        ToolKilled: one of several processes was killed.
        LedgerWriteFailed: the disk refused a row or the report.
    """
    if not patches:
        raise UsageError("no patch was chosen", hint="Look at --only, --half and --sample.")
    found = clones.find(repos, (each.repo for each in patches)) if repos else {}
    flags = _flags(config, model)
    rows, todo, made = Rows(out / "rows"), list[Job](), list[Row]()
    for arm in arms:
        for patch in patches:
            job = Job(patch, arm, found.get(patch.repo), key_of(patch, arm, repr(flags)), flags)
            if (known := rows.get(job.key)) or (elsewhere is None and (known := job.without_verdict())):
                made.append(known)
            else:
                todo.append(job)
    total = len(made) + len(todo)
    for row in elsewhere(todo) if elsewhere else _replayed(todo, rows, jobs, environ):
        if elsewhere:
            rows.put(row)
        made.append(row)
        on_row(row, len(made), total)
    order = {(each.model, each.id): number for number, each in enumerate(patches)}
    made.sort(key=lambda row: (arms.index(row.arm), order[row.model, row.id]))
    return _written(report.of_rows(made), out)


@dataclass(frozen=True)
class Job:
    """One patch that one arm is to judge; `key` is that of its row, `flags` are the user's settings."""

    patch: AgentPatch
    arm: Arm
    clone: Path | None
    key: str
    flags: Mapping[str, Any]

    def without_verdict(self) -> Row | None:
        """The row of a patch that this arm cannot judge here; None where it can."""
        problem = clones.missing(self.clone, self.patch)
        if not problem and self.arm is Arm.PROOF and not self.patch.test_patch:
            problem = "the data has no hidden tests for it"
        return self.untried(problem) if problem else None

    def untried(self, why: str) -> Row:
        """The row of a patch that nobody judged."""
        patch = self.patch
        return Row(
            id=patch.id, repo=patch.repo, model=patch.model, label=patch.label, half=patch.half, arm=self.arm,
            key=self.key, trouble=why,
        )  # fmt: skip


def _replayed(todo: Sequence[Job], rows: Rows, jobs: int, environ: Mapping[str, str]) -> Iterator[Row]:
    """The rows as they come; each is kept before it is told."""
    if jobs == 1 or len(todo) <= 1:
        for job in todo:
            yield _one(job, rows, dict(environ))
        return
    with ProcessPoolExecutor(min(jobs, len(todo)), mp_context=get_context("spawn")) as pool:
        started = [pool.submit(_one, job, rows, dict(environ)) for job in todo]
        try:
            for done in as_completed(started):
                yield done.result()
        except BrokenProcessPool as error:
            raise ToolKilled(
                "A process that replayed patches was killed, by somebody else than swarmgate.",
                hint="Is the machine short of memory? The rows that were made are kept: run the same command again.",
            ) from error
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _one(job: Job, rows: Rows, environ: Mapping[str, str]) -> Row:
    if job.clone is None:
        raise ValueError(f"{job.patch.repo} has no clone")
    row = asyncio.run(replay(job.patch, job.arm, job.clone, key=job.key, flags=job.flags, environ=environ))
    rows.put(row)
    return row


def _written(found: report.PatchesReport, out: Path) -> report.PatchesReport:
    """The report, written into a folder with its page."""
    placed = found.model_copy(update={"path": str(out)})
    for name, text in (("report.json", placed.model_dump_json(indent=1)), (report.PAGE, page(placed))):
        with writing(out / name):
            out.mkdir(parents=True, exist_ok=True)
            atomic.replace(out / name, text, durable=False)
    return placed


def _flags(config: Config, model: str) -> dict[str, Any]:
    """The user's settings as far as they say who judges; where they lie in another project, they hold here too."""
    found = config.model_dump(mode="json", exclude_unset=True, include=set(_SHARED))
    if model:
        found["roles"] = {"default": {"model": model}}
    return found


@dataclass(frozen=True)
class Request:
    """What the command line asks for."""

    arms: tuple[Arm, ...]
    selection: Selection


def request(arms: str, *, half: str, only: str, sample: int | None, seed: int) -> Request:
    """A request from names separated by commas.

    Raises:
        UsageError: there is no such arm or half.
    """
    named = [name.strip() for name in arms.split(",")]
    if unknown := [name for name in named if name not in set(Arm)]:
        raise UsageError(f"--arm: there is no arm {unknown[0]!r}", hint=f"There are: {', '.join(Arm)}.")
    if half not in ("", *get_args(Half)):
        raise UsageError(f"--half: there is no half {half!r}", hint=f"There are: {', '.join(get_args(Half))}.")
    chosen = next((each for each in get_args(Half) if each == half), None)
    return Request(
        tuple(arm for arm in Arm if arm in named), Selection(half=chosen, only=only, sample=sample, seed=seed)
    )


def settings(start: Path | None) -> Config:
    """The settings of the project that `start` (the current folder, where it is None) lies in; else the user's own.

    Raises:
        NotAProject: there is no such folder.
        ConfigError: they cannot be read.
    """
    return settings_at((start or Path.cwd()).resolve())[1]
