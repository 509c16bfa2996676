"""The diff gate: reports what the change set contains, what is dangerous in it, and which contracts it breaks."""

from __future__ import annotations

import asyncio
import os
import posixpath
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from swarmgate.config import Size
from swarmgate.domain.review.finding import Finding, Severity
from swarmgate.gates import loosened_settings
from swarmgate.gates.contracts import analysis, change_size, leftovers
from swarmgate.gates.outcome import Outcome
from swarmgate.gates.project.files import MAX_BYTES
from swarmgate.workspace.files.paths import encode
from swarmgate.workspace.git.revisions import EMPTY_TREES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from swarmgate.domain.review.change import ChangedFile
    from swarmgate.gates.job import Job

_LINK, _SUBMODULE = "120000", "160000"
_MODULES = ".gitmodules"


async def run(job: Job) -> Outcome:
    """Count the change by kind, check modes, links, submodules, binaries and names, and compare its APIs."""
    if not job.change:
        return Outcome(tool="git", failure="nothing was changed")
    findings = await asyncio.to_thread(lambda: [*_scan(job), *_judged_by_name(job)])
    project = job.project.until(job.stop.is_set)
    broken, notes = await asyncio.to_thread(analysis.analyse, project, job.change, job.memory)
    kinds = Counter(file.kind.value for file in job.change.files)
    counts = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    lines = f"+{sum(file.added for file in job.change.files)} -{sum(file.removed for file in job.change.files)}"
    return Outcome((*findings, *broken), len(job.change.files), "git", (f"{counts} ({lines})", *notes))


def _scan(job: Job) -> Iterator[Finding]:
    links = [file.path for file in job.change.present if file.new_mode == _LINK]
    targets = job.repository.read_many(job.change.tree, links) if links else {}
    declared = job.repository.read_many(job.change.tree, [_MODULES]).get(_MODULES, b"") if _nested(job) else b""
    for file in job.change.present:
        if file.new_mode == _LINK:
            yield from _link(file, os.fsdecode(targets.get(file.path, b"")))
        if file.new_mode == _SUBMODULE:
            yield _submodule(file, declared)
        if file.mode_changed:
            yield _finding("mode-change", file, Severity.INFO, f"file mode {file.old_mode} became {file.new_mode}")
        if file.binary and file.new_mode != _SUBMODULE:
            yield from _binary(file, job.repository.root / os.fsdecode(encode(file.path)))
    added = [file for file in job.change.present if not file.old_mode or file.old_path not in {"", file.path}]
    if added:
        yield from _same_names(added, job.repository.list_tree(job.change.tree))


def _judged_by_name(job: Job) -> Iterator[Finding]:
    yield from _measured(job)
    yield from _loosened(job)
    yield from _installed(job)
    if any(not file.old_mode for file in job.change.present):
        yield from leftovers.found(job.change, job.repository.list_tree(job.change.base), job.announced)


def _measured(job: Job) -> Iterator[Finding]:
    first = job.change.base in EMPTY_TREES
    return change_size.judge(job.repository, job.change, job.size or Size(), first=first)


def _loosened(job: Job) -> Iterator[Finding]:
    # Who judges a change of their own decides about its settings too, and is told of them in a note.
    return iter(()) if job.announced is None else loosened_settings.found(job.repository, job.change, job.announced)


def _installed(job: Job) -> Iterator[Finding]:
    """Packages and build output that nobody judged: who judges a change of their own is told, an agent adds none."""
    severity = Severity.LOW if job.announced is None else Severity.HIGH
    for folder in job.change.installed:
        yield Finding(
            rule="not-ignored", path=folder, severity=severity,
            message=f"{folder}/ holds installed packages or build output that git does not ignore: it was not judged",
            suggestion=f"add the line /{folder}/ to .gitignore",
        )  # fmt: skip


def _nested(job: Job) -> bool:
    return any(file.new_mode == _SUBMODULE for file in job.change.present)


def _submodule(file: ChangedFile, declared: bytes) -> Finding:
    """A declared submodule, or the commit of a repository inside this one, whose files are nowhere in the change."""
    known = any(
        name.strip() == b"path" and value.strip().strip(b'"') == encode(file.path)
        for name, _, value in (line.partition(b"=") for line in declared.splitlines())
    )
    if known or file.old_mode == _SUBMODULE:
        return _finding("submodule", file, Severity.MEDIUM, "the change adds or moves a submodule")
    message = "the change adds a repository that is no declared submodule (.gitmodules): its files are judged by nobody"
    return _finding("undeclared-submodule", file, Severity.HIGH, message)


def _link(file: ChangedFile, target: str) -> Iterator[Finding]:
    resolved = posixpath.normpath(posixpath.join(posixpath.dirname(file.path), target))
    if target.startswith("/") or resolved == ".." or resolved.startswith("../"):
        yield _finding(
            "link-out-of-repository", file, Severity.CRITICAL, f"the link leads out of the repository: {target}"
        )
    elif resolved == ".git" or resolved.startswith(".git/"):
        yield _finding("link-into-git", file, Severity.CRITICAL, f"the link leads into git's own folder: {target}")


def _binary(file: ChangedFile, place: Path) -> Iterator[Finding]:
    try:
        size = place.lstat().st_size
    except OSError:
        return
    if size > MAX_BYTES:
        yield _finding("big-binary", file, Severity.MEDIUM, f"a binary file of {size / 1e6:.1f} MB")


def _same_names(added: list[ChangedFile], tree: tuple[str, ...]) -> Iterator[Finding]:
    """Added files or folders whose name differs from another one's in case only."""
    spellings: defaultdict[str, set[str]] = defaultdict(set)
    for path in tree:
        for prefix in _prefixes(path):
            spellings[prefix.casefold()].add(prefix)
    for file in added:
        for prefix in _prefixes(file.path):
            for other in sorted(spellings[prefix.casefold()] - {prefix}):
                message = f"{prefix!r} and {other!r} are one file on a system that ignores case"
                yield _finding("case-conflict", file, Severity.HIGH, message)


def _prefixes(path: str) -> Iterator[str]:
    parts = path.split("/")
    return ("/".join(parts[:end]) for end in range(1, len(parts) + 1))


def _finding(rule: str, file: ChangedFile, severity: Severity, message: str) -> Finding:
    return Finding(rule=rule, path=file.path, severity=severity, message=message)
