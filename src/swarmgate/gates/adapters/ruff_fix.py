"""`ruff check --fix` (safe fixes) and `ruff format` over the changed Python files, as lightly as the change allows.

Formatting rewrites whole files, so only those are formatted that were formatted in the base revision, or that the
change added to a project that configures ruff: a one-line change to an unformatted file stays a one-line change, and a
project that formats otherwise, or not at all, stays as it is.
"""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

from swarmgate.gates.lint import ruff
from swarmgate.gates.outcome import Outcome
from swarmgate.gates.source.encodings import BYTE_ORDER_MARK, in_utf8_on_disk
from swarmgate.gates.tools.run import Broken
from swarmgate.workspace.files.paths import encode

if TYPE_CHECKING:
    from swarmgate.gates.job import Job
    from swarmgate.gates.source.file import SourceFile

_PARALLEL = 4
_WOULD_REFORMAT = 1
_UNPARSED = 2


async def run(job: Job) -> Outcome:
    """Fix, then format. Files that do not parse are skipped: the syntax gate reports them."""
    try:
        return await _fix(job)
    finally:
        _restore_marks(job)


async def _fix(job: Job) -> Outcome:
    linted = await ruff.check(job, [source.path for source in job.sources], fix=True)
    if isinstance(linted, Broken):
        return Outcome(tool=ruff.tool(), error=linted.reason)
    if linted.excluded:
        return Outcome(tool=ruff.tool(), skip="the project's ruff configuration excludes every changed file")
    unread = {each.path for each in job.sources if not in_utf8_on_disk(job.repository.root, each)} | linted.unread
    sources = [source for source in job.sources if source.path not in linted.unparsed | unread]
    wanted = await _to_format(job, sources)
    if wanted:
        argv = [ruff.program(), "format", "--no-cache", "--quiet", "--force-exclude"]
        done = await ruff.run(job, argv, wanted, exit_codes=(0,))
        if isinstance(done, Broken):
            return Outcome(tool=ruff.tool(), error=done.reason)
    notes = (f"ruff cannot read {', '.join(sorted(unread))}: not UTF-8",) if unread else ()
    return Outcome((), len(job.sources) - len(unread), ruff.tool(), (*linted.notes, *notes))


def _restore_marks(job: Job) -> None:
    """Put byte order marks back: ruff takes one for a part of the first line, and removes it with that."""
    for source in job.sources:
        if not source.content.startswith(BYTE_ORDER_MARK):
            continue
        now = _on_disk(job, source)
        place = job.repository.root / os.fsdecode(encode(source.path))
        if now and not now.startswith(BYTE_ORDER_MARK) and not place.is_symlink():
            place.write_bytes(BYTE_ORDER_MARK + now)


async def _to_format(job: Job, sources: list[SourceFile]) -> list[str]:
    contents = await _before(job, sources)
    # An empty file is formatted in every style: it tells no more than one that was not there.
    fresh = [source.path for source in sources if not contents.get(source.path, b"").strip()]
    wanted = ruff.by_config(job.repository.root, fresh).get(True, [])
    edited = [source for source in sources if contents.get(source.path, b"").strip()]
    edited = [source for source in edited if _on_disk(job, source) != contents[source.path]]
    turn, memory = asyncio.Semaphore(_PARALLEL), ruff.memory_of(job)

    async def is_formatted(source: SourceFile) -> bool | None:
        argv = [ruff.program(), "format", "--check", "--quiet", "--no-cache"]
        codes = (0, _WOULD_REFORMAT, _UNPARSED)
        async with turn:
            ran = await ruff.run(job, argv, [source.base_path], stdin=contents[source.path], exit_codes=codes)
        return None if isinstance(ran, Broken) else ran.done[0].exit_code == 0

    async def was_formatted(source: SourceFile) -> bool:
        if memory is None:
            return bool(await is_formatted(source))
        # The project's settings are part of the surroundings.
        parts = ("formatted", source.base_path, contents[source.path])
        return bool(await memory.of_question(*parts, answer=lambda: is_formatted(source)))

    unchanged = await asyncio.gather(*map(was_formatted, edited))
    return wanted + [source.path for source, formatted in zip(edited, unchanged, strict=True) if formatted]


async def _before(job: Job, sources: list[SourceFile]) -> dict[str, bytes]:
    """The base revision's content of the files that have one, by their present paths."""
    edited = [source for source in sources if source.base_path]
    if not edited:
        return {}
    contents = await asyncio.to_thread(
        job.repository.read_many, job.change.base, [source.base_path for source in edited]
    )
    return {source.path: contents.get(source.base_path, b"") for source in edited}


def _on_disk(job: Job, source: SourceFile) -> bytes:
    """What the file holds now, after the fixes; nothing when it is gone meanwhile."""
    try:
        return (job.repository.root / os.fsdecode(encode(source.path))).read_bytes()
    except OSError:
        return b""
