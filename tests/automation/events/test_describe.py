"""Tests the one-line descriptions of automation's events."""

from __future__ import annotations

import pytest

from swarmgate.automation.events import describe as wording
from swarmgate.automation.events.describe import describe, words_of
from swarmgate.domain.events import automation as au
from swarmgate.domain.events.automation import BreakerState

SAID: list[tuple[au.AutomationEvent, str]] = [
    (
        au.WatchStarted(pid=7, host="here", place="watch", mode="manual", workers=("plan_sync", "hooks")),
        "watching began in pid 7 (watch, mode manual): plan_sync, hooks; by file events",
    ),
    (
        au.WatchStarted(pid=7, host="h", place="run", mode="auto", watching=au.Watching.POLLING, reason="a network"),
        "watching began in pid 7 (run, mode auto): no workers; polling: a network",
    ),
    (au.WatchStopped(pid=7, reason="asked to"), "watching ended in pid 7: asked to"),
    (au.WatchStopped(pid=7), "watching ended in pid 7"),
    (au.WatchFellBack(reason="inotify limit"), "polling from now on: inotify limit"),
    (
        au.PlanSynced(amended=("plan.md",), restored=("plan.json",), interrupted="1.2", seconds=0.25),
        "plan synced: amended by plan.md; restored plan.json; task 1.2 interrupted (0.2 s)",
    ),
    (au.PlanSynced(), "plan synced: nothing to do (0.0 s)"),
    (au.SyncDeferred(sources=("plan.md",), reason="a run is at work"), "an edit of plan.md waits: a run is at work"),
    (au.WorkerFailed(worker="hooks", subject="x", error="no"), "hooks failed on x: no"),
    (au.WorkerFailed(worker="events", error="no"), "events failed: no"),
    (
        au.BreakerChanged(worker="hooks", state=BreakerState.HALF_OPEN, reason="after 30 s"),
        "breaker of hooks is half open: after 30 s",
    ),
    (au.TriggerFired(capability="hooks", subject="x"), "hooks starts on x"),
    (
        au.TriggerSuppressed(capability="hooks", subject="x", count=11, within_s=60.0),
        "hooks does not start on x: 11 times within 60 s",
    ),
    (
        au.PreflightRan(phase=2, passed=True, skipped=("models",)),
        "preflight of phase 2 passed; skipped: models (0.0 s)",
    ),
    (au.PreflightRan(phase=2, passed=False, failed=("git", "disk")), "preflight of phase 2 failed: git, disk (0.0 s)"),
    (
        au.PreflightRan(phase=2, passed=False, failed=("disk",), problem="disk: full", report="p.json"),
        "preflight of phase 2 failed: disk (0.0 s) - disk: full; all of it: p.json",
    ),
    (au.DoctorRan(passed=True), "doctor: all is well"),
    (
        au.DoctorRan(passed=False, problems=("a", "b"), fixed=("config.toml",), backup="old"),
        "doctor: a and 1 more; mended config.toml, the old text is in old",
    ),
    (au.DriftFound(), "no decision drifts"),
    (au.DriftFound(signals=("a", "b", "c")), "decision drift: a and 2 more"),
    (au.EvidenceSummarised(task="1.2", reason="3 attempts"), "evidence of task 1.2 summed up: 3 attempts"),
    (au.HookRan(event="x", exit_code=1, seconds=2), "hook on x: exit code 1 (2.0 s)"),
    (au.HookRan(event="x", exit_code=None), "hook on x: ended at its time limit (0.0 s)"),
    (au.HookRan(event="x", exit_code=None, problem="no shell"), "hook on x: no shell (0.0 s)"),
    (au.DeadLetter(subscriber="hooks", event="x", error="no"), "hooks could not take x: no"),
    (au.DeadLetter(subscriber="hooks", event="", error="no"), "hooks could not take some events: no"),
]


@pytest.mark.parametrize(("event", "said"), SAID, ids=lambda each: getattr(each, "type", ""))
def test_an_event_is_one_line(event: au.AutomationEvent, said: str) -> None:
    assert describe(event) == said
    at = au.Happening(source="automation", seq=1, time="t", actor="a", data=event.model_dump(mode="json"))
    assert words_of(at) == said


def test_every_event_has_words_and_is_said_above() -> None:
    assert set(wording._WORDS) == set(au.AUTOMATION_EVENTS) == {event.type for event, _ in SAID}


@pytest.mark.parametrize("data", [{}, {"type": "of_tomorrow"}, {"type": "hook_ran", "colour": "red"}])
def test_what_this_version_does_not_know_has_none(data: dict[str, str]) -> None:
    assert words_of(au.Happening(source="automation", seq=1, time="t", actor="a", data=data)) == ""
