"""Runs the checks of preflight: the read-only ones concurrently, then the tests alone.

A check that crashes or does not end in its time has failed, with its reason: nothing passes that was not looked at.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from swarmgate.automation.preflight import dependencies, gates, records, resources, suite_check, work_tree_check
from swarmgate.automation.preflight.context import CheckResult, Inspection, PreflightContext, in_thread
from swarmgate.domain.preflight import PreflightCheck, PreflightReport, PreflightStatus, report_of
from swarmgate.errors import SwarmError
from swarmgate.workspace.test_runs.collection.listing import LIMIT_S

READING_S = 60.0
"""Longest time of a group of checks that only reads."""
JUDGING_S = 300.0
"""Longest time of the gates: they go through the whole tree."""
BEYOND_TESTS_S = 30.0
"""What is waited for tests beyond their own time limit."""


@dataclass(frozen=True, slots=True)
class Group:
    """Checks that are made together.

    Attributes:
        names: of the checks, in the order of the report.
        inspect: makes them; in a thread of its own where it blocks.
        limit_s: longest time; None: as long as the tests may take.
        alone: runs when all others have ended.
    """

    names: tuple[str, ...]
    inspect: Inspection
    limit_s: float | None = READING_S
    alone: bool = False

    def limit(self, context: PreflightContext) -> float:
        """Longest time in seconds."""
        return context.config.tests.longest_s + BEYOND_TESTS_S if self.limit_s is None else self.limit_s


GROUPS = (
    Group(("repository", "branch"), in_thread(work_tree_check.inspect)),
    Group(("dependencies",), in_thread(dependencies.inspect)),
    Group(("buildable", "testable"), in_thread(dependencies.inspect_tasks)),
    Group(("plan",), in_thread(records.inspect_plan)),
    Group(("evidence",), in_thread(records.inspect_evidence)),
    Group(("tools",), resources.inspect_tools),
    Group(("disk",), in_thread(resources.inspect_disk)),
    Group(("budget",), in_thread(resources.inspect_budget)),
    Group(("models",), resources.inspect_models),
    Group(("lint", "secrets"), gates.inspect, limit_s=JUDGING_S),
    Group(("tests",), suite_check.inspect, limit_s=None, alone=True),
)
"""All checks, in the order of the report: what costs least to mend comes first."""

FIRST = (Group(("tests",), suite_check.inspect_before, limit_s=LIMIT_S + BEYOND_TESTS_S, alone=True),)
"""What is looked at before a first phase where nothing else is asked for: whether anything could prove its tasks."""


def longest(tests_s: float) -> float:
    """Longest time of the whole preflight in seconds, where the tests may take `tests_s`."""
    return max(READING_S, JUDGING_S) + tests_s + BEYOND_TESTS_S


async def run_checks(context: PreflightContext, groups: Sequence[Group] = GROUPS) -> PreflightReport:
    """The report on the phase. It never raises for what a check finds, or for one that breaks."""
    started, began = time.monotonic(), datetime.now(UTC)
    at_once = [group for group in groups if not group.alone]
    found = dict(zip(at_once, await asyncio.gather(*(_inspected(group, context) for group in at_once)), strict=True))
    for group in groups:
        if group.alone:
            found[group] = await _inspected(group, context)
    checks = [check for group in groups for check in found[group]]
    return report_of(
        context.phase,
        checks,
        seconds=round(time.monotonic() - started, 3),
        tree=await _tree(context),
        seq=context.state.seq,
        time=began.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
    )


async def _inspected(group: Group, context: PreflightContext) -> list[PreflightCheck]:
    started, limit = time.monotonic(), group.limit(context)
    try:
        async with asyncio.timeout(limit):
            answers = dict(await group.inspect(context))
    except TimeoutError:
        answers = dict.fromkeys(group.names, CheckResult(problem=f"it did not end within {limit:g} s"))
    except SwarmError as error:
        answers = dict.fromkeys(group.names, CheckResult.of(error))
    except Exception as error:  # noqa: BLE001 - a check that breaks is a check that failed
        broken = f"the check itself broke: {type(error).__name__}: {error}"
        answers = dict.fromkeys(group.names, CheckResult(problem=broken, hint="See: swarm doctor"))
    seconds = time.monotonic() - started
    unanswered = CheckResult(problem="the check gave no answer")
    return [_check(name, answers.get(name, unanswered), seconds) for name in group.names]


def _check(name: str, found: CheckResult, seconds: float) -> PreflightCheck:
    status = PreflightStatus.PASS
    if found.problem:
        status = PreflightStatus.FAIL
    elif found.skipped:
        status = PreflightStatus.SKIP
    return PreflightCheck(
        name=name,
        status=status,
        detail=found.detail,
        problem=found.problem,
        hint=found.hint if found.problem else "",
        seconds=round(seconds if found.seconds is None else found.seconds, 3),
        blocks=found.blocks,
    )


async def _tree(context: PreflightContext) -> str:
    """The tree that was checked; empty where git fails, which the check `repository` reports."""
    answer = await in_thread(_snapshot)(context)
    return answer["tree"].detail


def _snapshot(context: PreflightContext) -> dict[str, CheckResult]:
    try:
        return {"tree": CheckResult(context.fresh().snapshot())}
    except (SwarmError, OSError):
        return {"tree": CheckResult()}
