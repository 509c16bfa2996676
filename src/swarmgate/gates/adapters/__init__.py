"""The table of the built-in scanners: which adapter module implements which gate."""

from __future__ import annotations

import contextlib
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

from swarmgate.gates.scanners import RECORDS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from swarmgate.gates.job import Job
    from swarmgate.gates.outcome import Outcome


class Adapter(Protocol):
    """A built-in scanner. It may raise anything: the pipeline turns that into an ERROR result."""

    async def __call__(self, job: Job) -> Outcome:
        """Scan `job.sources` and return the findings."""
        ...


def _late(module: str) -> Adapter:
    """The `run` of a module beside this one, imported when a gate first runs: a command pays for what it uses."""

    async def run(job: Job) -> Outcome:
        adapter: Adapter = import_module(f"{__name__}.{module}").run
        return await adapter(job)

    return run


ADAPTERS: dict[str, Adapter] = {name: _late(name) for name in RECORDS}
"""Who does what a definition's `adapter` key names."""


def prepare(names: Iterable[str]) -> None:
    """Import the modules of these adapters in advance; an import error is raised when the adapter runs.

    Args:
        names: of adapters that are about to run.
    """
    from swarmgate.gates.source import python_tree  # noqa: PLC0415 - late: only a run of gates needs it

    for name in names:
        with contextlib.suppress(Exception), python_tree.quiet():
            import_module(f"{__name__}.{name}")
