"""`swarm eval debate`: runs the experiment on fixtures and writes the report and its files."""

from __future__ import annotations

import asyncio
import hashlib
import importlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from swarmgate.config import load as load_config
from swarmgate.domain.task.debate_rules import DebateWorth
from swarmgate.domain.usage import Allowance
from swarmgate.errors import MissingRequirement, NotAProject, UsageError
from swarmgate.evaluation.debate import fixtures as labelled
from swarmgate.evaluation.debate.cache import Answers
from swarmgate.evaluation.debate.decision import Decision
from swarmgate.evaluation.debate.experiment_arms import WHOLE, Arm, Part, Setup, chosen_items, even_repeats
from swarmgate.evaluation.debate.participants import Bench
from swarmgate.evaluation.debate.report import DebateReport, report_of
from swarmgate.evaluation.debate.runs import Run, run
from swarmgate.journal.disk_errors import writing
from swarmgate.ledger.councils import debate_worth
from swarmgate.ledger.files import model_probes
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.workspace.files.atomic import replace

if TYPE_CHECKING:
    from swarmgate.config import Config
    from swarmgate.llm.events import ModelEvent

OnProgress = Callable[[str], None]
Elsewhere = Callable[[labelled.Fixtures, Setup, Allowance], tuple[Run, int]]
"""Has others judge all items: what they judged, and how many calls they asked for that."""


@dataclass(frozen=True)
class Home:
    """Where settings come from, and where answers and reports are kept: in a project, or for the user alone."""

    config: Config
    data_folder: Path
    folder: SwarmFolder | None = None

    @classmethod
    def of(cls, start: Path | None, environ: Mapping[str, str]) -> Home:
        """The home of a folder.

        Args:
            start: a folder of a project; None: the current one, which may lie outside of any.
            environ: where settings are looked up.

        Raises:
            NotAProject: `start` is given and lies in none.
            ConfigError: the settings cannot be read.
        """
        try:
            folder = SwarmFolder.find((start or Path.cwd()).resolve())
        except NotAProject:
            if start is not None:
                raise
            from platformdirs import user_cache_path  # noqa: PLC0415 - late: only outside of projects

            return cls(load_config(environ=environ), user_cache_path("swarmgate"))
        return cls(load_config(project_file=folder.config, environ=environ), folder.runtime, folder)


def setup_of(models: str, arms: str, *, repeats: int | None = None, **numbers: int | None) -> Setup:
    """A setup from names separated by commas.

    Args:
        models: `provider/model` each, no two the same.
        arms: of `Arm`, no two the same.
        repeats: of each item; None: at least three, so many that every model has each seat equally often.
        numbers: the other fields of `Setup`.

    Raises:
        UsageError: a name is none, or stands there twice.
    """
    found = _listed("--models", models)
    for name in found:
        provider, _, model = name.partition("/")
        if not (provider and model):
            raise UsageError(f"--models: {name!r} is no model", hint="A model is written provider/model.")
    wanted = _listed("--arms", arms)
    for arm in wanted:
        if arm not in set(Arm):
            raise UsageError(f"--arms: there is no arm {arm!r}", hint=f"There are: {', '.join(Arm)}.")
    # In one order, however they are named: the same measurement has the same name.
    named = {"models": found, "arms": [arm for arm in Arm if arm in wanted]}
    return Setup.model_validate({**named, "repeats": repeats or even_repeats(len(found)), **numbers})


def _listed(option: str, names: str) -> list[str]:
    found = [name.strip() for name in names.split(",")]
    if twice := [name for name in dict.fromkeys(found) if found.count(name) > 1]:
        raise UsageError(f"{option} names {twice[0]!r} twice", hint="Name each of them once.")
    return found


def evaluate(
    fixtures: Path,
    setup: Setup,
    *,
    start: Path | None = None,
    allowance: Allowance | None = None,
    out: Path | None = None,
    write_decision: bool | None = None,
    part: Part = WHOLE,
    elsewhere: Elsewhere | None = None,
    environ: Mapping[str, str] | None = None,
    on_progress: OnProgress = lambda _text: None,
) -> DebateReport:
    """Measure whether debates are right more often than as many independent ballots.

    Args:
        fixtures: labelled items, see `evaluation.debate.fixtures`.
        setup: models, arms and numbers.
        start: a folder of the project; None: the current one, or the user's settings where that is in no project.
        allowance: dollars and tokens that this run may use; answers that are kept already cost nothing.
        out: where the report goes; None: `.swarm/runtime/eval/ID/`, or the user's cache outside of a project.
        write_decision: whether a decision is written to `.swarm/debate-worth.json`; None: where it is sure.
        part: of the items, which alone is judged; nothing is decided by one of several.
        elsewhere: has others judge the items; None: this machine asks the models.
        environ: where keys and settings are looked up; the process's environment by default.
        on_progress: hears of progress and retries, a line each.

    Raises:
        UsageError: fixtures, models or limits cannot be used as they are.
        MissingRequirement: a package of `swarmgate[eval]` is not installed, or a key is not set.
        LedgerWriteFailed: the disk refused the answers, the report or the decision.
    """
    environ = os.environ if environ is None else environ
    known = labelled.load(fixtures)
    _require()
    home = Home.of(start, environ)
    bound = allowance or Allowance()
    if elsewhere is not None:
        found, asked = elsewhere(known, setup, bound)
    else:
        found, asked = asyncio.run(_measured(known, setup, home, bound, environ, on_progress, part))
    named = (known.sha256, setup.model_dump_json(), *((f"{part.number}/{part.of}",) if part.of > 1 else ()))
    name = hashlib.sha256(" ".join(named).encode()).hexdigest()[:12]
    date = datetime.now(UTC).isoformat(timespec="seconds")
    report = report_of(found, known, setup, name=name, date=date, asked=asked, path=str(fixtures), part=part)
    report = report.model_copy(update={"undecided": _unwritten(report, home, write=write_decision)})
    filed = _Files.of(report, known, (out or home.data_folder / "eval" / name).resolve())
    report = filed.keep(report)
    if report.undecided or report.decision is None or home.folder is None:
        return report
    # The report lies there before anything goes by its decision; that it is written is put into it afterwards.
    debate_worth.keep(home.folder, _worth(report, report.decision))
    places = report.places.model_copy(update={"decision": str(home.folder.debate_worth)})
    return filed.keep(report.model_copy(update={"places": places}))


def _require() -> None:
    """Makes sure that what counts and draws at the end is there, before anything is paid for.

    Raises:
        MissingRequirement: it is not, or cannot be imported.
    """
    try:
        for name in ("scipy.stats", "matplotlib.figure"):
            importlib.import_module(name)
    except ImportError as error:
        raise MissingRequirement(
            f"`swarm eval debate` needs scipy and matplotlib: {error}",
            hint="pip install scipy matplotlib, in swarmgate's environment (with pipx: pipx inject swarmgate scipy "
            "matplotlib), then the same command again.",
        ) from error


async def _measured(
    known: labelled.Fixtures,
    setup: Setup,
    home: Home,
    allowance: Allowance,
    environ: Mapping[str, str],
    on_progress: OnProgress,
    part: Part,
) -> tuple[Run, int]:
    """What was judged, and how many calls that took now."""

    def on_model_event(event: ModelEvent) -> None:
        if event.kind == "model":
            on_progress(event.text)

    def counted(found: Run) -> None:
        if found.done == found.planned or found.done * 10 // found.planned > (found.done - 1) * 10 // found.planned:
            on_progress(f"{found.done} of {found.planned} judged by every arm, {bench.answers.new} calls asked")

    bench = Bench(
        setup.models,
        home.config,
        environ=environ,
        allowance=allowance,
        answers=Answers(home.data_folder / "eval-cache"),
        prompts=home.folder.prompts if home.folder else None,
        probed=model_probes.load(home.folder) if home.folder else None,
        on_event=on_model_event,
    )
    for warning in (*known.warnings, *setup.warnings):
        on_progress(f"warning: {warning}")
    number = len(chosen_items(known.items, setup)[part.number - 1 :: part.of]) * setup.repeats
    on_progress(f"{number} judgements by each arm, about {number * setup.most_calls:,} calls at the most")
    async with bench:
        found = await run(known.items, setup, bench.seated, home.config.council, on_progress=counted, part=part)
    return found, bench.answers.new


def _unwritten(report: DebateReport, home: Home, *, write: bool | None) -> str:
    """Why no decision is written; empty where one is."""
    if report.decision is None:
        return report.undecided
    if write is False:
        return "--no-decision was given"
    if home.folder is None:
        return "this is no project, and a decision is a project's"
    if not write and not report.decision.sure:
        return "it is NOT SURE; --write-decision writes it all the same"
    return ""


def _worth(report: DebateReport, decision: Decision) -> DebateWorth:
    against = next(each for each in report.comparisons if each.second is Arm.PARALLEL)
    low, high = against.interval or (0.0, 0.0)
    return DebateWorth(
        decision=decision.decision,
        lift=round(100 * against.lift, 4),
        interval=(round(100 * low, 4), round(100 * high, 4)),
        items=against.items,
        models=report.setup.models,
        fixtures=report.fixtures_sha256,
        date=report.date,
    )


@dataclass(frozen=True)
class _Files:
    """The report's files in a folder; the picture is drawn once."""

    known: labelled.Fixtures
    out: Path
    picture: bytes

    @classmethod
    def of(cls, report: DebateReport, known: labelled.Fixtures, out: Path) -> _Files:
        from swarmgate.evaluation.debate.plot import png  # noqa: PLC0415 - late: only at the end

        return cls(known, out, png(report.arms, report.comparisons) if report.arms else b"")

    def keep(self, report: DebateReport) -> DebateReport:
        """Writes the files; the report with their places."""
        from swarmgate.evaluation.debate.page import page  # noqa: PLC0415 - late, for start-up time

        out = self.out
        own = {"json_file": str(out / "report.json"), "html": str(out / "report.html")}
        places = report.places.model_copy(update={**own, "png": str(out / "report.png") if self.picture else ""})
        report = report.model_copy(update={"places": places})
        files: dict[str, str | bytes] = {
            "report.json": report.model_dump_json(indent=1),
            "report.html": page(report, self.known.items, self.picture),
            "report.png": self.picture,
        }
        with writing(out):
            out.mkdir(parents=True, exist_ok=True)
            for name, content in files.items():
                if content:
                    replace(out / name, content, durable=False)
        return report
