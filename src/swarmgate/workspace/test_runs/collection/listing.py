"""Asks a test command which tests it would run; a runner that cannot list them is run for a limited time.

What comes is measured, not believed: it decides about no change. It says whether there is anything to prove a change
with, before a token is spent.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from swarmgate.workspace.test_runs.collection.failed_start import without_start
from swarmgate.workspace.test_runs.collection.record import Listing, Standing
from swarmgate.workspace.test_runs.collection.runners import METHODS
from swarmgate.workspace.test_runs.suite import run_tests, runner_of

if TYPE_CHECKING:
    from swarmgate.domain.review.evidence import TestRun
    from swarmgate.workspace.sandbox.command_runner import CommandRunner

LIMIT_S = 60.0
"""Longest time of one question: pytest imports the whole suite, go and cargo compile it."""
_OUTPUT = 400_000
"""Characters of each stream that are read."""


async def ask(command: str, *, runner: CommandRunner, limit_s: float = LIMIT_S, count_pattern: str = "") -> Listing:
    """Asks a test command what it would run.

    Args:
        command: what the user would type.
        runner: what confines it; made for a copy of the tree, since what runs may leave files.
        limit_s: seconds until its whole process group is ended.
        count_pattern: the user's `tests.count_pattern`.

    Raises:
        ToolKilled: somebody ended it, twice.
    """
    kind = runner_of(command, runner.root)
    method = METHODS.get(kind)
    line = method.line(command) if method and not count_pattern else ""
    if method is None or not line:
        ran = await run_tests(command, runner=runner, timeout_s=limit_s, count_pattern=count_pattern)
        return _of_run(command, ran)
    done = await runner.run(line, timeout_s=limit_s, env=_variables(method.variables), output_limit=_OUTPUT)
    listing = Listing(standing=Standing.STARTS, command=command, seconds=done.seconds)
    if refused := runner.refused(done):
        return listing.model_copy(update={"standing": Standing.BROKEN, "problem": refused})
    if done.timed_out:
        return listing.model_copy(update={"problem": f"its tests could not be listed within {limit_s:g} s"})
    return without_start(listing, done.exit_code, done.output) or method.read(listing, done)


def _variables(own: Mapping[str, str]) -> dict[str, str]:
    """With what the user gave under those names in front."""
    given = {name: f"{os.environ[name]} {value}" if os.environ.get(name) else value for name, value in own.items()}
    return {"PYTHONDONTWRITEBYTECODE": "1", "CI": os.environ.get("CI", "true"), **given}


def _of_run(command: str, ran: TestRun) -> Listing:
    """The listing from the output of a whole run."""
    listing = Listing(
        standing=Standing.STARTS,
        command=command,
        ran=True,
        tests=ran.ran or None,
        failures=ran.failures,
        seconds=ran.seconds,
    )
    if ran.exit_code is None:
        return listing.model_copy(update={"problem": "it was not looked at to its end, which did not come in time"})
    if found := without_start(listing, ran.exit_code, ran.output):
        return found
    if ran.green:
        return listing.model_copy(update={"standing": Standing.FOUND})
    if not ran.exit_code:
        nothing = ran.passed is not None and not ran.ran
        standing = Standing.NOTHING if nothing else Standing.STARTS
        return listing.model_copy(update={"standing": standing, "problem": ran.reason})
    return listing.model_copy(update={"standing": Standing.RED, "problem": ran.reason})
