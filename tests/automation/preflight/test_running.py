"""Tests how preflight checks run: concurrently or alone, each within its time limit."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Mapping

import pytest
from tests.automation.preflight.conftest import Contexts
from tests.project import Project

from swarmgate.automation.preflight.checks import GROUPS, Group, longest, run_checks
from swarmgate.automation.preflight.context import CheckResult, Inspection, PreflightContext, few, in_thread
from swarmgate.domain.preflight import PreflightStatus
from swarmgate.errors import WorkspaceError

pytestmark = pytest.mark.suite("unittest")


def saying(**found: CheckResult) -> Inspection:
    async def look(_context: PreflightContext) -> Mapping[str, CheckResult]:
        return found

    return look


async def test_what_checks_find_is_the_report(context: Contexts) -> None:
    groups = (
        Group(("good", "nothing"), saying(good=CheckResult("looked"), nothing=CheckResult("none there", skipped=True))),
        Group(("bad",), saying(bad=CheckResult("it", "is broken", "mend it"))),
        Group(("odd",), saying(odd=CheckResult("it", "is odd", blocks=False, seconds=7.0))),
    )
    report = await run_checks(context(phase=3), groups)
    assert [(each.name, each.status.value) for each in report.checks] == [
        ("good", "pass"),
        ("nothing", "skip"),
        ("bad", "fail"),
        ("odd", "fail"),
    ]
    assert (report.phase, report.passed, report.failed, report.skipped) == (3, False, ("bad",), ("nothing",))
    assert report.problems == ("bad: is broken",)
    assert report.checks[3].seconds == 7.0
    assert report.tree == context().repository.snapshot()
    assert report.time.endswith("Z")


async def test_a_report_without_a_blocker_passes_and_one_without_checks_does_not(context: Contexts) -> None:
    odd = Group(("odd",), saying(odd=CheckResult("it", "is odd", blocks=False)))
    assert (await run_checks(context(), (odd,))).passed
    assert not (await run_checks(context(), ())).passed


async def test_a_check_that_breaks_or_says_nothing_has_failed_with_the_reason(context: Contexts) -> None:
    async def breaks(_context: PreflightContext) -> Mapping[str, CheckResult]:
        raise ZeroDivisionError("oh")

    async def refuses(_context: PreflightContext) -> Mapping[str, CheckResult]:
        raise WorkspaceError("git is ill", hint="heal git")

    groups = (
        Group(("a", "b"), breaks),
        Group(("c",), refuses),
        Group(("d",), saying()),
        Group(("e",), in_thread(lambda _context: {"e": CheckResult(str(1 // 0))})),
    )
    report = await run_checks(context(), groups)
    assert [each.status for each in report.checks] == [PreflightStatus.FAIL] * 5
    assert "ZeroDivisionError: oh" in report.checks[0].problem
    assert (report.checks[2].problem, report.checks[2].hint) == ("git is ill", "heal git")
    assert "no answer" in report.checks[3].problem
    assert "ZeroDivisionError" in report.checks[4].problem


def test_a_check_that_never_ends_is_left_at_its_time_limit(context: Contexts) -> None:
    never = threading.Event()

    def hangs(_context: PreflightContext) -> Mapping[str, CheckResult]:
        never.wait(60)
        return {"a": CheckResult("too late")}

    async def sleeps(_context: PreflightContext) -> Mapping[str, CheckResult]:
        await asyncio.sleep(60)
        return {}

    groups = (Group(("a",), in_thread(hangs), 0.1), Group(("b",), sleeps, 0.1))
    started = time.monotonic()
    report = asyncio.run(run_checks(context(), groups))  # ends though a thread still hangs
    never.set()
    assert time.monotonic() - started < 30
    assert [each.problem for each in report.checks] == ["it did not end within 0.1 s"] * 2


async def test_those_that_read_run_at_once_and_the_others_alone_after_them(context: Contexts) -> None:
    met, log = asyncio.Event(), []

    async def waits(_context: PreflightContext) -> Mapping[str, CheckResult]:
        await asyncio.wait_for(met.wait(), 60)
        log.append("waits")
        return {"waits": CheckResult("met")}

    async def meets(_context: PreflightContext) -> Mapping[str, CheckResult]:
        met.set()
        return {"meets": CheckResult("met")}

    async def alone(_context: PreflightContext) -> Mapping[str, CheckResult]:
        log.append("alone")
        return {"alone": CheckResult("last")}

    groups = (Group(("alone",), alone, alone=True), Group(("waits",), waits), Group(("meets",), meets))
    report = await run_checks(context(), groups)
    assert report.passed
    assert log == ["waits", "alone"]
    assert [each.name for each in report.checks] == ["alone", "waits", "meets"]


def test_the_table_names_every_check_once_and_runs_the_tests_alone(context: Contexts) -> None:
    names = [name for group in GROUPS for name in group.names]
    assert len(set(names)) == len(names)
    assert {"repository", "branch", "lint", "tests", "secrets", "evidence", "plan", "tools", "models", "budget"} < set(
        names
    )
    assert [group.names for group in GROUPS if group.alone] == [("tests",)]
    assert GROUPS[-1].limit(context()) > context().config.tests.timeout_s
    assert longest(600) > 600 + max(group.limit_s or 0 for group in GROUPS)


async def test_a_tree_that_git_cannot_tell_is_no_crash(project: Project, context: Contexts) -> None:
    before = context()
    (project.root / ".git" / "HEAD").write_text("nonsense\n")
    report = await run_checks(before)
    assert report.tree == ""
    assert {"repository", "branch"} <= set(report.failed)


def test_several_names_are_cut() -> None:
    assert few(("a", "b", "c"), 2) == "a, b and 1 more"
    assert few(("a",)) == "a"
