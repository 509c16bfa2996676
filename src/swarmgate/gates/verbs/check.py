"""The gates for programs: `swarmgate.gates.check`, what `swarm gates run --base` does, with the report as a value."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from swarmgate.gates.verbs.request import Request
from swarmgate.gates.verbs.run import Judged, judge


def check(repo: str | Path = ".", base: str = "", *, only: tuple[str, ...] = (), skip: tuple[str, ...] = ()) -> Judged:
    """Judges a change by the gates. No file is changed, no model asked, no `.swarm/` needed.

    It may be called where an event loop runs, as in a notebook; it blocks until the gates are through.

    Args:
        repo: any folder of a git repository.
        base: a revision: what differs from where `HEAD` and this one parted; empty: what is not committed.
        only: the gates to run, by name; empty: all that the project has on.
        skip: gates that are not run.

    Returns:
        The report (`report.passed`, `report.blocking`, `report.results` with their findings), the exit code that the
        command would have, and `rendered("sarif")` and the like.

    Raises:
        UsageError: names of gates that do not exist.
        NotAProject, WorkspaceError, ConfigError: the repository, the revision or the settings cannot be used.
    """
    work = partial(judge, Request(Path(repo), base, fix=False), only=only, skip=skip)
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return work()
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(work).result()
