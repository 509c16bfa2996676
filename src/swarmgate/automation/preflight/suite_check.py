"""The preflight check that runs the project's tests alone, in the sandbox, in a clean checkout."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from swarmgate.automation.preflight.context import CheckResult, PreflightContext, few
from swarmgate.automation.suite_command import inspect_suite, memory_key
from swarmgate.domain.review.stage import Judge
from swarmgate.domain.state.state import TaskStatus
from swarmgate.domain.transitions.review import only_known_red
from swarmgate.ledger.files import preflights
from swarmgate.workspace.checkout.checkout import checked_out
from swarmgate.workspace.detect import detect
from swarmgate.workspace.git.repository import Repository
from swarmgate.workspace.test_runs.suites import suites_of

_NOT_FOUND = 127
"""The shell's exit code for a program that is not there (POSIX, Shell Command Language 2.8.2)."""


async def inspect(context: PreflightContext) -> Mapping[str, CheckResult]:
    """`tests`: green, or red only where the user has overruled it."""
    return {"tests": await _tests(context)}


async def inspect_before(context: PreflightContext) -> Mapping[str, CheckResult]:
    """`tests`, before anything was done: the command can be started and finds tests, where there are any.

    An answer that stops nothing is remembered for the same tree and settings.
    """
    repository = context.fresh()
    tree = await asyncio.to_thread(repository.snapshot)
    key = await asyncio.to_thread(memory_key, tree, context.config, repository)
    if summary := preflights.remembered(context.folder, key):
        return {"tests": CheckResult(f"{summary} (as looked at before)")}
    found = await inspect_suite(repository, tree, context.config, context.commands())
    if not found.command:
        return {"tests": CheckResult(found.summary, skipped=True)}
    if not found.problem:
        preflights.remember(context.folder, key, found.summary)
    return {"tests": CheckResult(found.summary, found.problem, found.hint, blocks=found.stops)}


async def _tests(context: PreflightContext) -> CheckResult:
    repository = context.fresh()
    tree = await asyncio.to_thread(repository.snapshot)
    if proven := _proven(context, repository, tree):
        return CheckResult(f"they passed over this very tree, for {proven}")
    detected = await asyncio.to_thread(lambda: detect(repository.root, repository.list_tree(tree)))
    suites = suites_of(context.config.tests, detected.test_command)
    if not suites.suites:
        return CheckResult("no test command yet; it is detected when there are tests", skipped=True)
    commands = context.commands()
    with checked_out(repository.root, tree, sandbox=commands.sandbox) as made:
        run = await suites.run(made.runner(commands))
    if run.green:
        return CheckResult(f"{run.passed} passed in {run.seconds:.1f} s")
    if only_known_red(context.state, run):
        return CheckResult(f"only those fail that you overruled: {few(run.failures)}")
    hint = "Install what it needs, or set [tests] command." if run.exit_code == _NOT_FOUND else f"See: {suites.text}"
    return CheckResult(suites.text, run.reason, hint)


def _proven(context: PreflightContext, repository: Repository, tree: str) -> str:
    """The task or phase for which swarmgate ran all tests over exactly this tree, and they were green; empty: none."""
    state = context.state
    if state.known_red:
        return ""
    for number in sorted(state.phases, reverse=True):
        ran = [each for each in state.phase(number).verdicts("tests") if each.run and each.run.green]
        if ran and not context.config.tests.suite and repository.tree_of(ran[-1].commit) == tree:
            return f"phase {number}"
    record = state.task(state.last)
    if record.status is not TaskStatus.COMPLETE or record.last is None or record.last.tree != tree:
        return ""
    red = any(each.judge is Judge.TESTS for each in record.overrides)
    some = record.last.related or bool(context.config.tests.suite)
    return "" if red or some or repository.head() != record.commit else f"task {state.last}"
