"""Runs the project's test suite over a tree, in a clean checkout of it."""

from __future__ import annotations

from collections.abc import Sequence

from swarmgate.domain.review.evidence import TestRun
from swarmgate.engine.context import Context
from swarmgate.errors import MissingRequirement
from swarmgate.workspace.test_runs.suites import Suites

_LISTED = 5
_NOT_FOUND = 127
"""The shell's exit code for a program that is not there (POSIX, Shell Command Language 2.8.2)."""


async def run_suites(ctx: Context, suites: Suites, tree: str, paths: Sequence[str] = ()) -> TestRun:
    """One run of these test files over a tree, of all tests where there are none.

    A run that rewrote files of the project is no proof, though it would pass, and names that as its problem.

    Raises:
        MissingRequirement: the program that runs the tests is not there.
        ToolKilled: somebody ended it, twice.
        WorkspaceError: git failed.
    """
    with ctx.checkout(tree) as made:
        ran = await suites.run(made.runner(ctx.commands), paths)
        rewritten = made.rewritten()
    if ran.exit_code == _NOT_FOUND:
        raise MissingRequirement(
            f"`{ran.command}` could not be run: {ran.reason or 'a program was not found'}",
            hint="Install what it needs, or set [tests] command in .swarm/config.toml, then: swarm run",
        )
    if rewritten and not ran.problem and set(ran.failures) <= set(ctx.ledger.state.known_red):
        problem = f"the tests rewrote files of the project: {', '.join(rewritten[:_LISTED])}"
        return ran.model_copy(update={"problem": problem})
    return ran
