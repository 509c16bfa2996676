"""Runs the project's test suite over a tree, in a clean checkout of it."""

from __future__ import annotations

from collections.abc import Sequence

from swarmgate.domain.review.evidence import TestRun
from swarmgate.engine.context import Context
from swarmgate.engine.steps.testing.running_tests import telling
from swarmgate.errors import MissingRequirement
from swarmgate.ledger.files import suite_times
from swarmgate.ledger.files.suite_times import Took
from swarmgate.workspace.test_runs.suites import Suites

_LISTED = 5
_NOT_FOUND = 127
"""The shell's exit code for a program that is not there (POSIX, Shell Command Language 2.8.2)."""
_LONG_S = 60.0
"""Seconds of a whole run from which the tests that are related to a change run first, besides the new ones."""


def takes_long(ctx: Context, suites: Suites) -> bool:
    """Whether the whole of the suites took long when it passed last."""
    took = suite_times.read(ctx.folder).get(suites.text)
    return took is not None and took.seconds >= _LONG_S


async def run_suites(ctx: Context, suites: Suites, tree: str, paths: Sequence[str] = ()) -> TestRun:
    """One run of these test files over a tree, of all tests where there are none.

    A run that rewrote files of the project is no proof, though it would pass, and names that as its problem.

    Raises:
        MissingRequirement: the program that runs the tests is not there.
        ToolKilled: somebody ended it, twice.
        WorkspaceError: git failed.
    """
    whole = not paths and not suites.selection
    took = suite_times.read(ctx.folder).get(suites.text) if whole else None
    what = "tests" if whole else "new tests" if paths else "related tests"
    with ctx.checkout(tree) as made:
        async with telling(ctx, what, took) as running:
            ran = await suites.run(made.runner(ctx.commands), paths, heard=running.heard)
        rewritten = made.rewritten()
    if whole and ran.green:
        suite_times.remember(ctx.folder, suites.text, Took(tests=ran.ran, seconds=ran.seconds))
    if missing := next((each for each in ran.parts or (ran,) if each.exit_code == _NOT_FOUND), None):
        where = f"the command of suite {missing.suite}" if missing.suite else "[tests] command"
        raise MissingRequirement(
            f"`{missing.command}` could not be run: {missing.reason or 'a program was not found'}",
            hint=f"Install what it needs, or set {where} in .swarm/config.toml, then: swarm run",
        )
    if rewritten and not ran.problem and set(ran.failures) <= set(ctx.ledger.state.known_red):
        problem = f"the tests rewrote files of the project: {', '.join(rewritten[:_LISTED])}"
        return ran.model_copy(update={"problem": problem})
    return ran
