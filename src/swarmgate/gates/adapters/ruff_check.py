"""`ruff check` over the changed Python files, in the project's own configuration."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from swarmgate.domain.finding import Severity
from swarmgate.gates import baseline, ruff
from swarmgate.gates.encodings import in_utf8, in_utf8_on_disk, is_utf8
from swarmgate.gates.outcome import Outcome
from swarmgate.gates.tool import Broken

if TYPE_CHECKING:
    from swarmgate.domain.finding import Finding
    from swarmgate.gates.files import Source
    from swarmgate.gates.job import Job

_PARALLEL = 4


async def run(job: Job) -> Outcome:
    """Lint the files, then the base revision of those with findings, under the same configuration."""
    linted = await _linted(job)
    if isinstance(linted, Broken):
        return Outcome(tool=ruff.tool(), error=linted.reason)
    if linted.excluded:
        return Outcome(tool=ruff.tool(), skip="the project's ruff configuration excludes every changed file")
    by_path: dict[str, list[Finding]] = {}
    for finding in linted.findings:
        by_path.setdefault(finding.path, []).append(finding)
    affected = [source for source in job.sources if source.path in by_path]
    old_paths = [source.base_path for source in affected if source.base_path]
    contents = await asyncio.to_thread(job.repository.read_many, job.change.base, old_paths) if old_paths else {}
    turn = asyncio.Semaphore(_PARALLEL)
    configured = set(ruff.by_config(job.repository.root, by_path).get(True, []))

    async def compared(source: Source) -> list[Finding] | Broken:
        before: tuple[Finding, ...] = ()
        content = in_utf8(source.language, contents.get(source.base_path, b""))
        if source.base_path in contents:
            async with turn:
                # The old name decides which per-file ignores held for the old content.
                was = await ruff.check_content(job, source.path, content, under=source.base_path)
            if isinstance(was, Broken):
                return was
            before = was.findings
        marked = baseline.compare(source, by_path[source.path], content, before, edited=True)
        if any(each.rule == ruff.SYNTAX for each in before):
            return _torn(marked)
        return marked if source.path in configured else _lived_with(marked, before)

    known = {source.path for source in affected}
    findings = [finding for finding in linted.findings if finding.path not in known]  # fail closed: new
    for each in await asyncio.gather(*map(compared, affected)):
        if isinstance(each, Broken):
            return Outcome(tool=ruff.tool(), error=each.reason)
        findings += each
    unread = sorted(linted.unread)
    if not unread:
        return Outcome(tuple(findings), len(job.sources), ruff.tool(), linted.notes)
    told, files = f"ruff cannot read {', '.join(unread)}: not UTF-8", len(job.sources) - len(unread)
    notes = (*linted.notes, *((told,) if files else ()))
    return Outcome(tuple(findings), files, ruff.tool(), notes, error="" if files else told)


def _torn(findings: list[Finding]) -> list[Finding]:
    """The findings of a file that did not parse before the change: what follows a wrong line is mostly its echo."""
    return [
        each if each.rule == ruff.SYNTAX else each.model_copy(update={"severity": Severity.LOW}) for each in findings
    ]


def _lived_with(findings: list[Finding], before: tuple[Finding, ...]) -> list[Finding]:
    """The findings, those of habits that the file had before the change as information."""
    habits = ruff.LIVED_WITH & {each.rule for each in before}
    return [each.model_copy(update={"severity": Severity.LOW}) if each.rule in habits else each for each in findings]


async def _linted(job: Job) -> ruff.Linted | Broken:
    """What ruff says of the files; of those in another encoding, which it does not read, by what they say in UTF-8."""
    other = [source for source in job.sources if not in_utf8_on_disk(job.repository.root, source)]
    paths = [source.path for source in job.sources if source not in other]
    linted = await ruff.check(job, paths) if paths else ruff.Linted((), frozenset())
    for source in other:
        if isinstance(linted, Broken):
            return linted
        if not is_utf8(source.content):
            linted = replace(linted, unread=linted.unread | {source.path})
            continue
        said = await ruff.check_content(job, source.path, source.content, under=source.path, force_exclude=True)
        if isinstance(said, Broken):
            return said
        linted = ruff.Linted(
            (*linted.findings, *said.findings), linted.unparsed | said.unparsed, linted.excluded, linted.unread,
            linted.notes,
        )  # fmt: skip
    return linted
