"""`swarm gates run`: runs the pipeline over the requested files and computes the exit code."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from swarmgate import config as settings
from swarmgate.domain.review.finding import GateReport, GateStatus
from swarmgate.domain.text.screen import PIPE, Screen
from swarmgate.errors import MissingRequirement, UsageError
from swarmgate.gates import baseline, formats
from swarmgate.gates.cache.scan_results import Memory
from swarmgate.gates.confinement import by_hand
from swarmgate.gates.definition import load
from swarmgate.gates.pipeline.pipeline import GatesOptions, check_names, not_followed, run_pipeline
from swarmgate.gates.verbs import answer_cache, fix_patch
from swarmgate.gates.verbs.request import Request, Target, resolved

if TYPE_CHECKING:
    from pathlib import Path

    from swarmgate.gates.baseline import Accepted


@dataclass(frozen=True, slots=True)
class Judged:
    """A report, and what it is about.

    `paths` are the files of the change. `surroundings`: what else the report depends on, as a hash, where all that the
    gates said is in the cache, so that the same command would say it again; else empty.
    """

    report: GateReport
    about: str
    paths: tuple[str, ...] = ()
    surroundings: str = ""

    @property
    def exit_code(self) -> int:
        """0 when nothing blocks, 6 when only missing tools do, else 1."""
        blocking = self.report.blocking
        if not blocking:
            return 0
        missing = all(result.status is GateStatus.ERROR and result.missing for result in blocking)
        return MissingRequirement.exit_code if missing else 1

    def rendered(self, form: str, screen: Screen = PIPE) -> str:
        """The report in one of `FORMATS`, text as the screen shows it."""
        if form == "text" and not self.report.results:
            return "".join(f"{note}\n" for note in self.report.notes)
        return formats.render(form, self.report, self.about, screen)

    def remember(self, form: str, screen: Screen = PIPE) -> None:
        """Let the same command, where nothing changes in between, be answered with this report without judging."""
        if not self.surroundings:
            return
        fields = {"cached": True, "seconds": 0.0}
        results = tuple(each.model_copy(update=fields) if each.tool else each for each in self.report.results)
        again = replace(self, report=self.report.model_copy(update={"results": results, "seconds": 0.0}))
        answer_cache.keep(
            answer_cache.Answer(again.rendered(form, screen), self.exit_code),
            tree=self.report.tree,
            paths=self.paths,
            known=self.surroundings,
        )

    def save(self, form: str, place: Path) -> None:
        """Write the report to a file, in one step.

        Raises:
            UsageError: there is no such folder, or a folder in its place.
        """
        from swarmgate.workspace.files import atomic  # noqa: PLC0415 - late: only with --output

        text = self.rendered(form)
        if not place.parent.is_dir():
            raise UsageError(f"{place}: there is no folder {place.parent}")
        if place.is_dir():
            raise UsageError(f"{place} is a folder")
        atomic.replace(place, text.encode("utf-8", "surrogateescape"), durable=False)


def check_form(form: str | None, *, as_json: bool, to_file: bool) -> str:
    """The form that is printed; asked before work is done for it.

    Args:
        form: the form that was asked for by name.
        as_json: whether JSON was asked for on stdout.
        to_file: whether the report in `form` goes to a file, so that stdout may have another.

    Raises:
        UsageError: there is no such form, or two were asked for in one place.
    """
    if form is not None and form not in formats.FORMATS:
        raise UsageError(f"there is no format {form!r}", hint=f"There are: {', '.join(formats.FORMATS)}.")
    if as_json and not to_file and form not in {None, "json"}:
        raise UsageError(
            f"--json and --format {form} do not go together: stdout takes one format",
            hint="With --output FILE, the file is in that format and stdout in JSON.",
        )
    if as_json:
        return "json"
    return "text" if to_file or form is None else form


def judge(request: Request, *, only: tuple[str, ...] = (), skip: tuple[str, ...] = (), cache: bool = True) -> Judged:
    """Run the gates over what was asked for, as `judging` does, where nothing else is at work.

    Raises:
        UsageError, NotAProject, WorkspaceError, ConfigError: as `judging`.
    """
    return asyncio.run(judging(request, only=only, skip=skip, cache=cache))


async def judging(
    request: Request, *, only: tuple[str, ...] = (), skip: tuple[str, ...] = (), cache: bool = True
) -> Judged:
    """Run the gates over what was asked for; without `cache` each runs whatever it said before, and nothing is kept.

    Raises:
        UsageError: options, paths or names of gates that do not fit.
        NotAProject, WorkspaceError, ConfigError: the repository, the revision or the settings cannot be used.
    """
    for gate in only:
        if gate in skip:
            raise UsageError(f"--only {gate} and --skip {gate} do not go together", hint="Leave one of them out.")
    with resolved(request) as found:
        entries = baseline.on_disk(found.settings)
        return await judged(found, entries, GatesOptions(only=only, skip=skip), Memory() if cache else None)


async def judged(
    found: Target, entries: tuple[Accepted, ...], options: GatesOptions, memory: Memory | None = None
) -> Judged:
    """Run the gates, those of the project included, with findings that are accepted."""
    gates = load(found.settings)
    check_names(gates, options, skip="--skip")
    tree = answer_cache.tree_of(found.repository) or found.repository.snapshot()
    change = found.scope.change(found.repository, found.base, tree)
    if not change:
        staged_note = (*found.staged_note(tree), *not_followed(found.repository))
        notes = (f"{found.nothing}: nothing was judged.", *found.notes, *staged_note)
        return Judged(GateReport(tree=tree, results=(), notes=notes), found.about)
    config = settings.load(project_file=found.settings / settings.PROJECT_FILE)
    configured = config.gates
    defaults = {
        "skip": (*configured.skip, *options.skip),
        "require": configured.require,
        "timeout_s": configured.timeout_s,
    }
    report = await run_pipeline(
        gates,
        repository=found.repository,
        base=found.base,
        config=options.model_copy(update={**defaults, "quality": configured.quality, "size": configured.size}),
        fix=found.fix,
        scope=found.scope,
        accepted=entries,
        memory=memory,
        change=change,
        by_hand=lambda: by_hand(found.home.root, config.commands).around(found.repository.root),
    )
    undo = _way_back(found, tree, report)
    noted = report.model_copy(update={"notes": (*found.notes, *undo, *found.staged_note(report.tree), *report.notes)})
    return Judged(noted, found.about, change.paths, memory.surroundings if memory and memory.complete else "")


def _way_back(found: Target, before: str, report: GateReport) -> tuple[str, ...]:
    """How to undo what gates fixed in the files; nothing where they fixed nothing."""
    if not any(result.fixed for result in report.results):
        return ()
    return (fix_patch.saved(found.repository, before, report.tree),)
