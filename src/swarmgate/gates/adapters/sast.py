"""The security scan gate: runs our semgrep rules, bandit and ruff's security rules over the changed files.

A scanner that is missing or broken, and a file that no scanner reads, make the result an ERROR that names them;
what the others found is in it all the same, and where that blocks, the result is FAIL with the error told beside it. A
file that one scanner cannot read and another can, is told in a note.
"""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from dataclasses import dataclass, field
from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING

from swarmgate.errors import SwarmError
from swarmgate.gates.outcome import Outcome
from swarmgate.gates.project.files import Trait, traits_of
from swarmgate.gates.sast import bandit_tests, edited_lines, python_scan, ruff_tests, rules, semgrep
from swarmgate.gates.sast.hit import Scanned
from swarmgate.gates.sast.merge import merge, quoted
from swarmgate.gates.sast.temporary_copies import copies
from swarmgate.gates.source import comparison

if TYPE_CHECKING:
    from collections.abc import Awaitable, Container, Mapping, Sequence

    from swarmgate.domain.review.finding import Finding
    from swarmgate.gates.job import Job
    from swarmgate.gates.sast.hit import Hit
    from swarmgate.gates.sast.temporary_copies import Copies
    from swarmgate.gates.source.file import SourceFile

    _Rules = Mapping[str, frozenset[str]]
    """Path -> ids of our own rules."""


_NO_SYNTAX = re.compile(r"line \d+: ")
"""How parsers begin to say what is wrong with a file, which is the business of another gate."""

_BUNDLE_BYTES = 20_000
"""From which size on a file that goes by the name of a built or vendored one, as it did before, is left out."""

_NAMED = 5
"""Of files with that trouble, so many are named."""

_DECLARATIONS = (".d.ts", ".d.mts", ".d.cts")
"""Files that hold types and no code."""


@dataclass(slots=True)
class _ScanResult:
    """The merged result of all scanners: findings by path, errors, notes, and files that do not parse.

    `doubtful` are the paths of which another look may say more: a scanner failed there, or read them in part.
    """

    findings: dict[str, list[Finding]] = field(default_factory=dict)
    troubles: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    doubtful: set[str] = field(default_factory=set)
    broken: list[SourceFile] = field(default_factory=list)


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
    now = _ScanResult()
    ours = {rule.id for rule in await asyncio.to_thread(semgrep.loaded, sources)}
    findings = await _against_base(job, sources, await _cached(job, sources, now, None), ours)
    await asyncio.to_thread(_tell_broken, now)
    if job.stop.is_set():
        return Outcome(error=job.late)
    tool = _tool(python=any(source.language == "python" for source in sources))
    notes = (f"{len(ours)} rules", *now.notes, *(left_out if len(sources) < len(code) else ()))
    if not now.troubles:
        return Outcome(findings, len(sources), tool, notes, rules=len(ours))
    reason = "; ".join(now.troubles)
    limit = job.definition.severity.rank
    if any(finding.new and finding.severity.rank >= limit for finding in findings):
        return Outcome(findings, len(sources), tool, (reason, *notes), rules=len(ours))
    return Outcome(findings, len(sources), tool, notes, error=reason, rules=len(ours))


def _rebuilt(job: Job, sources: Sequence[SourceFile]) -> set[str]:
    """The files that were bundles before the change, by name and size: a build rewrites them, out of judged code.

    The engine takes minutes for those of one library, and of their few long lines it cannot be told what is new.
    """
    large = [each for each in sources if len(each.content) > _BUNDLE_BYTES and each.unproven and each.base_path]
    named = {each.path for each in large if traits_of(each.base_path) & each.unproven}
    ids = {file.path: file.old_id for file in job.change.files if file.path in named}
    sizes = job.repository.sizes(ids.values())
    return {path for path, name in ids.items() if sizes.get(name, 0) > _BUNDLE_BYTES}


async def _cached(
    job: Job, sources: Sequence[SourceFile], result: _ScanResult, only: _Rules | None
) -> Mapping[str, Sequence[Finding]]:
    """What is found in each file: what was kept of it, or what the scanners say now, who tell the rest to `result`.

    Args:
        job: the gate's.
        sources: the files.
        result: takes what went wrong.
        only: of our own rules, those that are asked of each path; None for all.
    """

    async def scan(unknown: Sequence[SourceFile]) -> tuple[Mapping[str, Sequence[Finding]], Container[str]]:
        await _scan(job, unknown, result, only)
        whole = {source.path for source in unknown} if result.troubles or job.stop.is_set() else set()
        return result.findings, whole | result.doubtful

    def kind(source: SourceFile) -> str:
        return "sast" if only is None else f"sast {sorted(only[source.path])}"

    return await job.memory.of_files(kind, sources, scan) if job.memory else (await scan(sources))[0]


async def _scan(job: Job, sources: Sequence[SourceFile], result: _ScanResult, only: _Rules | None) -> None:
    with copies(sources) as files:
        results, trees = await _scans(job, files, only)
    _collect(result, results, sources)
    hits: defaultdict[str, list[Hit]] = defaultdict(list)
    for scanned in results.values():
        for hit in scanned.hits:
            hits[hit.path].append(hit)
    for source in sources:
        found: Sequence[Hit] = hits.get(source.path, ())
        if source.language == "python":
            found = python_scan.plausible(
                found, trees.handlers.get(source.path, ()), trees.harmless.get(source.path, ())
            )
            found = python_scan.raised(found, trees.open_calls.get(source.path, ()))
        if found:
            found = quoted(found, source.path, source.content.split(b"\n"))
            result.findings[source.path] = merge(found, quiet=Trait.TEST in source.traits)


async def _scans(job: Job, files: Copies, only: _Rules | None) -> tuple[dict[str, Scanned], python_scan.PythonScan]:
    """What each scanner says of the files."""
    python = {source.path for source in files.names.values() if source.language == "python"}
    if not python:
        return {"semgrep": await _safely("semgrep", semgrep.scan(job, files, (), only))}, python_scan.PythonScan()
    trees, engine, ruffed = await asyncio.gather(
        _trees(job, files, only),
        _safely("semgrep", semgrep.scan(job, files, python, only)),
        _safely("ruff", ruff_tests.scan(job, files)),
    )
    ruffed.hits = [each if each.path in trees.scanned else bandit_tests.named(each) for each in ruffed.hits]
    trees.unparsed |= await asyncio.to_thread(_broken_beside, files, ruffed.unread.keys() - trees.parsed)
    trees.bandit.unread.update(trees.unparsed)
    if trees.unparsed and not engine.error:
        # The flows of what this Python cannot parse are followed by the engine.
        engine.take(await _safely("semgrep", semgrep.scan(job, files.of_paths(trees.unparsed), (), only)))
    return {"semgrep": engine, "ruff": ruffed, "bandit": trees.bandit, "flows": trees.flows}, trees


def _broken_beside(files: Copies, paths: set[str]) -> dict[str, str]:
    """Why files do not parse that no worker had a reason to parse."""
    named = [source for source in files.names.values() if source.path in paths]
    reasons = {source.path: python_scan.why_unparsed(source.content) for source in named}
    return {path: why for path, why in reasons.items() if why}


async def _trees(job: Job, files: Copies, only: _Rules | None) -> python_scan.PythonScan:
    """What needs a syntax tree, of the Python files where there may be something."""
    python = [source for source in files.names.values() if source.language == "python"]
    flows = {rule.id: rule for rule in semgrep.loaded(python) if rule.flow}
    followed = {source.path for source in python if only is None or flows.keys() & only[source.path]}
    try:
        return await python_scan.scan(job, files, flows, followed)
    except Exception as error:  # noqa: BLE001 - a scanner that raised is that scanner's error: the others still speak
        return python_scan.PythonScan(_broken("bandit and flows", error))


async def _safely(name: str, scan: Awaitable[Scanned]) -> Scanned:
    try:
        return await scan
    except Exception as error:  # noqa: BLE001 - one scanner's error must not stop the others
        return _broken(name, error)


def _broken(name: str, error: Exception) -> Scanned:
    hint = f" ({error.hint})" if isinstance(error, SwarmError) and error.hint else ""
    return Scanned(error=f"{name}: {error}{hint}")


def _collect(result: _ScanResult, results: Mapping[str, Scanned], sources: Sequence[SourceFile]) -> None:
    """What went wrong: a trouble where a scanner is broken, or no scanner read a file; else a note."""
    for scanned in results.values():
        result.troubles += [scanned.error] if scanned.error else []
        result.notes += scanned.partly.values()
        result.doubtful |= {*scanned.partly, *scanned.unread}
    broken = []
    for source in sources:
        mine = {name: scanned for name, scanned in results.items() if name == "semgrep" or source.language == "python"}
        entries = [
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
            (result.notes if read or Trait.INPUT in source.traits else result.troubles).extend(entries)
    result.broken += broken


def _tell_broken(now: _ScanResult) -> None:
    """A file that does not parse is a trouble, but where it is a test's input, or was so before the change."""
    excused = [
        each.path
        for each in now.broken
        if Trait.INPUT in each.traits or (each.old and python_scan.why_unparsed(each.old.content))
    ]
    broken = [each.path for each in now.broken if each.path not in excused]
    if broken:
        now.troubles.append(f"{_few(broken)} not parse: see syntax_check")
    if excused:
        now.notes.append(f"not looked at: {_few(excused)} not parse, an input of tests or as before the change")


def _few(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    return f"{', '.join(paths[:_NAMED])}{more} {'does' if len(paths) == 1 else 'do'}"


async def _against_base(
    job: Job, sources: Sequence[SourceFile], found: Mapping[str, Sequence[Finding]], ours: Container[str]
) -> tuple[Finding, ...]:
    """Mark what the base revision had as well.

    What only informs and stands on a line that the change left alone is taken for old. Where something else may be, the
    base is looked at, by the rules of ours that found something.
    """
    limit = job.definition.severity.rank

    def informs(source: SourceFile, finding: Finding) -> bool:
        alone = bool(source.old) and finding.line > 0 and finding.line not in source.added_lines
        return alone and finding.severity.rank < limit

    def doubtful(source: SourceFile) -> bool:
        others = [each for each in found[source.path] if not informs(source, each)]
        return bool(source.old) and (comparison.may_be_old(source, others) or edited_lines.may_be_old(source, others))

    affected = [source for source in sources if found.get(source.path)]
    before = [source.past for source in affected if doubtful(source)]
    only = {each.path: frozenset(one.rule for one in found[each.path] if one.rule in ours) for each in before}
    was = await _cached(job, before, _ScanResult(), only) if before else {}
    marked = (
        (each, comparison.compare(each, found[each.path], was.get(each.path, ()), edited=edited_lines.same_call))
        for each in affected
    )
    return tuple(
        finding.model_copy(update={"new": False}) if finding.new and informs(source, finding) else finding
        for source, findings in marked
        for finding in findings
    )


def _tool(*, python: bool) -> str:
    names = ("semgrep", "bandit", "ruff") if python else ("semgrep",)
    return ", ".join(f"{name} {version(name)}" for name in names if find_spec(name))
