"""`ruff check --fix` (safe fixes) and `ruff format` over the changed Python files, as lightly as the change allows.

Formatting rewrites whole files, so only those are formatted that the change added or that were formatted in the base
revision: a one-line change to an unformatted file stays a one-line change.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from swarmgate.gates import ruff
from swarmgate.gates.job import Outcome
from swarmgate.gates.tool import Broken, invoke, with_files

if TYPE_CHECKING:
    from swarmgate.gates.files import Source
    from swarmgate.gates.job import Job

_PARALLEL = 4
_WOULD_REFORMAT = 1
_UNPARSED = 2


async def run(job: Job) -> Outcome:
    """Fix, then format. Files that do not parse are left alone: the syntax gate speaks of them."""
    linted = await ruff.check(job, [source.path for source in job.sources], fix=True)
    if isinstance(linted, Broken):
        return Outcome(tool=ruff.tool(), error=linted.reason)
    if linted.excluded:
        return Outcome(tool=ruff.tool(), skip="the project's ruff configuration excludes every changed file")
    sources = [source for source in job.sources if source.path not in linted.unparsed]
    wanted = await _to_format(job, sources)
    if wanted:
        argv = [ruff.program(), "format", "--no-cache", "--quiet", "--force-exclude", "--"]
        done = await invoke(job, with_files(argv, wanted), exit_codes=(0,), env=ruff.ENVIRONMENT)
        if isinstance(done, Broken):
            return Outcome(tool=ruff.tool(), error=done.reason)
    return Outcome((), len(job.sources), ruff.tool())


async def _to_format(job: Job, sources: list[Source]) -> list[str]:
    added = [source.path for source in sources if source.added]
    edited = [source for source in sources if not source.added]
    if not edited:
        return added
    contents = await asyncio.to_thread(
        job.repository.read_many, job.change.base, [source.base_path for source in edited]
    )
    turn = asyncio.Semaphore(_PARALLEL)

    async def was_formatted(source: Source) -> bool:
        argv = [ruff.program(), "format", "--check", "--quiet", "--no-cache", "--stdin-filename", source.base_path, "-"]
        async with turn:
            done = await invoke(
                job,
                [argv],
                exit_codes=(0, _WOULD_REFORMAT, _UNPARSED), stdin=contents.get(source.base_path, b""),
                env=ruff.ENVIRONMENT,
            )  # fmt: skip
        return not isinstance(done, Broken) and done[0].exit_code == 0

    kept = await asyncio.gather(*map(was_formatted, edited))
    return added + [source.path for source, formatted in zip(edited, kept, strict=True) if formatted]
