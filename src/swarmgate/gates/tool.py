"""Starts a gate's tool: file names as arguments in batches, one time budget for all, and what a bad end means."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from swarmgate.gates.tools import search_path
from swarmgate.workspace.paths import encode
from swarmgate.workspace.process import run

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

    from swarmgate.gates.job import Job
    from swarmgate.workspace.process import Completed

BATCH_BYTES = 100_000
"""Argument bytes of one call: well below macOS' 1 MB for arguments and environment together; Linux allows more."""

OUTPUT_LIMIT = 8_000_000
"""Characters of output that are kept; a parser that would miss some of it makes its gate an ERROR."""


@dataclass(frozen=True, slots=True)
class Broken:
    """The tool did not do its work; `reason` is for the user."""

    reason: str


async def invoke(
    job: Job,
    calls: Iterable[Sequence[str]],
    *,
    exit_codes: Container[int] = (0, 1),
    stdin: bytes | None = None,
    env: Mapping[str, str] | None = None,
) -> list[Completed] | Broken:
    """Run command lines in the repository's root, one after the other, within the job's time.

    Raises:
        MissingRequirement: the program is not installed.
    """
    ends = time.monotonic() + job.timeout_s
    done = []
    for argv in calls:
        left = max(ends - time.monotonic(), 0.01)
        completed = await run(
            argv,
            cwd=job.repository.root,
            timeout_s=left,
            env={"PATH": search_path(), **(env or {})},
            stdin=stdin,
            output_limit=OUTPUT_LIMIT,
        )
        reason = _trouble(argv[0], completed, exit_codes, job.late)
        if reason:
            return Broken(reason)
        done.append(completed)
    return done


def with_files(argv: Sequence[str], files: Sequence[str]) -> Iterator[list[str]]:
    """`argv` with the files at its end, in as many command lines as their length asks for."""
    return ([*argv, *batch] for batch in batches(files))


def batches(files: Sequence[str]) -> Iterator[list[str]]:
    """File names in groups whose bytes fit on a command line; one empty group for no files."""
    batch: list[str] = []
    size = 0
    for name in files:
        argument = os.fsdecode(encode(f"./{name}" if name.startswith("-") else name))
        length = len(os.fsencode(argument)) + 1
        if batch and size + length > BATCH_BYTES:
            yield batch
            batch, size = [], 0
        batch.append(argument)
        size += length
    yield batch


def excerpt(text: str, width: int = 500) -> str:
    """An output on one line, for a reason: its beginning and its end where it is longer than `width`.

    Of a long line, its beginning says most: a list of all known keys shall not hide the one that is wrong.
    """
    parts = (part.strip() for part in text.splitlines() if part.strip())
    line = " | ".join(part if len(part) <= width // 2 else f"{part[: width // 2]}…" for part in parts)
    return line if len(line) <= width else f"{line[: width // 2]} … {line[-width // 2 :]}"


def _trouble(program: str, completed: Completed, exit_codes: Container[int], late: str) -> str:
    code = completed.exit_code
    if completed.timed_out:
        return late
    if code is not None and code < 0:
        return f"{program} was ended by {_signal_name(-code)}"
    if code is None or code not in exit_codes:
        said = excerpt(completed.stderr) or excerpt(completed.stdout)
        return f"{program} ended with exit code {code}" + (f": {said}" if said else "")
    return ""


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
