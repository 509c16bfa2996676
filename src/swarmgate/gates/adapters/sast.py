"""Weaknesses in the changed files: our semgrep rules in every language that has some, bandit and ruff for Python.

A file that a scanner cannot read is an ERROR that names both; what the other scanners found in it is in the result all
the same, and where that blocks, the result is FAIL with the error told beside it.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from swarmgate.errors import SwarmError
from swarmgate.gates import baseline, ruff
from swarmgate.gates.files import Trait
from swarmgate.gates.job import Outcome
from swarmgate.gates.sast import bandit_tests, flow, ruff_tests, rules, semgrep
from swarmgate.gates.sast.copies import copies
from swarmgate.gates.sast.hit import Scanned
from swarmgate.gates.sast.merge import merge

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from swarmgate.domain.finding import Finding
    from swarmgate.gates.files import Source
    from swarmgate.gates.job import Job
    from swarmgate.gates.sast.hit import Hit


@dataclass(slots=True)
class _Looked:
    """What all scanners say of a set of files: findings by path, what went wrong, what else to tell."""

    findings: dict[str, list[Finding]] = field(default_factory=dict)
    troubles: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    rules: int = 0


async def run(job: Job) -> Outcome:
    """Scan the files, then the base revision of those with findings."""
    ours = await asyncio.to_thread(rules.load)
    known = frozenset().union(*(rule.languages for rule in ours))
    sources = [source for source in job.sources if source.language in known]
    if not sources:
        return Outcome(tool=_tool(python=False), skip="no rules for the languages of the changed files")
    now = await _look(job, sources)
    if job.stop.is_set():
        return Outcome(error=f"did not end within {job.timeout_s:g} s")
    findings = await _against_base(job, sources, now)
    tool = _tool(python=any(source.language == "python" for source in sources))
    notes = (f"{now.rules} rules", *now.notes)
    if not now.troubles:
        return Outcome(findings, len(sources), tool, notes)
    told = "; ".join(now.troubles)
    limit = job.definition.severity.rank
    if any(finding.new and finding.severity.rank >= limit for finding in findings):
        return Outcome(findings, len(sources), tool, (told, *notes))
    return Outcome(findings, len(sources), tool, notes, error=told)


async def _look(job: Job, sources: Sequence[Source]) -> _Looked:
    with copies(sources) as files:
        python = any(source.language == "python" for source in sources)
        scans = [semgrep.scan(job, files)]
        if python:
            scans += [ruff_tests.scan(job, files), asyncio.to_thread(bandit_tests.scan, files, job.stop.is_set)]
        ended = await asyncio.gather(*scans, return_exceptions=True)
    said = {name: _scanned(name, each) for name, each in zip(("semgrep", "ruff", "bandit"), ended, strict=False)}
    looked = _Looked(rules=said["semgrep"].rules)
    hits: defaultdict[str, list[Hit]] = defaultdict(list)
    for name, scanned in said.items():
        looked.troubles += _troubles(name, scanned)
        looked.notes += scanned.notes
        for hit in scanned.hits:
            hits[hit.path].append(hit)
    by_path = {source.path: source for source in sources}
    for path, found in hits.items():
        source = by_path[path]
        kept = flow.plausible(source, found)
        looked.findings[path] = merge(kept, quiet=Trait.TEST in source.traits)
    return looked


def _scanned(name: str, ended: Scanned | BaseException) -> Scanned:
    """A scanner that raised is that scanner's error: the others still speak."""
    if not isinstance(ended, BaseException):
        return ended
    if not isinstance(ended, Exception):
        raise ended
    hint = f" ({ended.hint})" if isinstance(ended, SwarmError) and ended.hint else ""
    return Scanned(error=f"{name}: {ended}{hint}")


def _troubles(name: str, scanned: Scanned) -> list[str]:
    """Why a scanner did not look at everything, for the reason of the result."""
    files = [f"{name} could not read {path} ({why})" for path, why in sorted(scanned.unread.items())]
    return ([scanned.error] if scanned.error else []) + files


async def _against_base(job: Job, sources: Sequence[Source], now: _Looked) -> tuple[Finding, ...]:
    """Mark what the base revision had as well; only files with findings are worth a look at their past."""
    found = [source for source in sources if now.findings.get(source.path)]
    paths = [source.base_path for source in found if source.base_path]
    contents: Mapping[str, bytes] = (
        await asyncio.to_thread(job.repository.read_many, job.change.base, paths) if paths else {}
    )
    before = [replace(each, content=contents[each.base_path]) for each in found if each.base_path in contents]
    was = await _look(job, before) if before else _Looked()
    marked = [
        baseline.compare(
            source, now.findings[source.path], contents.get(source.base_path, b""), was.findings.get(source.path, ())
        )
        for source in found
    ]
    return tuple(finding for each in marked for finding in each)


def _tool(*, python: bool) -> str:
    return ", ".join((semgrep.tool(), bandit_tests.tool(), ruff.tool()) if python else (semgrep.tool(),))
