"""`ruff check` over the changed Python files, in the project's own configuration."""

from __future__ import annotations

import ast
import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from swarmgate.domain.review.finding import Severity
from swarmgate.gates.cache.store import key_of
from swarmgate.gates.lint import ruff
from swarmgate.gates.outcome import Outcome
from swarmgate.gates.source import comparison
from swarmgate.gates.source.encodings import in_utf8_on_disk, is_utf8
from swarmgate.gates.tools.run import Broken

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping, Sequence

    from swarmgate.domain.review.finding import Finding
    from swarmgate.gates.job import Job
    from swarmgate.gates.source.file import SourceFile

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
    configured = set(ruff.by_config(job.repository.root, by_path).get(True, []))
    past = await _before(job, [source for source in affected if source.old])
    if isinstance(past, Broken):
        return Outcome(tool=ruff.tool(), error=past.reason)

    def compared(source: SourceFile) -> list[Finding]:
        before = past.get(source.path, ())
        marked = comparison.compare(source, by_path[source.path], before, edited=comparison.alike)
        if any(each.rule == ruff.SYNTAX for each in before):  # nothing else was said of what did not parse
            marked = [
                each if each.line in source.added_lines else each.model_copy(update={"new": False}) for each in marked
            ]
        return _weighed(marked, lambda each: source.path not in configured and _is_lived_with(each, source, before))

    known = {source.path for source in affected}
    findings = [finding for finding in linted.findings if finding.path not in known]  # fail closed: new
    findings += [finding for source in affected for finding in compared(source)]
    return _outcome(job, findings, linted)


async def _before(job: Job, sources: list[SourceFile]) -> Mapping[str, Sequence[Finding]] | Broken:
    """What ruff says of the base revision of files: what was kept of it, or what it says now."""
    turn, broken = asyncio.Semaphore(_PARALLEL), list[Broken]()
    old_names = {source.path: source.base_path for source in sources}

    async def one(source: SourceFile) -> tuple[Finding, ...]:
        async with turn:
            # The old name decides which per-file ignores held for the old content.
            result = await ruff.check_content(job, source.path, source.content, under=old_names[source.path])
        if isinstance(result, Broken):
            broken.append(result)
            return ()
        return result.findings

    async def scan(unknown: Sequence[SourceFile]) -> tuple[dict[str, tuple[Finding, ...]], Container[str]]:
        found = await asyncio.gather(*map(one, unknown))
        paths = [source.path for source in unknown]
        return dict(zip(paths, found, strict=True)), paths if broken else ()

    # Which modules are the project's own, and which folders are packages, hangs on the names of its files.
    names = key_of(await asyncio.to_thread(job.repository.list_tree, job.change.tree))

    def kind(source: SourceFile) -> str:
        return f"ruff {names} {old_names[source.path]}"

    past = [source.past for source in sources]
    memory = ruff.memory_of(job)
    results = await memory.of_files(kind, past, scan) if memory else (await scan(past))[0]
    return broken[0] if broken else results


def _outcome(job: Job, findings: list[Finding], linted: ruff.Linted) -> Outcome:
    unread = sorted(linted.unread)
    note, files = f"ruff cannot read {', '.join(unread)}: not UTF-8" if unread else "", len(job.sources) - len(unread)
    notes = (*linted.notes, *((note,) if files and note else ()))
    return Outcome(tuple(findings), files, ruff.tool(), notes, error="" if files else note)


def _weighed(findings: list[Finding], informs: Callable[[Finding], bool]) -> list[Finding]:
    """The findings; some inform, and so do all of a file that does not parse, before the change as after it.

    What follows a wrong line is mostly its echo.
    """
    torn = any(each.rule == ruff.SYNTAX and not each.new for each in findings)
    return [each.model_copy(update={"severity": Severity.LOW}) if torn or informs(each) else each for each in findings]


def _is_lived_with(finding: Finding, source: SourceFile, before: Sequence[Finding]) -> bool:
    """Whether a project without settings lives with a finding: a habit of the file, or what is no mistake in such one.

    A name that was undefined in the file before comes from elsewhere, as translations and build tools put them there.
    One on a line that stood there before is left over: the change took its last use away.
    """
    if finding.rule == "F821":
        return any((each.rule, each.message) == (finding.rule, finding.message) for each in before)
    if source.old and finding.rule in ruff.UNUSED and finding.line not in source.added_lines:
        return True
    if finding.rule not in ruff.LIVED_WITH:
        return False
    return source.is_test or _passes_on(source) or any(each.rule == finding.rule for each in before)


def _passes_on(source: SourceFile) -> bool:
    """Whether a module only takes names from others, so that they are found in it, too."""
    try:
        body = source.now.tree.body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return all(isinstance(each, ast.ImportFrom) or _is_word(each) for each in body)


def _is_word(statement: ast.stmt) -> bool:
    """Whether a statement is a docstring, or a name such as `__all__`."""
    if isinstance(statement, ast.Assign):
        return all(isinstance(each, ast.Name) and each.id.startswith("__") for each in statement.targets)
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


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
        result = await ruff.check_content(job, source.path, source.content, under=source.path, force_exclude=True)
        if isinstance(result, Broken):
            return result
        linted = ruff.Linted(
            (*linted.findings, *result.findings), linted.unparsed | result.unparsed, linted.excluded, linted.unread,
            linted.notes,
        )  # fmt: skip
    return linted
