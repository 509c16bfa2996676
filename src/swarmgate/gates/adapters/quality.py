"""The quality budget gate: measures complexity, copies, sizes, suppressions and tests against the base revision."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from swarmgate.gates.outcome import Outcome
from swarmgate.gates.source import comparison
from swarmgate.version import __version__
from swarmgate.workspace.git.revisions import EMPTY_TREES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from swarmgate.config import Quality
    from swarmgate.domain.review.finding import Finding
    from swarmgate.gates.job import Job
    from swarmgate.gates.quality.revisions import Change


async def run(job: Job) -> Outcome:
    """Measure the change against its base where it touches code."""
    return await asyncio.to_thread(_scan, job)


def _scan(job: Job) -> Outcome:
    from swarmgate.gates.quality import revisions  # noqa: PLC0415 - late: a change without code needs none of it

    tool = f"swarmgate {__version__}"
    if job.change.base in EMPTY_TREES:
        return Outcome(tool=tool, skip="there is no base to compare with, and a budget is for a change")
    change = revisions.read(job)
    if not change.files:
        return Outcome(tool=tool, skip="no code was changed")
    return _judged(job, change, tool)


def _judged(job: Job, change: Change, tool: str) -> Outcome:
    from importlib.metadata import version  # noqa: PLC0415 - late: only changes of code need it

    from swarmgate.gates.quality import budget  # noqa: PLC0415 - late: only changes of code need it

    limits = job.quality or job.definition.limits
    result = budget.compare(
        change,
        limits,
        root=job.repository.root,
        tested=job.tested,
        in_run=job.in_run,
        neighbours=lambda folders: _neighbours(job, change, folders),
        stopped=job.stop.is_set,
    )
    return Outcome(
        findings=tuple(_fingerprinted(change, result.findings)),
        files=len(change.files),
        tool=f"{tool}, lizard {version('lizard')}",
        notes=(*result.notes, *_looser(limits)),
        volatile=limits.min_changed_line_coverage is not None,  # the report is no part of the tree
    )


def _looser(limits: Quality) -> list[str]:
    """What is judged less strictly than by default: a weaker gate says so in every report."""
    from swarmgate.config import Quality  # noqa: PLC0415 - late: only changes of code need it

    messages = []
    for name, field in Quality.model_fields.items():
        value, default = getattr(limits, name), field.default
        if value == default or default is None:
            continue
        lower = value is not None and (value < default) == name.startswith("min_")
        if value is None or lower:
            messages.append(f"weakened: {name} {'off' if value is None else f'{value:g}'} instead of {default:g}")
    return messages


def _neighbours(job: Job, change: Change, folders: set[str]) -> Mapping[str, bytes]:
    from swarmgate.gates.quality import duplication  # noqa: PLC0415 - late: only changes of code need it

    changed = {file.path for file in change.files}
    languages = {file.language for file in change.product}
    paths = duplication.siblings(job.repository.list_tree(job.change.tree), changed, folders, languages)
    return duplication.small(job.repository.read_many(job.change.tree, paths)) if paths else {}


def _fingerprinted(change: Change, findings: list[Finding]) -> list[Finding]:
    marked = []
    for file in change.files:
        marked += comparison.fingerprint(file, [each for each in findings if each.path == file.path])
    return marked
