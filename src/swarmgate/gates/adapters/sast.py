"""Weaknesses in the changed files: our semgrep rules in every language that has some, bandit and ruff for Python.

A scanner that is missing or broken, and a file that no scanner reads, make the result an ERROR that names them;
what the others found is in it all the same, and where that blocks, the result is FAIL with the error told beside it. A
file that one scanner cannot read and another can, is told in a note.
"""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING

from swarmgate.errors import SwarmError
from swarmgate.gates.outcome import Outcome
from swarmgate.gates.project.files import Trait, traits_of
from swarmgate.gates.sast import bandit_tests, commands, flow, ruff_tests, rules, semgrep
from swarmgate.gates.sast.copies import copies
from swarmgate.gates.sast.hit import Scanned
from swarmgate.gates.sast.merge import merge
from swarmgate.gates.source import baseline

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence

    from swarmgate.domain.finding import Finding
    from swarmgate.gates.job import Job
    from swarmgate.gates.sast.copies import Copies
    from swarmgate.gates.sast.hit import Hit
    from swarmgate.gates.source.file import SourceFile


_TOGETHER = 40
"""Up to so many changed files, the programs look at both revisions of Python files in one call."""

_NO_SYNTAX = re.compile(r"line \d+: ")
"""How parsers begin to say what is wrong with a file, which is the business of another gate."""

_BUNDLE_BYTES = 20_000
"""From which size on a file that goes by the name of a built or vendored one, as it did before, is left out."""

_NAMED = 5
"""Of files with that trouble, so many are named."""

_DECLARATIONS = (".d.ts", ".d.mts", ".d.cts")
"""Files that hold types and no code."""


@dataclass(slots=True)
class _Looked:
    """What all scanners say of a set of files: findings by path, what went wrong, what else to tell, what is broken."""

    findings: dict[str, list[Finding]] = field(default_factory=dict)
    troubles: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    rules: frozenset[str] = frozenset()
    broken: list[SourceFile] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Side:
    """One revision of the files: what parses of it, its copies, and the programs that look at these."""

    parsed: Mapping[str, flow.Parsed]
    unparsed: Mapping[str, str]
    files: Copies
    programs: Mapping[str, asyncio.Task[list[Scanned]]]
    number: int

    async def said(self, program: str) -> Scanned:
        """What a program says of this revision."""
        return (await self.programs[program])[self.number]


async def run(job: Job) -> Outcome:
    """Scan the files, then the base revision of those with findings."""
    known = [source for source in job.sources if source.language in rules.LANGUAGES]
    code = [source for source in known if not source.path.lower().endswith(_DECLARATIONS)]
    bundles = await asyncio.to_thread(_rebuilt, job, code)
    sources = [source for source in code if source.path not in bundles]
    left_out = (f"{len(code) - len(sources)} left out: built or taken in before the change as well, and large",)
    if not sources:
        skip = left_out[0] if code else "no rules for the languages of the changed files"
        return Outcome(tool=_tool(python=False), skip=skip)
    likely = await _likely(job, sources)
    async with _begun(job, sources, likely) as (side, past):
        now = await _look(job, sources, side)
        if job.stop.is_set():
            return Outcome(error=job.late)
        findings = await _against_base(job, sources, now, past)
    await _tell_broken(job, now)
    tool = _tool(python=any(source.language == "python" for source in sources))
    notes = (f"{len(now.rules)} rules", *now.notes, *(left_out if len(sources) < len(code) else ()))
    if not now.troubles:
        return Outcome(findings, len(sources), tool, notes, rules=len(now.rules))
    told = "; ".join(now.troubles)
    limit = job.definition.severity.rank
    if any(finding.new and finding.severity.rank >= limit for finding in findings):
        return Outcome(findings, len(sources), tool, (told, *notes), rules=len(now.rules))
    return Outcome(findings, len(sources), tool, notes, error=told, rules=len(now.rules))


def _rebuilt(job: Job, sources: Sequence[SourceFile]) -> set[str]:
    """The files that were bundles before the change, by name and size: a build rewrites them, out of judged code.

    The engine takes minutes for those of one library, and of their few long lines it cannot be told what is new.
    """
    large = [each for each in sources if len(each.content) > _BUNDLE_BYTES and each.unproven and each.base_path]
    named = {each.path for each in large if traits_of(each.base_path) & each.unproven}
    ids = {file.path: file.old_id for file in job.change.files if file.path in named}
    sizes = job.repository.sizes(ids.values())
    return {path for path, name in ids.items() if sizes.get(name, 0) > _BUNDLE_BYTES}


async def _likely(job: Job, sources: Sequence[SourceFile]) -> list[SourceFile]:
    """The base revisions that will most likely be asked for: the programs look at them together with the change.

    In Python some finding that informs is the rule; of many files, those without one would cost more than is saved.
    """
    python = [each for each in sources if each.language == "python"]
    if len(sources) > _TOGETHER or not python:
        return []
    before = [source.past for source in python if source.old]
    return await asyncio.to_thread(job.memory.unknown, "sast", before) if job.memory else before


@asynccontextmanager
async def _begun(job: Job, *revisions: Sequence[SourceFile]) -> AsyncIterator[list[_Side]]:
    """Start the programs, one call of each for all revisions: they run beside what looks in this process."""
    python = [[source for source in sources if source.language == "python"] for sources in revisions]
    parses = [await asyncio.to_thread(flow.parse, each, job.stop.is_set) for each in python]
    with copies(revisions[0]) as first:
        sets = [first]
        for sources in revisions[1:]:
            last = replace(first, names={name: each for files in sets for name, each in files.names.items()})
            sets.append(last.beside(sources))
        followed = [(files, parsed) for files, (parsed, _) in zip(sets, parses, strict=True)]
        programs = {"semgrep": asyncio.create_task(semgrep.scan_all(job, followed))}
        if any(python):
            programs["ruff"] = asyncio.create_task(ruff_tests.scan_all(job, sets))
        try:
            yield [
                _Side(*parse, files, programs, number)
                for number, (parse, files) in enumerate(zip(parses, sets, strict=True))
            ]
        finally:
            for task in programs.values():
                task.cancel()
            await asyncio.gather(*programs.values(), return_exceptions=True)


async def _look(job: Job, sources: Sequence[SourceFile], side: _Side) -> _Looked:
    paths = {source.path for source in sources}
    parsed = {path: each for path, each in side.parsed.items() if path in paths}
    files = replace(side.files, names={name: each for name, each in side.files.names.items() if each.path in paths})
    python = any(source.language == "python" for source in sources)
    scans: dict[str, Awaitable[Scanned]] = {"semgrep": side.said("semgrep")}
    if python:
        older = {path: each.text for path, each in parsed.items() if each.text != each.source.content}
        scans["ruff"] = side.said("ruff")
        scans["bandit"] = asyncio.to_thread(bandit_tests.scan, files, older, job.stop.is_set)
        scans["flows"] = asyncio.to_thread(_flows, parsed, files, job)
    ended = await asyncio.gather(*scans.values(), return_exceptions=True)
    said = {name: _scanned(name, each) for name, each in zip(scans, ended, strict=True)}
    if python:
        said["bandit"].unread.update({path: why for path, why in side.unparsed.items() if path in paths})
    looked = _Looked(rules=frozenset().union(*(scanned.rules for scanned in said.values())))
    _tell(looked, said, sources)
    hits: defaultdict[str, list[Hit]] = defaultdict(list)
    for scanned in said.values():
        for hit in scanned.hits:
            hits[hit.path].append(hit)
    by_path = {source.path: source for source in sources}
    for path, found in hits.items():
        if path in paths:
            kept = found
            if path in parsed:
                kept = commands.raised(parsed[path].tree, flow.plausible(parsed[path], found))
            looked.findings[path] = merge(kept, quiet=Trait.TEST in by_path[path].traits)
    return looked


def _flows(parsed: Mapping[str, flow.Parsed], files: Copies, job: Job) -> Scanned:
    return flow.scan(parsed, semgrep.loaded(files.names.values()), job.stop.is_set)


def _scanned(name: str, ended: Scanned | BaseException) -> Scanned:
    """A scanner that raised is that scanner's error: the others still speak."""
    if not isinstance(ended, BaseException):
        return ended
    if not isinstance(ended, Exception):
        raise ended
    hint = f" ({ended.hint})" if isinstance(ended, SwarmError) and ended.hint else ""
    return Scanned(error=f"{name}: {ended}{hint}")


def _tell(looked: _Looked, said: Mapping[str, Scanned], sources: Sequence[SourceFile]) -> None:
    """What went wrong: a trouble where a scanner is broken, or no scanner read a file; else a note."""
    for scanned in said.values():
        looked.troubles += [scanned.error] if scanned.error else []
        looked.notes += scanned.notes
    broken = []
    for source in sources:
        mine = {name: scanned for name, scanned in said.items() if name == "semgrep" or source.language == "python"}
        told = [
            f"{name} could not read {source.path} ({scanned.unread[source.path]})"
            for name, scanned in mine.items()
            if source.path in scanned.unread
        ]
        # The engine parses only what a rule may match, so of a Python file its silence does not say that it was read.
        judges = ("ruff", "bandit") if source.language == "python" else ("semgrep",)
        read = any(source.path not in mine[name].unread for name in judges)
        if (
            source.language == "python"
            and not read
            and all(_NO_SYNTAX.match(mine[n].unread[source.path]) for n in judges)
        ):
            broken.append(source)
        else:
            (looked.notes if read or Trait.INPUT in source.traits else looked.troubles).extend(told)
    looked.broken += broken


async def _tell_broken(job: Job, now: _Looked) -> None:
    """A file that does not parse is a trouble, but where it is a test's input, or was so before the change."""
    if not now.broken:
        return
    before = [each.past for each in now.broken if each.old]
    _, unparsed = await asyncio.to_thread(flow.parse, before, job.stop.is_set)
    excused = [each.path for each in now.broken if Trait.INPUT in each.traits or each.path in unparsed]
    broken = [each.path for each in now.broken if each.path not in excused]
    if broken:
        now.troubles.append(f"{_few(broken)} not parse: see syntax_check")
    if excused:
        now.notes.append(f"not looked at: {_few(excused)} not parse, an input of tests or as before the change")


def _few(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    return f"{', '.join(paths[:_NAMED])}{more} {'does' if len(paths) == 1 else 'do'}"


async def _against_base(job: Job, sources: Sequence[SourceFile], now: _Looked, past: _Side) -> tuple[Finding, ...]:
    """Mark what the base revision had as well; only files with findings are worth a look at their past."""
    found = [source for source in sources if now.findings.get(source.path)]
    doubtful = [source for source in found if baseline.may_be_old(source, now.findings[source.path])]
    was = await _past(job, [source.past for source in doubtful if source.old], past)
    marked = [baseline.compare(each, now.findings[each.path], was.get(each.path, ())) for each in found]
    return tuple(finding for each in marked for finding in each)


async def _past(job: Job, before: Sequence[SourceFile], past: _Side) -> Mapping[str, Sequence[Finding]]:
    """What was found in the base revision's files. It stays the same while the change is worked on: it is kept."""

    async def look(sources: Sequence[SourceFile]) -> tuple[Mapping[str, Sequence[Finding]], bool]:
        begun = {source.path for source in past.files.names.values()}
        early = [source for source in sources if source.path in begun]
        late = [source for source in sources if source.path not in begun]
        looks = [await _look(job, early, past)] if early else []
        if late:
            async with _begun(job, late) as (side,):
                looks.append(await _look(job, late, side))
        # A scanner that could not do all its work must not have said the last word on the past.
        whole = not any(each.troubles or each.notes or each.broken for each in looks) and not job.stop.is_set()
        return {path: found for each in looks for path, found in each.findings.items()}, whole

    if job.memory is None or not before:
        return (await look(before))[0]
    return await job.memory.of_files("sast", before, look)


def _tool(*, python: bool) -> str:
    names = ("semgrep", "bandit", "ruff") if python else ("semgrep",)
    return ", ".join(f"{name} {version(name)}" for name in names if find_spec(name))
