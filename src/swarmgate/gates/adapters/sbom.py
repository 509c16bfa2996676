"""The SBOM gate: compares the project's dependencies before and after the change and reports unlocked ones."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from swarmgate.gates.outcome import Outcome
from swarmgate.version import __version__

if TYPE_CHECKING:
    from swarmgate.gates.job import Job
    from swarmgate.gates.sbom.inventory import Inventory, Memo


async def run(job: Job) -> Outcome:
    """Compare the inventories of both trees where the change touches a manifest or a lock."""
    return await asyncio.to_thread(_scan, job)


def _scan(job: Job) -> Outcome:
    from swarmgate.gates.sbom import difference, formats  # noqa: PLC0415 - late: the readers are many

    tool = f"swarmgate {__version__}"
    touched = [path for path in job.change.paths if formats.of(path) is not None]
    if not touched:
        return Outcome(tool=tool, skip="no manifest or lock file was changed")
    base, head = _inventories(job)
    fresh = [each for each in head.unreadable if each.path in touched]
    notes = [f"unreadable before and now: {each}" for each in head.unreadable if each not in fresh]
    notes += [f"unreadable before the change: {each}" for each in base.unreadable if each not in head.unreadable]
    compared = difference.compare(base, head)
    found = [*difference.unsettled(base, head, touched), *difference.findings(compared, head, base)]
    found += [] if job.announced is None else difference.unannounced(base, head, job.announced)
    return Outcome(
        findings=tuple(found),
        files=len(head.readings) or len(touched),  # deleted ones were compared as well
        tool=tool,
        notes=(f"{compared} of {len(head.components)} components", *notes),
        error="; ".join(map(str, fresh)),
    )


def _inventories(job: Job) -> tuple[Inventory, Inventory]:
    """Base and head. The base's files are the head's but for those in the change, which alone are read again."""
    from swarmgate.gates.sbom.inventory import build  # noqa: PLC0415 - late: the readers are many

    repository, change = job.repository, job.change
    memo: Memo = {}
    paths = repository.list_tree(change.tree)
    head = build(paths, lambda wanted: repository.read_many(change.tree, wanted), memo)
    differing = set(change.paths)
    before = {file.old_path or file.path for file in change.files if file.old_mode}

    def old(wanted: list[str]) -> dict[str, bytes]:
        same = {path: head.contents[path] for path in wanted if path not in differing and path in head.contents}
        return same | repository.read_many(change.base, [path for path in wanted if path not in same])

    return build((set(paths) - differing) | before, old, memo), head
