"""Lints the changed files: ruff for Python, and the linters of other languages that the project has installed."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from swarmgate.gates.adapters import ruff_check
from swarmgate.gates.lint.ruff import is_notebook
from swarmgate.gates.outcome import Outcome

if TYPE_CHECKING:
    from swarmgate.gates.job import Job
    from swarmgate.gates.lint.linter_run import Ran


async def run(job: Job) -> Outcome:
    """Lint every file that a linter reads."""
    python, others = split(job, notebooks=True)
    if others is None:
        return await ruff_check.run(python) if python else Outcome(skip="no linter for the changed files")
    from swarmgate.gates.lint import linter_run  # noqa: PLC0415 - late: a change of Python alone needs none of it

    if python is None:
        return merged(None, await linter_run.check(others))
    ruffed, ran = await asyncio.gather(ruff_check.run(python), linter_run.check(others))
    return merged(ruffed, ran)


def split(job: Job, *, notebooks: bool = False) -> tuple[Job | None, Job | None]:
    """Split the job into one for ruff and one for all other linters; None where there is no such file."""
    mine = {each.path for each in job.sources if each.language == "python" or (notebooks and is_notebook(each.path))}
    python = tuple(source for source in job.sources if source.path in mine)
    others = tuple(source for source in job.sources if source.path not in mine)
    return (replace(job, sources=python) if python else None), (replace(job, sources=others) if others else None)


def merged(ruffed: Outcome | None, ran: Ran) -> Outcome:
    """Merge the outcomes of ruff and the other linters; a missing linter is a note, no linter at all a skip."""
    return replace(_merged(ruffed, ran), unchecked=tuple(dict.fromkeys(ran.missing)))


def _merged(ruffed: Outcome | None, ran: Ran) -> Outcome:
    missing = tuple(dict.fromkeys(each.why for each in ran.missing))
    if ruffed is None:
        if not ran.tools:
            return Outcome(skip="; ".join(missing) or "no linter for the changed files")
        return Outcome(ran.findings, ran.files, ", ".join(dict.fromkeys(ran.tools)), missing, error=ran.error)
    if not ran.tools and not missing:
        return ruffed
    tools = ", ".join(dict.fromkeys((ruffed.tool, *ran.tools)))
    error = "; ".join(filter(None, (ruffed.error, ran.error)))
    findings = (*ruffed.findings, *ran.findings)
    if ran.tools and ruffed.skip:
        return Outcome(findings, ran.files, tools, (ruffed.skip, *missing), error=error)
    notes = (*ruffed.notes, *missing)
    return replace(ruffed, findings=findings, files=ruffed.files + ran.files, tool=tools, notes=notes, error=error)
