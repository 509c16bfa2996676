"""Automatic fixes of the changed files: ruff for Python, and the linters and formatters of other languages."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from swarmgate.gates.adapters import ruff_fix
from swarmgate.gates.adapters.lint_check import merged, split
from swarmgate.gates.outcome import Outcome

if TYPE_CHECKING:
    from swarmgate.gates.job import Job


async def run(job: Job) -> Outcome:
    """Apply the safe fixes of all linters and formatters, one tool after the other, because each writes."""
    python, others = split(job)
    ruffed = await ruff_fix.run(python) if python else None
    if others is None:
        return ruffed or Outcome(skip="no linter for the changed files")
    from swarmgate.gates.lint import linter_run  # noqa: PLC0415 - late: a change of Python alone needs none of it

    # What was not linted, lint_check says.
    return replace(merged(ruffed, await linter_run.fix(others)), unchecked=())
