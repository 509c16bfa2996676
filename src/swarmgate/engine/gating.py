"""The gates without the loop: what `swarm gates` does in any git repository, with or without `.swarm/`."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from swarmgate import config as settings
from swarmgate.domain.finding import GateReport, GateStatus
from swarmgate.errors import MissingRequirement, NotAProject
from swarmgate.gates.definition import GateDefinition, load
from swarmgate.gates.pipeline import GatesOptions, check_names, run_pipeline
from swarmgate.gates.report import lines
from swarmgate.ledger.folder import SwarmFolder
from swarmgate.workspace.repository import Repository


@dataclass(frozen=True, slots=True)
class Judged:
    """A report, as text too, and the exit code that it means."""

    report: GateReport
    lines: tuple[str, ...]
    exit_code: int


def judge(
    start: Path | None, *, base: str = "HEAD", only: tuple[str, ...] = (), skip: tuple[str, ...] = (), fix: bool = False
) -> Judged:
    """Runs the pipeline over the work tree against a revision.

    Raises:
        NotAProject, WorkspaceError, ConfigError: the repository, the revision or the settings cannot be used.
    """
    repository, folder = _place(start)
    project_file = folder.config if folder else None
    gates = load(folder.root if folder else None)
    options = GatesOptions(skip=skip, only=only)
    check_names(gates, options)
    tree, before = repository.snapshot(), repository.tree_of(base)
    if not repository.changes(before, tree):
        return Judged(GateReport(tree=tree, results=()), (f"Nothing differs from {base}: nothing was judged.",), 0)
    configured = settings.load(project_file=project_file).gates
    report = asyncio.run(
        run_pipeline(
            gates,
            repository=repository,
            base=before,
            config=GatesOptions(skip=(*configured.skip, *skip), only=only, timeout_s=configured.timeout_s),
            fix=fix,
        )
    )
    broken = any(result.status is GateStatus.ERROR for result in report.blocking)
    failed = any(result.status is GateStatus.FAIL for result in report.blocking)
    code = 1 if failed else MissingRequirement.exit_code if broken else 0 if report.passed else 1
    return Judged(report, tuple(lines(report)), code)


def definitions(start: Path | None) -> tuple[GateDefinition, ...]:
    """The gates that hold in this repository: the built-in ones, and the project's own."""
    _, folder = _place(start)
    return load(folder.root if folder else None)


def _place(start: Path | None) -> tuple[Repository, SwarmFolder | None]:
    repository = Repository.discover((start or Path.cwd()).resolve())
    try:
        return repository, SwarmFolder.find(repository.root)
    except NotAProject:
        return repository, None
