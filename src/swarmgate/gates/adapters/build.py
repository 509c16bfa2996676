"""The build gate: runs the project's builds and type checks, and reports what the change broke."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from swarmgate.domain.review.finding import Unchecked
from swarmgate.gates.adapters.scan import scan
from swarmgate.gates.builds import python
from swarmgate.gates.outcome import Outcome

if TYPE_CHECKING:
    from swarmgate.gates.builds.run import Verdict
    from swarmgate.gates.builds.tools import Build
    from swarmgate.gates.job import Job

_PROJECT = ".swarm/"
"""Where a definition comes from that the project wrote: there, a missing toolchain is an error."""


async def run(job: Job) -> Outcome:
    """Compile the changed Python files, then run every build that the changed files call for."""
    from swarmgate.gates.builds import run as build_run  # noqa: PLC0415 - late: a change of prose needs none of it
    from swarmgate.gates.builds import tools  # noqa: PLC0415 - late: prose needs none of it

    root = job.repository.root
    compiled = await _python(job)
    builds = tools.detect(root, job.change.paths)
    verdicts = [await build_run.run(job, build) for build in builds]
    ran = [build.name for build, verdict in zip(builds, verdicts, strict=True) if not verdict.missing]
    names = (*((compiled.tool,) if compiled.files else ()), *dict.fromkeys(ran))
    missing = list(dict.fromkeys(verdict.unbuilt for verdict in verdicts if verdict.missing))
    errors = [verdict.error for verdict in verdicts if verdict.error]
    if job.definition.required and job.definition.source.startswith(_PROJECT):
        errors += missing
    nothing = "" if names else "no build or type check is known for the changed files"
    return Outcome(
        findings=(*compiled.findings, *(finding for verdict in verdicts for finding in verdict.findings)),
        files=len(job.change.files) if ran else compiled.files,
        tool=", ".join(names),
        notes=tuple(verdict.note for verdict in verdicts if verdict.note),
        error="; ".join(errors),
        skip="; ".join(missing) or nothing,
        volatile=any(verdict.started for verdict in verdicts),
        unchecked=_unchecked(job, builds, verdicts),
    )


def _unchecked(job: Job, builds: list[Build], verdicts: list[Verdict]) -> tuple[Unchecked, ...]:
    from swarmgate.gates.builds import tools  # noqa: PLC0415 - late: prose needs none of it

    wanted = [
        Unchecked(what=build.checks, why=verdict.missing)
        for build, verdict in zip(builds, verdicts, strict=True)
        if verdict.missing
    ]
    untyped = tools.untyped([file.path for file in job.change.present], builds)
    why = f"the project configures no type checker for {' and '.join(untyped)}"
    return (*wanted, *([Unchecked(what=tools.TYPES, why=why, asked=False)] if untyped else []))


async def _python(job: Job) -> Outcome:
    minor = python.target(job.repository.root)
    check = partial(python.scan_file, minor=minor)
    tool = f"compile (Python {f'3.{minor}' if minor else 'as installed'})"
    return await scan(job, check, tool=tool, nothing="no Python file was changed")
