"""Runs the linters and formatters that the project has installed over the changed files."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from swarmgate.domain.review.finding import Finding, Severity, Unchecked
from swarmgate.errors import WorkspaceError
from swarmgate.gates.builds import base_revision
from swarmgate.gates.lint.linters import FORMATTERS, LINTERS, by_folder, is_adopted
from swarmgate.gates.source import comparison
from swarmgate.gates.tools.run import Broken, invoke, with_files
from swarmgate.gates.tools.table import program
from swarmgate.workspace.files import atomic
from swarmgate.workspace.files.paths import encode
from swarmgate.workspace.git.repository import Repository

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from swarmgate.gates.job import Job
    from swarmgate.gates.lint.linters import Formatter, Linter
    from swarmgate.gates.source.file import SourceFile

_PARALLEL = 4


@dataclass(frozen=True, slots=True)
class Ran:
    """The merged result of all linters. `missing`: what was not done because a tool is missing."""

    findings: tuple[Finding, ...] = ()
    files: int = 0
    tools: tuple[str, ...] = ()
    missing: tuple[Unchecked, ...] = ()
    error: str = ""

    def __add__(self, other: Ran) -> Ran:
        """Both together."""
        return Ran(
            self.findings + other.findings, self.files + other.files, self.tools + other.tools,
            self.missing + other.missing, "; ".join(filter(None, (self.error, other.error))),
        )  # fmt: skip


async def check(job: Job) -> Ran:
    """Lint the files of the job; a finding is new where its line is."""
    ran = Ran()
    for linter in LINTERS:
        ran += await _lint(job, linter, fix=False)
    for formatter in FORMATTERS:
        ran += await _format(job, formatter, fix=False)
    return ran


async def fix(job: Job) -> Ran:
    """Apply the tools' fixes; formatters change only files that were formatted before, or are new."""
    ran = Ran()
    for linter in LINTERS:
        if linter.fix:
            ran += await _lint(job, linter, fix=True)
    for formatter in FORMATTERS:
        ran += await _format(job, formatter, fix=True)
    return ran


async def _lint(job: Job, linter: Linter, *, fix: bool) -> Ran:
    root = job.repository.root
    sources = {source.path: source for source in job.sources if source.language in linter.languages}
    ran = Ran()
    for folder, paths in by_folder(linter, root, sources).items():
        found = program(root, folder, linter.check[0])
        if found is None:
            ran += Ran(missing=(Unchecked(what="lint", why=f"{linter.name} is not installed"),))
            continue
        folder_job = replace(job, repository=Repository(root / folder))
        names = [path.removeprefix(f"{folder}/") if folder else path for path in paths]
        argv = (found, *(linter.fix if fix else linter.check)[1:])
        done = await invoke(folder_job, with_files(argv, names), exit_codes=linter.exit_codes, env=linter.env)
        if isinstance(done, Broken):
            ran += Ran(error=f"{linter.name}: {done.reason}", tools=(linter.name,))
            continue
        try:
            findings = [] if fix else [each for completed in done for each in linter.read(completed, linter.name)]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            ran += Ran(error=f"{linter.name}'s output is not understood: {error}", tools=(linter.name,))
            continue
        if any(completed.exit_code for completed in done) and not findings and not fix:
            output = done[-1].output.strip()[:300]
            ran += Ran(error=f"{linter.name} failed without a finding: {output}", tools=(linter.name,))
            continue
        placed = [_weighed(linter, root, each) for each in base_revision.relative(findings, root, folder)]
        ran += Ran(tuple(_marked(sources, placed)), len(paths), (linter.name,))
    return ran


def _weighed(linter: Linter, root: Path, finding: Finding) -> Finding:
    """The finding; where the project never took the linter up, one that is no error informs."""
    if finding.severity is not Severity.MEDIUM or is_adopted(linter, root, finding.path):
        return finding
    return finding.model_copy(update={"severity": Severity.LOW})


def _marked(sources: dict[str, SourceFile], findings: Sequence[Finding]) -> list[Finding]:
    marked = []
    for path, source in sources.items():
        marked += comparison.by_lines(source, [each for each in findings if each.path == path])
    return marked


async def _format(job: Job, formatter: Formatter, *, fix: bool) -> Ran:
    sources = [source for source in job.sources if source.language == formatter.language and _is_text(source.content)]
    if not sources:
        return Ran()
    path = program(job.repository.root, "", formatter.name)
    if path is None:
        return Ran(missing=(Unchecked(what="format", why=f"{formatter.name} is not installed"),))
    turn = asyncio.Semaphore(_PARALLEL)

    async def formatted(source: SourceFile, content: bytes) -> bytes | Broken | None:
        async with turn:
            return await _formatted(
                job, formatter, [path, *formatter.options(job.repository.root, source.path)], content
            )

    async def format_one(source: SourceFile) -> tuple[list[Finding], bytes | None] | Broken:
        wanted = await formatted(source, source.content)
        if isinstance(wanted, Broken):
            return wanted
        if wanted is None or wanted == source.content:
            return [], None
        was = source.old is None or await formatted(source, source.was.content) == source.was.content
        message = f"not formatted as {formatter.name} does"
        finding = Finding(rule=formatter.name, path=source.path, severity=Severity.LOW, message=message)
        marked = [each.model_copy(update={"new": was}) for each in comparison.fingerprint(source, [finding])]
        return marked, wanted if was else None

    found: list[Finding] = []
    for source, result in zip(sources, await asyncio.gather(*map(format_one, sources)), strict=True):
        if isinstance(result, Broken):
            return Ran(error=f"{formatter.name}: {result.reason}", tools=(formatter.name,))
        found += result[0]
        if fix and result[1] is not None:
            await asyncio.to_thread(_write, job.repository.root, source, result[1])
    return Ran(() if fix else tuple(found), len(sources), (formatter.name,))


async def _formatted(job: Job, formatter: Formatter, argv: Sequence[str], content: bytes) -> bytes | Broken | None:
    """The content formatted; None where it does not parse, which is the syntax gate's business."""
    done = await invoke(job, [argv], stdin=content, exit_codes=range(256), env=formatter.env)
    if isinstance(done, Broken):
        return done
    return None if done[0].exit_code else done[0].stdout.encode()


def _write(root: Path, source: SourceFile, content: bytes) -> None:
    """Write a file, once all that could have made a link of its folder has ended."""
    place = root / os.fsdecode(encode(source.path))
    if not place.parent.resolve().is_relative_to(root.resolve()):
        raise WorkspaceError(f"{source.path} now lies behind a link that leads out of the repository")
    atomic.replace(place, content)


def _is_text(content: bytes) -> bool:
    # What a process prints reaches us as text: other bytes would not come back as they were.
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True
