"""The built-in scanners, one module each. This table is the only registry."""

from __future__ import annotations

import contextlib
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from swarmgate.gates.job import Adapter, Job, Outcome


def _late(module: str) -> Adapter:
    """The `run` of a module beside this one, imported when a gate first runs: a command pays for what it uses."""

    async def run(job: Job) -> Outcome:
        adapter: Adapter = import_module(f"{__name__}.{module}").run
        return await adapter(job)

    return run


ADAPTERS: dict[str, Adapter] = {
    name: _late(name)
    for name in (
        "build",
        "diff",
        "imports",
        "lint_check",
        "lint_fix",
        "placeholders",
        "quality",
        "sast",
        "sbom",
        "secrets",
        "syntax",
    )
}
"""The name in a definition's `adapter` key, which is its module's name too, and who does it."""

_FOR_PYTHON = {"quality": ("lizard",), "sast": ("bandit.core.config", "bandit.core.manager")}
"""What an adapter imports late, where Python was changed, and what takes longest."""


def prepare(names: Iterable[str], languages: frozenset[str]) -> None:
    """Import what these adapters will need, while something else is waited for. Errors are theirs to tell.

    Args:
        names: of adapters that are about to run.
        languages: of the changed files.
    """
    from swarmgate.gates import python_source  # noqa: PLC0415 - late: as the adapters

    for name in names:
        late = _FOR_PYTHON.get(name, ()) if "python" in languages else ()
        with contextlib.suppress(Exception), python_source.quiet():
            for module in (f"{__name__}.{name}", *late):
                import_module(module)
