"""The imports gate: checks that every import of the change resolves, and reports new import cycles."""

from __future__ import annotations

import asyncio
import hashlib
from typing import TYPE_CHECKING

from swarmgate.gates.outcome import Outcome
from swarmgate.version import __version__

if TYPE_CHECKING:
    from swarmgate.domain.review.finding import Finding
    from swarmgate.gates.imports.analysis import Analysis
    from swarmgate.gates.job import Job


async def run(job: Job) -> Outcome:
    """Judge the imports of the changed files, and those of other files that the change may have broken."""
    return await asyncio.to_thread(_scan, job)


def _scan(job: Job) -> Outcome:
    from swarmgate.gates.imports import analysis  # noqa: PLC0415 - late: a change of another kind needs none of it

    tool = f"swarmgate {__version__}"
    if not analysis.concerns(job.change, job.sources):
        return Outcome(tool=tool, skip="no file of its kind was changed")
    judged = analysis.Analysis(job)
    found = [*judged.changed_files(), *judged.broken_importers()]
    found += map(_stamped, (*judged.new_cycles(), *judged.imported_tests(), *judged.new_dependencies()))
    # What is installed in the project's environment can settle a finding without a change of any file.
    files = judged.files or len(job.change.files)  # what is gone, and manifests, concern imports of files that stay
    return Outcome(tuple(found), files, tool, notes=_notes(judged), volatile=bool(found))


def _notes(judged: Analysis) -> tuple[str, ...]:
    return ("stopped at the time limit",) if judged.stopped else ()


def _stamped(finding: Finding) -> Finding:
    """With a fingerprint of its own: what a finding about several files says does not hang on one line's text."""
    text = f"{finding.rule}\0{finding.path}\0{finding.message}"
    digest = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
    return finding.model_copy(update={"fingerprint": digest})
