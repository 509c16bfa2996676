"""An errand: one command of the council or of the evaluation that a worker runs, and its answer, both in git.

It is a goal without a goal: the same references, leases and line. What the command recorded of itself (a debate's
journal, its usage) goes beside the ledger as that of any goal does.
"""

from __future__ import annotations

import asyncio
import re
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from swarmgate.domain.base import Frozen
from swarmgate.errors import FleetError, Stopped, UsageError
from swarmgate.workspace.files.atomic import replace
from swarmgate.workspace.process import process

if TYPE_CHECKING:
    from swarmgate.fleet.goals.checkout import Checkout

ALLOWED = ("eval", "dispatch", "debate", "chat", "discuss", "decide", "critique", "orchestrate")
"""Verbs that only read the repository, and whose answer is what they print."""
_OUTSIDE = re.compile(r"(^|=)(/|~|[A-Za-z]+:/)\S*$|(^|[=/])\.\.(/\S*)?$|\x00")
"""A path, alone or as an option's value, that is not below the checkout; sentences have blanks, paths seldom do."""
_ELSEWHERE = ("--repo", "--fleet")
CLONES = "@clones"
"""In a command: the folder of clones that the worker's own settings name."""
_LONGEST_S = 86_400.0
_PRINTED = 4_000_000
_LOOK_S = 0.2


class Answer(Frozen):
    """What the command said: its exit code, what it printed (`--json`), and who ran it for how many seconds."""

    exit_code: int
    stdout: str = ""
    stderr: str = ""
    worker: str = ""
    seconds: float = 0.0


def require_allowed(argv: tuple[str, ...]) -> None:
    """Requires a command that a worker runs for others: a verb that only reads, and only in the goal's checkout.

    Raises:
        UsageError: it is none.
    """
    if not argv or argv[0] not in ALLOWED:
        raise UsageError(
            f"Workers run no `swarm {' '.join(argv[:1])}` for others.", hint=f"They run: {', '.join(ALLOWED)}"
        )
    for each in argv[1:]:
        if _OUTSIDE.search(each) or each.partition("=")[0] in _ELSEWHERE:
            raise UsageError(
                f"{each!r} leads out of the repository, or to another fleet: workers run no such command for others.",
                hint="Name files by their paths in the repository",
            )


def run(
    found: Checkout, worker: str, environ: Mapping[str, str], ending: threading.Event, *, clones: str = ""
) -> Answer:
    """Runs the command in the checkout, and keeps its answer there.

    Args:
        found: of the errand.
        worker: who runs it.
        environ: all variables that it is told.
        ending: set when it has to end.
        clones: the folder that `CLONES` stands for; empty: this worker has none, and says so in its answer.

    Raises:
        UsageError: the command is none that workers run.
        Stopped: it had to end before the command did.
    """
    require_allowed(found.wish.argv)
    if CLONES in found.wish.argv and not clones:
        answer = Answer(exit_code=UsageError.exit_code, stderr=f"{worker} {_NO_CLONES}", worker=worker)
    else:
        done = asyncio.run(_run(found, environ, ending, str(Path(clones).expanduser())))
        answer = Answer(
            exit_code=-1 if done.exit_code is None else done.exit_code,
            stdout=done.stdout,
            stderr=done.stderr[-10_000:],
            worker=worker,
            seconds=done.seconds,
        )
    replace(found.answer, answer.model_dump_json(indent=1))
    return answer


_NO_CLONES = "has no clones: set [fleet] clones in the settings of its machine to a folder that holds them"


async def _run(found: Checkout, environ: Mapping[str, str], ending: threading.Event, clones: str) -> process.Completed:
    argv = (clones if each == CLONES else each for each in found.wish.argv)
    command = [sys.executable, "-m", "swarmgate", *argv, "--json"]
    task = asyncio.create_task(
        process.run(command, cwd=found.root, timeout_s=_LONGEST_S, env=environ, inherit=False, output_limit=_PRINTED)
    )
    while not task.done():
        await asyncio.wait([task], timeout=_LOOK_S)
        if ending.is_set() and not task.done():
            task.cancel()
            await asyncio.wait([task])
            raise Stopped("The worker ends; the command is run again elsewhere.")
    return await task


def read(found: Checkout) -> Answer | None:
    """The answer; None where it is not there yet.

    Raises:
        FleetError: it cannot be read.
    """
    if not found.answer.exists():
        return None
    try:
        return Answer.model_validate_json(found.answer.read_bytes())
    except ValidationError as error:
        raise FleetError(f"The answer of {found.goal.id} cannot be read: {error.errors()[0]['msg']}.") from None
