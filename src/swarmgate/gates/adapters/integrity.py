"""The test integrity gate: reports tests that the change removes, skips, empties or weakens."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from swarmgate.gates.outcome import Outcome
from swarmgate.gates.project.files import Trait, traits_of
from swarmgate.version import __version__
from swarmgate.workspace.git.revisions import EMPTY_TREES

if TYPE_CHECKING:
    from swarmgate.gates.job import Job


async def run(job: Job) -> Outcome:
    """Compare the tests of both sides of the change."""
    return await asyncio.to_thread(_scan, job)


def _scan(job: Job) -> Outcome:
    from swarmgate.gates.test_integrity import analysis  # noqa: PLC0415 - late: a change without code needs none of it

    tool = f"swarmgate {__version__}"
    if job.change.base in EMPTY_TREES:
        return Outcome(tool=tool, skip="there is no base to compare with")
    if not job.change:
        return Outcome(tool=tool, skip="nothing was changed")
    scanned = [each for each in job.change.files if Trait.DOC not in traits_of(each.old_path or each.path)]
    if not scanned:
        return Outcome(tool=tool, skip="only documents were changed")
    found, notes = analysis.analyse(job.project.until(job.stop.is_set), job.change, job.announced)
    return Outcome(findings=tuple(found), files=len(scanned), tool=tool, notes=tuple(notes))
