"""The doctor's check of the test command: it starts in the sandbox, and it collects tests."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

from swarmgate.automation.suite_command import SuiteInspection, inspect_suite
from swarmgate.config import Config
from swarmgate.errors import SwarmError
from swarmgate.gates import confinement
from swarmgate.ledger.check import Check
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.workspace.git.repository import Repository
from swarmgate.workspace.test_runs.suites import suites_of

NAME = "tests"
_MOST_LISTED = 5
"""Files that are passed over: so many are listed."""


def inspect(folder: SwarmFolder, config: Config) -> Check:
    """The check `tests`."""
    repository = Repository.discover(folder.root)
    # A doctor is asked of strange projects first, whose settings came with them: it opens none of what they name.
    bounds = config.commands.model_copy(update={"network": False, "writable": ()})
    try:
        commands = confinement.confined(repository.root, bounds, guarded=(folder.path,))
    except SwarmError as error:  # the check `sandbox` fails by it
        message = f"not looked at: {error.message}"
        return Check(NAME, _command(config), warnings=(message,))
    if commands.sandbox.name == "none":
        message = 'not asked what it would run: [commands] sandbox is "none", and nothing would confine it'
        return Check(NAME, f"{_command(config)}: {message}")
    asked = inspect_suite(repository, repository.snapshot(), config, commands)
    with ThreadPoolExecutor(1) as apart:  # whoever calls may have an event loop of its own
        return _check(apart.submit(asyncio.run, asked).result())


def _command(config: Config) -> str:
    return suites_of(config.tests, "").text or "the detected command"


def _check(found: SuiteInspection) -> Check:
    message = f"{found.problem} -> {found.hint}" if found.problem else ""
    more = len(found.overlooked) - _MOST_LISTED
    passed_over = [
        *found.overlooked[:_MOST_LISTED],
        *([f"{more} more files with tests are not collected"] if more > 0 else ()),
    ]
    if found.stops:
        return Check(NAME, found.summary, (message,))
    return Check(NAME, found.summary, (), tuple(filter(None, (message, *passed_over))))
