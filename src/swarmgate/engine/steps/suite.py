"""Runs the project's tests in the work tree, as its settings say; every step that needs a run there makes it here."""

from __future__ import annotations

from collections.abc import Sequence

from swarmgate.domain.evidence import TestRun
from swarmgate.engine.context import Context
from swarmgate.errors import MissingRequirement, ToolKilled
from swarmgate.workspace.process import KILLED
from swarmgate.workspace.suite import run_tests

_NOT_FOUND = 127
"""The shell's exit code for a program that is not there (POSIX, Shell Command Language 2.8.2)."""


async def run_suite(ctx: Context, command: str, paths: Sequence[str] = ()) -> TestRun:
    """One run of these test files, of the whole suite where there are none. What it leaves behind is still there.

    Raises:
        MissingRequirement: the program that runs the tests is not there.
        ToolKilled: somebody ended it, twice.
    """
    settings = ctx.config.tests
    ran = await run_tests(
        command,
        runner=ctx.commands,
        timeout_s=settings.timeout_s,
        paths=paths,
        count_pattern=settings.count_pattern,
    )
    if ran.exit_code == _NOT_FOUND:
        raise MissingRequirement(
            f"`{command}` could not be run: {ran.problem or 'a program was not found'}",
            hint="Install what it needs, or set [tests] command in .swarm/config.toml, then: swarm run",
        )
    if ran.exit_code in KILLED:
        raise ToolKilled(
            f"`{command}` was killed twice, by somebody else than swarmgate",
            hint="Is the machine short of memory, or does a test end its own runner? Then: swarm run",
        )
    return ran
